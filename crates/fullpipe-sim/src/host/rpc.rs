//! Remote procedure calls: use of a host's sockets by clients and servers.
//!
//! A client writes one call at a time to a connection. Without room in its send buffer it sleeps as the kernel's own
//! sockets do (`xs_tcp_send_request`). It reads replies as they arrive. A server's thread takes at most the rest of a
//! record ([`Server::takes`]), and writes the reply.

use super::shared::Shared;
use super::{Host, Process};
use crate::config::{Config, Station};
use crate::rpc::Message;
use crate::rpc::client::Client;
use crate::rpc::server::{HoldReason, Server};
use crate::rpc::timeouts::Alarm;
use crate::tcp::sender::Writer;
use crate::tcp::sender::write::spliced;
use crate::trace::EventKind;
use crate::units::Time;
use alloc::vec::Vec;

/// Use of a flow by the calls of a host that has one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Calls of this client, on this connection.
    Calls(usize, usize),
    /// Replies to this client.
    Answers(usize),
    /// Calls to the server of this host.
    Served,
    /// Replies of the server of this host.
    Replies,
}

/// Clients and the server of a host.
#[derive(Default)]
pub(crate) struct HostRpc {
    /// Role of each flow of the run; none where no client uses it.
    roles: Vec<Option<Role>>,
    /// Clients of this host, by their place in the configuration.
    pub(crate) clients: Vec<Option<Client>>,
    pub(crate) server: Option<Server>,
}

impl HostRpc {
    pub(super) fn new(own: Station, config: &Config) -> HostRpc {
        let rpc = &config.rpc;
        if rpc.is_empty() {
            return HostRpc::default();
        }
        let server = rpc.servers.iter().find(|server| server.host == own.name);
        let of = |flow| config.hosts_of(&config.flows[flow]).map(|host| host.name == own.name);

        // Each connection has a flow for calls and one for replies; the host has an end of both.
        let role = |flow: usize| {
            let (client, connection) = config.rpc_connection_of(flow)?;
            match (of(flow), config.flows[flow].answers.is_some()) {
                ([true, _], false) => Some(Role::Calls(client, connection)),
                ([true, _], true) => Some(Role::Replies),
                ([_, true], false) => Some(Role::Served),
                ([_, true], true) => Some(Role::Answers(client)),
                _ => None,
            }
        };
        let clients = rpc.clients.iter().map(|client| {
            let is_here = client.connections.first().is_some_and(|&calls| of(calls)[0]);
            is_here.then(|| Client::new(client, own.host.hz))
        });
        HostRpc {
            roles: (0..config.flows.len()).map(role).collect(),
            clients: clients.collect(),
            server: server.map(Server::new),
        }
    }

    fn role(&self, flow: usize) -> Option<Role> {
        self.roles.get(flow).copied().flatten()
    }

    /// Whether the flow carries calls or replies.
    pub(super) fn has(&self, flow: usize) -> bool {
        self.role(flow).is_some()
    }

    /// Whether the flow carries calls. The kernel itself writes them, and so does not sleep in the socket.
    pub(super) fn writes_calls(&self, flow: usize) -> bool {
        matches!(self.role(flow), Some(Role::Calls(..)))
    }

    /// Whether a message waits to be written to the flow behind the one in hand.
    pub(super) fn has_message(&self, flow: usize) -> bool {
        match self.role(flow) {
            Some(Role::Calls(client, connection)) => {
                self.clients[client].as_ref().is_some_and(|client| client.has_call(connection))
            }
            Some(Role::Replies) => {
                self.server.as_ref().is_some_and(|server| server.has_reply(flow))
            }
            _ => false,
        }
    }

    /// Takes the next message of the flow, to be written from now on behind `written` bytes.
    fn take_message(&mut self, flow: usize, written: u64, now: Time) -> Option<Message> {
        match self.role(flow)? {
            Role::Calls(client, connection) => {
                self.clients[client].as_mut()?.take_call(connection, written, now)
            }
            Role::Replies => self.server.as_mut()?.take_reply(flow, written),
            _ => None,
        }
    }
}

impl Host {
    /// Handles the timer of a client, which begins or sends calls again, or of a server with finished work.
    pub(super) fn on_rpc_timer(&mut self, at: usize, now: Time, shared: &mut Shared) {
        match at < self.rpc.clients.len() {
            true => {
                let coming = self.coming(at, shared);
                self.go_on_with(at, now, shared, |client, _| client.on_timer(now, &coming));
            }
            false => self.finish_calls(now),
        }
        let cpu = now.max(self.cpu.free);
        self.cpu.urgent(cpu, cpu);
    }

    /// Notes that a connection is established; a client may begin to use it for calls.
    pub(super) fn connected(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        if let Some(Role::Calls(client, _)) = self.rpc.role(flow) {
            self.go_on_with(client, now, shared, |client, _| client.connect(now));
        }
    }

    /// Runs `work` on a client, reports whether its application has begun or ended by it, and writes calls that are
    /// ready.
    fn go_on_with(
        &mut self,
        at: usize,
        now: Time,
        shared: &mut Shared,
        happens: impl FnOnce(&mut Client, &mut Shared),
    ) {
        let Some(client) = self.rpc.clients.get_mut(at).and_then(Option::as_mut) else { return };
        let had_begun = client.has_begun();
        happens(client, shared);
        if client.has_begun() && !had_begun {
            shared.event(now, client.connections()[0] as u16, EventKind::Began, 0);
        }
        if client.is_done() {
            self.report_finished(at, now, shared);
        }
        // The work may have set another timeout, or made calls that can be written.
        self.set_alarm(at, now);
        self.wake_client(at);
    }

    /// Call of a reply that was read in part, for each connection of a client.
    fn coming(&self, at: usize, shared: &Shared) -> Vec<Option<u64>> {
        let connections = self.rpc.clients[at].as_ref().map_or(&[][..], Client::connections);
        connections
            .iter()
            .map(|calls| {
                let replies = shared.reverse_of[*calls]?;
                // Replies are read in order, so only the first unread one may have begun.
                let reply = shared.messages[replies].front()?;
                let begun =
                    self.receives[replies].tcp.bytes_read > reply.end - u64::from(reply.len);
                begun.then_some(reply.call)
            })
            .collect()
    }

    /// Sets a client's timer as its calls need it.
    fn set_alarm(&mut self, at: usize, now: Time) {
        let Some(client) = &mut self.rpc.clients[at] else { return };
        if let Some(alarm) = client.take_alarm() {
            let due = match alarm {
                Alarm::In(jiffies) => Some(self.timers.expiry(now, jiffies).at),
                Alarm::Never => None,
            };
            self.timers.set_rpc(at, due);
        }
    }

    /// Queues the replies of calls that are done by now.
    fn finish_calls(&mut self, now: Time) {
        while let Some(flow) = self.rpc.server.as_mut().and_then(|server| server.finish(now)) {
            self.wake_rpc_writer(flow);
        }
        self.follow_threads();
    }

    /// Sets the server's timer for the end of its threads' work.
    fn follow_threads(&mut self) {
        let next = self.rpc.server.as_ref().and_then(Server::next);
        self.timers.set_rpc(self.rpc.clients.len(), next);
    }

    /// Wakes the writers of a client that may have calls to write.
    fn wake_client(&mut self, at: usize) {
        let Some(client) = &self.rpc.clients[at] else { return };
        for flow in client.connections().to_vec() {
            self.wake_rpc_writer(flow);
        }
    }

    /// Wakes the writer of a flow, which may have a message now.
    fn wake_rpc_writer(&mut self, flow: usize) {
        let tcp = &mut self.sends[flow].tcp;
        let waits = tcp.writer() == Writer::Paused && tcp.is_established();
        if waits && self.rpc.has_message(flow) {
            tcp.set_writer(Writer::Active);
            self.runnable.push_back(Process::Writer(flow));
        }
    }

    /// Begins to write the next message; false if there is none.
    pub(super) fn begin_message(&mut self, flow: usize, now: Time, shared: &mut Shared) -> bool {
        let replies = self.rpc.role(flow) == Some(Role::Replies);
        let state = &mut self.sends[flow];
        let Some(message) = self.rpc.take_message(flow, state.written, now) else {
            state.tcp.set_writer(Writer::Paused);
            return false;
        };
        state.tcp.set_writer(Writer::Active);

        // The socket stays corked while messages follow; the end of the write decides.
        state.tcp.cork(true);
        state.tcp.begin_spliced(replies.then(|| spliced(message.len)));
        state.write_left = message.len;
        state.begins_call = true;
        shared.messages[flow].push_back(message);
        true
    }

    /// Ends a message: a call waits for its reply, and a reply releases its thread.
    pub(super) fn end_message(&mut self, flow: usize, now: Time, shared: &Shared) {
        match self.rpc.role(flow) {
            Some(Role::Calls(at, connection)) => {
                if let Some(client) = &mut self.rpc.clients[at] {
                    client.written(connection, now);
                }
                return self.set_alarm(at, now);
            }
            Some(Role::Replies) => {}
            _ => return,
        }
        if let Some(server) = &mut self.rpc.server {
            server.replied += 1;
        }

        // The thread is free, and a record may have waited for one.
        self.end_thread(now, shared);
        self.go_on_serving(flow, now, shared);
    }

    /// Takes calls of a connection again, after its replies may have got room.
    pub(super) fn go_on_serving(&mut self, flow: usize, now: Time, shared: &Shared) {
        if self.rpc.role(flow) == Some(Role::Replies)
            && let Some(calls) = shared.reverse_of[flow]
        {
            self.after_receiving(calls, now, shared);
        }
    }

    /// Available bytes that a reader of the flow takes.
    pub(super) fn readable(&self, flow: usize, shared: &Shared) -> u64 {
        let tcp = &self.receives[flow].tcp;
        let readable = tcp.readable();
        if readable == 0 {
            return readable;
        }
        if self.rpc.role(flow) != Some(Role::Served) {
            return self.readable_of_message(flow, readable, shared);
        }
        let (Some(server), Some(record)) = (&self.rpc.server, shared.messages[flow].front()) else {
            return readable;
        };
        let taken = tcp.bytes_read + u64::from(record.len) - record.end;
        server.takes(record, taken, readable)
    }

    /// Whether a reader of the flow may take the available data. A server's reader needs a thread. It takes nothing
    /// while a reply of the connection waits for room in the send buffer (6.12 `svc_tcp_has_wspace`).
    pub(super) fn may_read(&mut self, flow: usize, now: Time, shared: &Shared) -> bool {
        let bytes = self.readable(flow, shared);
        if self.rpc.role(flow) != Some(Role::Served) {
            return bytes > 0;
        }
        let replies = shared.reverse_of[flow].map(|reverse| self.sends[reverse].tcp.writer());
        let has_room = replies != Some(Writer::NoSpace);
        let held = bytes == 0 && self.receives[flow].tcp.readable() > 0;
        let Some(server) = &mut self.rpc.server else { return false };

        // A thread begins only where its reply will find room.
        if bytes > 0 && has_room {
            return server.begin(flow, now);
        }
        server.hold(flow, if held { HoldReason::Record } else { HoldReason::Nothing }, now);
        false
    }

    /// Handles messages that may be whole after a read.
    pub(super) fn after_message_bytes(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let read = self.receives[flow].tcp.bytes_read;
        match self.rpc.role(flow) {
            Some(Role::Served) => self.after_serving(flow, now, shared),
            Some(Role::Answers(client)) => {
                self.go_on_with(client, now, shared, |client, shared| {
                    while let Some(reply) = shared.take_message(flow, read) {
                        client.answer(reply.call, now);
                    }
                });
            }
            _ => {}
        }
    }

    /// Handles a thread's read: the thread works on a call, or leaves the connection until more data arrives.
    fn after_serving(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let read = self.receives[flow].tcp.bytes_read;
        let call = shared.take_message(flow, read);
        let (Some(call), Some(replies)) = (call, shared.reverse_of[flow]) else {
            return self.end_thread(now, shared);
        };
        let Some(server) = &mut self.rpc.server else { return };
        if server.serve(call, replies, now) {
            self.wake_rpc_writer(replies);
        } else {
            self.follow_threads();
        }
    }

    /// Frees a thread, and gives it to a waiting connection that still may have one.
    fn end_thread(&mut self, now: Time, shared: &Shared) {
        if let Some(server) = &mut self.rpc.server {
            server.end(now);
        }
        while let Some(flow) = self.rpc.server.as_mut().and_then(|server| server.next_waiting(now))
        {
            self.after_receiving(flow, now, shared);
        }
    }

    /// Reports that all calls of a client were answered: all of its replies were read.
    fn report_finished(&mut self, client: usize, now: Time, shared: &mut Shared) {
        let Some(own) = &self.rpc.clients[client] else { return };
        for &calls in own.connections() {
            let Some(replies) = shared.reverse_of[calls] else { continue };
            let read = self.receives[replies].tcp.bytes_read;
            shared.event(now, replies as u16, EventKind::Finished, read);
        }
    }
}
