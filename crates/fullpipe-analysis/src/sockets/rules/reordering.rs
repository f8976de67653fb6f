//! The path reorders packets, and TCP takes late ones for lost.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::count;
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "disorder", needs: &[Column::State], find };

/// Times that reordering was seen from which on it is no accident of a retransmission.
const SEEN: u64 = 3;
/// Part of the retransmissions that arrived twice: so much was not lost.
const NEEDLESS: f64 = 0.3;

/// Degree from which on the order of packets costs rate: TCP has already raised it above the usual 3, and still repairs.
const FAR: u32 = 10;
/// Share of time in recovery from which on reordering costs rate though no reduction was taken back.
const RECOVERS: f64 = 0.3;

fn find(facts: &Facts) -> Option<Verdict> {
    let order = &facts.order;
    let seen = order.seen.max(order.counted);

    // Segments that arrived twice were late, not lost.
    let needless = order.twice as f64 / facts.loss.retransmitted.max(1) as f64;
    let recovers = facts.whole.recovery >= RECOVERS;

    // TCP copes with some reordering: only a cost is a cause.
    let harms = needless >= NEEDLESS || facts.loss.undone > 0 || recovers;
    let is_far = seen >= SEEN && order.degree >= FAR && harms;
    // Late packets that were sent again arrived twice: TCP undid its reduction.
    let fires = is_far || (needless >= NEEDLESS && facts.loss.undone > 0 && order.twice >= SEEN);

    fires.then(|| {
        let points = 0.5
            + 0.25 * between(needless, 0.0, 0.6)
            + 0.25 * between(seen.max(facts.loss.undone) as f64, 0.0, 6.0);
        Verdict::new("reorder", "Reordering", facts.main.cwnd_full, points)
            .because(format!("packets overtake others by up to {}", order.degree))
            .because(format!(
                "{} of {} segments that were sent again had arrived",
                count(order.twice),
                count(facts.loss.retransmitted)
            ))
            .remedy("Look for links that share one flow's packets (bonding, ECMP by packet)")
    })
}
