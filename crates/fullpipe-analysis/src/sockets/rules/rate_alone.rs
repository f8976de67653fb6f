//! A rate over time and nothing else: it grows, stalls, stays, or does none of these.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::{count, rate};
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "rate-alone", needs: &[], find };

/// Looks below which a shape means nothing.
const LOOKS: usize = 6;
/// Share of intervals that are faster than the one before from which on the rate grows.
const RISES: f64 = 0.75;
/// Last rate over an early one from which on growth costs much.
const GREW: f64 = 1.5;
/// Spread of the rate below which it stays.
const STAYS: f64 = 0.04;
/// Command that shows the rest.
const DECIDE: &str =
    "`ss -tin` of the sender while the transfer runs: cwnd, ssthresh, rwnd_limited, sndbuf_limited";

fn find(facts: &Facts) -> Option<Verdict> {
    let own = &facts.pasted;
    let alone = own.lacks(&[Column::Rtt]) && own.lacks(&[Column::InFlight]);
    let has_cwnd = facts.cwnd.median > 0.0;
    if !alone || own.one_look || own.no_socket || has_cwnd || facts.looks < LOOKS {
        return None;
    }
    let shape = &facts.shape;
    let (early, last) = (rate(shape.early_mbit), rate(facts.last_mbit));
    match () {
        () if shape.stalls > 0 => Some(
            Verdict::new("loss", "A stall", shape.stalls as f64 / facts.looks as f64, 0.2)
                .because(format!(
                    "{} intervals have less than a twentieth of an earlier one's rate",
                    count(shape.stalls as u64)
                ))
                .twins(&["app_onoff", "small_buffer"], DECIDE),
        ),
        () if shape.rises >= RISES && facts.last_mbit >= GREW * shape.early_mbit => {
            let points = 0.35 + 0.3 * between(shape.rises, RISES, 0.95);
            let made = Verdict::new("ss_short", "The growth of cwnd or window", 1.0, points)
                .because(format!("the rate grows from {early} to {last}"))
                .remedy(
                    "Look at ssthresh (`ss -tin`, `ip tcp_metrics show`), and use longer transfers",
                )
                .twins(&["rwnd_grow", "compete"], DECIDE);
            Some(Verdict { does: "is slow and holds", ..made })
        }
        () if facts.rate_spread < STAYS => Some(
            Verdict::new("rwnd_auto", "A window, a buffer or a link", 1.0, 0.2)
                .because(format!("the rate stays at {last}"))
                .twins(&["sndbuf", "none", "app_write"], DECIDE),
        ),
        () => None,
    }
}
