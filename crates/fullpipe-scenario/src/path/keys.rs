//! The keys of the path as a whole.

use super::{Elements, PathQueue, TimerKeys};
use crate::format::context::Context;
use crate::format::keys::Default::{Absent, Empty, Is, Required};
use crate::format::keys::{Kind, Read, Section, group};
use crate::format::node::Node;
use crate::format::special::{DelayLimit, read_short};
use crate::format::values::{AnyRate, AnyTime, Int, Probability};
use fullpipe_base::units::Framing;

group! {
    /// The path, either as one bottleneck (`rate`, `framing`, `delay`, `queue`, `loss`), or as lists of elements (`forward`, `back`). The short form stands for these elements. Forward, data passes "loss" (if there is loss), "link" and "delay". Back, packets pass "back-loss" (if there is loss), "back-link" and "back-delay" (if there is delay). "back-link" is there if data flows backward, or if `rate.back` is written. Both links have the same `queue`. Elements without effect are left out.
    Path "[path]" {
        /// Rate of the bottleneck. It bounds each direction in which data flow; `{ forward, back }` where the directions differ.
        rate: ShortRate, Absent("needed in the short form");
        /// What a rate and a queue in bytes count: the IP packet (1500), with the Ethernet header (1514), or all that a wire takes (1538).
        framing: Framing, Is("ethernet-wire");
        /// Delay without queueing, by direction.
        delay: PathDelay, Empty;
        /// Queue of the bottleneck.
        queue: PathQueue, Empty;
        /// Probability that a segment is lost, each independently: forward, or by direction.
        loss: ShortLoss, Absent("no loss");
        /// Largest IP packet, bytes.
        mtu: Int<68, 65535>, Is("1500");
        /// Whether packets stay skbs of many segments on the path, as between namespaces of a host. Elements then decide about skbs, and runs take less CPU. Engine linux only.
        gso: bool, Is("false");
        /// What data passes, in order.
        forward: Elements, Absent("the short form");
        /// What ACKs pass, in order.
        back: Elements, Absent("the short form");
    }
}

group! {
    /// Rate by direction.
    PathRate "path.rate" {
        /// Rate of data.
        forward: AnyRate, Required;
        /// Rate of what goes back.
        back: AnyRate, Absent("where data flow backward as `forward`, else unlimited");
    }
}

group! {
    /// Delay by direction.
    PathDelay "path.delay" {
        /// Delay of data.
        forward: AnyTime, Is("0s");
        /// Delay of ACKs.
        back: AnyTime, Is("0s");
        /// Packets that the delay holds in each direction (netem's `limit`); more are dropped.
        limit: DelayLimit, Is("unlimited");
        /// netem's timer in kernels without high-resolution timers.
        timer: TimerKeys, Absent("each packet leaves exactly when it is due");
    }
}

group! {
    /// Probability by direction.
    Directions "path.loss" {
        /// Of data.
        forward: Probability, Is("0");
        /// Of ACKs.
        back: Probability, Is("0");
    }
}

/// Rate by direction; a rate alone is the forward one.
#[derive(Clone, Debug)]
pub struct ShortRate(pub PathRate);

impl Read for ShortRate {
    const KIND: Kind = Kind::Short { group: PathRate::GROUP, short: "forward" };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        read_short(node, key, "forward", cx).map(ShortRate)
    }
}

/// Loss by direction; a probability alone is the forward one.
#[derive(Clone, Debug)]
pub struct ShortLoss(pub Directions);

impl Read for ShortLoss {
    const KIND: Kind = Kind::Short { group: Directions::GROUP, short: "forward" };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        read_short(node, key, "forward", cx).map(ShortLoss)
    }
}
