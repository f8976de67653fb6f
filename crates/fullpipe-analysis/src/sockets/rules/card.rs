//! The sender's card is full.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::document::AskedBy;
use crate::numbers::rate;
use crate::pasted::Column;
use crate::rules::valued;

pub const RULE: Rule = Rule { name: "card", needs: &[Column::Memory], find };

/// Bytes of an Ethernet frame in addition to its IP packet: header, checksum, preamble and gap.
const WIRE: f64 = 38.0;
/// Part of the card's rate from which on it is full. Above nine tenths a path of nearly the card's rate looks alike,
/// but then nothing waits in the host.
const FULL: f64 = 0.93;
/// Share of looks at which skbs wait in the host.
const WAITS: f64 = 0.5;

/// Rate of the host's frames, Mb/s.
fn wire(facts: &Facts) -> f64 {
    let mss = f64::from(facts.mss.max(1));
    let own = facts.main_mbit.max(facts.last_mbit) * (f64::from(facts.own.mtu) + WIRE) / mss;
    own / (1.0 - facts.beside).max(0.01)
}

fn find(facts: &Facts) -> Option<Verdict> {
    let card = facts.own.card_mbit?;
    let waits = facts.main.held.max(facts.own.backlogged).max(facts.buffer.queueing);
    (wire(facts) >= FULL * card && waits >= WAITS).then(|| {
        Verdict::new("nic", format!("The card of {}", facts.host), waits, 0.9)
            .because(format!("it sends {} of {}", rate(wire(facts)), rate(card)))
            .because("skbs wait in the host's queue")
            .remedy("Use a faster card, or several")
            .setting(valued("card", &facts.host, rate(card), None, AskedBy::Device))
    })
}
