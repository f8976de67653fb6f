//! NFS: the page cache of the client reads no more ahead, or the server takes long for the calls that it asks for.

use super::mount::Mount;
use super::{Cause, Context, Finding, Rule, When, server_work, setting, valued};
use crate::document::AskedBy;
use crate::meta::NfsMeta;
use crate::numbers;
use crate::sizing::sizes::{Reading, read_ahead};
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "read-ahead", code: "nfs", when: When::Held(&["page_cache"]), find };

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let mount = Mount::of(context, cause);
    if !mount.reads {
        return None;
    }
    let client = mount.client;
    let one = context.most(cause);
    let at = context.meta.mount_of(one.index)?;
    let meta = &context.meta.nfs[at];
    let round_trip = one.meta.base_rtt.unwrap_or(Time::ZERO);

    let connections = context.meta.connections(at, context.meta.flows.len()).len();
    let needed = context.window(cause).map(|window| {
        read_ahead(&Reading {
            window,
            round_trip,
            service: mount.service,
            call: meta.call,
            connections: u32::try_from(connections).unwrap_or(u32::MAX),
            bytes: meta.bytes,
        })
    });
    let more = needed.filter(|needed| *needed > meta.read_ahead).map(kib);
    let today = kib(meta.read_ahead);

    // A server whose threads cannot fill the path is the limit, however much is read ahead.
    if context.subject.allowed_mbit().is_some_and(|path| most_mbit(meta) < path) {
        let also = more.as_ref().map_or(String::new(), |to| {
            format!(", or raise read_ahead_kb of the mount on {client} to {to}")
        });
        return Some(server_work::answers(
            &mount,
            format!("{}, and the page cache reads {today} ahead", mount.work()),
            format!("Give {} faster storage{also}", mount.server),
        ));
    }
    let to = match (&more, needed) {
        (Some(to), _) => format!(" to {to}"),
        (None, Some(_)) => format!(" beyond today's {today}"),
        (None, None) => String::new(),
    };
    let setting = match more {
        Some(to) => valued("read_ahead_kb", client, today, Some(to), AskedBy::Sysctl),
        None => setting("read_ahead_kb", client, AskedBy::Sysctl),
    };
    Some(
        mount
            .at(format!("The read-ahead of {client}"), client)
            .because("the page cache asks for no more at a time")
            .cure(format!("Raise read_ahead_kb of the mount on {client}{to}"))
            .setting(setting),
    )
}

/// Rate at which all threads of a server together answer calls, Mb/s.
fn most_mbit(meta: &NfsMeta) -> f64 {
    f64::from(meta.threads) * f64::from(meta.call) * 8.0 / meta.service.as_secs_f64() / 1e6
}

/// "461 KiB", the unit of `read_ahead_kb`.
fn kib(bytes: u64) -> String {
    format!("{} KiB", numbers::count(bytes >> 10))
}
