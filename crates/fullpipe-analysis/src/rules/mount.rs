//! The mount of a flow with limited calls.

use super::{Cause, Context, Finding};
use crate::words::ms;
use fullpipe_base::units::Time;

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
    /// Threads of the server.
    pub threads: u32,
    /// Time for which a thread works on a call with data.
    pub service: Time,
    place: Option<String>,
}

impl<'a> Mount<'a> {
    /// Mount of the flow that has the largest share of the cause.
    pub fn of(context: &'a Context, cause: &Cause) -> Mount<'a> {
        let one = context.most(cause);
        let own = context.meta.mount_of(one.index).map(|at| &context.meta.nfs[at]);
        let reads = own.is_some_and(|own| own.reads);
        let version = own.map_or("", |own| own.version);
        let (threads, service) = own.map_or((0, Time::ZERO), |own| (own.threads, own.service));
        let [from, to] = &one.meta.hosts;
        let (client, server) = if reads { (to, from) } else { (from, to) };
        let place = cause.place.clone();
        Mount { client, server, reads, version, threads, service, place }
    }

    /// "a thread of receiver works 300 ms on a call": the time that an answer takes on the server.
    pub fn work(&self) -> String {
        match self.service {
            Time::ZERO => format!("{} answers a round trip later", self.server),
            service => {
                format!(
                    "a thread of {} works {} on a call",
                    self.server,
                    ms(service.as_secs_f64() * 1e3)
                )
            }
        }
    }

    /// Something on a host that stops the flow.
    pub fn at(&self, who: String, host: &str) -> Finding {
        Finding::new(who, self.place.clone().or_else(|| Some(host.into())))
    }
}
