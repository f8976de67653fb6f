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

/// Interface of every element's configuration.
pub trait Configuration {
    /// Kind of the element, as in [`StageInfo::kind`].
    const KIND: &'static str;
    /// Checks the bounds. Within them a run does not panic.
    ///
    /// # Errors
    /// The first violated bound.
    fn check(&self) -> Result<(), String>;
    /// Whether the element decides about skbs as the sender handed them down.
    fn per_skb(&self) -> bool {
        false
    }
    /// Whether packets leave in the order of arrival, each at most once.
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

        /// Kinds of elements, as in [`StageInfo::kind`].
        pub const KINDS: &[&str] = &[$($config::KIND),*];

        impl Element {
            /// Stage name in the trace, unique within a run.
            pub fn name(&self) -> &str {
                match self { $(Element::$config(c) => &c.name,)* }
            }

            /// Renames the element.
            pub fn named(mut self, name: &str) -> Element {
                match &mut self { $(Element::$config(c) => c.name = name.to_string(),)* }
                self
            }

            /// Checks the bounds.
            ///
            /// # Errors
            /// The first violated bound.
            pub fn check(&self) -> Result<(), String> {
                match self { $(Element::$config(c) => c.check(),)* }
            }

            /// Whether the element decides about skbs as the sender handed them down.
            pub fn per_skb(&self) -> bool {
                match self { $(Element::$config(c) => c.per_skb(),)* }
            }

            /// Whether packets leave in the order of arrival, each at most once.
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
    /// Random delays, so that packets overtake each other.
    reorder::Reorder;
    /// Random duplication.
    duplicate::Duplicate;
    /// A varying delay.
    jitter::Jitter;
    /// A smaller MTU that the hosts do not know.
    mtu::Mtu;
    /// A token bucket that drops.
    policer::Policer;
    /// A token bucket with a drop-tail queue in front of it.
    shaper::Shaper;
    /// A rate that changes, with a drop-tail queue in front of it.
    varying::VaryingLink;
    /// Transmission at the times of a trace, with a drop-tail queue in front.
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
