//! NFS: the work of a server's threads takes most of a mount's life, or calls wait for one of them.
//!
//! Twin: a small window or a lossy path. While all threads work, the server reads nothing, and TCP waits in other ways.
//! Their work is a bound that no setting of TCP moves.

use super::calls::CallTimes;
use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, server_work, setting};
use crate::document::AskedBy;
use fullpipe_base::limits::Limit;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule = Rule { name: "server-threads", code: "nfs", when: When::Always, find };

/// Name of the limit of calls that wait for a thread.
pub const THREADS: &str = Limit::ServerThreads.about().name;
/// Share of a mount's life from which on the threads' work explains its rate.
pub const BUSY: f64 = 0.5;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let at = context.meta.mount_of(context.most(cause).index)?;
    let waits = !cause.is_cut && cause.limit == THREADS;

    // Without work of the server its threads explain nothing.
    let service = context.meta.nfs[at].service;
    let times = if service > Time::ZERO { CallTimes::of(context, at) } else { None };
    let busy = times.map(|own| own.busy()).filter(|busy| *busy >= BUSY);
    if busy.is_none() && !waits {
        return None;
    }
    let mount = Mount::of(context, cause);
    let server = mount.server;

    let share = busy.filter(|busy| *busy > cause.share);

    // A call that never waited for a thread has only its own work to wait for.
    let calls = context.run.nfs.get(at).and_then(|own| own.requests).map(|own| own.count);
    if !waits && calls.is_some_and(|calls| calls <= u64::from(mount.threads)) {
        let cure = format!("Give {server} faster storage: it has a thread for each call");
        return Some(Finding { share, ..server_work::answers(&mount, mount.work(), cure) });
    }

    // The work of a call says how many threads a rate needs.
    let because = match service {
        Time::ZERO => "calls wait for a thread".to_string(),
        _ => format!("calls wait for one of {}, and {}", mount.threads, mount.work()),
    };
    let threads = mount.at(format!("The server's threads on {server}"), server);
    Some(
        Finding { does: "stop", share, ..threads }
            .because(because)
            .cure(format!("Start more nfsd threads on {server}"))
            .setting(setting("nfsd threads", server, AskedBy::Program)),
    )
}
