//! Remote procedure calls: what their clients and servers do with the sockets of a host.
//!
//! A client writes one call at a time to a connection, and sleeps without room in its send buffer as the kernel's own
//! sockets do (`xs_tcp_send_request`); it reads what comes. A server's thread takes at most the rest of a record
//! ([`Server::takes`]), and writes the reply.

use super::shared::Shared;
use super::{Host, Process};
use crate::config::{Config, Station};
use crate::rpc::Message;
use crate::rpc::client::Client;
use crate::rpc::server::{Held, Server};
use crate::rpc::timeouts::Alarm;
use crate::tcp::sender::Writer;
use crate::tcp::sender::write::spliced;
use crate::trace::EventKind;
use crate::units::Time;
use alloc::vec::Vec;

/// What a flow is to the calls of the host that has one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Calls of this client, on this connection.
    Calls(usize, usize),
    /// The replies to it.
    Answers(usize),
    /// Calls that come to the server.
    Served,
    /// Its replies.
    Replies,
}

/// Clients and the server of a host.
#[derive(Default)]
pub(crate) struct HostRpc {
    /// Of each flow of the run; none where there is no client.
    roles: Vec<Option<Role>>,
    /// By their place in the configuration, those of this host.
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

    /// Whether it carries calls which the kernel itself writes, and so does not sleep in the socket.
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

    /// Takes the next one, behind so many bytes of the flow, to write it from now on.
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
    /// A client begins or sends calls again, or threads have done their work.
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

    /// A connection is there; a client whose calls it carries may begin.
    pub(super) fn connected(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        if let Some(Role::Calls(client, _)) = self.rpc.role(flow) {
            self.go_on_with(client, now, shared, |client, _| client.connect(now));
        }
    }

    /// Something happens to a client: tells if its application has begun or is done by that, and writes what there is.
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
            self.tell_finished(at, now, shared);
        }
        self.set_alarm(at, now);
        self.wake_client(at);
    }

    /// Of each connection of a client the call whose reply was read in part.
    fn coming(&self, at: usize, shared: &Shared) -> Vec<Option<u64>> {
        let connections = self.rpc.clients[at].as_ref().map_or(&[][..], Client::connections);
        let coming = |calls: &usize| {
            let replies = shared.halves[*calls]?;
            let reply = shared.messages[replies].front()?;
            let begun = self.receives[replies].tcp.bytes_read > reply.end - u64::from(reply.len);
            begun.then_some(reply.call)
        };
        connections.iter().map(coming).collect()
    }

    /// A client's timer follows its calls.
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

    /// Work that threads have done by now is answered.
    fn finish_calls(&mut self, now: Time) {
        while let Some(flow) = self.rpc.server.as_mut().and_then(|server| server.finish(now)) {
            self.wake_rpc_writer(flow);
        }
        self.follow_threads();
    }

    /// The server's timer follows its threads' work.
    fn follow_threads(&mut self) {
        let next = self.rpc.server.as_ref().and_then(Server::next);
        self.timers.set_rpc(self.rpc.clients.len(), next);
    }

    /// A client may have calls to write.
    fn wake_client(&mut self, at: usize) {
        let Some(client) = &self.rpc.clients[at] else { return };
        for flow in client.connections().to_vec() {
            self.wake_rpc_writer(flow);
        }
    }

    /// A message may wait for a flow whose writer has none.
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
        state.tcp.cork(true);
        state.tcp.begin_spliced(replies.then(|| spliced(message.len)));
        state.write_left = message.len;
        state.begins_call = true;
        shared.messages[flow].push_back(message);
        true
    }

    /// A message is written: a call waits for its reply, and that of a server gives its thread back.
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
        self.end_thread(now, shared);
        self.go_on_serving(flow, now, shared);
    }

    /// There may be room for more replies of the flow: calls of its connection may be taken again.
    pub(super) fn go_on_serving(&mut self, flow: usize, now: Time, shared: &Shared) {
        if self.rpc.role(flow) == Some(Role::Replies)
            && let Some(calls) = shared.halves[flow]
        {
            self.after_receiving(calls, now, shared);
        }
    }

    /// Bytes that a reader of the flow takes of what is there.
    pub(super) fn readable(&self, flow: usize, shared: &Shared) -> u64 {
        let tcp = &self.receives[flow].tcp;
        let readable = tcp.readable();
        if readable == 0 || self.rpc.role(flow) != Some(Role::Served) {
            return readable;
        }
        let (Some(server), Some(record)) = (&self.rpc.server, shared.messages[flow].front()) else {
            return readable;
        };
        let taken = tcp.bytes_read + u64::from(record.len) - record.end;
        server.takes(record, taken, readable)
    }

    /// Whether a reader of the flow may go on with what is there: one of a server needs a thread, and takes nothing while
    /// a reply of the connection waits for room in the send buffer (6.12 `svc_tcp_has_wspace`).
    pub(super) fn may_read(&mut self, flow: usize, now: Time, shared: &Shared) -> bool {
        let bytes = self.readable(flow, shared);
        if self.rpc.role(flow) != Some(Role::Served) {
            return bytes > 0;
        }
        let replies = shared.halves[flow].map(|half| self.sends[half].tcp.writer());
        let has_room = replies != Some(Writer::NoSpace);
        let held = bytes == 0 && self.receives[flow].tcp.readable() > 0;
        let Some(server) = &mut self.rpc.server else { return false };
        if bytes > 0 && has_room {
            return server.begin(flow, now);
        }
        server.hold(flow, if held { Held::Record } else { Held::Nothing }, now);
        false
    }

    /// A reader of the flow has read: messages may be whole.
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

    /// A thread has read: it works on a call, or leaves the connection until more of it comes.
    fn after_serving(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let read = self.receives[flow].tcp.bytes_read;
        let call = shared.take_message(flow, read);
        let (Some(call), Some(replies)) = (call, shared.halves[flow]) else {
            return self.end_thread(now, shared);
        };
        let Some(server) = &mut self.rpc.server else { return };
        if server.serve(call, replies, now) {
            self.wake_rpc_writer(replies);
        } else {
            self.follow_threads();
        }
    }

    /// A thread has nothing to do: a connection that waits for one has it, if it still may have one.
    fn end_thread(&mut self, now: Time, shared: &Shared) {
        if let Some(server) = &mut self.rpc.server {
            server.end(now);
        }
        while let Some(flow) = self.rpc.server.as_mut().and_then(|server| server.next_waiting(now))
        {
            self.after_receiving(flow, now, shared);
        }
    }

    /// All that a client asked for was answered: its replies are all read.
    fn tell_finished(&mut self, client: usize, now: Time, shared: &mut Shared) {
        let Some(own) = &self.rpc.clients[client] else { return };
        for &calls in own.connections() {
            let Some(replies) = shared.halves[calls] else { continue };
            let read = self.receives[replies].tcp.bytes_read;
            shared.event(now, replies as u16, EventKind::Finished, read);
        }
    }
}
