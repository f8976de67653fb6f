//! Places of the way in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Capacity in `unit`s; buffers in bytes of memory. Null where nothing fixed bounds it: a delay without limit, a CPU, or
    /// a buffer of which the kernel tunes some flow's part. Such a part ends at the maximum of net.ipv4.tcp_wmem or tcp_rmem.
    pub capacity: Option<u64>,
    /// Of a buffer that the kernel tunes: bytes of memory up to which it may, net.ipv4.tcp_wmem[2] or tcp_rmem[2] of each flow, added
    /// up with what others have asked for; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tuned_up_to: Option<u64>,
    /// Units that entered. With a real kernel skbs count as segments; the same holds for units that left.
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
    /// has samples alone, and so do send and receive buffers.
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
