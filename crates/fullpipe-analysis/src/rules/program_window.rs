//! A program that sends no more than the program at the other end allows: its own window, which TCP does not know.
//!
//! The rule looks for short messages in the other direction, the first of them after several messages of data. Then the
//! programs' own window holds most of the unacknowledged data, and a round trip carries no more.
//!
//! Twin: a program that writes at a rate of its own, and gets answers to its data.

use super::dialogue::{Dialogue, HABIT, once, segments};
use super::{Cause, Context, Finding, Rule, When, buffer, valued};
use crate::document::AskedBy;
use crate::lookup::FlowTrace;
use crate::words::{self, ms};
use fullpipe_base::trace::FlowSample;

/// The rule.
pub const RULE: Rule =
    Rule { name: "program-window", code: "app_window", when: When::Held(&["application"]), find };

/// Share of the data that the answers may be: they allow more, and carry nothing.
const SHORT: f64 = 0.05;
/// Windows that a transfer has at least where its window holds it back.
const WINDOWS: u64 = 3;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    // Calls of a mount have rules of their own.
    if context.meta.is_of_mount(one.index) {
        return None;
    }

    let [from, to] = &one.meta.hosts;

    // Only data ahead of the answers has a window.
    let is_held = |own: &Dialogue| own.is_ahead() && own.waits();
    let dialogue = Dialogue::of(context, one).filter(is_held)?;
    let Dialogue { own, theirs, base_s, .. } = dialogue;

    // Answers must be small and many: a window's updates, not data of their own.
    let is_short = (sent(theirs) as f64) < SHORT * sent(own) as f64;
    if !is_short || segments(theirs) < HABIT {
        return None;
    }

    // The largest unacknowledged amount stands for the program's window.
    let window = own.samples.iter().map(|sample| unacknowledged(sample)).max()?;
    // A transfer of one window ends before a window holds it back.
    if sent(own) < WINDOWS * window {
        return None;
    }

    let needed = context.window(cause).filter(|needed| *needed > window);
    let needed = needed.map(words::window);
    let raise = needed.clone().map_or("more".into(), |needed| format!("{needed} or more"));
    let found = Finding::new(format!("The program's own window on {to}"), cause.place.clone())
        .because(format!(
            "{from} has {} without an answer of {to} at most, and a round trip takes {} at least",
            words::window(window),
            ms(base_s * 1e3)
        ))
        .cure(format!(
            "Let the programs have {raise} under way (a larger window, or more requests in flight), or use several \
             connections: no sysctl raises this window{}",
            buffer::then_the_buffers(one)
        ))
        .setting(valued("the program's window", to,
            words::window(window),
            needed,
            AskedBy::Program,
        ));
    Some(found)
}

/// Data of a flow that was sent, each byte once.
fn sent(flow: &FlowTrace) -> u64 {
    once(flow.last())
}

fn unacknowledged(sample: &FlowSample) -> u64 {
    once(sample).saturating_sub(sample.bytes_acked)
}
