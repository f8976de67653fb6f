//! NFS: the server leaves the parts of a record in the socket until all of it is there.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule =
    Rule { name: "record-gate", code: "nfs", when: When::Held(&["record_gate"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    let server = mount.server;
    Some(
        mount
            .at(format!("The server on {server}"), server)
            .because(
                "it leaves the parts of a record in the socket until all of it is there, \
            so the window closes",
            )
            .cure(format!("Raise the receive buffer of {server}'s server, or use a smaller wsize"))
            .setting(setting("server receive buffer", server, AskedBy::Program)),
    )
}
