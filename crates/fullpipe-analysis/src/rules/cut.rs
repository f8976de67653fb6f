//! A place that cuts cwnd by drops or marks.

use super::{Cause, Context, Finding};
use crate::document::Stage;

/// The stage that a cause names, and the finding on its effect on cwnd; none where the run has no such stage.
pub fn dropped<'a>(context: &'a Context, cause: &Cause) -> Option<(&'a Stage, Finding)> {
    let stage = context.stage(cause.place.as_deref()?)?;
    let what = if stage.marked > 0 && stage.dropped == 0 { "Marks" } else { "Drops" };
    let plain = Finding {
        does: "keep cwnd small and stop",
        ..Finding::new(format!("{what} at {}", stage.name), Some(stage.name.clone()))
    };
    Some((stage, plain))
}
