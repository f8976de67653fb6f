//! NFS: calls wait for a thread of the server.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule =
    Rule { name: "server-threads", code: "nfs", when: When::Held(&["server_threads"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    let server = mount.server;
    Some(
        mount
            .at(format!("The server's threads on {server}"), server)
            .because("calls wait for a thread")
            .cure(format!("Start more nfsd threads on {server}"))
            .setting(setting("nfsd threads", server, AskedBy::Program)),
    )
}
