//! Packets are lost that a scenario lists.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule = Rule { name: "listed-loss", code: "loss", when: When::Cut(&["drop"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    Some(plain.because("these packets are lost by a list").setting(setting(
        "segments",
        &stage.name,
        AskedBy::Path,
    )))
}
