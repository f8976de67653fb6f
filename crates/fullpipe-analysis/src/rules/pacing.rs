//! A pace that somebody asked for, or that of TCP itself, spreads packets.

use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::bits;

/// The rule.
pub const RULE: Rule = Rule { name: "pacing", code: "pacing", when: When::Held(&["pacing"]), find };

/// Share of payload in what a pace counts, at least.
const PAYLOAD: f64 = 0.9;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let host = &one.meta.hosts[0];
    let finding = Finding::new(
        format!("The pace of {host}"),
        cause.place.clone().or_else(|| Some(host.clone())),
    );
    Some(match &one.meta.settings.pace {
        Some(pace) => {
            let payload = (pace.rate as f64 * PAYLOAD) as u64;
            Finding { as_asked: one.reaches(Some(payload)), ..finding }
                .because(format!("{} allows {}", pace.by, bits(pace.rate)))
                .cure(format!("Raise {} or ask for none, where more is wanted", pace.by))
                .setting(valued((pace.by, host), bits(pace.rate), None, AskedBy::Program))
        }
        None => finding.because("nobody asked for one: TCP spreads cwnd over the round trip"),
    })
}
