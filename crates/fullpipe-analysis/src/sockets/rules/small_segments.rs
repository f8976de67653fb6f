//! Segments are so small that headers, memory and the growth of cwnd by packets cost rate.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;

pub const RULE: Rule = Rule { name: "small-segments", needs: &[], find };

/// MSS where a peer sends none (RFC 9293, 3.7.1): smaller segments mean a wrong MTU or MSS.
const LEAST: u32 = 536;
/// Share of looks at which the program has nothing to send from which on larger segments do not help.
const IDLE: f64 = 0.5;
/// Share of time that a CPU works below which it has time for more segments.
const FREE: f64 = 0.5;
/// Share of time in which window or buffer stop the flow from which on they are as likely. The memory of small segments
/// counts against both, so they are consequences too.
const OTHERS: f64 = 0.3;

fn find(facts: &Facts) -> Option<Verdict> {
    // A sender that rests gains nothing from fewer packets.
    let rests = facts.main.idle >= IDLE && facts.own.cpu.unwrap_or(0.0) < FREE;
    (facts.mss > 0 && facts.mss < LEAST && !rests).then(|| {
        // Another limit with much time of its own makes the verdict less sure.
        let others = facts.main.rwnd.max(facts.main.sndbuf).max(facts.main.idle);
        let points = if others < OTHERS { 0.9 } else { 0.7 };
        let lost = facts.loss.retransmitted > 0;
        let why = match lost {
            true => "packets are lost, and cwnd grows by packets",
            false => "each segment costs a header, an skb and time of the CPU",
        };
        Verdict::new("small_mss", "Small segments", facts.main.cwnd_full, points)
            .because(format!("a segment has {} bytes, the path's MTU is {}", facts.mss, facts.pmtu))
            .because(why)
            .remedy("Raise the MTU of the card, or look for a tunnel that lowers the MSS")
    })
}
