//! The way into a host: receive ring, interrupts, and the backlog of old drivers.

use super::counter::Counter;
use super::packet::Packet;
use fullpipe_sim::config::{Host, ReceivePath};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// Input side of a host.
pub struct Receive {
    path: ReceivePath,
    ring_size: usize,
    backlog_size: usize,
    interrupt_gap: Time,
    /// Wait of an interrupt for packets behind the first, and the arrival of that one; none: the softirq continues
    /// polling.
    rx_coalesce: Time,
    first: Option<Time>,
    /// Number of packets in the ring at which the interrupt waits no more, and the time at which it was reached.
    rx_frames: usize,
    reached: Option<Time>,
    /// No interrupt before this.
    quiet_until: Time,
    ring: VecDeque<Packet>,
    backlog: VecDeque<Packet>,
    /// Counters of the ring.
    pub ring_counter: Counter,
    /// Counters of the backlog.
    pub backlog_counter: Counter,
}

impl Receive {
    /// An empty way in.
    pub fn new(host: &Host) -> Receive {
        Receive {
            path: host.receive_path,
            ring_size: host.rx_ring as usize,
            backlog_size: host.sysctl.netdev_max_backlog as usize,
            interrupt_gap: host.interrupt_gap,
            rx_coalesce: host.rx_coalesce,
            rx_frames: host.rx_frames as usize,
            reached: None,
            first: None,
            quiet_until: Time::ZERO,
            ring: VecDeque::new(),
            backlog: VecDeque::new(),
            ring_counter: Counter::holding(host.rx_ring as usize),
            backlog_counter: Counter::holding(host.sysctl.netdev_max_backlog as usize),
        }
    }

    /// A packet comes from the wire.
    pub fn arrive(&mut self, now: Time, packet: Packet) {
        if self.ring.len() < self.ring_size {
            if self.ring.is_empty() {
                (self.first, self.reached) = (Some(now), None);
            }
            self.ring.push_back(packet);
            if self.first.is_some() && self.ring.len() == self.rx_frames {
                self.reached = Some(now);
            }
            self.ring_counter.enter(now, 0);
        } else {
            self.ring_counter.drop(now);
        }
    }

    /// Time of a `netif_rx` driver's next interrupt.
    pub fn next_interrupt(&self) -> Option<Time> {
        let waits = self.path == ReceivePath::NetifRx && !self.ring.is_empty();
        waits.then(|| self.interrupt_time())
    }

    fn interrupt_time(&self) -> Time {
        let over = self.first.map_or(Time::ZERO, |first| first + self.rx_coalesce);
        self.reached.map_or(over, |reached| reached.min(over)).max(self.quiet_until)
    }

    /// Time at which the softirq has packets to take.
    pub fn next_softirq(&self) -> Option<Time> {
        match self.path {
            ReceivePath::Napi => (!self.ring.is_empty()).then(|| self.interrupt_time()),
            ReceivePath::NetifRx => (!self.backlog.is_empty()).then_some(Time::ZERO),
        }
    }

    /// A `netif_rx` driver moves its ring into the backlog.
    pub fn interrupt(&mut self, now: Time) {
        self.quiet_until = now + self.interrupt_gap;
        while let Some(packet) = self.ring.pop_front() {
            self.ring_counter.leave(now, 0);
            if self.backlog.len() < self.backlog_size {
                self.backlog.push_back(packet);
                self.backlog_counter.enter(now, 0);
            } else {
                self.backlog_counter.drop(now);
            }
        }
    }

    /// The softirq takes so many packets of the ring or the backlog.
    pub fn take(&mut self, now: Time, most: usize) -> Vec<Packet> {
        let (queue, counter) = match self.path {
            ReceivePath::Napi => (&mut self.ring, &mut self.ring_counter),
            ReceivePath::NetifRx => (&mut self.backlog, &mut self.backlog_counter),
        };
        let taken = queue.len().min(most);
        for _ in 0..taken {
            counter.leave(now, 0);
        }
        let packets = queue.drain(..taken).collect();
        if self.path == ReceivePath::Napi {
            let moderation = if self.ring.is_empty() { self.interrupt_gap } else { Time::ZERO };
            self.quiet_until = now + moderation;
            (self.first, self.reached) = (None, None);
        }
        packets
    }

    /// Whether the softirq that has just taken packets has more to take.
    pub fn has_more(&self) -> bool {
        match self.path {
            ReceivePath::Napi => !self.ring.is_empty(),
            ReceivePath::NetifRx => !self.backlog.is_empty(),
        }
    }

    /// Whether the last poll has emptied the ring.
    pub fn is_polled(&self) -> bool {
        self.ring.is_empty()
    }

    /// Sizes of ring and backlog.
    pub fn sizes(&self) -> (u64, u64) {
        (self.ring_size as u64, self.backlog_size as u64)
    }
}
