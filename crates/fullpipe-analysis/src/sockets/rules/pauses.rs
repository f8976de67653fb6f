//! Pauses: the program sends nothing for a while, and nothing is outstanding.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "pauses", find };

/// Share of time without any data from which on pauses cost a tenth of the rate or more. A retransmission timeout is none:
/// data is outstanding.
const EMPTY: f64 = 0.1;

fn find(facts: &Facts) -> Option<Verdict> {
    let empty = facts.whole.empty.max(1.0 - facts.whole.busy);
    (empty >= EMPTY && facts.pauses >= 1 && facts.looks > 4).then(|| {
        let points = 0.6 + 0.4 * between(empty, EMPTY, 0.2);
        Verdict::new("app_onoff", "The sending program", empty, points)
            .because(format!("the socket is empty {} of the time", percent(empty)))
            .remedy("Let the program write without pauses")
    })
}
