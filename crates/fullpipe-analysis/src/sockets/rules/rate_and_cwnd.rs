//! Rate and cwnd alone, without RTT: whether the rate follows cwnd.
//!
//! A flow that cwnd holds sends cwnd in each RTT. Where cwnd changes and the rate stays, RTT changes: a queue takes what
//! cwnd adds, so the path is full. Where the rate follows cwnd, RTT stays: no queue stands, and cwnd holds the flow.
//! A cwnd that neither grows nor falls holds nothing, as Linux raises only a cwnd that is used (`tcp_is_cwnd_limited`).

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::numbers::{count, short};
use crate::pasted::Column;
use crate::words::bytes;

pub const RULE: Rule = Rule { name: "rate-and-cwnd", needs: &[], find };

/// Spread of cwnd below which it stays.
const STAYS: f64 = 0.03;
/// Spread of cwnd from which on its changes would show in the rate.
const MOVES: f64 = 0.08;
/// Spread of the rate over that of cwnd below which the rate does not follow.
const APART: f64 = 0.35;
/// Correlation of both from which on the rate follows.
const TOGETHER: f64 = 0.6;
/// Command that shows the rest.
const DECIDE: &str =
    "`ss -tin` of the sender while the transfer runs: rwnd_limited, sndbuf_limited and rtt";

fn find(facts: &Facts) -> Option<Verdict> {
    let own = &facts.pasted;
    let alone = own.lacks(&[Column::Rtt]) && own.lacks(&[Column::InFlight]);
    if !alone || own.one_look || own.no_socket || own.rate_only {
        return None;
    }
    let (rate, cwnd) = (facts.rate_spread, facts.cwnd.slow_spread);
    let again = facts.loss.retransmitted;
    let size = bytes((facts.cwnd.median * f64::from(facts.mss.max(1))) as u64);
    let spreads =
        format!("cwnd varies by {} %, the rate by {} %", short(cwnd * 100.0), short(rate * 100.0));
    match () {
        () if facts.cwnd.median <= 0.0 => None,

        // A queue takes what cwnd adds.
        () if cwnd >= MOVES && rate <= APART * cwnd => {
            let points = 0.35 + 0.3 * between(rate / cwnd, APART, 0.1);
            let own = Verdict::new("none", "The path", 1.0, points)
                .because(format!("{spreads}: its queue takes what cwnd adds"))
                .remedy("Set nothing: the path is full")
                .twins(&["compete"], "the rate of the path's slowest link");
            Some(Verdict { does: "is full and holds", is_full: true, ..own })
        }
        () if again > 0 && cwnd >= MOVES && facts.cwnd.follows >= TOGETHER => Some(
            Verdict::new("loss", "Loss", 1.0, 0.35 + 0.2 * between(facts.cwnd.follows, TOGETHER, 0.9))
                .because(format!(
                    "the rate follows cwnd (correlation {}), and {} segments were sent again: no queue stands before the losses",
                    short(facts.cwnd.follows),
                    count(again)
                ))
                .remedy("Look for bad optics, cables or radio links, and for short queues and policers on the path")
                .twins(&["small_buffer", "policer"], "`ss -tin` of the sender each second: rtt at each loss"),
        ),
        () if again == 0 && cwnd < STAYS => Some(
            Verdict::new("rwnd_auto", "A window or buffer, and not cwnd,", 1.0, 0.2)
                .because(format!("cwnd stays at {size}, nothing is sent again, and the rate stays"))
                .because("a cwnd that is used up grows")
                .twins(&["sndbuf", "app_write", "none"], DECIDE),
        ),
        () if again > 0 => Some(
            Verdict::new("loss", "Loss, or a full path,", 1.0, 0.2)
                .because(format!("{} segments were sent again; {spreads}", count(again)))
                .twins(&["none", "small_buffer", "policer"], DECIDE),
        ),
        () => Some(
            Verdict::new("rwnd_auto", "Something that these rows do not show", 1.0, 0.1)
                .because(format!("nothing is sent again; {spreads}"))
                .twins(&["sndbuf", "app_write", "none"], DECIDE),
        ),
    }
}
