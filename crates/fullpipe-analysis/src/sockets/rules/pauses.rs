//! Pauses: the program sends nothing for longer than a round trip, and nothing is outstanding.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::pasted::Column;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "pauses", needs: &[Column::Clocks, Column::InFlight], find };

/// Share of time without any data from which on pauses cost a tenth of the rate. A retransmission timeout is none: data is
/// outstanding.
const EMPTY: f64 = 0.1;
/// Share of time without any data from which on a pause may hold back the growth of cwnd. No bulk transfer is ever empty.
const RARELY: f64 = 0.02;
/// Mean rate over the peak below which a flow has lost a fifth to its slow parts.
const SLOW: f64 = 0.8;
/// Spread of the rate below which small writes are even: the program writes little, and does not pause.
const EVEN: f64 = 0.3;
/// Share of time without anything on the wire from which on pauses are a cause.
const ON_WIRE: f64 = 0.15;
/// Share of looks without anything to send of a program that writes little.
const IDLE: f64 = 0.5;

fn find(facts: &Facts) -> Option<Verdict> {
    let empty = facts.whole.empty.max(1.0 - facts.whole.busy);
    let costs = match facts.pasted.wire {
        // The wire is empty between an ACK and the data that it lets go, too.
        Some(_) => empty >= ON_WIRE,
        None => costs(facts, empty),
    };
    let is_even = facts.rate_spread < EVEN && facts.main.idle >= IDLE;
    (costs && !is_even && facts.pauses >= 1 && facts.looks > 4).then(|| {
        let points = 0.6 + 0.4 * between(empty, EMPTY, 2.0 * EMPTY);
        Verdict::new("app_onoff", "The sending program", empty, points)
            .because(format!("the socket is empty {} of the time", percent(empty)))
            .remedy("Let the program write without pauses")
    })
}

/// Whether a socket without data for that share of time costs rate.
fn costs(facts: &Facts, empty: f64) -> bool {
    empty >= EMPTY || (empty >= RARELY && facts.mbit < SLOW * facts.peak_mbit)
}
