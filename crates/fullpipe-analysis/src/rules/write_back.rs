//! NFS: the page cache of the client writes no more back at a time.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule =
    Rule { name: "write-back", code: "nfs", when: When::Held(&["page_cache"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    let client = mount.client;
    Some(
        mount
            .at(format!("The page cache of {client}"), client)
            .because("it writes no more back at a time")
            .cure("Raise wsize, or vm.dirty_bytes")
            .setting(setting("vm.dirty_bytes", client, AskedBy::Sysctl)),
    )
}
