//! Datagrams: programs that send at a pace, and the kernel that answers echo requests. Receiving sockets are in
//! `udp_reader.rs`.
//!
//! A program copies a datagram in a step of its own and offers it to the qdisc. A refused datagram (ENOBUFS) has used
//! its number. A late program sends the next one as soon as it has its turn. Not modelled: the send buffer of such
//! sockets, fragments.
//!
//! Limits:
//! - Without a send buffer no sender sleeps: a full qdisc refuses at once. UDP has no GRO and no GSO.
//! - A ping counts when the softirq has taken the answer. The run keeps the time at which each datagram was written, in
//!   8 bytes.
//! - A datagram cannot be captured, and a run with datagrams has no capture of its flows.

use super::cpu::copy_time;
use super::flow_table::FlowTable;
use super::shared::Shared;
use super::{Host, Process, Step};
use crate::config::{Config, DatagramKind, Datagrams, Station};
use crate::packet::{Kind, Train};
use crate::units::Time;
use alloc::collections::BTreeSet;

/// A program that sends datagrams.
pub(crate) struct Sending {
    config: Datagrams,
    /// Datagrams written so far; the number of the next one.
    pub(crate) sent: u64,
    /// Datagrams that the qdisc refused.
    pub(crate) refused: u64,
    /// Answers to echo requests, including repeated ones.
    pub(crate) answers: u64,
    /// Repeated answers.
    pub(crate) repeated: u64,
    answered: BTreeSet<u64>,
}

/// The sending programs of this host.
pub(super) fn sending_ends(own: Station, config: &Config) -> FlowTable<Sending> {
    let new = |datagrams: &Datagrams| Sending {
        config: datagrams.clone(),
        sent: 0,
        refused: 0,
        answers: 0,
        repeated: 0,
        answered: BTreeSet::new(),
    };
    let ends = config.datagrams.iter().map(|one| {
        let is_here = config.hosts_of_datagrams(one)[0].name == own.name;
        is_here.then(|| new(one))
    });
    FlowTable::new(ends.collect())
}

impl Host {
    /// Wakes the program for its next datagram.
    pub(super) fn wake_sender(&mut self, at: usize, now: Time) {
        let cpu = now.max(self.cpu.free);
        self.cpu.urgent(cpu, cpu);
        self.runnable.push_back(Process::DatagramWriter(at));
    }

    /// Begins the next datagram of a program that has the CPU.
    pub(super) fn send_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        if self.sends_datagrams[at].config.is_over(now) {
            return;
        }
        shared.written[at].push(now);
        let size = self.sends_datagrams[at].config.size;

        // A copy that takes CPU time is a step of its own; the datagram is sent at its end.
        let cost = self.host.cpu.write + copy_time(&self.host, size.into());
        if cost > Time::ZERO {
            self.step = Some(Step::WritingDatagram(at));
            self.cpu.begin_step(now, cost);
        } else {
            self.write_datagram(at, now, shared);
        }
    }

    /// Sends a datagram that the program has copied into the kernel.
    pub(super) fn write_datagram(&mut self, at: usize, now: Time, shared: &mut Shared) {
        let own = &mut self.sends_datagrams[at];

        // A datagram uses its number even if the qdisc refuses it.
        let (number, size) = (own.sent, own.config.size);
        own.sent += 1;
        let next = own.config.due(own.sent);
        let kind = match own.config.kind {
            DatagramKind::Udp { .. } => Kind::Datagram,
            DatagramKind::Echo { .. } => Kind::Echo,
        };
        let flow = self.peers.len() + at;
        let (cpu, taken) =
            self.answer(flow, now, shared, |output| output.send_datagram(kind, number, size));
        self.sends_datagrams[at].refused += u64::from(!taken);
        self.cpu.urgent(now, cpu);

        // A late program writes again at its next turn; else it sleeps until the next one is due.
        match next {
            Some(due) if due <= now => self.runnable.push_back(Process::DatagramWriter(at)),
            due => self.timers.set_datagrams(at, due),
        }
    }

    /// Takes a packet that is no TCP segment, with the CPU at `cpu`. Returns the CPU's time after it.
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
                // icmp_reply: the kernel answers in the softirq, without a program.
                let flow = packet.flow.into();
                let (cpu, _) = self.answer(flow, cpu, shared, |output| {
                    output.send_datagram(Kind::EchoReply, number, len)
                });
                return cpu;
            }
            Kind::EchoReply => {
                let own = &mut self.sends_datagrams[at];
                own.answers += 1;
                own.repeated += u64::from(!own.answered.insert(number));

                // A round trip begins with the program's write, not with the packet's departure.
                let round_trip = cpu - shared.written[at][number as usize];
                shared.round_trips.push((now, at, round_trip.0));
            }
            _ => self.queue_datagram(at, number, now),
        }
        cpu
    }
}
