//! The send buffer is full of unacknowledged data.

use super::buffer::{Side, cure, with_loss};
use super::{Cause, Context, Finding, Rule, When};

/// The rule.
pub const RULE: Rule =
    Rule { name: "send-buffer", code: "sndbuf", when: When::Held(&["send_buffer"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let side = Side::send(one);
    let who = format!("The send buffer of {}", side.host);
    let finding = with_loss(one, side.explain(Finding::new(who, cause.place.clone())));
    let cure = cure(context, one, finding.cure.clone(), &[side, Side::receive(one)]);
    Some(Finding { cure, ..finding })
}
