//! The mount of a flow with limited calls.

use super::{Cause, Context, Finding};

/// Client and server of the mount that a cause is about.
pub struct Mount<'a> {
    /// The client's host.
    pub client: &'a str,
    /// The server's host.
    pub server: &'a str,
    /// Whether the mount is read.
    pub reads: bool,
    /// Version of the protocol.
    pub version: &'static str,
    place: Option<String>,
}

impl<'a> Mount<'a> {
    /// Mount of the flow that has the largest share of the cause.
    pub fn of(context: &'a Context, cause: &Cause) -> Mount<'a> {
        let one = context.most(cause);
        let own = context.meta.mount_of(one.index).map(|at| &context.meta.nfs[at]);
        let reads = own.is_some_and(|own| own.reads);
        let version = own.map_or("", |own| own.version);
        let [from, to] = &one.meta.hosts;
        let (client, server) = if reads { (to, from) } else { (from, to) };
        Mount { client, server, reads, version, place: cause.place.clone() }
    }

    /// Something on a host that stops the flow.
    pub fn at(&self, who: String, host: &str) -> Finding {
        Finding::new(who, self.place.clone().or_else(|| Some(host.into())))
    }
}
