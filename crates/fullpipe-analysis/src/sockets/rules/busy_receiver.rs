//! The receiving host is slow: data waits there, and an ACK covers many packets.
//!
//! Limits:
//! - A very long queue of data in front of a receiver that joins packets looks alike, so this is never sure.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::short;

pub const RULE: Rule = Rule { name: "busy-receiver", find };

/// RTT over its least beyond what a queue of two products adds to it.
const QUEUE: f64 = 3.2;
/// Segments of an ACK above the two of delayed ACKs: the receiver joins packets that wait (GRO).
const JOINED: f64 = 3.0;
/// Segments of an ACK that one poll of Linux cannot take (NAPI weight): several polls went by before the ACK.
const POLLS: f64 = 64.0;

fn find(facts: &Facts) -> Option<Verdict> {
    let inflated = facts.rtt_p95_us / facts.min_rtt_us.max(1.0);
    let joined = facts.acks.segments;
    let waits = inflated >= QUEUE && joined >= JOINED;
    (waits || (joined >= POLLS && inflated >= 1.2)).then(|| {
        let points = 0.5 + 0.2 * between(joined, 2.0, 6.0);
        let own = Verdict::new("cpu_receiver", "The receiving host", facts.main.cwnd_full, points)
            .because(format!("an ACK covers {} segments", short(joined)))
            .because(format!("RTT grows to {} times its least", short(inflated)))
            .remedy("Look at the CPU and the softirq time of the receiver");
        let decide = "softirq time of the receiver: a very long queue of data looks alike";
        Verdict { would_decide: Some(decide.into()), ..own }
    })
}
