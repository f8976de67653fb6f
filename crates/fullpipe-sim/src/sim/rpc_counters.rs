//! Remote procedure calls in the trace: counters of clients, and of the servers' threads.
//!
//! | counter | |
//! |---|---|
//! | `rpc.<client>.calls`, `.replies` | calls that were begun to be written, replies that were read |
//! | `rpc.<client>.data.replies` | replies to calls that read or write data |
//! | `rpc.<client>.data.transmissions` | how often these calls were written, more than once where a timeout passed |
//! | `rpc.<client>.data.queue_ns` | of these calls, the times from when they were made until they were begun to be written, added up |
//! | `rpc.<client>.data.rtt_ns` | from then on until their replies were read |
//! | `rpc.<client>.slots_in_use` | at this time |
//! | `rpc.<client>.slots_ns` | slots in use, added up over time |
//! | `rpc.<client>.waits_for_slots_ns` | for how long calls have waited for slots |
//! | `rpc.server.calls`, `.replies` | whole calls that threads have taken, replies that they have written |
//! | `rpc.server.threads_busy` | at this time |
//! | `rpc.server.threads_ns` | busy threads, added up over time |
//! | `rpc.server.waits_for_threads_ns` | connections that have something for a thread and none, added up over time |

use super::Simulation;
use crate::config::Config;
use crate::host::Host;
use crate::trace::{Counter, Sink};
use crate::units::Time;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The last part of a counter's name, and its value.
type CounterValue = (&'static str, u64);

/// An end of RPC on a host.
#[derive(Clone, Copy)]
struct RpcEnd {
    /// Place of the host.
    place: usize,
    /// Client; none: the server.
    client: Option<usize>,
}

/// Counters of remote procedure calls and their last values.
pub(super) struct RpcCounters {
    /// Names of clients.
    clients: Vec<String>,
    servers: bool,
    /// Last values in the trace, by host and by client or server.
    last_values: BTreeMap<(usize, Option<usize>, &'static str), u64>,
}

impl RpcCounters {
    pub(super) fn new(config: &Config) -> RpcCounters {
        let clients = config.rpc.clients.iter().map(|client| client.name.clone()).collect();
        RpcCounters {
            clients,
            servers: !config.rpc.servers.is_empty(),
            last_values: BTreeMap::new(),
        }
    }

    /// Writes the counters that have changed.
    pub(super) fn emit(&mut self, run: &Simulation, now: Time, sink: &mut dyn Sink) {
        if !self.servers {
            return;
        }
        for (place, host) in run.hosts.iter().enumerate() {
            for client in 0..self.clients.len() {
                let counters = of_client(host, client, now);
                let end = RpcEnd { place, client: Some(client) };
                self.emit_changed(end, host, &counters, now, sink);
            }
            let counters = of_server(host, now);
            self.emit_changed(RpcEnd { place, client: None }, host, &counters, now, sink);
        }
    }

    fn emit_changed(
        &mut self,
        end: RpcEnd,
        host: &Host,
        counters: &[CounterValue],
        time: Time,
        sink: &mut dyn Sink,
    ) {
        let RpcEnd { place, client } = end;
        for &(what, value) in counters {
            if self.last_values.insert((place, client, what), value).unwrap_or_default() == value {
                continue;
            }
            let whose = client.map_or("server", |client| &self.clients[client]);
            let (name, host) = (format!("rpc.{whose}.{what}").into(), host.name[..].into());
            sink.counter(&Counter { time, host, name, value });
        }
    }
}

fn of_client(host: &Host, client: usize, now: Time) -> Vec<CounterValue> {
    let Some(own) = host.rpc.clients.get(client).and_then(Option::as_ref) else {
        return Vec::new();
    };
    let [slots_ns, waits_ns] = own.slots_ns(now);
    alloc::vec![
        ("calls", own.sent),
        ("replies", own.answered),
        ("data.replies", own.with_data.calls),
        ("data.transmissions", own.with_data.transmissions),
        ("data.queue_ns", own.with_data.queue_ns),
        ("data.rtt_ns", own.with_data.rtt_ns),
        ("slots_in_use", own.slots_in_use()),
        ("slots_ns", slots_ns),
        ("waits_for_slots_ns", waits_ns),
    ]
}

fn of_server(host: &Host, now: Time) -> Vec<CounterValue> {
    let Some(own) = &host.rpc.server else { return Vec::new() };
    let [threads_ns, waits_ns] = own.threads_ns(now);
    alloc::vec![
        ("calls", own.calls),
        ("replies", own.replied),
        ("threads_busy", own.busy()),
        ("threads_ns", threads_ns),
        ("waits_for_threads_ns", waits_ns),
    ]
}
