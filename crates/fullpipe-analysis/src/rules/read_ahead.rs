//! NFS: the page cache of the client reads no more ahead.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;
use crate::numbers;
use crate::sizing::sizes::READ_AHEAD;

/// The rule.
pub const RULE: Rule =
    Rule { name: "read-ahead", code: "nfs", when: When::Held(&["page_cache"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    if !mount.reads {
        return None;
    }
    let client = mount.client;
    let to = context.window(cause).map_or(String::new(), |window| {
        format!(" to {} KiB", numbers::count((window as f64 * READ_AHEAD / 1024.0).ceil() as u64))
    });
    Some(
        mount
            .at(format!("The read-ahead of {client}"), client)
            .because("the page cache asks for no more at a time")
            .cure(format!("Raise read_ahead_kb of the mount on {client}{to}"))
            .setting(setting("read_ahead_kb", client, AskedBy::Sysctl)),
    )
}
