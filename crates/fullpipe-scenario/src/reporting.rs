//! Report of a run: intervals, samples, and the packets that are kept.

use super::copies::is_or_copies;
use super::show;
use super::written::{Clock, Until};
use fullpipe_base::units::Time;
use serde::Serialize;

/// Report of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Length of an interval.
    #[serde(serialize_with = "show::shown")]
    pub interval: Time,
    /// Length of the first interval.
    #[serde(serialize_with = "show::shown")]
    pub first_interval: Time,
    /// Event that starts the interval clock.
    pub clock: Clock,
    /// Time by which the clock starts before that event.
    #[serde(serialize_with = "show::shown")]
    pub clock_offset: Time,
    /// Interval of the trace's samples.
    #[serde(serialize_with = "show::shown")]
    pub sample: Time,
    /// Length of the bins of queues, rates and drops over time; none: [`Resolved::bin`](super::resolved::Resolved::bin) decides.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub bin: Option<Time>,
    /// Interval of the hosts' counters, rounded up to samples; none: the engine's choice.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub counters: Option<Time>,
    /// When the run ends.
    #[serde(skip_serializing_if = "Until::is_end")]
    pub until: Until,
    /// Which packets are kept; none: none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
}

/// Which packets are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Packets {
    /// Name of the point at which they are seen.
    pub at: String,
    /// Name of the flow they are of, without the number of a copy; none: all flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// From when on.
    #[serde(serialize_with = "show::shown")]
    pub from: Time,
    /// Until when; none: the run's end.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub to: Option<Time>,
}

impl Packets {
    /// Whether packets of a flow of this name are kept.
    pub fn are_of(&self, flow: &str) -> bool {
        self.flow.as_deref().is_none_or(|name| is_or_copies(flow, name))
    }
}
