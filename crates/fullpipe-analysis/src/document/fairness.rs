//! Shares of flows that live together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length of the window over which that index is taken, s: about a period between two losses of CUBIC at 10 Gb/s and 25 ms, so
/// that it does not follow single losses.
pub const WINDOW_S: u64 = 10;
/// How long it has to stay there, s: two such windows.
pub const LASTING_S: u64 = 20;

/// How the flows of a run share the path, while all of them live: those whose data goes forward, or backward where fewer than
/// two go forward. Absent where there are fewer than two, where they do not live at one time, and where none of them delivers
/// anything then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// The first sample at which all of them live, simulated seconds.
    pub start_s: f64,
    /// The last one.
    pub end_s: f64,
    /// Jain's index of the rates over this time (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2), from 1/n, where one flow has
    /// everything, to 1, where all have the same.
    pub jain: f64,
    /// Jain's index over the second half of this time; null where nothing was delivered then.
    pub jain_settled: Option<f64>,
    /// Jain's index over each interval of `report.interval`, from `start_s` on; null where nothing was delivered.
    pub jain_intervals: Vec<Option<f64>>,
    /// Convergence time, s: from the start of the last flow until Jain's index over the 10 s before is 0.95 or more. It must
    /// stay so for 20 s, so the time is at least 10 s. Null where no such time was seen. Null, too, where `jain_settled` is
    /// below 0.95: flows that part later have passed each other. Two flows with 0.95 have the d-fair convergence time of
    /// Bansal et al. 2001 (RFC 5166, 2.3) with d = 0.23.
    pub converged_s: Option<f64>,
    /// Exponent k of x1/x2 = (RTT2/RTT1)^k (Lakshman, Madhow 1997). Rates are those of the second half; round trips have no
    /// queues. More than two flows: least squares of the logarithms. Null where the round trips do not differ.
    pub rtt_exponent: Option<f64>,
    /// Units that all places of the data's way dropped in this time, whosever they were.
    pub dropped: u64,
    /// Mean number of packets waiting in front of the slowest link, or of a card that is slower; null where the trace does not
    /// tell.
    pub queue: Option<f64>,
    /// The flows, in the scenario's order.
    pub flows: Vec<Part>,
}

impl Fairness {
    /// Whether the flows live together for less time than [`converged_s`](Fairness::converged_s) needs.
    pub fn is_too_short(&self) -> bool {
        self.end_s - self.start_s < (WINDOW_S + LASTING_S) as f64 - 1e-9
    }
}

/// Part of a flow in a path that several flows share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Name in the scenario.
    pub name: String,
    /// Mean rate in the time in which all flows live, Mb/s of payload.
    pub mbit: f64,
    /// Mean rate in the second half of that time, Mb/s of payload.
    pub settled_mbit: f64,
    /// Its part of what all flows deliver in this time (0 to 1).
    pub share: f64,
    /// Coefficient of variation of its rates in intervals of `report.interval` in the second half: standard deviation over mean
    /// (Floyd et al., SIGCOMM 2000); null with fewer than two intervals, and where nothing was delivered.
    pub variation: Option<f64>,
    /// Segments retransmitted in this time.
    pub retransmitted_segments: u64,
    /// Of the segments sent in this time, those that were sent again (0 to 1).
    pub retransmitted_share: f64,
    /// Round trip without queues, ms: all delays of the path and of the hosts' qdiscs. Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_rtt_ms: Option<f64>,
    /// Mean of its smoothed RTT at the samples in this time, ms; null where none was measured.
    pub srtt_ms: Option<f64>,
}
