//! SACK is off, and losses cost a round trip each.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::pasted::Column;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "sack-off", needs: &[Column::State], find };

/// Share of time in recovery from which on the lack of SACK costs rate.
///
/// Without SACK a recovery repairs one packet a round trip, with SACK many. Then the share is a few per cent.
const RECOVERS: f64 = 0.16;

fn find(facts: &Facts) -> Option<Verdict> {
    let recovers = facts.whole.recovery;
    let costs = recovers >= RECOVERS;
    (!facts.sack && facts.loss.retransmitted > 0 && costs).then(|| {
        let points = 0.6 + 0.4 * between(recovers, RECOVERS, 2.0 * RECOVERS);
        Verdict::new("sack_off", "Loss without SACK", recovers, points)
            .because("SACK was not agreed, so TCP repairs one lost packet a round trip")
            .because(format!("it recovers {} of the time", percent(recovers)))
            .remedy("Set net.ipv4.tcp_sack to 1 on both hosts")
    })
}
