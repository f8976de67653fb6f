//! The softirq: polls of the NIC, GRO, and packets with an interrupt each.
//!
//! Limits:
//! - Packets that arrive at one nanosecond are one poll, in which GRO hands up a packet with PSH before one of another
//!   flow without. In runs on real Linux each is a poll of its own (docs/how-true.md).

use super::cpu::Cursor;
use super::receive::WEIGHT;
use super::receive::gro::{Led, Polled, Received};
use super::shared::Shared;
use super::softirq::Wish;
use super::{Host, Timer};
use crate::config;
use crate::packet::{Kind, Train};
use crate::units::Time;

impl Host {
    /// Runs the softirq on the packets that have arrived.
    pub(super) fn on_packets(&mut self, now: Time, shared: &mut Shared) {
        // ksoftirqd may have to wait for its turn; packets stay in the ring meanwhile.
        let wanted = self.process_ready() < Time::NEVER;
        if wanted && self.is_held(now) {
            return shared.note_drops(&mut self.receive);
        }
        self.softirq.begin(now, wanted);
        let mut batch = core::mem::take(&mut self.batch);
        self.receive.take(now, self.softirq.most(), &mut batch);

        // __do_softirq runs TIMER_SOFTIRQ before NET_RX_SOFTIRQ.
        self.fire_before_packets(&batch, now, shared);
        shared.note_drops(&mut self.receive);
        let packets = batch.iter().map(|train| train.count).sum();
        let by_gro = self.gro.acts_on(packets);
        // A timer that fired before the packets may have taken time.
        let begin = now.max(self.cpu.free);
        let mut cpu = begin;
        for train in batch.drain(..) {
            for i in 0..train.count {
                let packet = train.part(i, 1);
                if !by_gro {
                    shared.take(&packet, cpu);
                }
                cpu += self.cost(&packet);
                cpu = match by_gro {
                    true => self.poll(&packet, cpu, now, shared),
                    false => self.on_packet(&packet, 0, cpu, now, shared),
                };
            }
            if !by_gro {
                self.after_packets(&train, now, shared);
            }
        }

        // napi_complete_done decides which skbs GRO keeps beyond the poll.
        if by_gro {
            cpu = self.end_poll(packets, cpu, now, shared);
        }
        self.batch = batch;
        self.end_backlogs(cpu, now, shared);
        cpu += core::mem::take(&mut self.owed);
        self.cpu.urgent(begin, cpu);

        // __do_softirq decides whether another pass follows, or ksoftirqd takes over.
        let run = self.process_ready() < Time::NEVER;
        let wish = Wish { run, woken: run && self.step.is_none() };
        self.softirq.end([begin, cpu], packets, !self.receive.is_empty(), wish);
    }

    /// Whether packets that wait for ksoftirqd still wait at `now`. An interrupt ends the wait, unless it arrived while
    /// the softirqs were running.
    fn is_held(&mut self, now: Time) -> bool {
        let Some(after) =
            self.softirq.interrupts_after().filter(|_| now < self.softirq.held_until())
        else {
            return false;
        };
        let last = self.receive.run_interrupts(now);
        if last.is_some_and(|last| last > after) {
            self.softirq.interrupt(now);
        }
        now < self.softirq.held_until()
    }

    /// Fires timers that are due at the time of packets, before the packets. Timers of the wheel fire because
    /// TIMER_SOFTIRQ precedes NET_RX_SOFTIRQ. HRTIMER_SOFTIRQ's fire too: the timer that releases the packets raises
    /// NET_RX_SOFTIRQ while that softirq already waits (6.12 `handle_softirqs`).
    ///
    /// This is the order of a run on real Linux, where hosts and routers share one CPU and programs take no time. On a
    /// real host no two events fall on one nanosecond.
    ///
    /// A program that a timer wakes makes its call before its connection processes the packets. The packets pass
    /// several softirqs. All but the first wait while a process is to run. The program lets them continue as it locks
    /// its socket. Packets for this socket are in its backlog until the call ends (6.12 `handle_softirqs`,
    /// `lock_sock_nested`, `tcp_v4_rcv`, `release_sock`). A short read also takes from the backlog.
    fn fire_before_packets(&mut self, packets: &[Train], now: Time, shared: &mut Shared) {
        if self.timers.next() <= now {
            self.fire_softirqs(now, shared);
        }
        if self.timers.held_are_due(now) {
            self.fire_expired(now, shared);
        }
        if self.woken_first {
            self.call_before_packets(packets, now, shared);
        }
    }

    /// Runs the timers of the wheel and of the pace that are due.
    fn fire_softirqs(&mut self, now: Time, shared: &mut Shared) {
        while self.timers.wheel_is_due(now) {
            self.on_timers(now, shared);
        }
        while self.timers.pace_is_due(now) {
            self.on_timers(now, shared);
        }
    }

    /// Programs that timers wake call before the connections of these packets take them.
    fn call_before_packets(&mut self, packets: &[Train], now: Time, shared: &mut Shared) {
        while self.woken_first
            && let Some((flow, timer)) = self.timers.program_due(now)
            && packets.iter().any(|train| shared.connects(usize::from(train.flow), flow))
        {
            if timer == Timer::Write {
                self.call_first(now, shared);
                continue;
            }

            // The program holds the socket, so its packets arrive in the backlog.
            let its = packets.iter().filter(|train| usize::from(train.flow) == flow);
            self.receives[flow].tcp.begin_backlog(its.map(|train| (train.count, train.len)));
            self.backlogged.push(flow);

            // A whole read ends before the packets; a partial one continues with them in the same call.
            if self.receives[flow].has_a_whole_read() {
                self.call_first(now, shared);
            } else {
                self.on_timers(now, shared);
                self.begin_read(flow, now);
            }
        }
        // A read of datagrams takes a waiting one before softirqs continue (`__skb_recv_udp`, `spin_unlock_bh`).
        let is_datagram = |train: &Train| train.kind == Kind::Datagram;
        while self.woken_first
            && self.timers.datagram_reader_is_due(now)
            && packets.iter().any(is_datagram)
        {
            self.call_first(now, shared);
        }
    }

    #[inline]
    fn end_backlogs(&mut self, cpu: Time, now: Time, shared: &mut Shared) {
        if !self.backlogged.is_empty() {
            self.end_some_backlogs(cpu, now, shared);
        }
    }

    fn end_some_backlogs(&mut self, cpu: Time, now: Time, shared: &mut Shared) {
        let mut flows = core::mem::take(&mut self.backlogged);
        flows.sort_unstable();
        for flow in flows.drain(..) {
            self.end_backlog(flow, cpu, shared);
            self.after_receiving(flow, now, shared);
        }
        self.backlogged = flows;
    }

    #[cold]
    fn call_first(&mut self, now: Time, shared: &mut Shared) {
        self.on_timers(now, shared);
        while self.process_ready() <= now {
            self.on_process(now, shared);
        }
    }

    /// Lets GRO take a packet with the CPU at `cpu`, in a poll that began at `now`. Returns the CPU's time after it.
    fn poll(&mut self, packet: &Train, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        // An ACK belongs to the socket of the reverse flow, so GRO flushes that flow's data.
        let from = match packet.kind {
            Kind::Data => Some(packet.flow),
            Kind::Ack => shared.reverse_of[usize::from(packet.flow)].map(|reverse| reverse as u16),
            _ => None,
        };
        let Led { before, then, joined } = self.gro.take(packet, from, cpu);
        if let (Some(first), Some(capture)) = (joined, &mut shared.capture) {
            capture.join_received(packet.flow, first, packet.serial);
        }
        before.into_iter().chain(then).fold(cpu, |cpu, skb| self.hand_up(&skb, cpu, now, shared))
    }

    /// Hands an skb of GRO up the stack, past the capture.
    fn hand_up(&mut self, skb: &Received, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        shared.take(&skb.packet, cpu);
        let cpu = self.on_packet(&skb.packet, skb.gso_size, cpu, now, shared);
        self.after_packets(&skb.packet, now, shared);
        cpu
    }

    fn end_poll(&mut self, packets: u32, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let end = match (packets, self.receive.is_empty()) {
            (0, _) => Polled::Nothing,
            (taken, true) if taken == WEIGHT || self.gro.is_due(now) => Polled::AllAndAgain,
            (_, true) => Polled::All,
            (_, false) => Polled::Budget,
        };
        let (up, due) = self.gro.end_poll(cpu, end);
        self.timers.set_gro(due);
        up.iter().fold(cpu, |cpu, skb| self.hand_up(skb, cpu, now, shared))
    }

    /// Handles GRO's timer: hands up the skbs that wait.
    pub(super) fn on_gro_timer(&mut self, now: Time, shared: &mut Shared) {
        let begin = now.max(self.cpu.free);
        let (up, _) = self.gro.end_poll(begin, Polled::Nothing);
        let cpu = up.iter().fold(begin, |cpu, skb| self.hand_up(skb, cpu, now, shared));
        self.cpu.urgent(begin, cpu);
    }

    /// Packets from `now` up to `last` that each find a free CPU and take none of its time.
    pub(crate) fn take_one_by_one(&mut self, now: Time, last: Time) -> Option<Train> {
        let costs_nothing = self.host.cpu == config::Cpu::default()
            && !self.gro.acts_on(1)
            && self.softirq.has_budget();
        if costs_nothing { self.receive.take_one_by_one(now, last) } else { None }
    }

    /// Handles packets with one interrupt each, from number `at` on, and returns how many. It takes all of them if they
    /// lie beyond a hole and no other work is due before the last; else only the first.
    pub(crate) fn on_lone_packets(&mut self, packets: &Train, at: u32, shared: &mut Shared) -> u32 {
        let first = packets.part(at, 1);
        self.fire_before_packets(core::slice::from_ref(&first), first.first, shared);
        let left = packets.count - at;
        let all = packets.kind.is_of_sender()
            && self.may_take_row(packets)
            && self.take_beyond_hole(&packets.part(at, left), shared);
        if all {
            self.handed_up.note(left, packets.kind);
        } else {
            self.on_packet(&first, 0, first.first, first.first, shared);
        }
        let taken = if all { left } else { 1 };
        let now = packets.time(at + taken - 1);
        self.after_packets(packets, now, shared);
        self.end_backlogs(now, now, shared);
        self.cpu.urgent(now, now);
        taken
    }

    /// CPU time of a packet.
    fn cost(&self, packet: &Train) -> Time {
        match packet.kind {
            Kind::Ack | Kind::SynAck => self.host.cpu.ack,
            _ => self.host.cpu.receive,
        }
    }

    /// Lets TCP take a packet with the CPU at `cpu`, in a batch that began at `now`. Returns the CPU's time after it.
    /// `gso_size`: [`Received::gso_size`].
    fn on_packet(
        &mut self,
        packet: &Train,
        gso_size: u32,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        self.handed_up.note(1, packet.kind);
        // __netif_receive_skb_core: packet sockets take a copy before TCP does.
        let cpu = cpu + self.out.capture_cost;
        if packet.kind.is_of_sender() {
            self.receive_packet(packet, gso_size, Cursor { cpu, now }, shared)
        } else if packet.kind == Kind::FragNeeded {
            self.on_fragmentation_needed(packet, cpu, now, shared)
        } else if packet.kind.is_datagram() {
            self.take_datagram(packet, cpu, now, shared)
        } else {
            self.receive_answer(packet, cpu, now, shared)
        }
    }

    /// Does the work that follows the packets of one train.
    fn after_packets(&mut self, train: &Train, now: Time, shared: &Shared) {
        if train.kind.is_of_sender() {
            self.after_receiving(usize::from(train.flow), now, shared);
        }
    }
}
