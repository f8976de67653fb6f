//! The link is full of small packets, so that headers take much of it.
//!
//! Twin: a full link with full packets. The MTU decides.

use super::link::LINK;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::{AskedBy, Grade};
use crate::numbers;
use crate::settings::Allowed;
use crate::words::percent;

/// The rule.
pub const RULE: Rule =
    Rule { name: "small-packets", code: "small_mss", when: When::Held(&[LINK]), find };

/// MTU of Ethernet, bytes.
const USUAL: u32 = 1500;
/// Full packets of the usual MTU carry so many times as much before a word is due.
const GAINS: f64 = 1.2;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let allowed = context.subject.allowed.filter(|own| own.mtu < USUAL)?;
    let large = Allowed { mtu: USUAL, mss: USUAL - (allowed.mtu - allowed.mss), ..allowed.clone() };
    let is_full = matches!(context.grade, Grade::Full | Grade::Late) || cause.share >= super::FULL;
    if !is_full || large.mbit() < GAINS * allowed.mbit() {
        return None;
    }
    let place = cause.place.clone().unwrap_or_else(|| allowed.place.clone());
    let payload = f64::from(allowed.mss) / f64::from(allowed.mtu + allowed.overhead);
    Some(
        Finding {
            does: "is full of small packets and holds",
            ..Finding::new(format!("Link {place}"), Some(place.clone()))
        }
        .because(format!(
            "a packet of {} bytes carries {} of payload, {} of the link",
            allowed.mtu,
            allowed.mss,
            percent(payload)
        ))
        .cure(format!(
            "Raise the MTU to {USUAL} where the path takes it: {} of payload instead of {}",
            numbers::rate(large.mbit()),
            numbers::short(allowed.mbit())
        ))
        .setting(valued(
            ("mtu", &place),
            allowed.mtu.to_string(),
            Some(USUAL.to_string()),
            AskedBy::Path,
        )),
    )
}
