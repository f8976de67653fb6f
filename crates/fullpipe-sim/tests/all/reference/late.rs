//! A host's discipline that decides late: it keeps skbs, and lets one go ahead, which waits for the ring.

use super::packet::Packet;
use fullpipe_sim::config::{Discipline, QueueLimit};
use fullpipe_sim::qdisc::{self, Effects, Queue, Size, Verdict, Waiting};
use fullpipe_sim::units::{Framing, Time};

/// An skb, with what the host has to know of it.
pub struct Skb {
    pub packets: Vec<Packet>,
    pub flow: usize,
    /// Memory of the packet, where it matters.
    pub memory: u64,
    /// Time at which the packet may leave, by TCP; zero: it is not of TCP.
    pub departs: Time,
}

impl Skb {
    /// An skb without a departure time, and without a count of its memory.
    pub fn plain(packets: Vec<Packet>) -> Skb {
        let flow = packets[0].flow;
        Skb { packets, flow, memory: 0, departs: Time::ZERO }
    }

    /// Bytes of IP.
    pub fn bytes(&self) -> u32 {
        self.packets.iter().map(|packet| packet.ip_len).sum()
    }
}

impl qdisc::Packet for Skb {
    fn connection(&self) -> u16 {
        self.flow as u16
    }
    fn departs(&self) -> Time {
        self.departs
    }
    fn mark(&mut self) -> bool {
        false
    }
}

/// A qdisc that decides at dequeue, in front of a ring.
pub struct Late {
    queue: Box<dyn Queue<Skb>>,
    ahead: Option<Waiting<Skb>>,
    effects: Effects<Skb>,
}

impl Late {
    /// An empty one of kind `fq`, which drops nothing that it has taken and draws nothing.
    pub fn new(discipline: Discipline, limit: QueueLimit) -> Late {
        assert!(matches!(discipline, Discipline::Fq(_)), "{discipline:?}");
        Late { queue: discipline.build(limit, 0, ""), ahead: None, effects: Effects::default() }
    }

    /// An skb comes; whether it is taken.
    pub fn push(&mut self, now: Time, skb: Skb) -> bool {
        let ethernet = skb.packets.len() as u32 * Framing::Ethernet.overhead();
        let bytes = skb.bytes() + ethernet;
        let one = |skb: &Waiting<Skb>| Size { packets: 1, bytes: skb.bytes.into() };
        let ahead = self.ahead.as_ref().map_or(Size::default(), one);
        let waiting = Waiting { packet: skb, bytes, came: now };
        let taken = self.queue.enqueue(waiting, ahead, &mut self.effects) != Verdict::Refused;
        self.effects.dropped.clear();
        taken
    }

    /// The next skb, if it may leave and the ring, which is asked for so many segments, has room for it.
    pub fn pop(&mut self, now: Time, fits: impl Fn(usize) -> bool) -> Option<Skb> {
        if self.ahead.is_none() {
            self.ahead = self.queue.dequeue(now, &mut self.effects);
        }
        let next = self.ahead.take_if(|next| fits(next.packet.packets.len()))?;
        Some(next.packet)
    }

    /// Whether it is to be asked as soon as there is room in the ring.
    pub fn waits_for_ring(&self) -> bool {
        self.ahead.is_some()
    }

    /// Time at which the qdisc is to be asked again, though no packet arrives and none leaves the ring.
    pub fn due(&self) -> Option<Time> {
        if self.ahead.is_some() { None } else { self.queue.due() }
    }
}
