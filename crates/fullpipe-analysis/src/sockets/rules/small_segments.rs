//! Segments are so small that headers and the growth of cwnd by packets cost rate.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;

pub const RULE: Rule = Rule { name: "small-segments", find };

/// Segment that every path carries (RFC 1122): smaller ones come from a wrong MTU or MSS.
const LEAST: u32 = 536;
/// Share of time that window, buffer or program take from which on they are the cause.
const OTHERS: f64 = 0.3;

fn find(facts: &Facts) -> Option<Verdict> {
    let of_others = facts.main.rwnd.max(facts.main.sndbuf).max(facts.main.idle);
    let fires = facts.mss > 0 && facts.mss < LEAST && facts.loss.retransmitted > 0;
    (fires && of_others < OTHERS).then(|| {
        Verdict::new("small_mss", "Small segments", facts.main.cwnd_full, 0.85)
            .because(format!("a segment has {} bytes, the path's MTU is {}", facts.mss, facts.pmtu))
            .because("packets are lost, and cwnd grows by packets")
            .remedy("Raise the MTU of the card, or look for a tunnel that lowers the MSS")
    })
}
