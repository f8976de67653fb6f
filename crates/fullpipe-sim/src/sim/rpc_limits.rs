//! Limit of a flow that carries calls or replies, where the client or the server limits it instead of its TCP.
//!
//! Each host knows only its own part: TCP's limits, the client's reason for waiting, the server's reason for holding
//! calls. The hosts note changes with their times. A sample, which all hosts have reached, combines them. The first
//! rule that holds decides:
//!
//! | TCP's limit | the server | the client | the limit |
//! |---|---|---|---|
//! | the receive window, the application | has no thread for what has come | | [`Limit::ServerThreads`] |
//! | the receive window | waits for the rest of a record | | [`Limit::RecordGate`] |
//! | the application | | has calls, and no slot | [`Limit::RpcSlots`] |
//! | the application | | page cache asks for no more | [`Limit::PageCache`] |
//! | the application | | has not begun, or is done | [`Limit::Idle`] |
//! | another one, or else | | | that one |

use super::Simulation;
use crate::config::Config;
use crate::rpc::client::Waits;
use crate::rpc::server::HoldReason;
use crate::trace::Limit;
use crate::units::Time;
use alloc::vec::Vec;

/// All connections of clients.
pub(super) struct RpcLimits {
    connections: Vec<Connection>,
}

/// A connection of a client.
struct Connection {
    /// Client, and number of this connection within it.
    client: (usize, usize),
    /// Flows of the calls and of the replies.
    flows: [usize; 2],
    /// TCP's limit of each flow.
    tcp: [Limit; 2],
    waits: Waits,
    held: HoldReason,
    since: Time,
    booked: [[u64; Limit::COUNT]; 2],
}

/// A change of one part.
#[derive(Clone, Copy)]
enum Change {
    Tcp(usize, Limit),
    Waits(Waits),
    Held(HoldReason),
}

impl RpcLimits {
    pub(super) fn new(config: &Config) -> RpcLimits {
        let reverse_of = config.reverse_flows();
        let clients = config.rpc.clients.iter().enumerate();
        let connections = clients.flat_map(|(number, client)| {
            let flows_of_calls = client.connections.iter().enumerate();
            flows_of_calls.map(move |(at, &calls)| ((number, at), calls))
        });

        // A connection needs a flow for calls and one for replies.
        let connections = connections.filter_map(|(client, calls)| {
            Some(Connection {
                client,
                flows: [calls, reverse_of[calls]?],
                tcp: [Limit::Idle; 2],
                waits: Waits::Idle,
                held: HoldReason::Nothing,
                since: Time::ZERO,
                booked: [[0; Limit::COUNT]; 2],
            })
        });
        RpcLimits { connections: connections.collect() }
    }

    /// Accounts all time up to `now`.
    pub(super) fn book(&mut self, run: &mut Simulation, now: Time) {
        for connection in &mut self.connections {
            let mut changes = connection.changes(run);
            changes.sort_by_key(|(time, _)| *time);
            for (time, change) in changes {
                connection.pass(time);
                connection.take(change);
            }
            connection.pass(now);
        }
    }

    /// Nanoseconds by limit of a flow, if a client's connection has it.
    pub(super) fn of(&self, flow: usize) -> Option<[u64; Limit::COUNT]> {
        self.connections.iter().find_map(|connection| {
            let at = connection.flows.iter().position(|&own| own == flow)?;
            Some(connection.booked[at])
        })
    }
}

impl Connection {
    /// Changes since the last call, part by part.
    fn changes(&self, run: &mut Simulation) -> Vec<(Time, Change)> {
        let (client, at) = self.client;
        let mut all = Vec::new();
        for host in &mut run.hosts {
            for (direction, &flow) in self.flows.iter().enumerate() {
                if let Some(state) = host.sends.get_mut(flow) {
                    let changes = state.limits.take_changes().into_iter();
                    all.extend(changes.map(|(time, limit)| (time, Change::Tcp(direction, limit))));
                }
            }
            if let Some(client) = host.rpc.clients.get_mut(client).and_then(Option::as_mut) {
                let changes = client.take_waits(at).into_iter();
                all.extend(changes.map(|(time, waits)| (time, Change::Waits(waits))));
            }
            if let Some(server) = &mut host.rpc.server {
                let changes = server.take_held(self.flows[0]).into_iter();
                all.extend(changes.map(|(time, held)| (time, Change::Held(held))));
            }
        }
        all
    }

    fn pass(&mut self, now: Time) {
        let lasted = (now - self.since).0;
        for direction in 0..self.flows.len() {
            let limit = limit(self.tcp[direction], self.held, self.waits);
            self.booked[direction][limit as usize] += lasted;
        }
        self.since = now;
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Tcp(direction, limit) => self.tcp[direction] = limit,
            Change::Waits(waits) => self.waits = waits,
            Change::Held(held) => self.held = held,
        }
    }
}

/// Limit of a flow, by the module's table.
fn limit(tcp: Limit, held: HoldReason, waits: Waits) -> Limit {
    match (tcp, held, waits) {
        (Limit::ReceiveWindow | Limit::Application, HoldReason::Threads, _) => Limit::ServerThreads,
        (Limit::ReceiveWindow, HoldReason::Record, _) => Limit::RecordGate,
        (Limit::Application, _, Waits::Slots) => Limit::RpcSlots,
        (Limit::Application, _, Waits::PageCache) => Limit::PageCache,
        (Limit::Application, _, Waits::Idle) => Limit::Idle,
        _ => tcp,
    }
}
