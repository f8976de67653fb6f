//! A client: its calls, its slots, and the queues from which calls are written to connections.

use super::readahead::Reading;
use super::time::{Changes, Integral};
use super::timeouts::{Alarm, Timeout, Timeouts};
use super::{Message, Operation, RpcClient, ServerWork, Slots, padded};
use crate::units::Time;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Reason why a client has no more calls out on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The application has not begun, or is done.
    #[default]
    Idle,
    /// Calls wait for a slot.
    Slots,
    /// The page cache asks for no more data.
    PageCache,
    /// All data is asked for, but not answered.
    Replies,
}

/// A call without an answer.
#[derive(Clone, Copy)]
struct Call {
    connection: usize,
    /// Time at which the call was made, and time at which writing began.
    made: Time,
    sent: Time,
    /// Beginning of its data in the file, and bytes of data; none for the calls after all data.
    from: u64,
    data: u32,
    /// Number of transmissions, and when the next one is due.
    transmissions: u64,
    timeout: Timeout,
}

/// Answered calls with data; times are sums over these calls, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    /// Number of calls.
    pub(crate) calls: u64,
    /// Transmissions of these calls.
    pub(crate) transmissions: u64,
    /// Time from making a call to the start of writing.
    pub(crate) queue_ns: u64,
    /// Time from the start of writing to the end of reading the reply.
    pub(crate) rtt_ns: u64,
}

/// A client's state. A new call waits for a slot (`xprt_add_backlog`), then in the queue of its connection
/// (xmit_queue), which writes one call after the other.
pub(crate) struct Client {
    config: RpcClient,
    begun: bool,
    /// Connections that are established.
    connected: usize,
    /// Progress of a client that reads the file.
    reading: Option<Reading>,
    /// Calls made, and bytes of the file that were asked for. The first calls are made before the application begins.
    /// The third number counts calls made after all data.
    made: u64,
    asked: u64,
    after: usize,
    /// Connection of the last call.
    last: usize,
    /// Calls without an answer, and their number by connection.
    unanswered: BTreeMap<u64, Call>,
    queued: Vec<u64>,
    /// Calls that wait for slots, by table, and slots in use.
    backlog: Vec<VecDeque<u64>>,
    in_use: Vec<u32>,
    /// Calls that wait to be written, by connection, and the call that is being written.
    queue: Vec<VecDeque<u64>>,
    writing: Vec<Option<u64>>,
    timeouts: Option<Timeouts>,
    /// Call of the reply that is being thrown away, by connection.
    thrown_away: Vec<Option<u64>>,
    /// Calls that were begun to be written, and calls that were answered.
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    pub(crate) with_data: Answered,
    /// Reason for waiting, by connection.
    waits: Vec<Changes<Waits>>,
    /// Slots in use, and whether calls wait for slots.
    slots: Integral,
    waiting: Integral,
}

impl Client {
    /// A client on a host with `hz` jiffies per second.
    pub(crate) fn new(config: &RpcClient, hz: u32) -> Client {
        let connections = config.connections.len();

        // A session of NFS 4.1 has one slot table; NFS 3 has one for each connection.
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

    /// Flows of the calls of its connections.
    pub(crate) fn connections(&self) -> &[usize] {
        &self.config.connections
    }

    /// Handles the client's timer: the application begins, or calls have timed out. `coming` has, by connection, the
    /// call of a reply that was read in part.
    pub(crate) fn on_timer(&mut self, now: Time, coming: &[Option<u64>]) {
        if self.begun {
            self.send_again(now, coming);
        }
        self.begun = true;
        self.go_on(now);
    }

    /// Queues calls that have timed out for another transmission. The rest of a reply that is arriving is thrown away,
    /// because its call begins anew (`xs_read_stream_request`).
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

    /// Notes that a connection has written its call, which now waits for its reply.
    pub(crate) fn written(&mut self, connection: usize, now: Time) {
        let call = self.writing[connection].take();
        if let (Some(call), Some(timeouts)) = (call, &mut self.timeouts)
            && let Some(own) = self.unanswered.get(&call)
        {
            timeouts.wait(call, own.timeout, now);
        }
    }

    /// Takes a new setting of the client's timer, if there is one.
    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        self.timeouts.as_mut()?.take_alarm()
    }

    /// Takes a reply that was read, and frees its slot.
    pub(crate) fn answer(&mut self, call: u64, now: Time) {
        // The end of a reply that is thrown away answers nothing.
        let connection = self.unanswered.get(&call).map(|own| own.connection);
        let coming = connection.and_then(|at| self.thrown_away[at].take_if(|own| *own == call));
        if coming.is_some() {
            return;
        }
        let Some(own) = self.unanswered.remove(&call) else { return };
        let Call { connection, made, sent, data, transmissions, .. } = own;
        if transmissions > 1 {
            // The call may wait for another transmission.
            self.queue[connection].retain(|other| *other != call);
        }
        if let Some(timeouts) = &mut self.timeouts {
            timeouts.answer(call);
        }

        // rpc_count_iostats: mountstats has these sums for calls with data.
        if data > 0 {
            self.with_data.calls += 1;
            self.with_data.transmissions += transmissions;
            self.with_data.queue_ns += sent.saturating_sub(made).0;
            self.with_data.rtt_ns += now.saturating_sub(sent).0;
        }

        // The slot is free for a call that waits.
        let table = self.table(connection);
        self.in_use[table] -= 1;
        self.queued[connection] -= 1;
        self.answered += 1;
        self.go_on(now);
    }

    /// Notes that one of the connections is established.
    pub(crate) fn connect(&mut self, now: Time) {
        self.connected += 1;
        if self.begun {
            self.go_on(now);
        }
    }

    /// Whether the application has begun: earlier calls were answered, and all connections are established.
    pub(crate) fn has_begun(&self) -> bool {
        let before = self.config.before.len() as u64;
        let mounted = self.answered >= before && self.connected == self.config.connections.len();
        self.begun && (before == 0 || mounted)
    }

    /// Whether all calls were made and answered.
    pub(crate) fn is_done(&self) -> bool {
        self.has_begun() && self.answered == self.made && self.may_be_made().is_none()
    }

    /// Whether a call waits to be written to the connection.
    pub(crate) fn has_call(&self, connection: usize) -> bool {
        !self.queue[connection].is_empty()
    }

    /// Takes the connection's next call, which is written behind `written` bytes from now on.
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

    /// Takes the changes of the connection's reason for waiting.
    pub(crate) fn take_waits(&mut self, connection: usize) -> Vec<(Time, Waits)> {
        self.waits[connection].take()
    }

    /// Slots in use.
    pub(crate) fn slots_in_use(&self) -> u64 {
        self.in_use.iter().map(|&slots| u64::from(slots)).sum()
    }

    /// Integrals over time of slots in use and of waiting for slots, ns.
    pub(crate) fn slots_ns(&self, now: Time) -> [u64; 2] {
        [self.slots.read(now), self.waiting.read(now)]
    }

    /// Makes the calls that may be made, and gives slots to waiting calls.
    fn go_on(&mut self, now: Time) {
        // The program has all data before that of the first unanswered call.
        let there = self.unanswered.values().next().map_or(self.asked, |first| first.from);
        let begun = self.has_begun();
        let reads = self.reading.as_mut().filter(|_| begun).map(|reading| reading.go_on(there));
        for bytes in reads.into_iter().flatten() {
            self.make(bytes, now);
        }
        while let Some(bytes) = self.may_be_made() {
            self.make(bytes, now);
        }

        // xprt_alloc_slot: slots decide which of the calls may be sent.
        for table in 0..self.backlog.len() {
            self.give_slots(table, now);
        }

        // Reasons for waiting, and counters, follow from the new state.
        for connection in 0..self.queue.len() {
            let waits = self.waits_for(connection);
            self.waits[connection].set(now, waits);
        }
        self.slots.set(now, self.in_use.iter().sum());
        let waits = self.backlog.iter().any(|calls| !calls.is_empty());
        self.waiting.set(now, waits.into());
    }

    /// Makes a call for the file's next `data` bytes.
    fn make(&mut self, data: u32, now: Time) {
        // Calls before the application begins use the first connection.
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

    /// Sizes of a call that is made before the file's first.
    fn before(&self, call: u64) -> Option<[u32; 2]> {
        self.config.before.get(usize::try_from(call).ok()?).copied()
    }

    /// Data bytes of the next call, if it may be made; calls before and after all data have none. A program that reads
    /// through the page cache decides about calls with data itself.
    fn may_be_made(&self) -> Option<u32> {
        // Before the application begins, each call waits for the answer to the last one.
        if !self.has_begun() {
            let goes_before = self.before(self.made).is_some() && self.unanswered.is_empty();
            return (self.begun && goes_before).then_some(0);
        }
        let record = u64::from(self.config.record);
        let left = self.config.bytes - self.asked;

        // After all data, too, each call waits for the answer to the last one.
        if left == 0 {
            let more = self.after < self.config.after.len();
            return (more && self.unanswered.is_empty()).then_some(0);
        }
        let Operation::Write { cache } = self.config.operation else { return None };

        // The cache bounds unanswered WRITEs, but not while it writes its last dirty pages.
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

        // Slots go to calls in the order in which they were made; a timeout begins with its slot.
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
        // The first reason that holds decides.
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

    /// Connection of the next call. Connections take turns, but one with more unanswered calls than the average is
    /// skipped (6.12 `xprt_switch_find_next_entry_roundrobin`).
    fn next_connection(&self) -> usize {
        let (all, connections) = (self.unanswered.len() as u64, self.queued.len());
        let mut turns = (1..=connections).map(|turn| (self.last + turn) % connections);
        let next = turns.find(|&own| self.queued[own] * connections as u64 <= all);
        next.unwrap_or_default()
    }

    /// Slot table of a connection.
    fn table(&self, connection: usize) -> usize {
        connection.min(self.backlog.len() - 1)
    }

    /// Record of a call.
    fn message(&self, call: u64) -> Message {
        let sizes = &self.config.sizes;
        let data = self.unanswered.get(&call).map_or(0, |call| call.data);
        let writes = matches!(self.config.operation, Operation::Write { .. });
        // Messages are made one after the other, each written before the next.
        let after = self.config.after.get(self.after.wrapping_sub(1)).filter(|_| data == 0);
        let [len, reply] = match self.before(call).or(after.copied()) {
            Some(sizes) => sizes,
            None if writes => [sizes.call + padded(data), sizes.reply],
            None => [sizes.call, sizes.reply + padded(data)],
        };

        // A writer's first call after all data is a COMMIT.
        let work = match data {
            0 if writes && self.after == 1 => ServerWork::Commit,
            0 => ServerWork::Nothing,
            _ => ServerWork::Data,
        };
        Message { end: 0, len, call, reply, work }
    }
}
