//! The receiver takes packets in bunches, at late interrupts, and its ring overflows before.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::{Rule, losses};
use crate::numbers::short;
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "late-interrupts", needs: &[Column::Acks], find };

/// Seconds between ACKs: no card waits so long unless it is configured to.
const APART: f64 = 1e-3;
/// Segments of an ACK above the two of delayed ACKs.
const BUNCH: f64 = 3.5;
/// Interrupts that an ACK waits for at most: its own, and one more where its bunch was parted.
const WAITS: f64 = 2.0;
/// Segments that a full ring drops of a bunch at least; chance takes one.
const BURST: u64 = 2;

fn find(facts: &Facts) -> Option<Verdict> {
    let apart = 1.0 / facts.acks.rate.max(1e-3);
    let inflation = (facts.rtt_p95_us - facts.min_rtt_us) / 1e6;

    // Bunches far apart with little delay: interrupts come late, and no queue stands.
    let bunches = apart >= APART && facts.acks.segments >= BUNCH && inflation <= WAITS * apart;

    // A full ring drops several packets of a bunch.
    let bursts = facts.loss.cuts.iter().any(|cut| cut.segments >= BURST);
    let lost = facts.loss.retransmitted > 0 && bursts && losses::without_queue(facts);
    (bunches && lost).then(|| {
        Verdict::new("rx_drop", "The receive ring", facts.main.cwnd_full, 0.7)
            .because(format!(
                "ACKs come {} ms apart, for {} segments each",
                short(apart * 1e3),
                short(facts.acks.segments)
            ))
            .because("packets are lost though no queue stands")
            .remedy("Raise `ethtool -G rx` of the receiver, or lower `ethtool -C rx-usecs`")
    })
}
