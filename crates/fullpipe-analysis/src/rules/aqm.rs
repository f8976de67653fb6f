//! An active queue management keeps a queue of the path short.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule = Rule { name: "aqm", code: "none", when: When::CutAnywhere, find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let discipline = context.meta.places.get(&stage.name)?.discipline?;
    Some(plain.because(format!("{discipline} keeps the queue there short")).setting(setting(
        "queue",
        &stage.name,
        AskedBy::Path,
    )))
}
