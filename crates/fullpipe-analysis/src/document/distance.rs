//! Distances of two flows: their rates, their cwnd, and their episodes of loss.

use super::{Moment, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distance of two runs of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distance {
    /// Of the throughput in the report's intervals that both have.
    pub throughput: Option<Apart>,
    /// Of the segments retransmitted in these intervals.
    pub retransmitted: Option<Apart>,
    /// Of cwnd at equal times: the ends of the series' buckets.
    pub cwnd: Option<Apart>,
    /// Of the segments retransmitted in the whole run.
    pub retransmissions: Difference,
    /// Of the seconds from connect() until the receiver had read everything; null where a run ended before.
    pub completion_s: Option<Difference>,
    /// The intervals that both have.
    pub intervals: Vec<IntervalPair>,
    /// The moments of both runs are known before this time only, seconds since the flow's interval clock started: one
    /// has more than are kept. Episodes of loss are those before it. Absent where all moments are known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub known_until_s: Option<f64>,
    /// Episodes of loss, paired by order.
    pub losses: Losses,
    /// The first moment at which cwnd differs by more than a tenth and by more than two packets, and does so a bucket later, too.
    pub diverged: Option<Parting>,
}

/// Relative differences (0 to 1) of a row of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Apart {
    /// Pairs of values.
    pub pairs: usize,
    /// Median.
    pub median: f64,
    /// Largest.
    pub worst: f64,
    /// Where that is: end of its interval or bucket, seconds since the flow's interval clock started.
    pub worst_at_s: f64,
}

/// A value of both runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Value of the first run.
    pub a: f64,
    /// Value of the second run.
    pub b: f64,
    /// Their relative difference, 0 to 1.
    pub relative: f64,
}

impl Difference {
    pub(crate) fn new(a: f64, b: f64) -> Difference {
        Difference { a, b, relative: relative(a, b) }
    }
}

/// An interval that both runs have; pairs are the first run's value and the second one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalPair {
    /// Its end, seconds since the flow's interval clock started.
    pub end_s: f64,
    /// Mb/s of payload.
    pub throughput_mbit: [f64; 2],
    /// Segments retransmitted in it.
    pub retransmitted_segments: [u64; 2],
    /// cwnd at its end, packets.
    pub cwnd: [u32; 2],
}

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parting {
    /// Seconds since the flow's interval clock started.
    pub at_s: f64,
    /// The first run then.
    pub a: State,
    /// The second one.
    pub b: State,
    /// Start of the listed moments of both sides, s: two smoothed round trips and a bucket earlier.
    pub from_s: f64,
    /// Last eight moments of the first run from `from_s` on.
    pub events_a: Vec<Moment>,
    /// Last eight moments of the second run from `from_s` on.
    pub events_b: Vec<Moment>,
}

/// A flow at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Packets.
    pub cwnd: u32,
    /// Packets; null is infinite.
    pub ssthresh: Option<u32>,
    /// Packets.
    pub in_flight: u32,
    /// us; null before the first measurement.
    pub srtt_us: Option<u32>,
    /// Packets in the bottleneck's queue.
    pub queue: u64,
}

impl State {
    pub(crate) fn at(series: &Series, index: usize) -> Option<State> {
        Some(State {
            cwnd: *series.cwnd.get(index)?,
            ssthresh: *series.ssthresh.get(index)?,
            in_flight: *series.in_flight.get(index)?,
            srtt_us: *series.srtt_us.get(index)?,
            queue: *series.queue.get(index)?,
        })
    }
}

/// The episodes of two runs of a flow, paired by order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Losses {
    /// Episodes of the first run.
    pub a: usize,
    /// Episodes of the second run.
    pub b: usize,
    /// Median time between the beginnings of a pair, s; null without pairs.
    pub median_difference_s: Option<f64>,
    /// Longest time between the beginnings of a pair, s; null without pairs.
    pub worst_difference_s: Option<f64>,
    /// The pairs.
    pub pairs: Vec<EpisodePair>,
}

/// Two episodes of one number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpisodePair {
    /// Episode of the first run.
    pub a: Episode,
    /// Episode of the second run.
    pub b: Episode,
}

/// An episode of loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// The sample that shows its beginning, seconds since the flow's interval clock started.
    pub at_s: f64,
    /// Segments retransmitted in it.
    pub retransmitted: u64,
    /// Timeouts in it.
    pub timeouts: u64,
}

/// The relative difference of two values that are not negative, 0 to 1.
pub fn relative(a: f64, b: f64) -> f64 {
    let larger = a.max(b);
    if larger > 0.0 { (a - b).abs() / larger } else { 0.0 }
}
