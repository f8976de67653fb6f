//! Autotuning has not grown the receive window yet.

use super::buffer::{Side, window};
use super::subject::One;
use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::words::{self, bytes};

/// The rule.
pub const RULE: Rule =
    Rule { name: "growing-window", code: "rwnd_grow", when: When::Held(&["receive_window"]), find };

/// Segments below this size take more memory for their headers than for their payload, bytes (RFC 1122's default MSS).
const SMALL: u32 = 536;
/// Share of a buffer's limit below which autotuning has not yet reached it.
const GROWN: f64 = 0.7;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let side = Side::receive(one);
    let grown = still_grows(context, one)?;

    // A window in small segments grows slowly for their overhead in memory.
    let code = if context.meta.mss < SMALL { "small_mss" } else { "rwnd_grow" };
    Some(
        Finding { grows: true, code, ..side.window(cause) }
            .because(format!(
                "it has grown to {} so far, {} allows {} of memory{}",
                words::window(grown),
                side.tuned,
                bytes(side.buffer.tuned),
                side.needed()
            ))
            .cure(
                "Autotuning needs more round trips than the transfer has: reuse \
            connections, or send more at a time",
            )
            .setting(valued(
                side.tuned,
                side.host,
                bytes(side.buffer.tuned),
                side.missing().map(bytes),
                AskedBy::Sysctl,
            )),
    )
}

/// The largest window, where autotuning did not reach the limits of the sysctl and the path.
fn still_grows(context: &Context, one: &One) -> Option<u64> {
    let own = &one.meta.settings;
    let (needs, window) = (one.needs?, window(context, one)?);
    let share = needs.window as f64 / needs.receive.advised as f64;
    let allows = (own.receive.tuned as f64 * share).min(needs.window as f64);
    (own.receive.asked.is_none() && (window as f64) < GROWN * allows).then_some(window)
}
