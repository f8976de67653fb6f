//! The receive window is exhausted: the receive buffer is too small.

use super::buffer::{Side, cure, with_loss};
use super::{Cause, Context, Finding, Rule, When};

/// The rule.
pub const RULE: Rule =
    Rule { name: "receive-window", code: "rwnd_auto", when: When::Held(&["receive_window"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let side = Side::receive(one);
    let code = if side.buffer.asked.is_some() { "rwnd_fixed" } else { "rwnd_auto" };
    let finding = with_loss(one, side.explain(side.window(cause).code(code)));
    let cure = cure(context, one, finding.cure.clone(), &[side, Side::send(one)]);
    Some(Finding { cure, ..finding })
}
