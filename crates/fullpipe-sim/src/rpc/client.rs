//! A client: its calls, its slots, and the queues from which calls are written to connections.

use super::readahead::Reading;
use super::time::{Changes, Integral};
use super::timeouts::{Alarm, Timeout, Timeouts};
use super::{Message, Operation, RpcClient, Slots, Work, padded};
use crate::units::Time;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// What keeps a client from having more calls out on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It does nothing: its application has not begun, or is done.
    #[default]
    Idle,
    /// A slot: calls wait for one.
    Slots,
    /// The page cache asks for no more.
    PageCache,
    /// All is asked for, and not answered.
    Replies,
}

/// A call that was not answered.
#[derive(Clone, Copy)]
struct Call {
    connection: usize,
    /// When it was made, and when it was begun to be written.
    made: Time,
    sent: Time,
    /// Where its data begins in the file, and bytes of it; those after all have none.
    from: u64,
    data: u32,
    /// How often it was written, and when it is written again.
    transmissions: u64,
    timeout: Timeout,
}

/// What became of calls with data that were answered, ns of all of them added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    /// How many.
    pub(crate) calls: u64,
    /// How often they were written, all together.
    pub(crate) transmissions: u64,
    /// Until each was begun to be written.
    pub(crate) queue_ns: u64,
    /// From then on until its reply was read.
    pub(crate) rtt_ns: u64,
}

/// See the module's description. A call that was made waits for a slot (`xprt_add_backlog`), then in the queue of its
/// connection (xmit_queue), from which one after the other is written.
pub(crate) struct Client {
    config: RpcClient,
    begun: bool,
    /// Connections that are there.
    connected: usize,
    /// Where it reads the file, if it does.
    reading: Option<Reading>,
    /// Calls that were made, of which the first ones go before the application, and the bytes of the file that were asked for;
    /// how many calls were made after all of these.
    made: u64,
    asked: u64,
    after: usize,
    /// The connection of the last one of them.
    last: usize,
    /// Those that were not answered, and how many of these each connection has.
    unanswered: BTreeMap<u64, Call>,
    queued: Vec<u64>,
    /// Those that wait for slots, of each table; its slots in use.
    backlog: Vec<VecDeque<u64>>,
    in_use: Vec<u32>,
    /// Calls that wait to be written, of each connection, and the one that is being written.
    queue: Vec<VecDeque<u64>>,
    writing: Vec<Option<u64>>,
    timeouts: Option<Timeouts>,
    /// Calls of whose replies the rest is thrown away, of each connection.
    thrown_away: Vec<Option<u64>>,
    /// Calls that were begun to be written, and those that were answered.
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    pub(crate) with_data: Answered,
    /// Of each connection what it waits for.
    waits: Vec<Changes<Waits>>,
    /// How many slots are in use, and whether calls wait for some.
    slots: Integral,
    waiting: Integral,
}

impl Client {
    /// Of a host with `hz` jiffies per second.
    pub(crate) fn new(config: &RpcClient, hz: u32) -> Client {
        let connections = config.connections.len();
        let tables = match config.slots {
            Slots::PerConnection(_) => connections,
            Slots::Session(_) => 1,
        };
        let reading = match config.operation {
            Operation::Read(ahead) => Some(Reading::new(config.bytes, config.record, ahead)),
            Operation::Write { .. } => None,
        };
        Client {
            begun: false,
            connected: 0,
            reading,
            made: 0,
            asked: 0,
            after: 0,
            last: connections - 1,
            unanswered: BTreeMap::new(),
            queued: alloc::vec![0; connections],
            backlog: alloc::vec![VecDeque::new(); tables],
            in_use: alloc::vec![0; tables],
            queue: alloc::vec![VecDeque::new(); connections],
            writing: alloc::vec![None; connections],
            thrown_away: alloc::vec![None; connections],
            timeouts: config.retry.map(|retry| Timeouts::new(retry, hz)),
            sent: 0,
            answered: 0,
            with_data: Answered::default(),
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

    /// Its timer fires: it begins, or calls have waited too long for their replies. `coming`: of each connection the call of
    /// which a part of the reply was read.
    pub(crate) fn on_timer(&mut self, now: Time, coming: &[Option<u64>]) {
        if self.begun {
            self.send_again(now, coming);
        }
        self.begun = true;
        self.go_on(now);
    }

    /// Calls that have timed out wait to be written again. Of a reply that is coming the rest is thrown away, as the call begins
    /// anew (`xs_read_stream_request`).
    fn send_again(&mut self, now: Time, coming: &[Option<u64>]) {
        let Some(timeouts) = &mut self.timeouts else { return };
        for call in timeouts.fire(now) {
            if let Some(own) = self.unanswered.get_mut(&call) {
                own.timeout = timeouts.adjusted(own.timeout, now);
                self.queue[own.connection].push_back(call);
                if coming[own.connection] == Some(call) {
                    self.thrown_away[own.connection] = Some(call);
                }
            }
        }
    }

    /// The call in hand of a connection is written: it waits for its reply.
    pub(crate) fn written(&mut self, connection: usize, now: Time) {
        let call = self.writing[connection].take();
        if let (Some(call), Some(timeouts)) = (call, &mut self.timeouts)
            && let Some(own) = self.unanswered.get(&call)
        {
            timeouts.wait(call, own.timeout, now);
        }
    }

    /// Takes what its timer has to do, where that has changed.
    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        self.timeouts.as_mut()?.take_alarm()
    }

    /// A reply was read: a slot is free.
    pub(crate) fn answer(&mut self, call: u64, now: Time) {
        let connection = self.unanswered.get(&call).map(|own| own.connection);
        let coming = connection.and_then(|at| self.thrown_away[at].take_if(|own| *own == call));
        if coming.is_some() {
            return;
        }
        let Some(own) = self.unanswered.remove(&call) else { return };
        let Call { connection, made, sent, data, transmissions, .. } = own;
        if transmissions > 1 {
            // It may wait to be written once more.
            self.queue[connection].retain(|other| *other != call);
        }
        if let Some(timeouts) = &mut self.timeouts {
            timeouts.answer(call);
        }
        if data > 0 {
            self.with_data.calls += 1;
            self.with_data.transmissions += transmissions;
            self.with_data.queue_ns += sent.saturating_sub(made).0;
            self.with_data.rtt_ns += now.saturating_sub(sent).0;
        }
        let table = self.table(connection);
        self.in_use[table] -= 1;
        self.queued[connection] -= 1;
        self.answered += 1;
        self.go_on(now);
    }

    /// One of its connections is there.
    pub(crate) fn connect(&mut self, now: Time) {
        self.connected += 1;
        if self.begun {
            self.go_on(now);
        }
    }

    /// Whether its application has begun: what goes before was answered, and all connections are there.
    pub(crate) fn has_begun(&self) -> bool {
        let before = self.config.before.len() as u64;
        let mounted = self.answered >= before && self.connected == self.config.connections.len();
        self.begun && (before == 0 || mounted)
    }

    /// Whether everything was done.
    pub(crate) fn is_done(&self) -> bool {
        self.has_begun() && self.answered == self.made && self.may_be_made().is_none()
    }

    /// Whether a call waits to be written to the connection.
    pub(crate) fn has_call(&self, connection: usize) -> bool {
        !self.queue[connection].is_empty()
    }

    /// Takes the next one of them, which is written behind `written` bytes from now on.
    pub(crate) fn take_call(
        &mut self,
        connection: usize,
        written: u64,
        now: Time,
    ) -> Option<Message> {
        let call = self.queue[connection].pop_front()?;
        self.sent += 1;
        if let Some(own) = self.unanswered.get_mut(&call) {
            own.sent = now;
            own.transmissions += 1;
        }
        self.writing[connection] = Some(call);
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

    /// Makes the calls that may be made, and gives slots to those that wait.
    fn go_on(&mut self, now: Time) {
        let there = self.unanswered.values().next().map_or(self.asked, |first| first.from);
        let begun = self.has_begun();
        let reads = self.reading.as_mut().filter(|_| begun).map(|reading| reading.go_on(there));
        for bytes in reads.into_iter().flatten() {
            self.make(bytes, now);
        }
        while let Some(bytes) = self.may_be_made() {
            self.make(bytes, now);
        }
        for table in 0..self.backlog.len() {
            self.give_slots(table, now);
        }
        for connection in 0..self.queue.len() {
            let waits = self.waits_for(connection);
            self.waits[connection].set(now, waits);
        }
        self.slots.set(now, self.in_use.iter().sum());
        let waits = self.backlog.iter().any(|calls| !calls.is_empty());
        self.waiting.set(now, waits.into());
    }

    /// Makes a call with so many bytes of data, the next ones of the file.
    fn make(&mut self, data: u32, now: Time) {
        let goes_before = self.before(self.made).is_some();
        let connection = if goes_before { 0 } else { self.next_connection() };
        let (from, timeout) = (self.asked, Timeout::default());
        let call = Call { connection, made: now, sent: now, from, data, transmissions: 0, timeout };
        self.unanswered.insert(self.made, call);
        self.queued[connection] += 1;
        let table = self.table(connection);
        self.backlog[table].push_back(self.made);
        self.made += 1;
        if goes_before {
            return;
        }
        self.last = connection;
        self.asked += u64::from(data);
        self.after += usize::from(data == 0);
    }

    /// Sizes of a call that goes before the file's first.
    fn before(&self, call: u64) -> Option<[u32; 2]> {
        self.config.before.get(usize::try_from(call).ok()?).copied()
    }

    /// Bytes of the next call, if it may be made; those before and after all have none. Of a program that reads the page cache
    /// makes those with data.
    fn may_be_made(&self) -> Option<u32> {
        if !self.has_begun() {
            let goes_before = self.before(self.made).is_some() && self.unanswered.is_empty();
            return (self.begun && goes_before).then_some(0);
        }
        let record = u64::from(self.config.record);
        let left = self.config.bytes - self.asked;
        if left == 0 {
            let more = self.after < self.config.after.len();
            return (more && self.unanswered.is_empty()).then_some(0);
        }
        let Operation::Write { cache } = self.config.operation else { return None };
        let has_room = cache.is_none_or(|cache| {
            let flushed = left.div_ceil(record) <= u64::from(cache.dirty);
            flushed || (self.unanswered.len() as u64) < u64::from(cache.out)
        });
        has_room.then(|| left.min(record) as u32)
    }

    /// Whether all data was asked for.
    fn asked_all(&self) -> bool {
        self.asked >= self.config.bytes
    }

    fn give_slots(&mut self, table: usize, now: Time) {
        let (Slots::PerConnection(slots) | Slots::Session(slots)) = self.config.slots;
        while self.in_use[table] < slots
            && let Some(call) = self.backlog[table].pop_front()
        {
            self.in_use[table] += 1;
            let timeout = self.timeouts.as_ref().map(|own| own.begin(now)).unwrap_or_default();
            let connection = self.unanswered.get_mut(&call).map_or(0, |call| {
                call.timeout = timeout;
                call.connection
            });
            self.queue[connection].push_back(call);
        }
    }

    fn waits_for(&self, connection: usize) -> Waits {
        let table = self.table(connection);
        if !self.has_begun() || self.is_done() {
            Waits::Idle
        } else if !self.backlog[table].is_empty() {
            Waits::Slots
        } else if !self.asked_all() {
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
        let data = self.unanswered.get(&call).map_or(0, |call| call.data);
        let writes = matches!(self.config.operation, Operation::Write { .. });
        // One after the other is made, and written before the next one.
        let after = self.config.after.get(self.after.wrapping_sub(1)).filter(|_| data == 0);
        let [len, reply] = match self.before(call).or(after.copied()) {
            Some(sizes) => sizes,
            None if writes => [sizes.call + padded(data), sizes.reply],
            None => [sizes.call, sizes.reply + padded(data)],
        };
        let work = match data {
            0 if writes && self.after == 1 => Work::Commit,
            0 => Work::Nothing,
            _ => Work::Data,
        };
        Message { end: 0, len, call, reply, work }
    }
}
