//! Link elements, one file each: configuration, bounds, counters and state machine.
//!
//! A new element is a new file, its `mod` line, and its line in the list below.
//!
//! Limits:
//! - Elements decide about segments. Only random loss can decide about skbs.
//! - All flows pass the whole path: there is no routing. Shared media are not modelled.
//! - `netem`'s `limit` is not modelled for jitter and reordering, which hold any number of packets.

pub mod chain;
mod delay;
mod disciplined;
mod drop;
mod dropping;
mod duplicate;
mod flow_delay;
mod gilbert_elliott;
mod holding;
mod jitter;
mod listed;
mod loss;
mod mark;
mod mtu;
mod passing;
mod policer;
mod queued;
mod rate;
mod reorder;
mod shaper;
mod trace_link;
mod unit;
mod varying;

pub use crate::qdisc::{Codel, Discipline, Fq, Netem, QueueLimit, Red};
pub use unit::Unit;

use crate::stage::Samples;
use crate::trace::StageInfo;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use chain::Stage;

/// What every element's configuration says of itself.
pub trait Configuration {
    /// What the element is, as [`StageInfo::kind`] says it.
    const KIND: &'static str;
    /// Checks its bounds. Within them a run does not panic.
    ///
    /// # Errors
    /// The first violated bound.
    fn check(&self) -> Result<(), String>;
    /// Whether it decides about skbs as the sender handed them down.
    fn per_skb(&self) -> bool {
        false
    }
    /// Whether each packet leaves at most once, and none before one that came earlier.
    fn in_order(&self) -> bool {
        true
    }
    /// The element at the start of a run; `seed` is the run's, `samples` are the trace's.
    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage>;
}

macro_rules! elements {
    ($($(#[doc = $doc:literal])* $module:ident::$config:ident;)*) => {
        $(pub use $module::*;)*

        /// A link element.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Element {
            $($(#[doc = $doc])* $config($config),)*
        }

        /// What elements there are, as [`StageInfo::kind`] says it.
        pub const KINDS: &[&str] = &[$($config::KIND),*];

        impl Element {
            /// Stage name in the trace, unique within a run.
            pub fn name(&self) -> &str {
                match self { $(Element::$config(c) => &c.name,)* }
            }

            /// The same element by another name.
            pub fn named(mut self, name: &str) -> Element {
                match &mut self { $(Element::$config(c) => c.name = name.to_string(),)* }
                self
            }

            /// Checks its bounds.
            ///
            /// # Errors
            /// The first violated bound.
            pub fn check(&self) -> Result<(), String> {
                match self { $(Element::$config(c) => c.check(),)* }
            }

            /// Whether it decides about skbs as the sender handed them down.
            pub fn per_skb(&self) -> bool {
                match self { $(Element::$config(c) => c.per_skb(),)* }
            }

            /// Whether each packet leaves at most once, and none before one that came earlier.
            pub fn in_order(&self) -> bool {
                match self { $(Element::$config(c) => c.in_order(),)* }
            }

            /// The element at the start of a run; `seed` is the run's, `samples` are the trace's.
            pub fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
                match self { $(Element::$config(c) => c.build(seed, samples),)* }
            }
        }
    };
}
elements! {
    /// A rate with a drop-tail queue in front of it.
    rate::Link;
    /// A constant delay, or one released by a timer.
    delay::Delay;
    /// A delay of one flow.
    flow_delay::FlowDelay;
    /// Independent random loss.
    loss::Loss;
    /// Loss in bursts.
    gilbert_elliott::GilbertElliott;
    /// A list of packets to lose.
    drop::Drop;
    /// A list of packets to mark.
    mark::Mark;
    /// Delays by chance, so that packets overtake each other.
    reorder::Reorder;
    /// Random duplication.
    duplicate::Duplicate;
    /// A varying delay.
    jitter::Jitter;
    /// A smaller MTU that nobody is told of.
    mtu::Mtu;
    /// A token bucket that drops.
    policer::Policer;
    /// A token bucket with a drop-tail queue in front of it.
    shaper::Shaper;
    /// A rate that changes, with a drop-tail queue in front of it.
    varying::VaryingLink;
    /// Sending at the times of a trace, with a drop-tail queue in front of it.
    trace_link::TraceLink;
}

/// The description of an element of kind `C`; index and direction are filled in by the run.
fn info<C: Configuration>(name: &str, unit: &'static str, capacity: Option<u64>) -> StageInfo {
    StageInfo {
        index: 0,
        name: name.to_string(),
        kind: C::KIND,
        direction: "",
        unit,
        capacity,
        timed: true,
    }
}
