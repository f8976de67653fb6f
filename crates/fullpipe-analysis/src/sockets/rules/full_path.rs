//! The path is full: its queue grows with cwnd.

use super::super::facts::{Facts, quantile};
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::short;

pub const RULE: Rule = Rule { name: "path-is-full", find };

/// RTT over its least from which on a queue stands in front of the flow.
const QUEUE: f64 = 1.1;

fn find(facts: &Facts) -> Option<Verdict> {
    let standing = facts.rtt_p95_us / facts.min_rtt_us.max(1.0);
    let cuts: Vec<f64> = facts.loss.cuts.iter().map(|cut| cut.rtt).collect();
    let at_cuts = quantile(&cuts, 0.5);
    (standing >= QUEUE).then(|| {
        let points = 0.4 + 0.4 * between(standing, 1.0, 1.5) + 0.2 * between(at_cuts, 1.0, 1.5);
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
