//! The transmit ring is short for the time between interrupts, or the host's queue is slow for another reason.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::document::{AskedBy, Setting};
use crate::pasted::Column;
use crate::rules::setting;

pub const RULE: Rule =
    Rule { name: "short-tx-ring", needs: &[Column::Memory, Column::InFlight], find };

/// Part of the rate that ring and interrupts allow, from which on they hold the flow. Interrupts are late, so the part
/// stays well below 1.
const NEAR: f64 = 0.6;
/// Share of looks at which skbs wait in the host though cwnd has room: the host's queue holds the flow.
const WAITS: f64 = 0.5;
/// Share of looks at which cwnd is full below which it has room.
const FULL: f64 = 0.3;
/// Share of looks at which skbs wait in the qdisc from which on something behind it holds the flow.
const ALWAYS: f64 = 0.9;

fn find(facts: &Facts) -> Option<Verdict> {
    let own = &facts.own;
    let waits = facts.buffer.queueing.max(own.backlogged);
    let rate = facts.main_mbit.max(facts.last_mbit);
    let round = own.tx_coalesce_us as f64;

    // The ring empties once in each interrupt's wait, which bounds the rate.
    let allows = f64::from(own.tx_ring) * f64::from(facts.mss) * 8.0 / round.max(1e-9);

    let has_room = facts.main.cwnd_full < FULL;
    // Without TSQ cwnd fills, and skbs that the ring does not take are in the qdisc.
    let stands = has_room || own.backlogged >= ALWAYS;
    let is_ring = own.tx_coalesce_us > 0 && rate >= NEAR * allows && waits >= 0.2 && stands;
    // Skbs of the ring hold back the next ones (TSQ). Where losses have cut cwnd, they only show late interrupts.
    let holds = own.backlogged >= WAITS || facts.loss.retransmitted == 0;
    let is_queue = facts.main.held >= WAITS && waits >= WAITS && has_room && holds;
    let named = |points: f64| {
        let ring = (own.tx_ring > 0).then(|| format!("{} descriptors", own.tx_ring));
        Verdict::new("tx_ring", format!("The transmit ring of {}", facts.host), waits, points)
            .because(format!("skbs wait in the host {:.0} % of the time", waits * 100.0))
            .setting(Setting {
                value: ring,
                ..setting("ethtool -G tx", &facts.host, AskedBy::Device)
            })
            .remedy("Raise `ethtool -G tx`, or lower `ethtool -C tx-usecs`")
    };
    match (is_ring, is_queue) {
        // A rate near the ring's own bound is strong evidence, a queue alone is weak.
        (true, _) => Some(named(0.9).because(format!(
            "{} descriptors and an interrupt each {} us carry little more",
            own.tx_ring, own.tx_coalesce_us
        ))),
        (false, true) => Some(
            named(0.6)
                .twins(&["nic"], "`ethtool -S` of the card: bytes sent in a second, and stops"),
        ),
        _ => None,
    }
}
