//! The link is full of small packets, so that headers take much of it.
//!
//! Twin: a full link with full packets. The MTU decides.

use super::PROGRAM;
use super::link::LINK;
use super::{Amendment, Cause, Context, Finding, Rule, When, valued};
use crate::document::{AskedBy, Grade};
use crate::numbers;
use crate::settings::Allowed;
use crate::words::percent;
use fullpipe_base::limits::{Derived, Limit};

/// The rule.
pub const RULE: Rule =
    Rule { name: "small-packets", code: "small_mss", when: When::Held(&[LINK]), find };

/// The amendment.
pub const AMENDMENT: Amendment = amend;

/// Limits of a busy CPU: most of its work is for packets, whatever their size.
const CPUS: [&str; 2] = [Limit::SenderCpu.about().name, Derived::ReceiverCpu.about().name];
/// MTU of Ethernet, bytes.
const USUAL: u32 = 1500;
/// Ratio of the rate of full packets of the usual MTU from which on a note is due.
const GAINS: f64 = 1.05;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (allowed, large) = both(context)?;

    // Only a full link gains payload from larger packets.
    let is_full = matches!(context.grade, Grade::Full | Grade::Late) || cause.share >= super::FULL;
    if !is_full || large.mbit() < GAINS * allowed.mbit() {
        return None;
    }
    let place = cause.place.clone().unwrap_or_else(|| allowed.place.clone());

    // The rest of the packet's bytes are headers and framing.
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
            "{}: {} of payload instead of {}",
            raise(),
            numbers::rate(large.mbit()),
            numbers::short(allowed.mbit())
        ))
        .setting(valued(
            "mtu",
            &place,
            allowed.mtu.to_string(),
            Some(USUAL.to_string()),
            AskedBy::Path,
        )),
    )
}

/// Cure, as a sentence.
fn raise() -> String {
    format!("Raise the MTU to {USUAL}, and a clamp of the MSS with it, where the path takes it")
}

/// The path as it is, and with packets of the usual size; none where its packets are as large.
fn both<'a>(context: &Context<'a>) -> Option<(&'a Allowed, Allowed)> {
    let allowed = context.subject.allowed.filter(|own| own.mtu < USUAL)?;
    let mss = USUAL - (allowed.mtu - allowed.mss);
    Some((allowed, Allowed { mtu: USUAL, mss, ..allowed.clone() }))
}

/// Another cause, where small packets cost more than it does.
fn amend(context: &Context, cause: &Cause, finding: Finding) -> Finding {
    let Some((allowed, large)) = both(context) else { return finding };

    // A program that holds its flow gains nothing from the MTU.
    let is_held_by_a_program = finding.as_asked || cause.limit == PROGRAM;
    if is_held_by_a_program || finding.code == RULE.code {
        return finding;
    }

    // The gain must exceed what all other causes take together.
    let gain = large.mbit() / allowed.mbit();
    let missing = context.subject.share().map_or(f64::INFINITY, |share| 1.0 / share);

    // A CPU works by the packet: half as many packets need half its time.
    let is_for_packets = CPUS.contains(&&cause.limit[..]) && allowed.mss * 2 <= large.mss;
    if !(gain >= GAINS.max(missing) || is_for_packets) {
        return finding;
    }

    // Reason and cure of the first cause stay, after those of the MTU.
    let why = format!("a packet of {} bytes carries {} of payload", allowed.mtu, allowed.mss);
    let why = finding.because.as_ref().map_or(why.clone(), |first| format!("{first}, and {why}"));
    let cure = raise();
    let cure = finding.cure.as_ref().map_or(cure.clone(), |next| format!("{cure}. {next}"));
    let place = allowed.place.clone();
    finding.because(why).cure(cure).code(RULE.code).setting(valued(
        "mtu",
        &place,
        allowed.mtu.to_string(),
        Some(USUAL.to_string()),
        AskedBy::Path,
    ))
}
