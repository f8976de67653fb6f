//! The one document a run ends in: `summary.json`, `fullpipe run --json`, and what every report shows.
//!
//! Field names are the format; [`FORMAT`] counts its incompatible changes. Units stand in the names.

use super::compare::Pair;
use super::fairness::Fairness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Version of the document.
pub const FORMAT: u32 = 1;

/// All runs of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of this format.
    pub format: u32,
    /// What was asked.
    pub scenario: ScenarioInfo,
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
    /// Engine that made the trace.
    pub engine: String,
    /// What the engine did otherwise than the scenario says, by key; absent where it did everything exactly.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub substituted: Vec<String>,
    /// Kernels of its hosts whose profile nothing genuine judges; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unjudged: Vec<String>,
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
    /// Published figures beside the simulated ones, where the scenario names some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub published: Option<Published>,
    /// What was kept of its packets; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packets: Option<Packets>,
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

/// One flow of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Name in the scenario.
    pub name: String,
    /// Whether its data goes from the receiver to the sender; absent where it does not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub backward: bool,
    /// The host that sends its data; absent where that is `sender`, or `receiver` of one that goes backward.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Congestion control.
    pub congestion: String,
    /// Sender's kernel profile.
    pub kernel: String,
    /// Simulated second at which the interval clock starts (t = 0 of `start_s`).
    pub clock_start_s: f64,
    /// What happened per interval (one second by default).
    pub intervals: Vec<Interval>,
    /// Finer series for drawing; bucket length in `bucket_s`.
    pub series: Series,
    /// Share of the flow's life by what held it back; names as in the docs, sum 1.
    pub limits: BTreeMap<String, f64>,
    /// Share of the flow's life in which cwnd held it back after drops or marks had cut it, by their place: a part of what
    /// `limits` says of cwnd; absent where there is none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub cuts: BTreeMap<String, f64>,
    /// Bytes read by the receiving application.
    pub bytes: u64,
    /// Segments retransmitted.
    pub retransmitted_segments: u64,
    /// Mean rate over the flow's life, Mb/s of payload.
    pub mean_mbit: f64,
    /// Its second half, in which it may have settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled: Option<Settled>,
    /// Plateau: median of the highest intervals, Mb/s; absent where none was reached.
    pub plateau_mbit: Option<f64>,
    /// Seconds until an interval first reached 90 % of the plateau.
    pub time_to_plateau_s: Option<f64>,
    /// Seconds to the end of the first of three intervals in a row that delivered 90 % of what the path's slowest link, or a
    /// card that is slower, can carry; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_full_rate_s: Option<f64>,
    /// How slow start went; absent where no RTT was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slow_start: Option<SlowStart>,
    /// Its rounds, up to the 200th: the first begins with the first data, each other one with the first ACK of data that was sent in
    /// the one before. Absent where the trace does not tell them: of a genuine kernel with less than four samples in an RTT.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slow_start_rounds: Option<Vec<Round>>,
    /// Medians over its samples from its first RTT on; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub medians: Option<Medians>,
    /// Seconds from connect() until the receiver had read everything; absent where the run ended before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_s: Option<f64>,
    /// What the CPUs of its hosts worked while it lived, as nuttcp prints it; absent where that costs nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuShares>,
    /// The kernel gave the connection up; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub aborted: Option<Aborted>,
    /// What happened, as the trace's samples show it: the first 2,000 moments.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub moments: Vec<Moment>,
    /// Moments that were left out; absent where all are there.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub moments_left_out: u64,
}

/// A counter of a host at the end of the run, as the last row of its name in `counters.parquet` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCounter {
    /// Which host; "kernel" where several share it.
    pub host: String,
    /// Where it is read (tc, ethtool, softnet, Tcp, TcpExt) and its name there, as in "TcpExt.TCPTimeouts".
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// Datagrams of one program. They have no congestion control, window or connection, so nothing of a flow's facts but these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// Name in the scenario.
    pub name: String,
    /// "udp" or "ping".
    pub kind: String,
    /// Whether they go from the receiver to the sender; absent where they do not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub backward: bool,
    /// Payload of each, bytes.
    pub size: u32,
    /// How many the program wrote.
    pub sent: u64,
    /// Of these, those that the full qdisc refused (ENOBUFS).
    pub refused: u64,
    /// How many were read (udp) or came back (ping), those included that came again.
    pub received: u64,
    /// Numbers that were left out below the highest one that came (udp), or requests without an answer by the run's end (ping).
    pub lost: u64,
    /// Of lost and received ones together those lost (0 to 1).
    pub loss_share: f64,
    /// How many came again.
    pub duplicates: u64,
    /// How many came behind a higher number; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reordered: Option<u64>,
    /// For how many the receiving socket had no room (UdpRcvbufErrors); absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rcvbuf_errors: Option<u64>,
    /// Payload that was read, over the time in which it was sent, Mb/s; absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_mbit: Option<f64>,
    /// Jitter at the end, as iperf prints it (RFC 3550, 6.4.1); absent with ping.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter_ms: Option<f64>,
    /// Round trips as ping prints them; absent with udp, and where none came back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt_ms: Option<RoundTrips>,
}

/// Round trips of echo requests, ms, from whole microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// The least.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The largest.
    pub max: f64,
    /// Root of the mean square less the mean's square.
    pub mdev: f64,
}

/// Working time of hosts' CPUs over elapsed time (0 to 1), whatever they worked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuShares {
    /// Of the host that sends the flow's data.
    pub sender: f64,
    /// Of the host that receives it.
    pub receiver: f64,
}

/// What a flow has at half of its samples, and more at the others: the lower one of two middle ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Medians {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: u32,
}

/// The second half of a flow's life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Mean rate in it, Mb/s of payload.
    pub mbit: f64,
    /// How often the flow entered Recovery or Loss from another state, in its whole life.
    pub loss_epochs: u64,
    /// Whether the rate is a steady one: the flow had 30 loss epochs or more, or its rates in the last three quarters of its life
    /// are within 1 %.
    pub steady: bool,
}

/// The first slow start of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowStart {
    /// The sample that shows cwnd at ssthresh, or a recovery, seconds since the flow's interval clock started; null where it
    /// did not end.
    pub ended_s: Option<f64>,
    /// Largest cwnd by then, packets.
    pub cwnd: u32,
    /// Whether a loss ended it.
    pub by_loss: bool,
    /// Segments sent again in the recovery in which it ended, or that began within an RTT.
    pub resent_segments: u64,
    /// The most that waited at the link up to an RTT after its end, as the time that it takes to send; where the link's
    /// rate varies the largest srtt until then, beside the least one, s.
    pub queued_s: f64,
}

/// A round of the first slow start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// When it begins, seconds since the flow's interval clock started; below 0 before that.
    pub start_s: f64,
    /// When the next one begins or slow start ends; null where neither was seen.
    pub end_s: Option<f64>,
    /// Segments sent in it for the first time.
    pub segments: u64,
}

/// The end of a connection that the kernel has given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aborted {
    /// When one side was told, seconds since the flow's interval clock started.
    pub at_s: f64,
    /// What it was told, as Linux numbers errors: 110 timed out, 104 reset.
    pub errno: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Something that a sample shows and the one before it does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// The sample's time, seconds since the flow's interval clock started; it happened since the sample before.
    pub at_s: f64,
    /// "timeout" (the retransmission timer fired), "state" (the congestion state is another one),
    /// "retransmitted" or "aborted" (the kernel gave the connection up).
    pub what: Happened,
    /// How many segments or timeouts, or which congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss; or the errno
    /// of what was given up.
    pub value: u64,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Happened {
    /// The retransmission timer fired.
    Timeout,
    /// The congestion state is another one.
    State,
    /// Segments were retransmitted.
    Retransmitted,
    /// The kernel gave the connection up.
    Aborted,
}

/// One interval of the report (gauges: value at its end).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, seconds since the flow's interval clock started.
    pub start_s: f64,
    /// End, seconds since the flow's interval clock started.
    pub end_s: f64,
    /// Bytes delivered to the receiving application in it.
    pub bytes: u64,
    /// Segments delivered to the receiving application in it.
    pub segments: u64,
    /// Delivered payload, Mb/s (10^6), over the time that the interval's samples cover: its length
    /// where both bounds are samples of the trace.
    pub throughput_mbit: f64,
    /// Segments retransmitted in it.
    pub retransmitted_segments: u64,
    /// Congestion window at its end, packets.
    pub cwnd: u32,
    /// Slow start threshold at its end, packets; null is infinite.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT at its end, us; null before the first sample.
    pub srtt_us: Option<u32>,
    /// Packets in flight at its end.
    pub in_flight: u32,
    /// Packets waiting at its end in front of the slowest link, or of the sender's card where that is slower.
    pub queue: u64,
    /// Share of the interval by limit, sum 1.
    pub limits: BTreeMap<String, f64>,
}

/// Column-wise series for figures, equal lengths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Length of a bucket, s.
    pub bucket_s: f64,
    /// End of each bucket, seconds since the flow's interval clock started.
    pub end_s: Vec<f64>,
    /// Delivered payload in the bucket, Mb/s.
    pub throughput_mbit: Vec<f64>,
    /// Congestion window, packets.
    pub cwnd: Vec<u32>,
    /// Slow start threshold, packets; null is infinite.
    pub ssthresh: Vec<Option<u32>>,
    /// Packets in flight.
    pub in_flight: Vec<u32>,
    /// Advertised window as the sender knows it, packets of one MSS.
    pub snd_wnd_packets: Vec<u32>,
    /// Smoothed RTT, us.
    pub srtt_us: Vec<Option<u32>>,
    /// Packets in the bottleneck's queue (highest in the bucket).
    pub queue: Vec<u64>,
    /// Per limit name, its share of each bucket.
    pub limits: BTreeMap<String, Vec<f32>>,
}

/// What passed, waited and was dropped over time: columns of equal lengths, an element per bin. What the bins count adds up to what
/// the run counts. A bin ends with the last sample up to its bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bins {
    /// Length that was asked for (`report.bin`), s.
    pub bin_s: f64,
    /// Start of each bin, simulated seconds.
    pub start_s: Vec<f64>,
    /// End of each bin, simulated seconds.
    pub end_s: Vec<f64>,
    /// One per flow of the run, in its order.
    pub flows: Vec<Rates>,
    /// All flows together.
    pub sum: Rates,
    /// Places that hold packets, in their order; those are left out in which nothing ever waited and nothing was dropped.
    pub places: Vec<PlaceBins>,
}

/// What a flow, or all of them, sent and delivered in each bin. Bytes are payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Bytes that the sender's TCP gave to its qdisc, retransmissions included.
    pub sent_bytes: Vec<u64>,
    /// Of these, bytes sent again.
    pub retransmitted_bytes: Vec<u64>,
    /// Bytes acknowledged at the sender.
    pub acked_bytes: Vec<u64>,
    /// Bytes read by the receiving application.
    pub delivered_bytes: Vec<u64>,
    /// `sent_bytes` over the bin's length, Mb/s.
    pub sent_mbit: Vec<f64>,
    /// `delivered_bytes` over the bin's length, Mb/s.
    pub delivered_mbit: Vec<f64>,
}

/// What waited in a place and was dropped by it, in the stage's units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceBins {
    /// Name of the stage.
    pub stage: String,
    /// Mean number waiting in the bin; at its samples where the place is not `exact`.
    pub mean: Vec<f64>,
    /// Highest number waiting in the bin.
    pub peak: Vec<u64>,
    /// Units dropped in the bin.
    pub dropped: Vec<u64>,
}

/// A stage's counters over the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// Unique name, for instance "sender.qdisc".
    pub name: String,
    /// Kind, for instance "qdisc".
    pub kind: String,
    /// "forward" or "back".
    pub direction: String,
    /// What is counted: "skb", "segment", "byte". Of a link whose queue is given in bytes, and of a
    /// receive buffer, only the capacity is in bytes: counters count segments.
    pub unit: String,
    /// Capacity in `unit`s; null where nothing fixed bounds it: a delay without limit, a send or
    /// receive buffer of which the kernel tunes any flow's part (up to the maximum of net.ipv4.tcp_wmem or tcp_rmem), a CPU.
    /// Buffers are bounded in bytes of memory.
    pub capacity: Option<u64>,
    /// Units that entered; of a genuine kernel's skbs the segments, and so with those that left.
    pub entered: u64,
    /// Units that left.
    pub left: u64,
    /// Units dropped.
    pub dropped: u64,
    /// Units marked (ECN) instead of dropped; they have entered, too.
    #[serde(default)]
    pub marked: u64,
    /// Of a qdisc: skbs that the driver refused for want of descriptors, and that were offered to it again.
    #[serde(default)]
    pub requeues: u64,
    /// Units still waiting at the end.
    pub waiting: u64,
    /// Highest number waiting.
    pub peak: u64,
    /// Mean number waiting; at the samples where its place in `picture` is not `exact`.
    pub mean_waiting: f64,
    /// Seconds of work.
    pub busy_s: f64,
    /// Seconds it refused new work.
    pub blocked_s: f64,
}

/// The path as it is drawn, beside the counters of its stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// Seconds between the samples that tell `mean_filled`, `full` and `empty` of places that are not `exact`; what happens between
    /// two of them is not seen.
    pub step_s: f64,
    /// One per stage, in the packets' order: the data's way, then the way back.
    pub places: Vec<Place>,
}

/// How full a stage was, and of which flows it was the limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Name of the stage.
    pub stage: String,
    /// The host that it is part of; null for what lies between the hosts.
    pub host: Option<String>,
    /// Whether `mean_filled`, `full` and `empty` count all of the run's time; false: the samples, `step_s` apart. Engine `linux`
    /// tells samples alone, and so do send and receive buffers.
    #[serde(default)]
    pub exact: bool,
    /// Mean share of the capacity that was used; null without a capacity.
    pub mean_filled: Option<f64>,
    /// Largest share of the capacity that was used; of one in bytes, at a sample; null without a capacity.
    pub peak_filled: Option<f64>,
    /// Share of the time, or of the samples, in which something waited and one more had no room; null without a capacity.
    pub full: Option<f64>,
    /// Share of the time, or of the samples, in which nothing waited; null where nothing can wait.
    pub empty: Option<f64>,
    /// Per flow of which it was the limit, the share of the flow's life, in which is that of cwnd that drops or marks here
    /// had cut. Limits that are no place (cwnd that nothing has cut, Nagle's rule, the pace) are in none, so that they need not
    /// add up to 1.
    pub limits: BTreeMap<String, f64>,
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

/// Published figures of one run beside ours.
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
    /// Whether the bands cover all phases; false where an interruption came between.
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
