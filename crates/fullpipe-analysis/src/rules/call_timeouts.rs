//! NFS: calls are sent again before they are answered, and the server answers them twice.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::{AskedBy, Requests};
use crate::numbers;

/// The rule.
pub const RULE: Rule = Rule { name: "call-timeouts", code: "nfs", when: When::Held(LIMITS), find };

/// Limits of a connection on a path or a server that is busy with calls sent again.
const LIMITS: &[&str] = &["link", "application", "server_threads", "idle"];
/// Part of all calls that are sent again from which on they count.
const COUNTS: f64 = 0.02;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let own = context.meta.mount_of(context.most(cause).index)?;

    // A few calls sent again cost nothing: only many of them explain a rate.
    let calls = context.run.nfs.get(own)?.requests.filter(is_much)?;
    let mount = Mount::of(context, cause);
    let client = mount.client;

    // For a read the server carries the data twice, else its work alone doubles.
    let work = if mount.reads {
        "the server sends their data again"
    } else {
        "the server does them again"
    };
    let stop = Finding {
        does: "stop",
        ..Finding::new(format!("NFS calls that time out on {client}"), Some(client.into()))
    };
    Some(
        stop.because(format!(
            "{} of {} calls were sent again before their answer came, and {work}",
            numbers::count(calls.sent_again),
            numbers::count(calls.count + calls.sent_again)
        ))
        .cure(format!(
            "Mount on {client} with timeo=600 (60 s, the default), or with smaller rsize and wsize"
        ))
        .setting(setting("timeo", client, AskedBy::Program)),
    )
}

fn is_much(calls: &Requests) -> bool {
    calls.sent_again as f64 >= COUNTS * calls.count as f64
}
