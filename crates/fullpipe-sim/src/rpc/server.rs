//! A server: its threads, the connections that wait for one, and the calls on which they work.
//!
//! A thread has one connection at a time while it reads (XPT_BUSY), and releases it after a whole call. The thread is
//! busy until the reply is completely in the send buffer. If there is no room it sleeps, with the connection's mutex
//! (6.12 `svc_xprt_received`, `svc_tcp_sendto`).

use super::time::{Changes, Integral};
use super::{MARKER, Message, RpcServer, ServerWork, Taking};
use crate::units::Time;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Reason why data of a connection stay in the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HoldReason {
    /// No reason.
    #[default]
    Nothing,
    /// All threads are busy.
    Threads,
    /// The rest of the record has not arrived.
    Record,
}

/// State of a server.
pub(crate) struct Server {
    config: RpcServer,
    busy: u32,
    /// Connections that wait for a thread, by the flow of their calls.
    waiting: VecDeque<usize>,
    /// Calls in work, by end and start of the work, with the flow of the reply.
    works: BTreeMap<(Time, u64), (usize, Message)>,
    /// Replies to be written, by their flow.
    replies: BTreeMap<usize, VecDeque<Message>>,
    /// Reason why calls are held, by their flow.
    held: BTreeMap<usize, Changes<HoldReason>>,
    /// Whole calls that were taken, and replies that were written.
    pub(crate) calls: u64,
    pub(crate) replied: u64,
    /// Busy threads, and connections that wait for one.
    threads: Integral,
    waits: Integral,
}

impl Server {
    pub(crate) fn new(config: &RpcServer) -> Server {
        Server {
            config: config.clone(),
            busy: 0,
            waiting: VecDeque::new(),
            works: BTreeMap::new(),
            replies: BTreeMap::new(),
            held: BTreeMap::new(),
            calls: 0,
            replied: 0,
            threads: Integral::default(),
            waits: Integral::default(),
        }
    }

    /// Bytes that a thread takes of a record after `taken` bytes, where `readable` bytes can be read.
    pub(crate) fn takes(&self, record: &Message, taken: u64, readable: u64) -> u64 {
        let left = u64::from(record.len) - taken;
        match self.config.taking {
            _ if readable >= left => left,
            Taking::AsItComes => readable,
            Taking::WholeRecords => readable.min(MARKER.saturating_sub(taken)),
        }
    }

    /// Gives a thread to a connection with data, by the flow of its calls; false: the connection waits for one.
    pub(crate) fn begin(&mut self, flow: usize, now: Time) -> bool {
        let free = self.busy < self.config.threads;
        if free {
            self.busy += 1;
        } else if !self.waiting.contains(&flow) {
            self.waiting.push_back(flow);
        }
        self.hold(flow, if free { HoldReason::Nothing } else { HoldReason::Threads }, now);
        self.count(now);
        free
    }

    /// Sets the reason why a connection's calls are held.
    pub(crate) fn hold(&mut self, flow: usize, by: HoldReason, now: Time) {
        self.held.entry(flow).or_default().set(now, by);
    }

    /// Frees a thread.
    pub(crate) fn end(&mut self, now: Time) {
        self.busy -= 1;
        self.count(now);
    }

    /// Takes the first connection that waits for a thread, if one is free.
    pub(crate) fn next_waiting(&mut self, now: Time) -> Option<usize> {
        let free = self.busy < self.config.threads;
        let next = free.then(|| self.waiting.pop_front())?;
        self.count(now);
        next
    }

    /// Serves a whole call; true if the reply is ready at once. `reply` is the reply's flow.
    pub(crate) fn serve(&mut self, call: Message, reply: usize, now: Time) -> bool {
        let service = match call.work {
            ServerWork::Nothing => Time::ZERO,
            ServerWork::Data => self.config.service,
            ServerWork::Commit => self.config.commit,
        };
        self.calls += 1;
        if service == Time::ZERO {
            self.reply(call, reply);
            return true;
        }

        // Calls that are done at one time have the order in which they began.
        self.works.insert((now + service, self.calls), (reply, call));
        false
    }

    fn reply(&mut self, call: Message, flow: usize) {
        let reply = Message { len: call.reply, reply: 0, ..call };
        self.replies.entry(flow).or_default().push_back(reply);
    }

    /// Time at which the next call in work will be done.
    pub(crate) fn next(&self) -> Option<Time> {
        self.works.first_key_value().map(|((time, _), _)| *time)
    }

    /// Takes a call that is done by `now`; returns the flow of its reply, which is to be written.
    pub(crate) fn finish(&mut self, now: Time) -> Option<usize> {
        let first = self.works.first_entry().filter(|first| first.key().0 <= now)?;
        let (flow, call) = first.remove();
        self.reply(call, flow);
        Some(flow)
    }

    /// Whether a reply is to be written to that flow.
    pub(crate) fn has_reply(&self, flow: usize) -> bool {
        self.replies.get(&flow).is_some_and(|replies| !replies.is_empty())
    }

    /// Takes the next reply, which is written behind `written` bytes.
    pub(crate) fn take_reply(&mut self, flow: usize, written: u64) -> Option<Message> {
        let reply = self.replies.get_mut(&flow)?.pop_front()?;
        Some(Message { end: written + u64::from(reply.len), ..reply })
    }

    /// Takes the changes of the reason why a flow's calls are held.
    pub(crate) fn take_held(&mut self, flow: usize) -> Vec<(Time, HoldReason)> {
        self.held.get_mut(&flow).map(Changes::take).unwrap_or_default()
    }

    /// Busy threads.
    pub(crate) fn busy(&self) -> u64 {
        self.busy.into()
    }

    /// Integrals over time of busy threads and of connections that wait for one, ns.
    pub(crate) fn threads_ns(&self, now: Time) -> [u64; 2] {
        [self.threads.read(now), self.waits.read(now)]
    }

    fn count(&mut self, now: Time) {
        self.threads.set(now, self.busy);
        self.waits.set(now, self.waiting.len() as u32);
    }
}
