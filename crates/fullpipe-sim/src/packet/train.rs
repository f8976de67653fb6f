//! The unit of work: packets of one flow that follow each other at an even pace.

use super::Ecn;
use crate::units::Time;

/// Bytes of the headers of IP and UDP, or of IP and an ICMP echo.
pub(crate) const DATAGRAM_HEADERS: u32 = 28;

/// Number of events up to `now`, among `count` from `first` on that are `spacing` apart.
pub fn come_by(first: u64, spacing: u64, count: u32, now: u64) -> u32 {
    let Some(since) = now.checked_sub(first) else { return 0 };
    if since < spacing {
        return count.min(1);
    }
    // Most often all events are included, which needs no division.
    if since >= spacing.saturating_mul(u64::from(count.saturating_sub(1))) {
        return count;
    }
    (since / spacing + 1) as u32
}

/// Events at an even pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Time of the first event, ns.
    pub first: u64,
    /// Time between two events, ns.
    pub spacing: u64,
    /// Number of events, at least one.
    pub count: u32,
}

impl Paced {
    /// Spacing of these events and of later ones together; none if they do not keep one pace.
    pub fn joint_spacing(self, later: Paced) -> Option<u64> {
        let gap = later.first - (self.first + u64::from(self.count - 1) * self.spacing);
        let spacing = if self.count == 1 { gap } else { self.spacing };
        (gap == spacing && (later.count <= 1 || later.spacing == spacing)).then_some(spacing)
    }
}

/// Kind of a train's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data segments: packet `i` carries the bytes `[number + i * len, number + (i + 1) * len)`.
    Data,
    /// Pure ACKs: packet `i` is entry `number + i` of the flow's ACK log; `len` is 0.
    Ack,
    /// Connection request.
    Syn,
    /// Answer to a connection request.
    SynAck,
    /// UDP: packet `i` is datagram `number + i`.
    Datagram,
    /// ICMP echo requests: packet `i` is request `number + i`.
    Echo,
    /// Answers to echo requests, with the same numbers.
    EchoReply,
    /// ICMP messages of a router about data segments that are too large (RFC 1191). Numbers are those of the segments,
    /// as for [`Kind::Data`]; `tsval` is the router's MTU.
    FragNeeded,
}

impl Kind {
    /// Whether the packets go from a flow's sender of data to its receiver.
    #[inline]
    pub fn is_of_sender(self) -> bool {
        matches!(self, Kind::Data | Kind::Syn)
    }

    /// Whether the packets are no TCP segments.
    #[inline]
    pub fn is_datagram(self) -> bool {
        matches!(self, Kind::Datagram | Kind::Echo | Kind::EchoReply | Kind::FragNeeded)
    }
}

/// `count` packets of one flow at times `first + i * spacing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// Index of the flow.
    pub flow: u16,
    /// Index of the connection, by which qdiscs distinguish flows: the first of its two flows where data goes both
    /// ways.
    pub connection: u16,
    /// Kind of the packets.
    pub kind: Kind,
    /// Number of the packets' skb, where an element of the path decides about skbs; else 0. Trains of several skbs do
    /// not join.
    pub skb: u32,
    /// First sequence number or ACK number, see [`Kind`].
    pub number: u64,
    /// Payload bytes of each packet.
    pub len: u32,
    /// Size of each IP packet in bytes.
    pub ip_len: u32,
    /// ECN codepoint of each IP header. Trains of several codepoints do not join.
    pub ecn: Ecn,
    /// Whether a SYN asks for ECN, or a SYN-ACK agrees (ECE). The ACK log has the flag of ACKs.
    pub ece: bool,
    /// Whether the first packet announces a reduction of cwnd (CWR).
    pub cwr: bool,
    /// ACK that each data packet carries, where data goes both ways: one more than its number in the log of the reverse
    /// flow; 0: none. Trains with several such ACKs do not join.
    pub carries: u64,
    /// Timestamp of each packet, jiffies of its sender; 0 without timestamps.
    pub tsval: u32,
    /// Timestamp that each data packet echoes, jiffies of its receiver; 0 without timestamps.
    pub tsecr: u32,
    /// Whether the last packet ends a burst (PSH).
    pub push: bool,
    /// Whether the last packet ends its stream (FIN), which takes a number behind its data.
    pub fin: bool,
    /// Number of packets, at least 1.
    pub count: u32,
    /// Number of the first packet among all that its host has put on the wire; the others follow it. It identifies a
    /// packet all along the path.
    pub serial: u64,
    /// Time of the first packet.
    pub first: Time,
    /// Nanoseconds between packets.
    pub spacing: u64,
}

impl Train {
    /// Time of packet `i`.
    pub fn time(&self, i: u32) -> Time {
        Time(self.first.0 + u64::from(i) * self.spacing)
    }

    /// Time of the last packet.
    pub fn last(&self) -> Time {
        self.time(self.count - 1)
    }

    /// The number of packet `i`.
    pub fn number_of(&self, i: u32) -> u64 {
        match self.kind {
            Kind::Data | Kind::FragNeeded => self.number + u64::from(i) * u64::from(self.len),
            Kind::Ack | Kind::Datagram | Kind::Echo | Kind::EchoReply => self.number + u64::from(i),
            Kind::Syn | Kind::SynAck => self.number,
        }
    }

    /// Packets `from .. from + count`.
    #[inline]
    pub fn part(&self, from: u32, count: u32) -> Train {
        if count == self.count {
            // Most often all packets are included.
            return *self;
        }
        self.retimed(from, count, self.time(from), self.spacing)
    }

    /// Packets `from .. from + count` at new times.
    pub fn retimed(&self, from: u32, count: u32, first: Time, spacing: u64) -> Train {
        let serial = self.serial + u64::from(from);
        let push = self.push && from + count == self.count;
        let fin = self.fin && from + count == self.count;
        let cwr = self.cwr && from == 0;
        let number = self.number_of(from);
        Train { number, count, serial, first, spacing, push, fin, cwr, ..*self }
    }

    /// Marks all packets (CE); false if their flow has no ECN, and then marks none. Packets may be marked already (RFC
    /// 3168, section 5; Linux `INET_ECN_set_ce`). For some packets of a train use [`Train::part`] first.
    #[must_use]
    pub fn mark_ce(&mut self) -> bool {
        let Some(marked) = self.ecn.marked() else { return false };
        self.ecn = marked;
        true
    }

    /// Number of packets at or before `time`.
    pub fn until(&self, time: Time) -> u32 {
        come_by(self.first.0, self.spacing, self.count, time.0)
    }

    /// Times of the packets.
    fn paced(&self) -> Paced {
        Paced { first: self.first.0, spacing: self.spacing, count: self.count }
    }

    /// Appends `next` if it continues this train exactly; returns whether it did.
    #[inline]
    pub fn extend(&mut self, next: &Train) -> bool {
        let last = self.last();
        if next.first < last {
            return false;
        }
        let Some(spacing) = self.paced().joint_spacing(next.paced()) else {
            return false;
        };
        let follows = self.flow == next.flow
            && self.kind == next.kind
            && self.skb == next.skb
            && self.len == next.len
            && self.ip_len == next.ip_len
            && self.ecn == next.ecn
            && self.carries == next.carries
            && self.tsval == next.tsval
            && self.tsecr == next.tsecr
            && self.number_of(self.count) == next.number
            && self.serial + u64::from(self.count) == next.serial;
        if !follows || self.push || self.fin || next.cwr {
            return false;
        }
        self.spacing = spacing;
        (self.push, self.fin) = (next.push, next.fin);
        self.count += next.count;
        true
    }
}

/// Adds a train to a list, joining it to the last one where it continues it.
#[inline]
pub fn append(list: &mut alloc::vec::Vec<Train>, train: Train) {
    if !list.last_mut().is_some_and(|last| last.extend(&train)) {
        list.push(train);
    }
}
