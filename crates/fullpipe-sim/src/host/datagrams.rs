//! Datagrams: programs that send them at a pace, the kernel that answers echo requests, and sockets that receive the others.
//!
//! A program copies a datagram in a step of its own and offers it to the qdisc; one that is refused (ENOBUFS) has used its number.
//! A program that is late sends the next one as soon as it has its turn. A socket takes a datagram unless those that it holds have
//! more memory than its buffer (6.12 `__udp_enqueue_schedule_skb`; else `UdpRcvbufErrors`), and gives them to its reader one by one.
//! Not modelled: the send buffer of such sockets, fragments, memory that is given back later than the datagram.
//!
//! Limits:
//! - Without a send buffer no sender sleeps: a full qdisc refuses at once. UDP has no GRO and no GSO.
//! - A datagram takes its payload and an skb's head of the kernel profile from the socket's memory, given back as it
//!   is read.
//! - A ping counts when the softirq has taken the answer. The time at which each datagram was written is kept for the
//!   whole run, in 8 bytes.
//! - A datagram cannot be captured, and a run with datagrams has no capture of its flows. No real kernel validates
//!   datagrams.

use super::cpu::copy_time;
use super::flow_table::FlowTable;
use super::received::Received;
use super::shared::Shared;
use super::{Host, Process, Step};
use crate::config::{Config, DatagramKind, Datagrams, RMEM_DEFAULT, Station};
use crate::packet::{Kind, Train};
use crate::tcp::profile::SharedProfile;
use crate::units::Time;
use alloc::collections::{BTreeSet, VecDeque};

/// Least buffer of a socket, bytes (SOCK_MIN_RCVBUF of 64-bit kernels).
const LEAST_RCVBUF: u64 = 2304;

/// A program that sends datagrams.
pub(crate) struct Sending {
    config: Datagrams,
    /// How many it has written; the number of the next one.
    pub(crate) sent: u64,
    /// Of these, those that the qdisc refused.
    pub(crate) refused: u64,
    /// Answers to echo requests, those that came again included.
    pub(crate) answers: u64,
    /// Of these, those that came again.
    pub(crate) repeated: u64,
    answered: BTreeSet<u64>,
}

/// A socket that receives datagrams, and its reader.
pub(crate) struct Listening {
    rcvbuf: u64,
    /// Memory of each datagram.
    memory: u64,
    size: u32,
    /// Memory of those that are not read.
    holds: u64,
    queue: VecDeque<u64>,
    /// Whether its reader has or waits for the CPU.
    awake: bool,
    /// Datagrams for which there was no room.
    pub(crate) overflows: u64,
    pub(crate) received: Received,
}

impl Listening {
    /// Memory that it may have, bytes.
    pub(super) fn rcvbuf(&self) -> u64 {
        self.rcvbuf
    }

    /// Whether it takes no more.
    fn is_full(&self) -> bool {
        self.holds > self.rcvbuf
    }
}

/// The programs of this host.
pub(super) fn sending_ends(own: Station, config: &Config) -> FlowTable<Sending> {
    let new = |datagrams: &Datagrams| Sending {
        config: datagrams.clone(),
        sent: 0,
        refused: 0,
        answers: 0,
        repeated: 0,
        answered: BTreeSet::new(),
    };
    let is_here = |own_one: &Datagrams| config.hosts_of_datagrams(own_one)[0].name == own.name;
    FlowTable::new(config.datagrams.iter().map(|one| is_here(one).then(|| new(one))).collect())
}

/// The sockets of this host.
pub(super) fn hearing_ends(
    (own, profile): (Station, &SharedProfile),
    config: &Config,
) -> FlowTable<Listening> {
    let new = |datagrams: &Datagrams| {
        let DatagramKind::Udp { rcvbuf, .. } = datagrams.kind else { return None };
        let granted = |bytes: u64| 2 * bytes.min(own.host.sysctl.rmem_max);
        Some(Listening {
            rcvbuf: rcvbuf.map_or(RMEM_DEFAULT, granted).max(LEAST_RCVBUF),
            memory: u64::from(datagrams.size) + profile.skb_overhead,
            size: datagrams.size,
            holds: 0,
            queue: VecDeque::new(),
            awake: false,
            overflows: 0,
            received: Received::default(),
        })
    };
    let is_here = |one: &Datagrams| config.hosts_of_datagrams(one)[1].name == own.name;
    let ends = config.datagrams.iter().map(|one| is_here(one).then(|| new(one)).flatten());
    FlowTable::new(ends.collect())
}

impl Host {
    /// The next datagram is due.
    pub(super) fn wake_sender(&mut self, at: usize, now: Time) {
        let cpu = now.max(self.cpu.free);
        self.cpu.urgent(cpu, cpu);
        self.runnable.push_back(Process::Sends(at));
    }

    /// It is the turn of a program that sends datagrams.
    pub(super) fn send_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        if self.sends_datagrams[at].config.is_over(now) {
            return;
        }
        shared.written[at].push(now);
        let size = self.sends_datagrams[at].config.size;
        let cost = self.host.cpu.write + copy_time(&self.host, size.into());
        if cost > Time::ZERO {
            self.step = Some(Step::Sends(at));
            self.cpu.begin_step(now, cost);
        } else {
            self.write_datagram(at, now, shared);
        }
    }

    /// The kernel has it.
    pub(super) fn write_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let own = &mut self.sends_datagrams[at];
        let (number, size) = (own.sent, own.config.size);
        own.sent += 1;
        let next = own.config.due(own.sent);
        let kind = match own.config.kind {
            DatagramKind::Udp { .. } => Kind::Datagram,
            DatagramKind::Echo { .. } => Kind::Echo,
        };
        let flow = self.peers.len() + at;
        let send =
            |output: &mut super::output::HostOutput| output.send_datagram(kind, number, size);
        let (cpu, taken) = self.answer(flow, now, shared, send);
        self.sends_datagrams[at].refused += u64::from(!taken);
        self.cpu.urgent(now, cpu);
        match next {
            Some(due) if due <= now => self.runnable.push_back(Process::Sends(at)),
            due => self.timers.set_datagrams(at, due),
        }
    }

    /// A packet that is no segment of TCP is taken with the CPU at `cpu`; the CPU's time after it.
    pub(super) fn take_datagram(
        &mut self,
        packet: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let at = usize::from(packet.flow) - self.peers.len();
        let Train { kind, number, len, .. } = *packet;
        match kind {
            Kind::Echo => {
                let flow = packet.flow.into();
                let reply = |output: &mut super::output::HostOutput| {
                    output.send_datagram(Kind::EchoReply, number, len)
                };
                return self.answer(flow, cpu, shared, reply).0;
            }
            Kind::EchoReply => {
                let own = &mut self.sends_datagrams[at];
                own.answers += 1;
                own.repeated += u64::from(!own.answered.insert(number));
                let round_trip = cpu - shared.written[at][number as usize];
                shared.round_trips.push((now, at, round_trip.0));
            }
            _ => self.queue_datagram(at, number, now),
        }
        cpu
    }

    fn queue_datagram(&mut self, at: usize, number: u64, now: Time) {
        let socket = &mut self.hears_datagrams[at];
        if socket.is_full() {
            socket.overflows += 1;
            self.udp_sockets.lose();
            return;
        }
        socket.holds += socket.memory;
        self.udp_sockets.take(now, socket.memory, socket.is_full());
        socket.queue.push_back(number);
        if !core::mem::replace(&mut socket.awake, true) {
            self.runnable.push_back(Process::Hears(at));
        }
    }

    /// It is the turn of a program that reads datagrams.
    pub(super) fn hear_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let size = self.hears_datagrams[at].size;
        let cost = self.host.cpu.read + copy_time(&self.host, size.into());
        if cost > Time::ZERO {
            self.step = Some(Step::Hears(at));
            self.cpu.begin_step(now, cost);
        } else {
            self.finish_hearing(at, now, shared);
        }
    }

    /// It has one.
    pub(super) fn finish_hearing(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let socket = &mut self.hears_datagrams[at];
        if let Some(number) = socket.queue.pop_front() {
            let was_full = socket.is_full();
            socket.holds -= socket.memory;
            self.udp_sockets.give(now, socket.memory, was_full, socket.is_full());
            let written = shared.written[at][number as usize];
            socket.received.take(number, (now - written).0);
        }
        socket.awake = !socket.queue.is_empty();
        if socket.awake {
            self.runnable.push_back(Process::Hears(at));
        }
    }
}
