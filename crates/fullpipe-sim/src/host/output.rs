//! Output of a host: each skb of TCP takes CPU time, becomes trains and enters the qdisc.
//!
//! Limits:
//! - `cpu.capture` is paid for an skb as it reaches the qdisc; Linux pays later if the skb waits there. For ACKs it
//!   is paid at the end of the softirq that sends them, or by the next softirq.

use super::acks::Acks;
use super::capture::{Capture, Fate, Sent, What};
use super::shared::Shared;
use super::transmit::{SkbFate, Tag, Transmit};
use super::tsq::Tsq;
use crate::config;
use crate::packet::{DATAGRAM_HEADERS, Ecn, Kind, Train};
use crate::qdisc::Verdict;
use crate::tcp::pieces::Piece;
use crate::tcp::receiver::Receiver;
use crate::tcp::{Ack, Output, Transmission};
use crate::units::Time;
use alloc::vec::Vec;

/// A host's way out.
pub(crate) struct Out {
    pub(crate) transmit: Transmit,
    /// What goes on the wire.
    pub(crate) wire: Vec<Train>,
    costs: config::Cpu,
    /// Whether the other host minds the end of a burst (PSH).
    push: bool,
    /// Segments that TCP handed down for the first time (Tcp.OutSegs, `__tcp_transmit_skb`): data and what has none.
    pub(crate) out_segs: u64,
    /// SYNs and answers to them that went again (TCPSynRetrans).
    pub(crate) opening_again: u64,
    /// CPU time of each skb that a capture in this host sees; 0 where there is none.
    pub(crate) capture_cost: Time,
}

impl Out {
    /// That of a host with these costs, whose peer minds the end of a burst or does not.
    pub(super) fn new(transmit: Transmit, costs: config::Cpu, push: bool) -> Out {
        Out {
            transmit,
            wire: Vec::new(),
            costs,
            push,
            out_segs: 0,
            opening_again: 0,
            capture_cost: Time::ZERO,
        }
    }

    /// A SYN goes, for the first time or `again`, or an answer: of those each is one that is made
    /// (`tcp_make_synack`).
    pub(super) fn count_opening(&mut self, again: bool) {
        *(if again { &mut self.opening_again } else { &mut self.out_segs }) += 1;
    }

    /// A flow's way into it, with the CPU at `cpu`.
    pub(super) fn output<'a>(
        &'a mut self,
        flow: usize,
        cpu: Time,
        shared: &'a mut Shared,
    ) -> HostOutput<'a> {
        HostOutput {
            transmit: &mut self.transmit,
            wire: &mut self.wire,
            cpu,
            cost: self.costs.transmit,
            walk_cost: self.costs.walk,
            capture_cost: self.capture_cost,
            flow: flow as u16,
            connection: shared.halves[flow].map_or(flow, |half| half.min(flow)) as u16,
            other_half: None,
            acks: &mut shared.acks,
            pieces: &mut shared.pieces,
            mss: shared.mss,
            headers: shared.headers,
            opening: shared.opening,
            push: self.push,
            out_segs: &mut self.out_segs,
            tsq: None,
            retransmitted: Vec::new(),
            congested: false,
            of_others: Vec::new(),
            capture: shared.capture.as_deref_mut(),
        }
    }
}

/// A flow's way into the host's qdisc while the host works for it.
pub(crate) struct HostOutput<'a> {
    transmit: &'a mut Transmit,
    wire: &'a mut Vec<Train>,
    /// The CPU's present time.
    pub(crate) cpu: Time,
    /// CPU time per segment sent.
    cost: Time,
    /// CPU time per skb of the send queue that is looked at.
    walk_cost: Time,
    capture_cost: Time,
    flow: u16,
    connection: u16,
    /// Where its connection has data both ways: the socket's end that receives, whose ACKs its packets carry, and that
    /// flow.
    pub(super) other_half: Option<(&'a mut Receiver, usize)>,
    acks: &'a mut Acks,
    pieces: &'a mut Vec<(u16, Piece)>,
    mss: u32,
    headers: u32,
    opening: u32,
    /// Whether the end of an skb of several segments is told (PSH).
    push: bool,
    out_segs: &'a mut u64,
    /// What of the flow is in the host, where that matters, and the memory of an skb besides its data.
    pub(super) tsq: Option<(&'a mut Tsq, u64)>,
    /// Segments sent again, for the trace.
    pub(crate) retransmitted: Vec<u64>,
    /// Whether the qdisc's last word was of congestion.
    pub(super) congested: bool,
    /// What left the qdisc meanwhile of other flows.
    pub(super) of_others: Vec<SkbFate>,
    /// Where packets are told.
    pub(super) capture: Option<&'a mut Capture>,
}

impl HostOutput<'_> {
    fn train(&self, number: u64, len: u32, count: u32) -> Train {
        Train {
            flow: self.flow,
            connection: self.connection,
            kind: Kind::Data,
            skb: self.transmit.skb(),
            number,
            len,
            ip_len: len + self.headers,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            carries: 0,
            tsval: 0,
            tsecr: 0,
            push: false,
            fin: false,
            count,
            serial: 0,
            first: self.cpu,
            spacing: 0,
        }
    }

    /// Sends an ACK of that number.
    pub(super) fn send_ack(&mut self, number: u64, ack: &Ack) -> bool {
        let mut packet = Train { kind: Kind::Ack, ..self.train(number, 0, 1) };
        packet.ip_len += ack.option_bytes();
        *self.out_segs += 1;
        self.push(&[packet], (self.cpu, self.cpu), What::Ack(ack), 0)
    }

    /// Sends a datagram of that number and so many bytes of payload.
    pub(super) fn send_datagram(&mut self, kind: Kind, number: u64, size: u32) -> bool {
        self.cpu += self.cost;
        let ip_len = size + DATAGRAM_HEADERS;
        let packet = Train { kind, ip_len, ..self.train(number, size, 1) };
        self.push(&[packet], (self.cpu, Time::ZERO), What::Plain, 0)
    }

    /// Sends a packet without data of that number and echo.
    pub(super) fn send_empty(&mut self, (number, tsecr): (u64, u32)) -> bool {
        *self.out_segs += 1;
        let mut packet = Train { tsecr, ..self.train(number, 0, 1) };
        if let Some((carries, _)) = self.carry(false) {
            packet.carries = carries;
        }
        self.push(&[packet], (self.cpu, self.cpu), What::Plain, 0)
    }

    /// Sends a SYN with its timestamp that asks for ECN, or does not.
    pub(super) fn send_syn(&mut self, tsval: u32, ece: bool) -> bool {
        let ip_len = self.opening;
        let packet = Train { kind: Kind::Syn, ece, tsval, ip_len, ..self.train(0, 0, 1) };
        self.push(&[packet], (self.cpu, self.cpu), What::Plain, 0)
    }

    /// Sends a SYN-ACK with its window and timestamps, its own and the one it echoes, that agrees to ECN, or does not.
    pub(super) fn send_syn_ack(
        &mut self,
        window: u64,
        (tsval, tsecr): (u32, u32),
        ece: bool,
    ) -> bool {
        let answer = self.train(window, 0, 1);
        let packet =
            Train { kind: Kind::SynAck, ece, tsval, tsecr, ip_len: self.opening, ..answer };
        self.push(&[packet], (self.cpu, self.cpu), What::Plain, 0)
    }

    /// The ACK that a packet carries, with data or without: as trains name it, and what it says.
    fn carry(&mut self, data: bool) -> Option<(u64, Ack)> {
        let (receiver, flow) = self.other_half.as_mut()?;
        let ack = receiver.carry(self.cpu, data);
        Some((self.acks.push(*flow, &ack) + 1, ack))
    }

    /// Tells the capture that TCP takes the ACK of this serial.
    pub(crate) fn hear_and_settle(&mut self, serial: u64) {
        if let Some(capture) = &mut self.capture {
            capture.hear((self.flow, Kind::Ack), serial);
            capture.settle((self.flow, Kind::Ack), serial, Fate::Delivered);
        }
    }

    /// Offers an skb that was made at `made` and that is to leave at `departs`, by TCP's word (zero: it is not TCP's); its memory counts where that matters.
    fn push(
        &mut self,
        skb: &[Train],
        (made, departs): (Time, Time),
        what: What,
        memory: u64,
    ) -> bool {
        let holds = self.transmit.holds();
        let capture = self.capture.as_mut().filter(|_| holds);
        let number = capture.map_or(0, |capture| capture.keep(made, what));
        let tag = Tag { flow: self.flow, memory, number, departs };
        let serial = self.transmit.taken();
        let verdict = self.transmit.push(self.cpu, skb, tag, self.wire);
        self.congested = verdict == Verdict::Congested;
        let taken = verdict != Verdict::Refused;
        if holds {
            self.note_gone();
        } else if let Some(capture) = &mut self.capture
            && taken
        {
            let (refused, entry) = (self.transmit.refused(), self.transmit.last_entry());
            capture.sent(&Sent { skb, serial, made, refused, entry, what });
        }
        if taken {
            self.pay_capture();
        }
        taken
    }

    /// The capture sees the skb taken last: twice, if the driver refuses it once.
    fn pay_capture(&mut self) {
        let seen = 1 + u64::from(self.transmit.refused().is_some());
        self.cpu += Time(self.capture_cost.0 * seen);
    }

    /// What leaves the host from now on counts until [`Tsq::end_softirq`]; where this softirq `goes_on`, what has left
    /// during it does, too.
    pub(super) fn begin_softirq(&mut self, goes_on: bool) {
        if !goes_on {
            self.in_host();
        }
        if let Some((tsq, _)) = &mut self.tsq {
            tsq.begin_softirq();
        }
    }

    /// Notes what left a qdisc in which things wait.
    fn note_gone(&mut self) {
        for gone in self.transmit.gone() {
            if let Some(capture) = &mut self.capture {
                capture.sent_late(&gone);
            }
            match &mut self.tsq {
                Some((tsq, overhead)) if gone.tag.flow == self.flow => {
                    let cut = gone.free_at <= self.cpu;
                    let heads = heads(gone.tag.memory, *overhead, self.mss, cut);
                    tsq.settle(gone.free_at, gone.tag.memory, heads);
                }
                _ => self.of_others.push(gone),
            }
        }
    }

    /// What the memory of an skb of so many bytes counts.
    fn memory(&self, len: u32) -> u64 {
        let overhead = self.tsq.as_ref().map(|(_, overhead)| *overhead);
        let counts = overhead.filter(|_| !self.transmit.orphans());
        counts.map_or(0, |overhead| u64::from(len) + overhead)
    }
}

/// Memory of the heads that an skb gets which has `memory`, the first one's `overhead` included, if it is `cut` into
/// segments.
fn heads(memory: u64, overhead: u64, mss: u32, cut: bool) -> u64 {
    let data = memory.saturating_sub(overhead);
    if cut { overhead * data.div_ceil(u64::from(mss)).saturating_sub(1) } else { 0 }
}

impl Output for HostOutput<'_> {
    fn transmit(&mut self, skb: Transmission) -> bool {
        let (full, rest) = (skb.len / skb.segment, skb.len % skb.segment);
        let segments = (full + u32::from(rest > 0)).max(1);
        let made = (self.cpu, skb.departs);
        self.cpu += Time(self.cost.0 * u64::from(segments));
        if skb.retransmission {
            self.retransmitted.push(skb.seq);
        } else {
            *self.out_segs += u64::from(segments);
        }
        // SACKs that it carries make it longer; in Linux they leave less room for data.
        let (carries, tsecr, option) = match self.carry(true) {
            Some((number, ack)) => (number, ack.tsecr, ack.option_bytes()),
            None => (0, skb.tsecr, 0),
        };
        let stamped = |train: Train| {
            let ip_len = train.ip_len + option;
            Train { carries, ip_len, tsval: skb.tsval, tsecr, ecn: skb.ecn, ..train }
        };
        let of_whole = self.train(skb.seq, skb.segment, full);
        let tail_at = skb.seq + u64::from(full) * u64::from(skb.segment);
        let of_tail = self.train(tail_at, rest, 1);
        let whole = || Train { cwr: skb.cwr, ..stamped(of_whole) };
        let tail = || Train { cwr: skb.cwr && full == 0, ..stamped(of_tail) };
        let (push, fin) = (self.push && skb.push, skb.fin);
        let memory = self.memory(skb.len);
        let known = !self.transmit.holds();
        if let Some((tsq, _)) = self.tsq.as_mut().filter(|_| !known) {
            tsq.wait(memory);
        }
        let taken = match (full, rest) {
            (0, _) => self.push(&[Train { push, fin, ..tail() }], made, What::Plain, memory),
            (_, 0) => self.push(&[Train { push, fin, ..whole() }], made, What::Plain, memory),
            _ => self.push(&[whole(), Train { push, fin, ..tail() }], made, What::Plain, memory),
        };
        let leaves = self.transmit.last_leaves(self.cpu);
        match &mut self.tsq {
            Some((tsq, overhead)) if known && taken => {
                let cut = leaves <= self.cpu;
                tsq.enter(leaves, memory + heads(memory, *overhead, skb.segment, cut));
            }
            Some((tsq, _)) if !known && !taken => tsq.refuse(memory),
            _ => {}
        }
        taken
    }

    fn congested(&self) -> bool {
        self.congested
    }

    fn in_host(&mut self) -> u64 {
        let now = self.cpu;
        if self.transmit.holds() {
            // Nothing but this host feeds the queue: what leaves it until then is known.
            self.transmit.wake(now, self.wire);
            self.note_gone();
        }
        self.tsq.as_mut().map_or(0, |(tsq, _)| tsq.at(now))
    }

    fn now(&self) -> Time {
        self.cpu
    }

    fn begin_piece(&mut self, piece: Piece) {
        self.pieces.push((self.flow, piece));
    }

    fn walked(&mut self, skbs: u32) {
        self.cpu += Time(self.walk_cost.0 * u64::from(skbs));
    }
}
