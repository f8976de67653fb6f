//! Interface between qdiscs and the places that use them: packets in, packets out, effects on packets.

use crate::units::Time;
use alloc::vec::Vec;
pub use fullpipe_base::path::QueueLimit;

/// A packet as a qdisc sees it.
pub trait Packet {
    /// Index of its connection ([`Train::connection`](crate::packet::Train::connection)).
    fn connection(&self) -> u16;
    /// Earliest departure (skb->tstamp); [`Time::ZERO`]: none was set.
    fn departs(&self) -> Time {
        Time::ZERO
    }
    /// Marks the packet as having met congestion (RFC 3168); false where it cannot be marked.
    fn mark(&mut self) -> bool;
}

/// A waiting packet with its size and arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// Size of the packet as the place counts it.
    pub bytes: u32,
    /// Time of arrival.
    pub came: Time,
}

/// Fate of an arriving packet, as its sender sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet waits (NET_XMIT_SUCCESS).
    Taken,
    /// The packet, or one of its flow, was dropped; it counts as sent (NET_XMIT_CN).
    Congested,
    /// The packet was refused (NET_XMIT_DROP).
    Refused,
}

/// Effects of a queue on packets besides taking and giving.
#[derive(Clone, Debug)]
pub struct Effects<P> {
    /// Packets that were dropped, in this order.
    pub dropped: Vec<Waiting<P>>,
    /// Number of marked packets.
    pub marked: u32,
}

impl<P> Default for Effects<P> {
    fn default() -> Effects<P> {
        Effects { dropped: Vec::new(), marked: 0 }
    }
}

impl<P: Packet> Effects<P> {
    /// Marks a packet, if `ecn` allows it and the packet can be marked.
    pub(super) fn mark(&mut self, packet: &mut Waiting<P>, ecn: bool) -> bool {
        let marked = ecn && packet.packet.mark();
        self.marked += u32::from(marked);
        marked
    }
}

/// Size of some packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Packets.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
}

impl Size {
    /// Sum of this size and `count` packets of `bytes` each.
    pub fn and(self, count: u32, bytes: u32) -> Size {
        let count = u64::from(count);
        Size { packets: self.packets + count, bytes: self.bytes + count * u64::from(bytes) }
    }

    /// Whether a queue of this capacity may hold so much.
    pub fn fits(self, limit: QueueLimit) -> bool {
        match limit {
            QueueLimit::Packets(limit) => self.packets <= u64::from(limit),
            QueueLimit::Bytes(limit) => self.bytes <= limit,
        }
    }
}

/// A queue with its discipline.
pub trait Queue<P> {
    /// Takes an arriving packet. Packets `ahead` have been taken out but have not gone yet. They still count against
    /// the limit, as Linux has them in the queue (`qdisc_peek_head`, `qdisc_peek_dequeued`).
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict;
    /// The next packet to leave.
    fn dequeue(&mut self, now: Time, effects: &mut Effects<P>) -> Option<Waiting<P>>;
    /// Time at which a packet will be ready to leave, if none is ready yet.
    fn due(&self) -> Option<Time> {
        None
    }
    /// Calls `each` for every packet that waits.
    fn each(&self, each: &mut dyn FnMut(&P));
}
