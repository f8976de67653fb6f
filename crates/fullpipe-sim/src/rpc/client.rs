//! A client: its calls, its slots, and the queues from which calls are written to connections.

use super::time::{Changes, Integral};
use super::{Message, Operation, RpcClient, Slots, padded};
use crate::units::Time;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

/// What keeps a client from having more calls out on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It does nothing: it has not begun, or it is done.
    #[default]
    Idle,
    /// A slot: calls wait for one.
    Slots,
    /// The page cache asks for no more.
    PageCache,
    /// All is asked for, and not answered.
    Replies,
}

/// See the module's description. A call that was made waits for a slot (`xprt_add_backlog`), then in the queue of its
/// connection (xmit_queue), from which one after the other is written.
pub(crate) struct Client {
    config: RpcClient,
    /// Calls with data.
    data: u64,
    begun: bool,
    /// Calls that were made.
    made: u64,
    /// The connection of the last one of them.
    last: usize,
    /// The connections of those that were not answered, and how many of these each has.
    unanswered: BTreeMap<u64, usize>,
    queued: Vec<u64>,
    /// Those that wait for slots, of each table; its slots in use.
    backlog: Vec<VecDeque<u64>>,
    in_use: Vec<u32>,
    /// Those that wait to be written, of each connection.
    queue: Vec<VecDeque<u64>>,
    /// Calls that were begun to be written, and those that were answered.
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    /// The first call that was not answered, and those after it that were.
    first_missing: u64,
    beyond: BTreeSet<u64>,
    /// Of each connection what it waits for.
    waits: Vec<Changes<Waits>>,
    /// How many slots are in use, and whether calls wait for some.
    slots: Integral,
    waiting: Integral,
}

impl Client {
    pub(crate) fn new(config: &RpcClient) -> Client {
        let connections = config.connections.len();
        let tables = match config.slots {
            Slots::PerConnection(_) => connections,
            Slots::Session(_) => 1,
        };
        Client {
            data: config.bytes.div_ceil(config.record.into()),
            begun: false,
            made: 0,
            last: connections - 1,
            unanswered: BTreeMap::new(),
            queued: alloc::vec![0; connections],
            backlog: alloc::vec![VecDeque::new(); tables],
            in_use: alloc::vec![0; tables],
            queue: alloc::vec![VecDeque::new(); connections],
            sent: 0,
            answered: 0,
            first_missing: 0,
            beyond: BTreeSet::new(),
            waits: alloc::vec![Changes::default(); connections],
            slots: Integral::default(),
            waiting: Integral::default(),
            config: config.clone(),
        }
    }

    /// The flows of its connections' calls.
    pub(crate) fn connections(&self) -> &[usize] {
        &self.config.connections
    }

    /// Its application begins.
    pub(crate) fn begin(&mut self, now: Time) {
        self.begun = true;
        self.go_on(now);
    }

    /// A reply was read: a slot is free.
    pub(crate) fn answer(&mut self, call: u64, now: Time) {
        let Some(connection) = self.unanswered.remove(&call) else { return };
        let table = self.table(connection);
        self.in_use[table] -= 1;
        self.queued[connection] -= 1;
        self.answered += 1;
        self.beyond.insert(call);
        while self.beyond.remove(&self.first_missing) {
            self.first_missing += 1;
        }
        self.go_on(now);
    }

    /// Whether everything was done.
    pub(crate) fn is_done(&self) -> bool {
        self.begun && self.answered == self.data + u64::from(self.commits())
    }

    /// Whether a call waits to be written to the connection.
    pub(crate) fn has_call(&self, connection: usize) -> bool {
        !self.queue[connection].is_empty()
    }

    /// Takes the next one of them, which is written behind `written` bytes.
    pub(crate) fn take_call(&mut self, connection: usize, written: u64) -> Option<Message> {
        let call = self.queue[connection].pop_front()?;
        self.sent += 1;
        let message = self.message(call);
        Some(Message { end: written + u64::from(message.len), ..message })
    }

    /// What it waits for on a connection, as it changed.
    pub(crate) fn take_waits(&mut self, connection: usize) -> Vec<(Time, Waits)> {
        self.waits[connection].take()
    }

    /// Slots in use.
    pub(crate) fn slots_in_use(&self) -> u64 {
        self.in_use.iter().map(|&slots| u64::from(slots)).sum()
    }

    /// The same added up over time, and how long calls have waited for slots, ns.
    pub(crate) fn slots_ns(&self, now: Time) -> [u64; 2] {
        [self.slots.read(now), self.waiting.read(now)]
    }

    fn commits(&self) -> bool {
        self.config.operation == Operation::Write { commit: true }
    }

    /// Makes the calls that may be made, and gives slots to those that wait.
    fn go_on(&mut self, now: Time) {
        while self.made < self.may_be_made() {
            self.last = self.next_connection();
            self.unanswered.insert(self.made, self.last);
            self.queued[self.last] += 1;
            let table = self.table(self.last);
            self.backlog[table].push_back(self.made);
            self.made += 1;
        }
        for table in 0..self.backlog.len() {
            self.give_slots(table);
        }
        for connection in 0..self.queue.len() {
            let waits = self.waits_for(connection);
            self.waits[connection].set(now, waits);
        }
        self.slots.set(now, self.in_use.iter().sum());
        let waits = self.backlog.iter().any(|calls| !calls.is_empty());
        self.waiting.set(now, waits.into());
    }

    /// How many calls may have been made by now.
    fn may_be_made(&self) -> u64 {
        if self.commits() && self.answered >= self.data {
            return self.data + 1;
        }
        let from = match self.config.operation {
            Operation::Write { .. } => self.answered,
            Operation::Read => self.first_missing,
        };
        self.config.ahead.map_or(self.data, |ahead| self.data.min(from + u64::from(ahead)))
    }

    fn give_slots(&mut self, table: usize) {
        let (Slots::PerConnection(slots) | Slots::Session(slots)) = self.config.slots;
        while self.in_use[table] < slots
            && let Some(call) = self.backlog[table].pop_front()
        {
            self.in_use[table] += 1;
            let connection = self.unanswered.get(&call).copied().unwrap_or_default();
            self.queue[connection].push_back(call);
        }
    }

    fn waits_for(&self, connection: usize) -> Waits {
        let table = self.table(connection);
        if self.is_done() {
            Waits::Idle
        } else if !self.backlog[table].is_empty() {
            Waits::Slots
        } else if self.made < self.data {
            Waits::PageCache
        } else {
            Waits::Replies
        }
    }

    /// The connection of the next call: they take turns, but one with more unanswered calls than there are of each on average
    /// is passed over (6.12 `xprt_switch_find_next_entry_roundrobin`).
    fn next_connection(&self) -> usize {
        let (all, connections) = (self.unanswered.len() as u64, self.queued.len());
        let mut turns = (1..=connections).map(|turn| (self.last + turn) % connections);
        let next = turns.find(|&own| self.queued[own] * connections as u64 <= all);
        next.unwrap_or_default()
    }

    /// The slot table of a connection.
    fn table(&self, connection: usize) -> usize {
        connection.min(self.backlog.len() - 1)
    }

    /// The record of a call.
    fn message(&self, call: u64) -> Message {
        let sizes = &self.config.sizes;
        let record = u64::from(self.config.record);
        let [len, reply] = match self.config.operation {
            _ if call == self.data => sizes.commit,
            operation => {
                let data = padded((self.config.bytes - call * record).min(record) as u32);
                match operation {
                    Operation::Write { .. } => [sizes.call + data, sizes.reply],
                    Operation::Read => [sizes.call, sizes.reply + data],
                }
            }
        };
        Message { end: 0, len, call, reply, commits: call == self.data }
    }
}
