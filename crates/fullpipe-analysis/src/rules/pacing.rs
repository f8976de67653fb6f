//! A configured pace, or TCP's own, spreads packets.

use super::cause::is_held_to_a_pace;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::bits;
use fullpipe_base::limits::Limit;

/// The rule.
pub const RULE: Rule = Rule { name: "pacing", code: "pacing", when: When::Held(&["pacing"]), find };

/// Least share of payload in the bytes that a pace counts.
const PAYLOAD: f64 = 0.9;

/// Part of the path from which on a pace leaves nothing to gain.
const NEARLY: f64 = 0.95;

/// Share of the time in which small queues hold the flow, from which on they are a reason.
const OFTEN: f64 = 0.1;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let finding = Finding::new(
        format!("The pace of {host}"),
        cause.place.clone().or_else(|| Some(host.clone())),
    );
    Some(match &one.meta.settings.pace {
        Some(pace) if is_held_to_a_pace(one) => {
            // The pace counts headers, too, and the program sees payload.
            let payload = (pace.rate as f64 * PAYLOAD) as u64;
            let part = context.subject.allowed.map(|own| own.mbit() / context.subject.flows.len() as f64);

            // A pace near the flow's part of the path costs nothing.
            let is_all = part.is_some_and(|part| pace.rate as f64 / 1e6 >= NEARLY * part);
            let cure = match is_all {
                true => "That is as much as the path carries: set nothing".to_string(),
                false => format!("Raise {} or ask for none, where more is wanted", pace.by),
            };
            Finding { as_asked: one.reaches(Some(payload)), ..finding }
                .because(format!("{} allows {}", pace.by, bits(pace.rate)))
                .cure(cure)
                .setting(valued(pace.by, host, bits(pace.rate), None, AskedBy::Program))
        }
        // TSQ delays packets as a pace does, but the card is the cause.
        _ if one.share(Limit::SmallQueues.about().name) >= OFTEN => finding.code("tx_ring").because(
            "the card tells late that packets have left, so TCP small queues hold it back between",
        ),
        _ => finding.because("nobody asked for one: TCP spreads cwnd over the round trip"),
    })
}
