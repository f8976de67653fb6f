//! A queue of the path is too short for its round trip.

use super::cut::dropped;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::numbers;
use crate::words::{bytes, ms};

/// The rule.
pub const RULE: Rule =
    Rule { name: "short-queue", code: "small_buffer", when: When::CutAnywhere, find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let (stage, plain) = dropped(context, cause)?;
    let own = context.meta.places.get(&stage.name).cloned().unwrap_or_default();

    // Without a limit there is nothing to lengthen.
    let Some(limit) = stage.capacity else { return Some(plain) };

    // A queue in packets holds packets of full size, with what the link adds.
    let full = f64::from(context.subject.allowed.map_or(1500, |own| own.mtu + own.overhead));
    let held = if stage.unit == "byte" { limit as f64 } else { limit as f64 * full };
    let (value, unit_size) = match stage.unit == "byte" {
        true => (bytes(limit), 1),
        false => (numbers::packets(limit), u64::from(context.meta.mss.max(1))),
    };
    let lasts =
        own.rate.map_or(String::new(), |rate| format!(" ({})", ms(held * 8e3 / rate as f64)));

    // The queue should hold a window; one that does already has another problem.
    let needed = context.window(cause).map(|window| window.div_ceil(unit_size));
    let needed = needed.filter(|needed| *needed > limit);
    let needed = needed.map(|n| if stage.unit == "byte" { bytes(n) } else { numbers::packets(n) });
    let needs = needed.clone().map_or(String::new(), |needed| format!(", the path needs {needed}"));
    Some(
        plain
            .because(format!("its queue allows {value}{lasts}{needs}"))
            .cure(format!("Lengthen that queue, or {}{}", context.paced(), without_bursts(held)))
            .setting(valued("queue limit", &stage.name, value, needed, AskedBy::Path)),
    )
}

/// Bytes of a burst that TCP hands to the device at once (Linux `GSO_MAX_SIZE`).
const BURST: f64 = 65_536.0;

/// Remark on a queue that holds no burst of TSO.
fn without_bursts(held: f64) -> &'static str {
    if held < BURST { " with TSO off, as that queue does not hold one burst of 64 KiB" } else { "" }
}
