//! The path is full: its queue grows with cwnd, and its link never runs empty.

use super::super::facts::{Facts, quantile};
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::short;
use crate::pasted::Column;

pub(super) const RULE: Rule = Rule { name: "path-is-full", needs: &[Column::Rtt], find };

/// RTT over its least from which on a queue is in front of the flow.
const QUEUE: f64 = 1.1;
/// Bunches of ACKs that wait from which on it is a queue: one bunch and a parted one wait without any.
pub const BUNCHES: f64 = 2.0;
/// Rate over the rate of the fastest intervals, from which on the link never runs empty.
pub const STEADY: f64 = 0.97;
/// Rate over the rate of the fastest intervals, below which the link often runs empty, unless other flows take the
/// rest.
pub const VARIES: f64 = 0.9;
/// RTT at losses over its least from which on a queue overflowed.
pub const CUT: f64 = 1.3;
/// RTT over its least, above the effect of a queue of two products: a slow way back or receiver looks alike.
const LONG: f64 = 3.2;
/// Time that packets wait in rows of a text from which on a queue holds them, us.
const LEAST_US: f64 = 1_000.0;
/// Share of segments sent again from which on a captured flow is not healthy.
const MANY: f64 = 0.05;
/// Segments of an ACK from which on the receiver joins packets that wait: its CPU may be the bottleneck.
const JOINED: f64 = 3.0;

/// True where the rate stays although RTT shows that data waits: a link that always has work.
pub fn is_steady(facts: &Facts) -> bool {
    facts.steadiness() >= STEADY && facts.peak_inflation() >= QUEUE
}

fn find(facts: &Facts) -> Option<Verdict> {
    let standing = facts.peak_inflation();
    let cuts: Vec<f64> = facts.loss.cuts.iter().map(|cut| cut.rtt).collect();
    let at_cuts = quantile(&cuts, 0.5);

    // A queue that overflows stands high when losses cut cwnd.
    let queued = at_cuts >= CUT && facts.main.cwnd_full >= 0.5;
    // Means of rows do not part a queue from the time that a host takes.
    let means = facts.pasted.lacks(&[Column::Moments]);
    if means && facts.rtt_p95_us < facts.min_rtt_us + LEAST_US {
        return None;
    }

    // Packets of a program's bursts wait in a queue, too, which runs empty between them.
    let rests = facts.pasted.wire.is_some_and(|own| own.flight_dips < super::flat_flight::RESTS);
    let loses = facts.pasted.wire.is_some() && facts.loss.share >= MANY;
    if rests || loses {
        return None;
    }

    // A path that delivers nothing is not full.
    let delivers = facts.main_mbit > 0.0;
    (delivers && (standing >= QUEUE || queued)).then(|| {
        let steady = between(facts.steadiness(), VARIES, STEADY);

        // Evidence for a queue, less evidence for a slow receiver or a slow way back.
        let points = 0.3
            + 0.2 * between(standing, 1.0, 1.4)
            + 0.15 * between(at_cuts, 1.0, 1.5)
            + 0.2 * between(facts.queue(), BUNCHES, 2.0 * BUNCHES)
            + 0.15 * steady
            - 0.1 * between(facts.acks.segments, JOINED, 2.0 * JOINED)
            - 0.15 * between(standing, LONG, 1.5 * LONG)
            - 0.2 * facts.doubt();

        // Other connections of the host show that the path is shared.
        let code = if facts.beside >= 0.2 { "compete" } else { "none" };
        let twin = if facts.beside >= 0.2 { "none" } else { "compete" };
        let own = Verdict::new(code, "The path", facts.main.cwnd_full, points)
            .because("the path's queue grows with cwnd: the path is full")
            .because(format!("RTT grows to {} times its least", short(standing)))
            .remedy("Set nothing: the path is full")
            .twins(&[twin], "the rate of the path's slowest link");
        Verdict { does: "is full and holds", is_full: true, ..own }
    })
}
