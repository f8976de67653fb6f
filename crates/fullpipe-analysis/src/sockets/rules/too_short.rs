//! A transfer that slow start has not left: nothing had the time to limit it.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::numbers::seconds;

pub const RULE: Rule = Rule { name: "short-transfer", needs: &[], find };

/// Looks below which no share of time means anything.
const LOOKS: usize = 4;
/// Round trips below which a slow start that nothing stopped is the transfer: 2^10 initial windows fill nearly every path.
const ROUND_TRIPS: f64 = 10.0;
/// Share of time from which on window or buffer, and not its length, stop a short transfer: its end has no data.
const STOPPED: f64 = 0.5;

fn find(facts: &Facts) -> Option<Verdict> {
    // A flow that something has stopped already is long enough to judge.
    let stopped = facts.loss.retransmitted > 0
        || facts.cwnd.early_ssthresh.is_some_and(|ssthresh| ssthresh <= facts.cwnd.largest)
        || facts.main.rwnd.max(facts.main.sndbuf) > STOPPED;

    // One look sums up a whole life, and without RTT there are no round trips to count.
    let own = &facts.pasted;
    let few = facts.looks < LOOKS && !own.one_look && !own.rate_only;
    let counts = facts.min_rtt_us > 0.0;
    let short = few || (counts && facts.round_trips < ROUND_TRIPS && !stopped);
    let short = short && !own.no_socket;
    let looks = match facts.looks {
        1 => "one look".to_string(),
        n => format!("{n} looks"),
    };
    let seen = match own.wire {
        Some(_) => {
            format!("it lasted {}", seconds(facts.life_s))
        }
        None => format!("it was over after {looks} at its socket"),
    };
    short.then(|| {
        Verdict::new("too_short", "The transfer", 1.0, 0.0)
            .because(seen)
            .remedy("Look at a transfer that lasts longer, or look more often")
    })
}
