//! Sockets that receive datagrams of UDP, and the programs that read them.
//!
//! A socket takes a datagram unless its datagrams have more memory than its buffer (6.12 `__udp_enqueue_schedule_skb`;
//! else `UdpRcvbufErrors`). The program reads one datagram at a time. With a rate it works on each for its size over
//! the rate. In its pauses it reads none.
//!
//! Arriving datagrams wait in the receive queue. A read that finds its own queue empty takes over all of them
//! (`__skb_recv_udp`). While datagrams wait there, the memory of read ones still counts, until it is a quarter of the
//! buffer. When this memory is released, the reader's queue takes over the receive queue again (`udp_rmem_release`).
//!
//! Limits:
//! - The memory of a datagram is that of an skb that this kernel's UDP sends. A driver may use more or less.
//! - Memory for all of UDP (`net.ipv4.udp_mem`) has no bound.

use super::cpu::copy_time;
use super::flow_table::FlowTable;
use super::shared::Shared;
use super::{Host, Process, Step};
use crate::config::{Config, DatagramKind, DatagramReader, Datagrams, RMEM_DEFAULT, Station};
use crate::tcp::profile::SharedProfile;
use crate::units::Time;
use alloc::collections::VecDeque;
use fullpipe_base::received::Received;

/// Least buffer of a socket, bytes (SOCK_MIN_RCVBUF of 64-bit kernels).
const LEAST_RCVBUF: u64 = 2304;

/// Shift from the buffer to the memory that is released at once (`forward_threshold`).
const BATCH_SHIFT: u32 = 2;

/// A socket that receives datagrams, and its reader.
pub(crate) struct Listening {
    rcvbuf: u64,
    /// Memory of each datagram, bytes.
    memory: u64,
    /// Payload of each datagram, bytes.
    size: u32,
    /// Start of the datagrams, from which the reader's pauses count.
    start: Time,
    reader: Option<DatagramReader>,
    /// Memory that counts for the socket (`sk_rmem_alloc`), bytes.
    rmem: u64,
    /// Memory of read datagrams that still counts (`forward_deficit`), bytes.
    deficit: u64,
    /// Whether memory is released in batches.
    batches: bool,
    /// Numbers of waiting datagrams, the reader's first.
    queue: VecDeque<u64>,
    /// Datagrams of the queue that a read has taken over (`reader_queue`).
    taken_over: usize,
    /// Whether the reader has or awaits the CPU, works on a datagram or pauses.
    awake: bool,
    /// End of the reader's work on the last datagram.
    works_until: Time,
    /// Datagrams for which there was no room.
    pub(crate) overflows: u64,
    pub(crate) received: Received,
}

impl Listening {
    fn new(datagrams: &Datagrams, own: &Station, profile: &SharedProfile) -> Option<Listening> {
        let DatagramKind::Udp { rcvbuf, reader, .. } = datagrams.kind else { return None };
        Some(Listening {
            // sock_setsockopt bounds SO_RCVBUF by rmem_max, doubles it, and grants a minimum.
            rcvbuf: rcvbuf
                .map_or(RMEM_DEFAULT, |bytes| 2 * bytes.min(own.host.sysctl.rmem_max))
                .max(LEAST_RCVBUF),
            memory: profile.datagram_memory.truesize(datagrams.size.into(), profile.skb_overhead),
            size: datagrams.size,
            start: datagrams.start,
            reader,
            rmem: 0,
            deficit: 0,
            batches: profile.udp_memory_batches,
            queue: VecDeque::new(),
            taken_over: 0,
            awake: false,
            works_until: Time::ZERO,
            overflows: 0,
            received: Received::default(),
        })
    }

    /// Size of the socket's buffer, bytes.
    pub(super) fn rcvbuf(&self) -> u64 {
        self.rcvbuf
    }

    /// Whether the socket refuses datagrams.
    fn is_full(&self) -> bool {
        self.rmem > self.rcvbuf
    }

    /// Takes the next datagram for the reader, and the memory that this releases, bytes.
    fn read(&mut self) -> Option<(u64, u64)> {
        // __skb_recv_udp takes over the whole receive queue when its own is empty.
        if self.taken_over == 0 {
            self.taken_over = self.queue.len();
        }
        let number = self.queue.pop_front()?;
        self.taken_over -= 1;
        self.deficit += self.memory;

        // udp_rmem_release returns memory in batches while datagrams are left.
        let waits = self.batches && self.taken_over > 0;
        if waits && self.deficit < self.rcvbuf >> BATCH_SHIFT {
            return Some((number, 0));
        }
        let given_back = core::mem::take(&mut self.deficit);
        self.rmem -= given_back;
        self.taken_over = self.queue.len();
        Some((number, given_back))
    }

    /// Time at which the reader may read next; none: now.
    fn next_read(&self, now: Time) -> Option<Time> {
        let from = now.max(self.works_until);
        let pauses = self.reader.and_then(|reader| reader.pauses);
        let pause = pauses.and_then(|own| own.left(from.saturating_sub(self.start)));
        let at = from + pause.unwrap_or_default();
        (at > now).then_some(at)
    }
}

/// Receiving sockets of this host.
pub(super) fn receiving_sockets(
    own: Station,
    profile: &SharedProfile,
    config: &Config,
) -> FlowTable<Listening> {
    let ends = config.datagrams.iter().map(|one| {
        let is_here = config.hosts_of_datagrams(one)[1].name == own.name;
        is_here.then(|| Listening::new(one, &own, profile)).flatten()
    });
    FlowTable::new(ends.collect())
}

impl Host {
    /// Adds an arriving datagram to its socket.
    pub(super) fn queue_datagram(&mut self, at: usize, number: u64, now: Time) {
        let socket = &mut self.receives_datagrams[at];

        // __udp_enqueue_schedule_skb drops a datagram when the buffer is full.
        if socket.is_full() {
            socket.overflows += 1;
            self.udp_sockets.lose();
            return;
        }
        socket.rmem += socket.memory;
        self.udp_sockets.take(now, socket.memory, socket.is_full());
        socket.queue.push_back(number);

        // sock_def_readable wakes the reader if it sleeps.
        if !core::mem::replace(&mut socket.awake, true) {
            self.read_datagrams_when_due(at, now);
        }
    }

    /// Wakes the reader of a socket with datagrams now, or after its work and its pause.
    fn read_datagrams_when_due(&mut self, at: usize, now: Time) {
        match self.receives_datagrams[at].next_read(now) {
            None => self.runnable.push_back(Process::DatagramReader(at)),
            due => self.timers.set_datagram_reader(at, due),
        }
    }

    /// Handles the end of the reader's work or pause.
    pub(super) fn wake_datagram_reader(&mut self, at: usize, now: Time) {
        self.timers.set_datagram_reader(at, None);
        let cpu = now.max(self.cpu.free);
        self.cpu.urgent(cpu, cpu);
        self.go_on_reading(at, now);
    }

    /// Lets the reader continue if a datagram waits; else it sleeps.
    fn go_on_reading(&mut self, at: usize, now: Time) {
        let socket = &mut self.receives_datagrams[at];
        socket.awake = !socket.queue.is_empty();
        if socket.awake {
            self.read_datagrams_when_due(at, now);
        }
    }

    /// Gives a program that reads datagrams its turn.
    pub(super) fn read_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let size = self.receives_datagrams[at].size;
        let cost = self.host.cpu.read + copy_time(&self.host, size.into());
        if cost > Time::ZERO {
            self.step = Some(Step::ReadingDatagram(at));
            self.cpu.begin_step(now, cost);
        } else {
            self.finish_datagram_read(at, now, shared);
        }
    }

    /// Ends the read of a datagram.
    pub(super) fn finish_datagram_read(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let socket = &mut self.receives_datagrams[at];
        let was_full = socket.is_full();
        if let Some((number, given_back)) = socket.read() {
            self.udp_sockets.give(now, given_back, was_full, socket.is_full());
            let written = shared.written[at][number as usize];
            socket.received.take(number, (now - written).0);
        }
        // A reader with a rate works on the datagram before it reads the next.
        let rate = socket.reader.and_then(|reader| reader.rate);
        socket.works_until =
            now + rate.map_or(Time::ZERO, |rate| rate.time_for(socket.size.into()));
        self.go_on_reading(at, now);
    }
}
