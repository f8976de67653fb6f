//! Scores in a short form, to be kept: a line for each case, from which all sums follow.

use super::{Scored, points};
use crate::causes::{CANNOT_TELL, group};
use fullpipe::analysis::rules::by_code;
use std::fmt::Write;

/// Columns.
const HEAD: &str = "case,cause,setting,gain,says,confidence";

/// The cases as text, without those that the engine did not run.
pub fn written(scored: &[Scored]) -> String {
    let mut out = format!("{HEAD}\n");
    for own in scored.iter().filter(|own| own.not_run.is_none()) {
        let (says, confidence) = (own.says.join("+"), own.confidence.as_deref().unwrap_or(""));
        let Scored { name, cause, setting, gain, .. } = own;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name},{cause},{setting},{gain:.2},{says},{confidence}");
    }
    out
}

/// The cases of such a text.
///
/// # Errors
/// A line has not the form of [`written`]; the message has its number.
pub fn read(text: &str) -> Result<Vec<Scored>, String> {
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, HEAD)) => {}
        _ => return Err(format!("line 1: not \"{HEAD}\"")),
    }
    lines.map(|(n, line)| one(line).ok_or_else(|| format!("line {}: {line}", n + 1))).collect()
}

fn one(line: &str) -> Option<Scored> {
    let columns: Vec<&str> = line.split(',').collect();
    let [name, cause, setting, gain, says, confidence] = columns[..] else { return None };
    let codes: Vec<String> = says.split('+').map(String::from).collect();

    // A line with an unknown code is not readable any more.
    if !codes.iter().all(|code| code == CANNOT_TELL || by_code(code).is_some())
        || by_code(cause).is_none()
    {
        return None;
    }
    let (points, group_points) = points(cause, &codes);
    Some(Scored {
        name: name.into(),
        cause: cause.into(),
        group: group(cause).into(),
        setting: setting.parse().ok()?,
        gain: gain.parse().ok()?,
        says: codes,
        confidence: (!confidence.is_empty()).then(|| confidence.into()),
        points,
        group_points,
        text: String::new(),
        because: String::new(),
        not_run: None,
    })
}
