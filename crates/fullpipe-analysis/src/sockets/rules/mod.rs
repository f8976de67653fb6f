//! Rules about a sending socket, one in each file. The first that fires makes the verdict; the others that fire are findings too.
//!
//! The order is that of certainty. Counters and settings of the host itself are first, then shares of time. Epochs of
//! loss, which need many looks, are last. A full path remains when cwnd fills it and RTT shows its queue.

mod ack_path;
mod busy_cpu;
mod busy_receiver;
mod card;
mod early_ssthresh;
mod flat_flight;
pub mod full_path;
mod held_parts;
mod host_counters;
mod losses;
mod one_look;
mod own_qdisc;
mod pace;
mod pauses;
mod peer_cpu;
mod rate_alone;
mod rate_and_cwnd;
mod reader;
mod receive_ring;
mod reordering;
mod send_buffer;
mod small_segments;
mod source;
mod starved;
mod too_short;
mod tx_ring;
mod window;
mod without_sack;

#[cfg(test)]
mod tests;

use super::facts::Facts;
use super::verdict::Verdict;
use crate::pasted::Column;

/// A rule: a name, and the function that finds it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// Columns without which it cannot judge.
    pub needs: &'static [Column],
    /// The verdict; none where the rule does not fire.
    pub find: fn(&Facts) -> Option<Verdict>,
}

/// All rules, in the order in which they are asked.
pub const RULES: &[Rule] = &[
    too_short::RULE,
    small_segments::RULE,
    busy_cpu::RULE,
    held_parts::RULE,
    pauses::RULE,
    pace::RULE,
    card::RULE,
    tx_ring::RULE,
    without_sack::RULE,
    window::RULE,
    reader::RULE,
    peer_cpu::RULE,
    send_buffer::RULE,
    starved::RULE,
    source::RULE,
    flat_flight::RULE,
    own_qdisc::RULE,
    reordering::RULE,
    early_ssthresh::RULE,
    ack_path::RULE,
    busy_receiver::RULE,
    receive_ring::RULE,
    losses::RULE,
    full_path::RULE,
    rate_and_cwnd::RULE,
    rate_alone::RULE,
    one_look::RULE,
];

/// Rules that read figures which texts have as exactly as sockets. Others are sure of nothing from a text.
const PROVED: [&str; 3] = ["pace", "small-window", "small-send-buffer"];
/// Most points of other rules from a text: likely, not sure.
const LIKELY: f64 = 0.75;

/// Verdicts of all rules that fire, the first one first; one of each code.
pub fn verdicts(facts: &Facts) -> Vec<Verdict> {
    let mut all: Vec<Verdict> = Vec::new();
    let seen = |rule: &&Rule| !facts.pasted.lacks(rule.needs);
    for rule in RULES.iter().chain(&host_counters::RULES).filter(seen) {
        let Some(found) = (rule.find)(facts) else { continue };
        if all.iter().all(|own| own.code != found.code) {
            let is_seen = facts.pasted.hidden.is_empty() || facts.pasted.wire.is_some();
            let is_proved = is_seen || PROVED.contains(&rule.name);
            let points = if is_proved { found.points } else { found.points.min(LIKELY) };
            all.push(Verdict { rule: rule.name, points, ..found });
        }
    }
    all
}
