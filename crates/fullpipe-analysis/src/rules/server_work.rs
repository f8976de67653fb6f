//! NFS: all calls are under way, and the server works on them.
//!
//! Twin: a program that writes too little. A mount's connection never waits for the program: the page cache has all of
//! the file, or `page_cache` is its limit.

use super::calls::CallTimes;
use super::mount::Mount;
use super::{Cause, Context, Finding, PROGRAM, Rule, When, setting};
use crate::document::AskedBy;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "server-work", code: "nfs", when: When::Held(&[PROGRAM]), find };

/// Words of a cure where nothing is to be set.
pub const NOTHING: &str = "nothing is to be set";
/// Multiple of the last answers' time from which on a wait has another cause.
const TIMES: f64 = 2.0;

/// The cause in the words of a second one.
pub const WORK: &str = "the server's answers";

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    if !context.is_of_mount(cause) {
        return None;
    }
    let mount = Mount::of(context, cause);
    let server = mount.server;
    // The last answers come once. Connections that are idle for much longer have carried their part sooner than the slowest one.
    let most = context.most(cause);
    let own = context.meta.mount_of(most.index)?;
    let connections = context.meta.connections(own, context.meta.flows.len()).len();
    let waits = CallTimes::of(context, own).map(|own| own.waits());
    let is_uneven = connections > 1 && waits.is_some_and(|waits| cause.share >= TIMES * waits);
    if mount.service == Time::ZERO && is_uneven {
        let who = "Connections that end late".to_string();
        let found = Finding { does: "stop", ..mount.at(who, mount.client) };
        return Some(found.because(format!(
            "each of {connections} has its part of the calls, and those that are done wait for the slowest one"
        )));
    }

    let calls = if mount.reads { "all calls are sent" } else { "all data is sent" };

    // Without work each answer still takes a round trip: the last ones of a file, and COMMIT.
    let cure = match mount.service {
        Time::ZERO => format!("The wait comes once, at the end of a file: {NOTHING}"),
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
