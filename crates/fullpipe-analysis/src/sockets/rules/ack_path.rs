//! The way back holds ACKs: RTT and cwnd keep growing, the rate stays, and nothing is lost.
//!
//! A link with a queue is steady in what it carries. A link of data delivers data at a steady rate. A link of ACKs delivers
//! ACKs at a steady rate, and each of them may acknowledge more: a full queue of ACKs drops some, and later ones stand in
//! for them. So data that varies behind steady ACKs waits on the way back, even where some of it is lost.
//!
//! Limits:
//! - A very long queue of data looks alike, so the cause is never sure. Such a queue overflows in the end.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::short;
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "slow-acks", needs: &[Column::Acks, Column::Rtt], find };

/// RTT over its least from which on slow start fills a queue of one product, so that it overflows. A queue of ACKs does
/// not.
pub const QUEUE: f64 = 2.0;
/// RTT over its least, above the effect of a queue of two products.
const LONG: f64 = 3.2;
/// Segments of an ACK up to which the receiver sends its delayed ACKs as ever: it is not busy.
const DELAYED: f64 = 3.0;
/// ACKs in equal times vary by less than this part where a slow link of theirs is their clock.
const STEADY: f64 = 0.1;
/// Variation of ACKs over that of data, up to which the ACKs are the clock: at most a quarter of the variance is theirs.
const CLOCK: f64 = 0.5;

/// True where ACKs come steadily while data varies, and RTT shows a standing queue: the queue is one of ACKs.
///
/// In recovery each segment behind a hole has an ACK of its own. ACKs of a link of data then vary more than the data does.
pub fn is_clock(facts: &Facts) -> bool {
    let varies = facts.acks.data_spread >= STEADY;
    varies && facts.acks.spread <= CLOCK * facts.acks.data_spread && facts.inflation() >= QUEUE
}

fn find(facts: &Facts) -> Option<Verdict> {
    let inflated = facts.peak_inflation();

    // A queue of data would overflow sooner or later; ACKs that wait lose nothing.
    let never = facts.loss.retransmitted == 0 && inflated >= QUEUE;
    let rarely = facts.loss.main_retransmitted == 0 && inflated >= LONG;
    // The timer of the handshake went off twice, and no data was lost: the way back loses packets.
    let timers = facts.loss.timeouts > 1 && facts.loss.retransmitted == 0;

    let quiet = (never || rarely) && (facts.acks.segments < DELAYED || timers);
    (quiet || is_clock(facts)).then(|| {
        // A slow link lets ACKs through at an even pace.
        let steady = 1.0 - between(facts.acks.spread, STEADY, 3.0 * STEADY);
        let points = 0.5 + 0.15 * between(inflated, QUEUE, 6.0) + 0.1 * steady;
        let seen = match quiet {
            true => "and nothing is lost",
            false => "while ACKs come more steadily than data is delivered",
        };
        let who = match inflated >= LONG {
            true => "The way back, or a very long queue on the path,",
            false => "The way back",
        };
        let own = Verdict::new("ack_path", who, facts.main.cwnd_full, points)
            .because(format!("RTT grows to {} times its least, {seen}", short(inflated)))
            .because(format!("{} ACKs come in a second", short(facts.acks.rate)))
            .remedy("Look for a slow or full link on the way back, and for a queue that is much longer than the path");

        // The sender's sockets alone cannot separate the two ways.
        let decide = "one-way delays: a very long queue of data on the way forward looks alike";
        Verdict { would_decide: Some(decide.into()), ..own }
    })
}
