//! Losses without a queue: by chance, or because a queue is short or a policer drops.
//!
//! Chance takes single segments, at any rate. A queue or a policer that overflows drops several, and at one rate.

use super::super::facts::{Cut, Facts, quantile, spread};
use super::super::verdict::{Verdict, between};
use super::{Rule, full_path};
use crate::numbers::{count, short};
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "losses", needs: &[Column::Rtt, Column::InFlight], find };

/// RTT at a loss over its least below which no queue was full. This bound parted all runs that were looked at.
const EMPTY: f64 = 1.2;
/// RTT over its least at which losses have no queue beyond doubt.
const SURELY: f64 = 1.1;
/// RTT over its least from which on they may have one.
const MAYBE: f64 = 1.4;
/// Part of the epochs that have no queue from which on the others do not explain the flow.
const PART: f64 = 0.3;
/// Share of looks at which cwnd is full, or skbs wait, from which on nothing else stops the flow.
const HOLDS: f64 = 0.5;
/// Share of looks at which cwnd is full below which skbs that wait in the host explain as much.
const FILLS: f64 = 0.3;
/// Share of time in recovery from which on losses hold the flow.
const RECOVERS: f64 = 0.3;
/// Share of the host's rate that its other connections get from which on they may fill a queue in front of both.
const SHARED: f64 = 0.2;
/// RTT over its least from which on they do.
const FILLED: f64 = 1.5;
/// cwnd, packets, up to which losses show nothing of their place: a timeout follows most of them.
const TINY: f64 = 4.0;
/// Segments of an epoch that chance does not lose at once. A queue that overflows drops up to a round trip's growth.
const BURST: f64 = 4.0;
/// Part of cwnd that such a burst is at least: among thousands of packets chance takes several.
const BURST_PART: f64 = 0.02;
/// Spread of cwnd at losses below which losses happen at one cwnd: a queue overflows there, and chance does not look.
const SAME: f64 = 0.2;
/// Spread of the rate at losses from which on losses happen at any rate.
const ANY: f64 = 0.2;
/// Spread of cwnd at losses from which on losses happen at any cwnd.
const VARIES: f64 = 0.3;
/// Epochs from which on spread means something.
const EPOCHS: usize = 4;
/// Epochs from which on their spread alone decides, although each loses several segments of a high share.
const MANY: usize = 8;
/// Part of the retransmissions that was lost again: a policer with an empty bucket drops them, too.
const AGAIN: f64 = 0.05;

/// Spread of cwnd in rows that are far apart from which on it moves.
const MOVES: f64 = 0.04;
/// Spread of RTT over that of cwnd up to which RTT does not follow cwnd.
const APART: f64 = 0.5;

/// Epochs of loss that found no queue; none where others explain the flow.
fn empty(facts: &Facts) -> Option<Vec<&Cut>> {
    let is_empty =
        |cut: &&Cut| cut.rtt < EMPTY || facts.bunches(cut.cwnd, cut.rtt) <= full_path::BUNCHES;
    let all = &facts.loss.cuts;
    let cuts: Vec<&Cut> = all.iter().filter(is_empty).collect();
    let seen = !cuts.is_empty() && cuts.len() as f64 >= PART * all.len() as f64;
    let free = facts.peak_inflation() < EMPTY || facts.queue() <= full_path::BUNCHES;
    let unseen = all.is_empty() && facts.loss.retransmitted > 0 && free;

    let main = &facts.main;
    let holds = main.cwnd_full + main.held >= HOLDS || main.recovery >= RECOVERS;
    let shared = facts.beside >= SHARED && facts.inflation() >= FILLED;
    (holds && !shared && (seen || unseen) && !full_path::is_steady(facts)).then_some(cuts)
}

/// True where losses hold the flow and found no queue.
pub fn without_queue(facts: &Facts) -> bool {
    empty(facts).is_some()
}

/// Sizes and places of epochs without a queue.
struct Epochs {
    /// Epochs.
    count: usize,
    /// Segments of the largest.
    largest: f64,
    /// The largest is more than chance takes at once.
    bursts: bool,
    /// Spread of cwnd before them.
    cwnd: f64,
    /// Spread of the rate before them.
    rate: f64,
    /// Median of RTT over its least.
    rtt: f64,
}

impl Epochs {
    fn new(facts: &Facts, cuts: &[&Cut]) -> Epochs {
        let of = |value: fn(&Cut) -> f64| cuts.iter().map(|cut| value(cut)).collect::<Vec<f64>>();
        let unseen = facts.loss.retransmitted as f64;
        let is_burst = |segments: f64, cwnd: f64| segments >= BURST.max(BURST_PART * cwnd);
        let largest = quantile(&of(|cut| cut.segments as f64), 1.0);
        // The first epoch has no rate before it if it is at the first look.
        let rates: Vec<f64> = of(|cut| cut.mbit).into_iter().filter(|mbit| *mbit > 0.0).collect();

        // Losses that no look parts into epochs count as one.
        match cuts.is_empty() {
            true => Epochs {
                count: 0,
                largest: unseen,
                bursts: is_burst(unseen, facts.cwnd.largest),
                cwnd: 0.0,
                rate: 0.0,
                rtt: facts.inflation(),
            },
            false => Epochs {
                count: cuts.len(),
                largest,
                bursts: cuts.iter().any(|cut| is_burst(cut.segments as f64, cut.cwnd)),
                cwnd: spread(&of(|cut| cut.cwnd)),
                rate: spread(&rates),
                rtt: quantile(&of(|cut| cut.rtt), 0.5),
            },
        }
    }

    /// True where chance explains them.
    fn by_chance(&self) -> bool {
        let same = self.count >= EPOCHS && self.cwnd < SAME;
        let any = self.count >= MANY && self.cwnd >= VARIES && self.rate >= ANY;
        any || (!self.bursts && !same)
    }
}

fn find(facts: &Facts) -> Option<Verdict> {
    // Losses with a queue in front belong to the full path.
    let epochs = Epochs::new(facts, &empty(facts)?);
    let tiny = facts.cwnd.median <= TINY;
    let share = facts.main.cwnd_full.max(facts.main.recovery);
    let because_of_losses = |own: Verdict| {
        let size = format!(
            "at most {} segments at once, at an RTT of {} times its least",
            short(epochs.largest),
            short(epochs.rtt)
        );
        let plural = if epochs.count == 1 { "" } else { "s" };
        let number = count(epochs.count as u64);
        own.because(format!("{number} epoch{plural} of loss without a queue")).because(size)
    };

    let free = between(facts.peak_inflation(), MAYBE, SURELY);

    // Rows that are far apart sum up several epochs: neither their sizes nor their places are seen.
    if facts.pasted.lacks(&[Column::Moments]) {
        // Where cwnd moves and RTT does not, no queue takes what cwnd adds.
        let moves = facts.cwnd.spread >= MOVES && facts.rtt_spread <= APART * facts.cwnd.spread;
        let points = if moves { 0.4 + 0.2 * free } else { 0.2 };
        let twins = ["small_buffer", "policer", "none"];
        let twins = if moves { &twins[..2] } else { &twins[..] };
        let decide = "`ss -tin` of the sender ten times a second: cwnd and rtt at each loss";
        return Some(
            Verdict::new("loss", "Loss without a queue", share, points)
                .because(format!(
                    "{} segments are sent again, at an RTT of {} times its least",
                    count(facts.loss.retransmitted),
                    short(epochs.rtt)
                ))
                .because("cwnd is full, and RTT does not grow with it")
                .remedy("Look for bad optics, cables or radio links, and for short queues and policers on the path")
                .twins(twins, decide),
        );
    }

    // Chance takes single packets at any cwnd and any rate.
    if epochs.by_chance() && !tiny {
        let points = 0.4
            + 0.15 * between(epochs.count as f64, 1.0, 5.0)
            + 0.15 * between(epochs.cwnd, SAME, 0.4)
            + 0.15 * between(epochs.rate, ANY / 2.0, 1.5 * ANY)
            + 0.1 * free
            - 0.15 * facts.doubt();
        let own = because_of_losses(Verdict::new("loss", "Loss by chance", share, points))
            .remedy("Look for bad optics, cables or radio links");
        let decide = "drops of the switches on the path: a very short queue looks alike";
        return Some(Verdict { would_decide: Some(decide.into()), ..own });
    }

    // Else a queue too short to show in RTT has overflowed.
    let decide =
        "drops of the receiver (`ethtool -S`, softnet_stat), and of the switches on the path";

    // A short queue overflows at one rate, so an even rate supports it.
    let one_rate = if epochs.count >= EPOCHS { between(epochs.rate, ANY, ANY / 2.0) } else { 0.0 };
    let held = if facts.main.cwnd_full < FILLS { 0.2 } else { 0.0 };
    let points = 0.4 + 0.25 * free + 0.25 * between(epochs.largest, BURST, 20.0).max(one_rate)
        - if tiny { 0.1 } else { held }
        - 0.15 * facts.doubt();

    // Retransmissions that are lost again point to a bucket without tokens.
    let again = facts.loss.again as f64 / facts.loss.retransmitted.max(1) as f64;
    let (code, who, twins) = match again >= AGAIN {
        true => ("policer", "A policer or a short queue", ["small_buffer", "rx_drop"]),
        false => ("small_buffer", "A short queue of the path", ["policer", "rx_drop"]),
    };
    let pace =
        "Pace the flow below the path's rate, or give the queue at least a tenth of rate x RTT";
    Some(
        because_of_losses(Verdict::new(code, who, share, points))
            .remedy(pace)
            .twins(&twins, decide),
    )
}
