//! NFS: all calls are under way, and the server works on them.
//!
//! Twin: a program that writes too little. A mount's connection never waits for the program: the page cache has all of
//! the file, or `page_cache` is its limit.

use super::mount::Mount;
use super::{Cause, Context, Finding, PROGRAM, Rule, When, setting};
use crate::document::AskedBy;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "server-work", code: "nfs", when: When::Held(&[PROGRAM]), find };

/// The cause in the words of a second one.
pub const WORK: &str = "the server's answers";

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    if !context.is_of_mount(cause) {
        return None;
    }
    let mount = Mount::of(context, cause);
    let server = mount.server;
    let calls = if mount.reads { "all calls are sent" } else { "all data is sent" };

    // Without work each answer still takes a round trip: the last ones of a file, and COMMIT.
    let cure = match mount.service {
        Time::ZERO => "A longer file waits no longer: nothing is to be set".to_string(),
        _ => format!("Give {server} faster storage: neither TCP nor the mount is in the way"),
    };
    Some(answers(&mount, format!("{calls}, and {}", mount.work()), cure))
}

/// The answers of a mount's server stop the flow.
pub fn answers(mount: &Mount, because: String, cure: String) -> Finding {
    let server = mount.server;
    Finding { does: "stop", ..mount.at(format!("The answers of {server}"), server) }
        .because(because)
        .cure(cure)
        .setting(setting("storage", server, AskedBy::Device))
}
