//! Views: the part of a run that a verdict may use.
//!
//! [`View::Model`] uses everything that the trace has. The views of sockets use sources of one host alone: `ss -tmi`,
//! `nstat`, `tc -s qdisc`, `ethtool -S`, `/proc/stat` and its settings. [`sender::Sight`] and [`receiver::Sight`] hold
//! that part and nothing else, so a verdict that gets a sight cannot read more.
//!
//! Hidden in both: the path, the other host, the limits that the simulator counts, and drops by their place.

pub mod host;
pub mod receiver;
pub mod sender;

use crate::meta::{FlowMeta, RunMeta};
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use fullpipe_scenario::are_copies;
use fullpipe_trace::recording::Recording;
use host::HostSight;

/// Part of a run that a verdict may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Everything that the trace has.
    #[default]
    Model,
    /// Sockets, counters and settings of the host that sends the first flow's data.
    SenderSockets,
    /// Sockets, counters and settings of the host that receives it.
    ReceiverSockets,
    /// Packets at the host that sends it, from a capture.
    SenderCapture,
    /// Packets at the host that receives it, from a capture.
    ReceiverCapture,
    /// Packets between both, from a capture.
    MiddleCapture,
}

impl View {
    /// Views of a run; those of captures have a file in the place of a run.
    pub const ALL: [View; 3] = [View::Model, View::SenderSockets, View::ReceiverSockets];

    /// Views of captures.
    pub const OF_CAPTURES: [View; 3] =
        [View::SenderCapture, View::ReceiverCapture, View::MiddleCapture];

    /// Name in commands and documents.
    pub const fn name(self) -> &'static str {
        match self {
            View::Model => "model",
            View::SenderSockets => "sender-sockets",
            View::ReceiverSockets => "receiver-sockets",
            View::SenderCapture => "sender-capture",
            View::ReceiverCapture => "receiver-capture",
            View::MiddleCapture => "middle-capture",
        }
    }

    /// The view of this name.
    pub fn named(name: &str) -> Option<View> {
        View::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// Interval at which sockets are looked at.
const USUAL: Time = Time::ms(100);
/// Interval where the run is shorter than [`LONG`].
const FINE: Time = Time::ms(10);
/// Length of a run from which on the usual interval has enough samples.
const LONG: Time = Time::secs(3);

/// Samples of the trace for one look at the sockets; at least 1.
fn every(sample: Time, end: Time) -> usize {
    let step = if end < LONG { FINE } else { USUAL };
    usize::try_from(step.0 / sample.0.max(1)).unwrap_or(1).max(1)
}

/// Everything that one host sees of its connections of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight<Flow> {
    /// The host.
    pub host: HostSight,
    /// Its connections.
    pub flows: Vec<Flow>,
    /// True where the run was cut short.
    pub partial: bool,
}

/// A connection of a host, and its samples at each look.
struct Connection<'a> {
    about: &'a FlowMeta,
    /// True where the verdict is about it.
    judged: bool,
    looks: Vec<&'a FlowSample>,
    /// Index of the flow in the run.
    index: usize,
}

impl<Flow> Sight<Flow> {
    /// The host that sends (end 0) or receives (1) the data of the main way's first flow; none where the run has no flow.
    fn of_end(
        meta: &RunMeta,
        recording: &Recording,
        end: usize,
        flow: impl Fn(Connection) -> Flow,
    ) -> Option<Sight<Flow>> {
        let first = meta.flows.iter().find(|flow| Some(flow.direction) == meta.main_way)?;
        let lasts = recording.flows.last().map_or(Time::ZERO, |sample| sample.time);

        // A user looks now and then: only every `every`-th sample is seen.
        let every = every(meta.sample, lasts);
        let host = &first.hosts[end];

        // All connections of the host count; those that are copies of the first are judged.
        let here = meta.flows.iter().enumerate().filter(|(_, flow)| flow.hosts[end] == *host);
        let flows = here.map(|(index, about)| {
            let samples = recording.flows.iter().filter(|it| usize::from(it.flow) == index);
            flow(Connection {
                about,
                judged: are_copies(&first.name, &about.name),
                looks: samples.skip(every - 1).step_by(every).collect(),
                index,
            })
        });
        Some(Sight {
            flows: flows.collect(),
            host: HostSight::new(recording, host, every, first.settings.hosts[end].clone()),
            partial: meta.partial,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for view in View::ALL {
            assert_eq!(View::named(view.name()), Some(view));
        }
        assert_eq!(View::named("sender"), None);
    }

    #[test]
    fn short_runs_are_looked_at_more_often() {
        let table = [(1, 2_999, 10), (1, 3_000, 100), (10, 12_000, 10), (200, 9_000, 1)];
        for (sample, end, expected) in table {
            assert_eq!(every(Time::ms(sample), Time::ms(end)), expected);
        }
    }
}
