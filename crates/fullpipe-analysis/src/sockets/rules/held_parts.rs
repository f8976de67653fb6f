//! Nagle's rule or TCP_CORK holds back the last part of messages.
//!
//! Parts of a stream grow while they wait. A part that stays as it is for a whole round trip ends a message.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::document::AskedBy;
use crate::held_parts::DELAYED_S;
use crate::pasted::Column;
use crate::rules::setting;
use crate::words::{ms, percent};

pub const RULE: Rule = Rule { name: "held-parts", needs: &[Column::Moments], find };

/// Share of time from which on held parts count: a message takes a tenth longer.
const WORTH: f64 = 0.1;
/// Part of a round trip that is a whole one: looks see a wait to one of their steps.
const WHOLE: f64 = 0.9;
/// Least time of a part behind a cork, s: a driver or qdisc may hold one for less (tcp_autocorking).
const CORKED_S: f64 = 0.010;

fn find(facts: &Facts) -> Option<Verdict> {
    let parts = &facts.parts;
    let base_s = facts.min_rtt_us * 1e-6;
    let is_corked = parts.by_cork > parts.by_nagle;
    let (share, lasts_s, least_s) = match is_corked {
        true => (parts.by_cork, parts.cork_s, CORKED_S),
        false => (parts.by_nagle, parts.nagle_s, WHOLE * base_s),
    };
    if share < WORTH || lasts_s < least_s {
        return None;
    }

    let points = 0.6 + 0.4 * between(share, WORTH, 3.0 * WORTH);
    let waits = ms(lasts_s * 1e3);
    let time = percent(share);
    let host = &facts.host;
    let ack = if lasts_s >= base_s + DELAYED_S { "a delayed ACK" } else { "an ACK" };
    Some(match is_corked {
        true => Verdict::new("nagle", format!("TCP_CORK on {host}"), share, points)
            .because(format!("less than a segment waits {time} of the time with nothing in flight, {waits} at a time"))
            .remedy(format!("Let the program on {host} clear TCP_CORK behind each message, or write each message at once"))
            .setting(setting("TCP_CORK", host, AskedBy::Program)),
        false => Verdict::new("nagle", format!("Nagle's rule on {host}"), share, points)
            .because(format!("less than a segment waits {time} of the time for {ack}, {waits} at a time"))
            .remedy(format!("Let the program on {host} set TCP_NODELAY, or write each message at once"))
            .setting(setting("TCP_NODELAY", host, AskedBy::Program)),
    })
}
