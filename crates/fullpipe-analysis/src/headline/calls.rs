//! Files on NFS mounts: calls, read-ahead, and the server's threads.

use super::super::document::AskedBy;
use super::Context;
use super::causes::Cause;
use super::explained::{Explained, setting};
use super::words::bytes;
use crate::numbers;

/// "mount reads 1 GiB: " before the rate, where the flows are a mount's.
pub fn prefix(context: &Context) -> String {
    let mounts: Vec<&super::super::document::Nfs> = context.run.nfs.iter().collect();
    let first = context.subject.flows.first().filter(|one| context.meta.is_of_mount(one.index));
    match (&mounts[..], first) {
        ([], _) | (_, None) => String::new(),
        ([own], _) => {
            let unfinished = if own.took_s.is_none() { " (not finished)" } else { "" };
            format!("NFS {} of {}{unfinished}: ", own.operation, bytes(own.bytes))
        }
        (several, _) => format!("{} NFS mounts: ", numbers::count(several.len() as u64)),
    }
}

/// What limits calls.
pub fn limit(context: &Context, cause: &Cause) -> Explained {
    let one = context.most(cause);
    let own = context.meta.nfs.iter().rev().find(|own| one.index >= own.connection);
    let reads = own.is_some_and(|own| own.reads);
    let [from, to] = &one.meta.hosts;
    let (client, server) = if reads { (to, from) } else { (from, to) };
    let at = |who: String, host: &str| {
        Explained::new(who, cause.place.clone().or_else(|| Some(host.into())))
    };
    match &cause.limit[..] {
        "rpc_slots" => at(format!("The client's call slots on {client}"), client)
            .because("all calls that the session allows are under way")
            .cure(format!(
                "Raise the slots on {client} (nfs.max_session_slots, \
                sunrpc.tcp_slot_table_entries), or use larger rsize and wsize"
            ))
            .setting(setting("sunrpc.tcp_slot_table_entries", client, AskedBy::Sysctl)),
        "page_cache" if reads => at(format!("The read-ahead of {client}"), client)
            .because("the page cache asks for no more at a time")
            .cure(format!("Raise read_ahead_kb of the mount on {client}"))
            .setting(setting("read_ahead_kb", client, AskedBy::Sysctl)),
        "page_cache" => at(format!("The page cache of {client}"), client)
            .because("it writes no more back at a time")
            .cure("Raise wsize, or vm.dirty_bytes")
            .setting(setting("vm.dirty_bytes", client, AskedBy::Sysctl)),
        "server_threads" => at(format!("The server's threads on {server}"), server)
            .because("calls wait for a thread")
            .cure(format!("Start more nfsd threads on {server}"))
            .setting(setting("nfsd threads", server, AskedBy::Program)),
        _ => at(format!("The server on {server}"), server)
            .because(
                "it leaves the parts of a record in the socket until all of it is there, \
                so the window closes",
            )
            .cure(format!("Raise the receive buffer of {server}'s server, or use a smaller wsize"))
            .setting(setting("server receive buffer", server, AskedBy::Program)),
    }
}
