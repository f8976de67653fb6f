//! A program that always writes leaves both windows unused: its send buffer, or something behind it, is in the way.
//!
//! Limits:
//! - Data in flight is the rate times RTT. The buffer itself is not seen.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::document::AskedBy;
use crate::pasted::Column;
use crate::rules::setting;
use crate::words::{bytes, percent};

pub const RULE: Rule =
    Rule { name: "starved-windows", needs: &[Column::InFlight, Column::Unsent], find };

/// Share of looks at which both windows have room from which on neither holds the flow.
const STARVES: f64 = 0.5;
/// Part of the smaller window in flight below which nothing but a buffer explains that much room.
const FAR: f64 = 0.6;

fn find(facts: &Facts) -> Option<Verdict> {
    let idle = facts.main.idle;
    if !facts.pasted.always_writes || facts.pasted.asked.is_some() || idle < STARVES {
        return None;
    }

    let mss = f64::from(facts.mss.max(1));
    let flight = facts.cwnd.in_flight * mss;
    let cwnd = facts.cwnd.median * mss;
    let part = flight / cwnd.min(facts.window.median).max(1.0);
    let points = 0.4 + 0.35 * between(part, 0.9, FAR);
    let (name, by, cure) = match facts.buffer.asked {
        Some(_) => ("SO_SNDBUF", AskedBy::Program, "Let the program ask for no SO_SNDBUF (-w)"),
        None => (
            "net.ipv4.tcp_wmem",
            AskedBy::Sysctl,
            "Raise the maximum of net.ipv4.tcp_wmem of the sender",
        ),
    };
    let window = match facts.window.median < f64::from(u32::MAX) {
        true => format!(", the receiver's window {}", bytes(facts.window.median as u64)),
        false => String::new(),
    };
    let decide = "sndbuf_limited in `ss -tin` of the sender while the transfer runs";
    Some(
        Verdict::new("sndbuf", "The send buffer", idle, points)
            .because(format!(
                "rate x RTT is {}, cwnd {}{window}: both have room {} of the time, and the program always has more to write",
                bytes(flight as u64),
                bytes(cwnd as u64),
                percent(idle)
            ))
            .remedy(cure)
            .twins(&["tx_ring", "cpu_sender"], decide)
            .setting(setting(name, &facts.host, by)),
    )
}
