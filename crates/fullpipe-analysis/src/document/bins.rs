//! Values of the document over time, in bins of equal length.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
