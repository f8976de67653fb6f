//! Prefix of headlines about NFS mounts.

use crate::document::Nfs;
use crate::numbers;
use crate::rules::Context;
use crate::words::bytes;

/// "mount reads 1 GiB: " before the rate, where the flows are a mount's.
pub fn prefix(context: &Context) -> String {
    let mounts: Vec<&Nfs> = context.run.nfs.iter().collect();
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

/// Whether the flows are those of mounts of which no call was ever answered.
pub fn is_unanswered(context: &Context) -> bool {
    let mount = |index| context.run.nfs.get(context.meta.mount_of(index)?);
    let mut flows = context.subject.flows.iter();
    flows.all(|one| mount(one.index).is_some_and(|own| own.unanswered))
}
