//! Slow start ended without a loss, far below the path's capacity.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::{packets, rate};
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "early-ssthresh", needs: &[Column::State], find };

/// Growth of cwnd over the main part from which on the flow has not reached its possible rate.
const GROWS: f64 = 1.05;
/// RTT over its least below which the path has no queue.
const QUEUE: f64 = 1.2;
/// Share of looks at which cwnd is full.
const FULL: f64 = 0.5;
/// Mean rate over the peak below which a slow beginning costs more than slow start does.
const BEGINS: f64 = 0.85;
/// Last rate over the peak from which on the rate has grown to it.
const ENDS: f64 = 0.9;
/// Ssthresh over the path's packets in flight, from which on slow start has done its work. HyStart itself ends between
/// a half and all of them.
const EARLY: f64 = 0.75;
/// Ssthresh over the path's packets in flight, at which slow start ended too early beyond doubt.
const VERY: f64 = 0.5;
/// Share of the host's rate that its other connections get from which on they may fill a queue.
const SHARED: f64 = 0.2;

fn find(facts: &Facts) -> Option<Verdict> {
    let cwnd = &facts.cwnd;
    let ssthresh = cwnd.early_ssthresh?;

    // Part of the path's product that cwnd had reached.
    let part = ssthresh / facts.product().max(1.0);
    let free = facts.inflation() < QUEUE;

    // cwnd still grows without losses, or the rate became high only late.
    let grows = facts.loss.main_retransmitted == 0 && free && cwnd.growth >= GROWS;
    let late = facts.mbit < BEGINS * facts.peak_mbit && facts.last_mbit >= ENDS * facts.peak_mbit;
    // A queue that never overflows and a slow start that went halfway: the way back, not slow start.
    let queues = facts.loss.retransmitted == 0
        && facts.peak_inflation() >= super::ack_path::QUEUE
        && part >= VERY;

    let waits = queues || super::ack_path::is_clock(facts);
    let fires = facts.main.cwnd_full >= FULL && part < EARLY && !waits && (grows || late);
    fires.then(|| {
        let slow = facts.mbit / facts.peak_mbit.max(1e-9);
        // A queue that others fill, or the way back, ends slow start too, but after it has begun.
        let fills = !free || facts.beside >= SHARED;
        let unsure = fills && !cwnd.from_the_first;

        // Points add up evidence: growth, a slow mean, and a low ssthresh.
        let points = 0.5
            + 0.2 * between(cwnd.growth, 1.0, 1.2)
            + 0.1 * between(slow, BEGINS, 0.7)
            + 0.2 * between(part, EARLY, VERY)
            - if unsure { 0.3 } else { 0.0 };

        let own = Verdict::new("ss_short", "Slow start", facts.main.cwnd_full, points)
            .because(format!("it ended at {} without a loss", packets(ssthresh as u64)))
            .because(format!("the rate grows to {} in the end", rate(facts.last_mbit)));
        let own = Verdict { does: "ends early and holds", ..own };

        // An ssthresh at the first look comes from metrics of an earlier connection.
        match cwnd.from_the_first {
            true => own.remedy(
                "Look at `ip tcp_metrics show`, or set net.ipv4.tcp_no_ssthresh_metrics_save to 1",
            ),
            false => own.remedy("Use a longer transfer, or turn HyStart off"),
        }
    })
}
