//! Queues as disciplines implement them and as places ask them: packets in, packets out, effects on packets.

use crate::units::Time;
use alloc::vec::Vec;
pub use fullpipe_base::path::QueueLimit;

/// A packet as a discipline sees it.
pub trait Packet {
    /// Index of its connection ([`Train::connection`](crate::packet::Train::connection)).
    fn connection(&self) -> u16;
    /// When it is to leave at the earliest (skb->tstamp); [`Time::ZERO`]: nobody said.
    fn departs(&self) -> Time {
        Time::ZERO
    }
    /// Marks it as having met congestion (RFC 3168); false where it cannot be marked.
    fn mark(&mut self) -> bool;
}

/// A packet with what counts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// Its size as the place counts it.
    pub bytes: u32,
    /// When it came.
    pub came: Time,
}

/// What became of a packet that came, as its sender is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits (NET_XMIT_SUCCESS).
    Taken,
    /// It, or one of its flow, was dropped; it counts as sent (NET_XMIT_CN).
    Congested,
    /// It was refused (NET_XMIT_DROP).
    Refused,
}

/// What a queue did beside taking and giving.
#[derive(Clone, Debug)]
pub struct Effects<P> {
    /// Packets that were dropped, in this order.
    pub dropped: Vec<Waiting<P>>,
    /// How many were marked.
    pub marked: u32,
}

impl<P> Default for Effects<P> {
    fn default() -> Effects<P> {
        Effects { dropped: Vec::new(), marked: 0 }
    }
}

impl<P: Packet> Effects<P> {
    /// Marks a packet, if `ecn` says so and it can be marked.
    pub(super) fn mark(&mut self, packet: &mut Waiting<P>, ecn: bool) -> bool {
        let marked = ecn && packet.packet.mark();
        self.marked += u32::from(marked);
        marked
    }
}

/// How much some packets are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Size {
    /// This and `count` packets of `bytes` each.
    pub fn and(self, count: u32, bytes: u32) -> Size {
        let count = u64::from(count);
        Size { packets: self.packets + count, bytes: self.bytes + count * u64::from(bytes) }
    }

    /// True where a queue of this capacity may hold so much.
    pub fn fits(self, limit: QueueLimit) -> bool {
        match limit {
            QueueLimit::Packets(limit) => self.packets <= u64::from(limit),
            QueueLimit::Bytes(limit) => self.bytes <= limit,
        }
    }
}

/// A queue with its discipline.
pub trait Queue<P> {
    /// A packet comes. What is `ahead` has been taken out and has not gone yet: it counts against the limit
    /// as long, where Linux has it in the queue (`qdisc_peek_head`, `qdisc_peek_dequeued`).
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict;
    /// The next packet to leave.
    fn dequeue(&mut self, now: Time, effects: &mut Effects<P>) -> Option<Waiting<P>>;
    /// When a packet will be there to leave that is not yet.
    fn due(&self) -> Option<Time> {
        None
    }
    /// Calls `each` for every packet that waits.
    fn each(&self, each: &mut dyn FnMut(&P));
}
