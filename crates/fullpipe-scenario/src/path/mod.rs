//! The path of a scenario: elements, one file each, and the short form.
//!
//! An element's file has its keys, their meaning, its impairment for engines ([`Impairment`]), and the equal configuration of
//! the simulator. A new element is a new file, its `mod` line, and its line in the list below. Some elements mean just
//! what the simulator's struct holds. The list then names how its keys are saved.

mod beside;
mod delay;
mod drop;
mod duplicate;
mod elements;
mod flow_delay;
mod gilbert_elliott;
mod impairment;
mod jitter;
pub(super) mod keys;
mod link;
mod loss;
mod mark;
mod mtu;
mod policer;
pub(super) mod queue;
mod reorder;
mod shaper;
mod short;
mod trace_link;
mod varying;
mod whole;

pub use delay::Timer;
pub(super) use delay::keys::Timer as TimerKeys;
pub(super) use elements::Elements;
pub use impairment::{Chance, Impairment, Listed, Losses, Overtake, Sending, Spread};
pub use mtu::LEAST_CLAMPED;
pub(super) use queue::PathQueue;
pub use queue::{Cake, Codel, Discipline, Fq, Pie, Queue, Red};
pub(super) use short::{Traffic, path};
pub use varying::RateStep;
use whole::Whole;

use super::format::context::Context;
use super::format::keys::{At, Group, Read, Section};
use super::format::node::Node;
use super::format::values::Name;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config::{self, Configuration};
use serde::Serialize;

/// An element as written.
trait Written: Section {
    /// Meaning of the element.
    type Meaning;
    /// Its name, if it has one.
    fn name(&self) -> Option<&At<Name>>;
    /// Meaning of the element; none if anything is missing or wrong, which is reported. `whole` is the path as far as
    /// it is known then: its round trip is not.
    fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Self::Meaning>;
}

/// Meaning of an element, with every default written out.
trait Meaning {
    /// The highest rate at which it passes packets, and the bytes that the rate counts.
    fn rate(&self) -> Option<(Rate, Framing)> {
        None
    }
    /// The queue in which packets wait for its rate.
    fn queue(&self) -> Option<&Queue> {
        None
    }
    /// Least time of a packet in the element, where nothing waits.
    fn delay(&self) -> Time {
        Time::ZERO
    }
    /// Fills in defaults that depend on the other elements.
    fn complete(&mut self, _whole: &Whole) {}
    /// Effect on packets of a run.
    fn impairment(&self, run: &Surroundings) -> Impairment;
    /// The simulator's configuration that says the same.
    fn config(&self, run: &Surroundings) -> config::Element;
}

/// Elements between the hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Whether packets stay on the path as TCP hands them down, many segments in one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gso: bool,
    /// Elements from the sender to the receiver, in order.
    pub forward: Vec<Element>,
    /// Elements on the way back, in order.
    pub back: Vec<Element>,
}

/// Facts of a run that the elements of its path need.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Name of each flow, and of the flow that it answers (at most 10000 flows).
    pub flows: Vec<(&'a str, Option<&'a str>)>,
}

impl Surroundings<'_> {
    /// Index of a flow that an element names.
    fn flow_index(&self, name: &str) -> u16 {
        let flow = self.flows.iter().position(|(own, _)| *own == name);
        // The flow is among them: an element with an unknown name was refused.
        flow.unwrap_or_default() as u16
    }

    /// Indices of the flows that share a connection with the named one: the flow that it answers, or that answers it.
    fn connection_of(&self, name: &str) -> Vec<u16> {
        let index = self.flow_index(name);
        let answered = self.flows.get(usize::from(index)).and_then(|(_, asks)| *asks);
        let others = self.flows.iter().zip(0..);
        let others =
            others.filter(|((own, asks), _)| *asks == Some(name) || answered == Some(*own));
        std::iter::once(index).chain(others.map(|(_, index)| index)).collect()
    }
}

macro_rules! elements {
    ($($(#[doc = $doc:literal])* $module:ident::$written:ident => $meaning:ident $(by $shown:literal)?;)*) => {
        $(pub use $module::$meaning;)*

        /// An element of the path.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Element {
            $(
                $(#[doc = $doc])*
                $(#[serde(serialize_with = $shown)])?
                $meaning($meaning),
            )*
        }

        impl Element {
            /// Stage name, unique within a run.
            pub fn name(&self) -> &str {
                match self { $(Element::$meaning(e) => &e.name,)* }
            }

            /// Kind of the element, as the scenario names it.
            pub fn kind(&self) -> &'static str {
                match self { $(Element::$meaning(_) => config::$meaning::KIND,)* }
            }

            /// Effect on packets of a run.
            pub fn impairment(&self, run: &Surroundings) -> Impairment {
                match self { $(Element::$meaning(e) => e.impairment(run),)* }
            }

            /// The highest rate at which it passes packets, and the bytes that the rate counts; none where it has no
            /// rate.
            pub fn rate(&self) -> Option<(Rate, Framing)> {
                match self { $(Element::$meaning(e) => e.rate(),)* }
            }

            /// The queue in which packets wait for its rate; none where it lets nothing wait.
            pub fn queue(&self) -> Option<&Queue> {
                match self { $(Element::$meaning(e) => e.queue(),)* }
            }

            /// Least time of a packet in the element, where nothing waits.
            pub fn delay(&self) -> Time {
                match self { $(Element::$meaning(e) => e.delay(),)* }
            }

            /// The simulator's configuration that says the same.
            pub fn config(&self, run: &Surroundings) -> config::Element {
                match self { $(Element::$meaning(e) => e.config(run),)* }
            }

            fn complete(&mut self, whole: &Whole) {
                match self { $(Element::$meaning(e) => e.complete(whole),)* }
            }
        }

        /// An element as written.
        #[derive(Clone, Debug)]
        pub(super) enum WrittenElement {
            $($meaning($module::$written),)*
        }

        /// The groups of elements by their kind.
        const ELEMENTS: &[(&str, &Group)] =
            &[$((config::$meaning::KIND, $module::$written::GROUP)),*];

        impl WrittenElement {
            /// Reads an element of this kind; none inside where it cannot be read, outside where
            /// there is no such kind.
            fn read(kind: &str, node: &Node, key: &str, cx: &mut Context) -> Option<Option<Self>> {
                $(if kind == config::$meaning::KIND {
                    return Some(Read::read(node, key, cx).map(WrittenElement::$meaning));
                })*
                None
            }

            fn name(&self) -> Option<&At<Name>> {
                match self { $(WrittenElement::$meaning(e) => e.name(),)* }
            }

            fn resolve(&self, whole: &Whole, cx: &mut Context) -> Option<Element> {
                match self {
                    $(WrittenElement::$meaning(e) => e.resolve(whole, cx).map(Element::$meaning),)*
                }
            }
        }
    };
}
elements! {
    /// A rate with a queue in front of it.
    link::LinkElement => Link;
    /// A constant delay.
    delay::DelayElement => Delay;
    /// A delay of one flow.
    flow_delay::FlowDelayElement => FlowDelay;
    /// Independent random loss.
    loss::LossElement => Loss by "loss::Shown::serialize";
    /// Loss in bursts.
    gilbert_elliott::GilbertElliottElement => GilbertElliott by "gilbert_elliott::Shown::serialize";
    /// A list of packets to lose.
    drop::DropElement => Drop;
    /// A list of packets to mark.
    mark::MarkElement => Mark;
    /// Delays by chance, so that packets overtake each other.
    reorder::ReorderElement => Reorder by "reorder::Shown::serialize";
    /// Random duplication.
    duplicate::DuplicateElement => Duplicate by "duplicate::Shown::serialize";
    /// A varying delay.
    jitter::JitterElement => Jitter by "jitter::Shown::serialize";
    /// A smaller MTU that no ICMP message announces.
    mtu::MtuElement => Mtu by "mtu::Shown::serialize";
    /// A token bucket that drops.
    policer::PolicerElement => Policer by "policer::Shown::serialize";
    /// A token bucket with a queue in front of it.
    shaper::ShaperElement => Shaper;
    /// A rate that changes, with a queue in front of it.
    varying::VaryingLinkElement => VaryingLink;
    /// Sending at the times of a trace, with a queue in front of it.
    trace_link::TraceLinkElement => TraceLink;
}

/// The value of a key; none if it is missing, which was reported.
fn needed<T>(at: &Option<At<T>>) -> Option<&T> {
    at.as_ref().map(|at| &at.value)
}

impl Path {
    fn elements(&self) -> impl Iterator<Item = &Element> {
        self.forward.iter().chain(&self.back)
    }

    /// The delay of both directions.
    pub(super) fn round_trip(&self) -> Time {
        self.elements().fold(Time::ZERO, |sum, element| sum + element.delay())
    }

    /// The rate of a card without a written rate: ten times that of the fastest link, so that the card is not the
    /// limit.
    pub fn default_nic_rate(&self) -> Rate {
        let fastest = self.elements().filter_map(|element| Some(element.rate()?.0)).max();
        fastest.map_or(Rate::gbit(10), |rate| Rate(rate.0.saturating_mul(10)))
    }
}
