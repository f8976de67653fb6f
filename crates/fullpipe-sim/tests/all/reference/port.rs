//! The way from TCP into the qdisc, at the CPU's time.

use super::agenda::Agenda;
use super::late::Skb;
use super::packet::{Body, Packet};
use super::transmit::Transmit;
use fullpipe_sim::tcp::page_frag::PageFrag;
use fullpipe_sim::tcp::{Output, Segment, Transmission};
use fullpipe_sim::units::Time;

/// Output of one flow while the host works for it.
pub struct Port<'a> {
    pub transmit: &'a mut Transmit,
    pub agenda: &'a mut Agenda,
    pub page_frags: &'a mut Vec<(usize, PageFrag)>,
    pub cpu: Time,
    pub cost: Time,
    pub walk_cost: Time,
    pub flow: usize,
    pub headers: u32,
    pub again: Vec<u64>,
    /// Time at which each skb of the flow leaves the host, and its memory; memory of an skb besides its data, where it
    /// matters.
    pub here: Vec<(Time, u64)>,
    pub held: u64,
    pub overhead: Option<u64>,
    /// Whether this is a softirq, during which nothing is freed.
    pub in_softirq: bool,
}

impl Port<'_> {
    pub fn offer(&mut self, bodies: Vec<(Body, u32)>, departs: Time, memory: u64) -> bool {
        let (flow, headers) = (self.flow, self.headers);
        let packet = |(body, len)| Packet { flow, skb: 0, ip_len: len + headers, body };
        let skb = Skb::plain(bodies.into_iter().map(packet).collect());
        self.transmit.offer(self.cpu, Skb { departs, memory, ..skb }, self.agenda)
    }

    /// Skbs of the flow that have left the qdisc are in the ring.
    fn follow(&mut self) {
        let flow = self.flow;
        let gone: Vec<_> = self.transmit.gone.extract_if(.., |gone| gone.flow == flow).collect();
        for skb in gone {
            self.held -= skb.memory;
            self.enter(skb.leaves, skb.memory, skb.packets);
        }
    }

    /// An skb is with the card. The kernel cuts what need not wait there, and each segment has a head.
    fn enter(&mut self, leaves: Time, memory: u64, packets: u64) {
        let overhead = self.overhead.unwrap_or(0);
        let more = if leaves <= self.cpu { packets - 1 } else { 0 };
        self.here.push((leaves, memory + overhead * more));
    }
}

impl Output for Port<'_> {
    fn transmit(&mut self, skb: Transmission) -> bool {
        let mut segments = Vec::new();
        let mut at = 0;
        while at < skb.len || segments.is_empty() {
            let len = (skb.len - at).min(skb.segment);
            let (seq, cwr) = (skb.seq + u64::from(at), skb.cwr && at == 0);
            at += len;
            let push = at == skb.len && skb.push;
            let fin = at == skb.len && skb.fin;
            let Transmission { tsval, tsecr, ecn, .. } = skb;
            let segment =
                Segment { seq, len, gso_size: 0, options: 0, tsval, tsecr, push, fin, ecn, cwr };
            segments.push((Body::Data(segment), len));
            self.cpu += self.cost;
        }
        if skb.retransmission {
            self.again.push(skb.seq);
        }
        let memory = self.overhead.map_or(0, |overhead| u64::from(skb.len) + overhead);
        let packets = segments.len() as u64;
        let taken = self.offer(segments, skb.departs, memory);
        if taken && self.transmit.is_late() {
            self.held += memory;
            self.follow();
        } else if taken && self.overhead.is_some() {
            self.enter(self.transmit.last_leaves(self.cpu), memory, packets);
        }
        taken
    }

    fn in_host(&mut self) -> u64 {
        self.transmit.advance(self.cpu, self.agenda);
        self.follow();
        self.here.retain(|(leaves, _)| self.in_softirq || *leaves > self.cpu);
        self.held + self.here.iter().map(|(_, memory)| memory).sum::<u64>()
    }

    fn now(&self) -> Time {
        self.cpu
    }

    fn begin_page_frag(&mut self, page_frag: PageFrag) {
        self.page_frags.push((self.flow, page_frag));
    }

    fn walked(&mut self, skbs: u32) {
        (0..skbs).for_each(|_| self.cpu += self.walk_cost);
    }
}
