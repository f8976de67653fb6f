//! The receiving host is slow: data waits there, an ACK covers many packets, and the window moves.
//!
//! Limits:
//! - A very long queue of data in front of a receiver that joins packets looks alike. Only a window that shrinks is sure.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::short;
use crate::pasted::Column;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "busy-receiver", needs: &[Column::Acks, Column::Rtt], find };

/// RTT over its least, above the effect of a queue of two products.
const LONG: f64 = 3.2;
/// RTT over its least below which nothing waits.
const QUEUE: f64 = 1.3;
/// Segments of an ACK above the two of delayed ACKs: the receiver joins packets that wait (GRO).
const JOINED: f64 = 3.0;
/// Segments of an ACK that one poll of Linux cannot take (NAPI weight): several polls went by before the ACK.
const POLLS: f64 = 64.0;
/// Share of looks at which the window is clearly smaller than once before: data waits in the socket.
const SHRUNK: f64 = super::reader::SHRUNK;
/// Share of looks from which on that is no single stall.
const OFTEN: f64 = 0.3;
/// Share of time in recovery from which on holes, and not a slow reader, may shrink the window.
const RECOVERS: f64 = 0.25;

fn find(facts: &Facts) -> Option<Verdict> {
    let (inflated, joined) = (facts.peak_inflation(), facts.acks.segments);
    let queues = facts.queue() >= super::full_path::BUNCHES;
    // Lost packets leave a hole, and data behind the hole fills the buffer.
    let lossy = facts.main.recovery >= RECOVERS;
    let shrunk = if lossy { 0.0 } else { facts.window.shrunk };

    // A receiver that polls joins segments, and the rate varies with its rounds.
    let polls = queues
        && inflated >= QUEUE
        && joined >= POLLS
        && facts.steadiness() < super::full_path::STEADY;
    let waits = queues && inflated >= LONG && joined >= JOINED;

    (shrunk >= SHRUNK || waits || polls).then(|| {
        let points = 0.5
            + 0.15 * between(joined, 2.0, 6.0)
            + 0.1 * between(inflated, QUEUE, LONG)
            + 0.25 * between(shrunk, 0.0, OFTEN);
        let own = Verdict::new("cpu_receiver", "The receiving host", facts.main.cwnd_full, points)
            .because(format!("segments per ACK: {}", short(joined)))
            .because(format!("RTT grows to {} times its least", short(inflated)))
            .remedy("Look at the CPU and the softirq time of the receiver");

        // A shrinking window is evidence of its own.
        let own = match shrunk >= SHRUNK {
            true => own.because(format!(
                "the window is smaller than before {} of the time",
                percent(shrunk)
            )),
            false => own,
        };
        let decide = "softirq time of the receiver: a very long queue of data looks alike";
        Verdict { would_decide: Some(decide.into()), ..own }
    })
}
