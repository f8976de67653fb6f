//! The one document a run ends in: `summary.json`, `fullpipe run --json`, and what every report shows.
//!
//! Field names are the format; [`FORMAT`] counts its incompatible changes. Units stand in the names.

mod bins;
pub mod compared;
pub mod distance;
pub mod fairness;
mod finding;
mod flow;
mod headline;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod stage;

pub use bins::*;
pub use finding::*;
pub use flow::*;
pub use headline::*;
pub use stage::*;

use compared::Pair;
use fairness::Fairness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Version of the document.
pub const FORMAT: u32 = 2;

/// All runs of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of this format.
    pub format: u32,
    /// What was asked.
    pub scenario: ScenarioInfo,
    /// The answer in one line: of one run its own; of several the worst and the best one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub headline: Option<Headline>,
    /// True when it was interrupted or runs failed: everything that is here is whole up to the last interval.
    pub partial: bool,
    /// Runs that failed, and those that an interruption or a failure kept from beginning; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<String>,
    /// One per variant (and sweep point) and engine, in the scenario's order.
    pub runs: Vec<Run>,
    /// What differs between the runs of a variant on several engines, each beside the first engine's; absent
    /// where there was one engine.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub comparisons: Vec<Pair>,
}

/// Which scenario this is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScenarioInfo {
    /// Recipe name or file stem.
    pub name: String,
    /// Title from the file.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Name of the variant ("base" where the scenario has none), and of the engine where there are several;
    /// unique in the document.
    pub variant: String,
    /// What the variant, the sweep point and `--set` changed: key to value as written.
    pub set: Map<String, Value>,
    /// View that headline and findings come from: "sender-sockets" or "receiver-sockets"; absent where that is everything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<String>,
    /// The answer of this run in one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub headline: Option<Headline>,
    /// Causes that hold the flows for a tenth of their lives or more, the one that the answer names first; absent where there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// Settings that do less than was asked, for instance a buffer that a sysctl cuts, one sentence each; absent where
    /// there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// Engine that made the trace.
    pub engine: String,
    /// What the engine did otherwise than the scenario says, by key; absent where it did everything exactly.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub substituted: Vec<String>,
    /// Kernels of its hosts with a profile that no real kernel judges; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unvalidated: Vec<String>,
    /// Qdiscs of hosts that the scenario asks for and in which no packet ever waited, as the card's ring took all; absent
    /// where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub idle_qdiscs: Vec<String>,
    /// True when this run was cut short.
    pub partial: bool,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Flows in the scenario's order.
    pub flows: Vec<Flow>,
    /// Packets that are no TCP segments, in the scenario's order; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub datagrams: Vec<Datagrams>,
    /// Files on NFS mounts; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub nfs: Vec<Nfs>,
    /// Places where packets wait or are dropped, in the packets' order.
    pub stages: Vec<Stage>,
    /// What the hosts have counted, as the tools of Linux name it; absent where nothing was counted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub counters: Vec<HostCounter>,
    /// How full these places were, and of which flows they were the limit.
    #[serde(default)]
    pub picture: Picture,
    /// What passed, waited and was dropped over time, in bins of `report.bin`.
    #[serde(default)]
    pub bins: Bins,
    /// The scenario's expectations that apply to this run; none where it was cut short.
    pub expectations: Vec<Expectation>,
    /// How its flows share the path; absent where no two of one direction live at one time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<Fairness>,
    /// Published and simulated figures, where the scenario names some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub published: Option<Published>,
    /// What was kept of its packets; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packets: Option<Packets>,
}

impl Run {
    /// Least share of a mount's data that belongs to answered calls, each byte once (0 to 1); 1 without mounts.
    pub fn useful(&self) -> f64 {
        self.nfs.iter().map(Nfs::useful).fold(1.0, f64::min)
    }

    /// Median time of messages, ms: the longest of all flows; none without messages.
    pub fn message_ms(&self) -> Option<f64> {
        let medians = self.flows.iter().filter_map(|own| own.messages);
        medians.map(|own| own.median_ms).reduce(f64::max)
    }

    /// Time that a twentieth of the messages takes or exceeds, ms: the longest of all flows; none without messages.
    pub fn message_p95_ms(&self) -> Option<f64> {
        let times = self.flows.iter().filter_map(|own| own.messages);
        times.map(|own| own.p95_ms).reduce(f64::max)
    }
}

/// The packets of a run that were kept, in `RUN/packets.parquet`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// The point that they passed.
    pub at: String,
    /// Packets.
    pub packets: u64,
    /// Segments of data in them.
    pub segments: u64,
    /// Trains that they make: rows of the table.
    pub trains: u64,
}

/// One expectation, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// The metric, for instance "flow.bulk.segments_delivered".
    pub metric: String,
    /// Intervals it covers, first and one past the last; absent: whole run.
    pub interval: Option<[usize; 2]>,
    /// Expected values.
    pub expected: Vec<f64>,
    /// Values of this run.
    pub measured: Vec<f64>,
    /// Tolerance as written, for instance "1 segment" or "2 %".
    pub within: String,
    /// Verdict.
    pub passed: bool,
    /// One sentence that says by how much.
    pub detail: String,
}

/// Published figures of one run, and ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Where the figures come from.
    pub source: String,
    /// Name of the published run.
    pub run: String,
    /// One row per published interval.
    pub rows: Vec<PublishedRow>,
    /// Median of |error| over the rows before the plateau, as a share.
    pub median_error_before_plateau: Option<f64>,
    /// Worst |error| over the rows before the plateau, as a share.
    pub worst_error_before_plateau: Option<f64>,
    /// Published mean rate of the whole run, Mb/s, as its source states it.
    pub total_mbit: Option<f64>,
    /// Mean of the published rows, Mb/s.
    pub rows_mbit: f64,
    /// Mean of ours over the same rows, Mb/s.
    pub simulated_rows_mbit: f64,
    /// Seconds until a published row first reached 90 % of the published plateau.
    pub time_to_plateau_s: Option<f64>,
    /// Whether the bands cover all phases; false where an interruption lies between.
    pub band_whole: bool,
}

/// One published interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// Start of the published interval, s.
    pub start_s: f64,
    /// End of the published interval, s.
    pub end_s: f64,
    /// Published bytes.
    pub bytes: u64,
    /// Published rate, Mb/s.
    pub throughput_mbit: f64,
    /// Ours, bytes.
    pub simulated_bytes: u64,
    /// Ours relative to published, minus 1.
    pub error: f64,
    /// Least bytes over all phases of the interval clock and of the path's timers.
    pub band_low: u64,
    /// Most bytes over all phases of the interval clock and of the path's timers.
    pub band_high: u64,
    /// Whether the published row lies within the band.
    pub in_band: bool,
    /// Whether the row counts as ramp (before the plateau).
    pub ramp: bool,
    /// Whether the model's CPU cost was calibrated on this row.
    pub calibrated_on: bool,
}
