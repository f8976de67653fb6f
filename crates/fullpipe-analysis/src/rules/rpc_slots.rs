//! NFS: all calls that the session allows are outstanding.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::AskedBy;

/// The rule.
pub const RULE: Rule =
    Rule { name: "rpc-slots", code: "nfs", when: When::Held(&["rpc_slots"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    let client = mount.client;

    // Version 3 bounds its calls by RPC slots, version 4.2 by slots of its session.
    let slots = match mount.version {
        "3" => "sunrpc.tcp_max_slot_table_entries",
        _ => "nfs.max_session_slots",
    };
    Some(
        mount
            .at(format!("The client's call slots on {client}"), client)
            .because("all calls that the session allows are under way")
            .cure(format!(
                "Raise {slots} on {client} and mount anew, or use larger rsize and wsize"
            ))
            .setting(setting(slots, client, AskedBy::Sysctl)),
    )
}
