//! Losses without a queue: by chance, or because a queue is short or a policer drops.

use super::super::facts::{Cut, Facts, quantile, spread};
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::{count, short};

pub const RULE: Rule = Rule { name: "losses", find };

/// RTT at a loss over its least below which no queue was full. This bound parted all runs that were looked at.
const EMPTY: f64 = 1.2;
/// Part of the epochs that have no queue from which on the others do not explain the flow.
const PART: f64 = 0.3;
/// cwnd, packets, up to which RTT says nothing of a queue: delayed ACKs add to it.
const TINY: f64 = 4.0;
/// Segments of an epoch that chance does not lose at once. A queue that overflows drops up to a round trip's growth.
const BURST: f64 = 4.0;
/// Spread of cwnd at losses below which they come at one cwnd: a queue overflows there, and chance does not look.
const SAME: f64 = 0.2;
/// Epochs from which on that spread means something.
const EPOCHS: usize = 4;
/// Part of what was sent again that was lost again: a policer whose bucket is empty drops those too.
const AGAIN: f64 = 0.05;

fn find(facts: &Facts) -> Option<Verdict> {
    let tiny = facts.cwnd.median <= TINY;
    let is_empty = |cut: &&Cut| cut.rtt < EMPTY || tiny;
    let all = &facts.loss.cuts;
    let cuts: Vec<&Cut> = all.iter().filter(is_empty).collect();
    let seen = !cuts.is_empty() && cuts.len() as f64 >= PART * all.len() as f64;
    let unseen = all.is_empty()
        && facts.loss.retransmitted > 0
        && (tiny || facts.rtt_p95_us < EMPTY * facts.min_rtt_us);
    let holds = facts.main.cwnd_full >= 0.3 || facts.main.recovery >= 0.3;
    if !holds || !(seen || unseen) {
        return None;
    }

    let of = |value: fn(&Cut) -> f64| cuts.iter().map(|cut| value(cut)).collect::<Vec<f64>>();
    let largest = match unseen {
        true => facts.loss.retransmitted as f64,
        false => quantile(&of(|cut| cut.segments as f64), 1.0),
    };
    let same = cuts.len() >= EPOCHS && spread(&of(|cut| cut.cwnd)) < SAME;
    let rtt = quantile(&of(|cut| cut.rtt), 0.5);
    let share = facts.main.cwnd_full.max(facts.main.recovery);
    let told = |own: Verdict| {
        own.because(format!("{} epochs of loss without a queue", count(cuts.len() as u64))).because(
            format!(
                "at most {} segments at once, at an RTT of {} times its least",
                short(largest),
                short(rtt)
            ),
        )
    };
    if largest < BURST && !same && !tiny {
        let varies = between(spread(&of(|cut| cut.cwnd)), SAME, 0.5);
        let points = 0.4 + 0.25 * between(cuts.len() as f64, 1.0, 6.0) + 0.25 * varies;
        let own = told(Verdict::new("loss", "Loss by chance", share, points))
            .remedy("Look for bad optics, cables or radio links");
        let decide = "drops of the switches on the path: a very short queue looks alike";
        return Some(Verdict { would_decide: Some(decide.into()), ..own });
    }

    let decide =
        "drops of the receiver (`ethtool -S`, softnet_stat), and of the switches on the path";
    let points = 0.55 + 0.3 * between(largest, BURST, 20.0) - if tiny { 0.2 } else { 0.0 };
    let again = facts.loss.again as f64 / facts.loss.retransmitted.max(1) as f64;
    let (code, who, twins) = match again >= AGAIN {
        true => ("policer", "A policer or a short queue", ["small_buffer", "rx_drop"]),
        false => ("small_buffer", "A short queue of the path", ["policer", "rx_drop"]),
    };
    let pace =
        "Pace the flow below the path's rate, or give the queue at least a tenth of rate x RTT";
    Some(told(Verdict::new(code, who, share, points)).remedy(pace).twins(&twins, decide))
}
