//! A policer with a bucket below the path's need drops packets.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::{bits, bytes, ms};

/// The rule.
pub const RULE: Rule =
    Rule { name: "policer", code: "policer", when: When::Cut(&["policer"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let place = &stage.name;
    let plain = Finding { who: format!("Drops of the policer {place}"), ..plain };
    let own = context.meta.places.get(place).cloned().unwrap_or_default();

    // Without burst and rate the drops alone are known.
    let (Some(burst), Some(rate)) = (own.burst, own.rate) else { return Some(plain) };
    let lasts = burst as f64 * 8e3 / rate as f64;

    // A window within the burst passes: something else used up the tokens.
    let needed = context.window(cause).filter(|window| *window > burst).map(bytes);
    // The window of the path and the burst may differ by less than the words show.
    let needed = needed.filter(|needed| *needed != bytes(burst));
    let reason = match &needed {
        Some(needed) => format!(
            "its burst allows {} ({} at {}), the path needs {needed}",
            bytes(burst),
            ms(lasts),
            bits(rate)
        ),
        None => format!("its burst of {} is used up", bytes(burst)),
    };
    let raise =
        needed.clone().map_or(String::new(), |needed| format!("Raise the burst to {needed}, or "));

    // Pacing helps in any case, and is the only cure without a size.
    let pace = context.paced();
    let cure = if raise.is_empty() { pace.replacen('p', "P", 1) } else { raise + &pace };
    let setting = valued("burst", place, bytes(burst), needed, AskedBy::Path);
    Some(plain.because(reason).cure(cure).setting(setting))
}
