//! A full path has no cure, but a buffer that keeps the last part of it back has.

use super::link::LINK;
use super::{Amendment, Cause, Context, Finding, call_timeouts};
use crate::document::Grade;
use fullpipe_base::limits::{self, Group};

/// The amendment.
pub const AMENDMENT: Amendment = amend;

/// Share of the path from which on a buffer that is too small costs nothing: `fullpipe plan` asks for as much.
const FILLED: f64 = 0.97;

fn amend(context: &Context, cause: &Cause, finding: Finding) -> Finding {
    let grade = context.grade;
    // A buffer that lets the flow fill the path has grown.
    let is_grown = finding.grows && matches!(grade, Grade::Full | Grade::Late);
    let finding = match is_grown {
        true => Finding { because: None, ..finding }.cure("Set nothing"),
        false => finding,
    };
    let is_filled = context.subject.share().is_none_or(|share| share >= FILLED);
    let is_buffer = limits::group(&cause.limit) == Some(Group::Buffer);
    let is_small = finding.setting.as_ref().is_some_and(|own| own.needed.is_some());

    // A small buffer costs rate as long as the path is not quite full.
    let costs = is_buffer && is_small && !is_filled;

    // A larger MSS raises what the full path carries, and data that is sent again fills it for nothing.
    let gains = finding.code == "small_mss" || finding.rule == call_timeouts::RULE.name;
    match grade == Grade::Full && finding.queue_ms.is_none() && !costs && !gains {
        // Limits that hold the flows at times leave the path full.
        true if cause.limit != LINK => finding.cure("The path is full all the same: set nothing"),
        true => finding.cure("The path is full: set nothing"),
        false => finding,
    }
}
