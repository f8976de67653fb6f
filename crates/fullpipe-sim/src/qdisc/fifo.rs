//! First in, first out: a packet that finds the queue full is refused (sch_fifo).

use super::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting};
use crate::units::Time;
use alloc::collections::VecDeque;

/// A list of packets with its size.
#[derive(Debug)]
pub(super) struct List<P> {
    packets: VecDeque<Waiting<P>>,
    bytes: u64,
}

impl<P> Default for List<P> {
    fn default() -> List<P> {
        List { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P> List<P> {
    pub(super) fn push(&mut self, packet: Waiting<P>) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Takes a packet if the limit allows it.
    pub(super) fn offer(
        &mut self,
        packet: Waiting<P>,
        limit: QueueLimit,
        ahead: Size,
        effects: &mut Effects<P>,
    ) -> Verdict {
        let packets = self.len() + ahead.packets;
        let there = Size { packets, bytes: self.bytes + ahead.bytes };
        if there.and(1, packet.bytes).fits(limit) {
            self.push(packet);
            Verdict::Taken
        } else {
            effects.dropped.push(packet);
            Verdict::Refused
        }
    }

    pub(super) fn pop(&mut self) -> Option<Waiting<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn first(&self) -> Option<&Waiting<P>> {
        self.packets.front()
    }

    pub(super) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn each(&self, each: &mut dyn FnMut(&P)) {
        self.packets.iter().for_each(|waiting| each(&waiting.packet));
    }
}

/// A FIFO queue. A packet that was taken ahead is still its head.
#[derive(Debug)]
pub(super) struct Fifo<P> {
    list: List<P>,
    limit: QueueLimit,
}

impl<P> Fifo<P> {
    pub(super) fn new(limit: QueueLimit) -> Fifo<P> {
        Fifo { list: List::default(), limit }
    }
}

impl<P: Packet> Queue<P> for Fifo<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict {
        self.list.offer(packet, self.limit, ahead, effects)
    }

    fn dequeue(&mut self, _now: Time, _effects: &mut Effects<P>) -> Option<Waiting<P>> {
        self.list.pop()
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.list.each(each);
    }
}
