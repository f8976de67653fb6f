//! Output of a host: each skb of TCP takes CPU time, becomes trains and enters the qdisc.
//!
//! Limits:
//! - `cpu.capture` is paid for an skb as it reaches the qdisc; Linux pays later if the skb waits there. For ACKs it
//!   is paid at the end of the softirq that sends them, or by the next softirq.

use super::acks::Acks;
use super::capture::{Capture, Fate, Sent, What, Whose};
use super::shared::Shared;
use super::transmit::{SkbFate, Tag, Transmit};
use super::tsq::Tsq;
use crate::config;
use crate::packet::{DATAGRAM_HEADERS, Ecn, Kind, Train};
use crate::qdisc::Verdict;
use crate::tcp::page_frag::PageFrag;
use crate::tcp::receiver::Receiver;
use crate::tcp::{Ack, EmptySegment, Output, Transmission};
use crate::units::Time;
use alloc::vec::Vec;

/// Times of an skb.
#[derive(Clone, Copy)]
struct SkbTimes {
    /// Time at which it was made.
    made: Time,
    /// Earliest time of departure; zero: the skb is not TCP's.
    departs: Time,
}

impl SkbTimes {
    /// Times of an skb of TCP that may leave when it is made.
    fn at(now: Time) -> SkbTimes {
        SkbTimes { made: now, departs: now }
    }
}

/// The output side of a host.
pub(crate) struct Out {
    pub(crate) transmit: Transmit,
    /// Packets for the wire.
    pub(crate) wire: Vec<Train>,
    costs: config::Cpu,
    /// Whether the other host reacts to the end of a burst (PSH).
    push: bool,
    /// Segments that TCP sent for the first time, with and without data (Tcp.OutSegs, `__tcp_transmit_skb`).
    pub(crate) out_segs: u64,
    /// Repeated SYNs and SYN-ACKs (TCPSynRetrans).
    pub(crate) opening_again: u64,
    /// CPU time of each skb that a capture in this host sees; 0 without a capture.
    pub(crate) capture_cost: Time,
}

impl Out {
    /// The output of a host with these costs; `push`: its peer reacts to the end of a burst.
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

    /// Counts a SYN, sent for the first time or `again`, or a SYN-ACK. Each SYN-ACK counts as new (`tcp_make_synack`).
    pub(super) fn count_opening(&mut self, again: bool) {
        *(if again { &mut self.opening_again } else { &mut self.out_segs }) += 1;
    }

    /// Output of one flow, with the CPU at `cpu`.
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
            connection: shared.reverse_of[flow].map_or(flow, |reverse| reverse.min(flow)) as u16,
            reverse_receiver: None,
            acks: &mut shared.acks,
            page_frags: &mut shared.page_frags,
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

/// Output of one flow into the host's qdisc while the host works for it.
pub(crate) struct HostOutput<'a> {
    transmit: &'a mut Transmit,
    wire: &'a mut Vec<Train>,
    /// The CPU's present time.
    pub(crate) cpu: Time,
    /// CPU time per segment sent.
    cost: Time,
    /// CPU time per visited skb of the send queue.
    walk_cost: Time,
    capture_cost: Time,
    flow: u16,
    connection: u16,
    /// Receiving end of the same socket, and its flow, where the connection has data both ways. Data packets carry its
    /// ACKs.
    pub(super) reverse_receiver: Option<(&'a mut Receiver, usize)>,
    acks: &'a mut Acks,
    page_frags: &'a mut Vec<(u16, PageFrag)>,
    headers: u32,
    opening: u32,
    /// Whether PSH marks the end of an skb of several segments.
    push: bool,
    out_segs: &'a mut u64,
    /// Memory of the flow in the host, where TSQ counts it, and the overhead of an skb, bytes.
    pub(super) tsq: Option<(&'a mut Tsq, u64)>,
    /// Segments sent again, for the trace.
    pub(crate) retransmitted: Vec<u64>,
    /// Whether the qdisc's last verdict was congestion.
    pub(super) congested: bool,
    /// Fates of skbs of other flows since the last look.
    pub(super) of_others: Vec<SkbFate>,
    /// The capture, if there is one.
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

    /// Sends the ACK `number`.
    pub(super) fn send_ack(&mut self, number: u64, ack: &Ack) -> bool {
        let mut packet = Train { kind: Kind::Ack, fin: ack.fin, ..self.train(number, 0, 1) };
        packet.ip_len += ack.option_bytes();
        *self.out_segs += 1;
        self.push(&[packet], SkbTimes::at(self.cpu), What::Ack(ack), 0)
    }

    /// Sends datagram `number` with `size` bytes of payload.
    pub(super) fn send_datagram(&mut self, kind: Kind, number: u64, size: u32) -> bool {
        self.cpu += self.cost;
        let ip_len = size + DATAGRAM_HEADERS;
        let packet = Train { kind, ip_len, ..self.train(number, size, 1) };
        self.push(&[packet], SkbTimes { made: self.cpu, departs: Time::ZERO }, What::Plain, 0)
    }

    /// Sends a packet without data.
    pub(super) fn send_empty(&mut self, empty: EmptySegment) -> bool {
        *self.out_segs += 1;
        let mut packet = Train { tsecr: empty.tsecr, ..self.train(empty.seq, 0, 1) };
        if let Some((carries, _)) = self.carry(false) {
            packet.carries = carries;
        }
        self.push(&[packet], SkbTimes::at(self.cpu), What::Plain, 0)
    }

    /// Sends a SYN with this timestamp; `ece`: it asks for ECN.
    pub(super) fn send_syn(&mut self, tsval: u32, ece: bool) -> bool {
        let ip_len = self.opening;
        let packet = Train { kind: Kind::Syn, ece, tsval, ip_len, ..self.train(0, 0, 1) };
        self.push(&[packet], SkbTimes::at(self.cpu), What::Plain, 0)
    }

    /// Sends a SYN-ACK with this window, its timestamp and its echo; `ece`: it agrees to ECN.
    pub(super) fn send_syn_ack(&mut self, window: u64, tsval: u32, tsecr: u32, ece: bool) -> bool {
        let answer = self.train(window, 0, 1);
        let packet =
            Train { kind: Kind::SynAck, ece, tsval, tsecr, ip_len: self.opening, ..answer };
        self.push(&[packet], SkbTimes::at(self.cpu), What::Plain, 0)
    }

    /// ACK that a packet carries, with data or without: its name in trains, and its content.
    fn carry(&mut self, data: bool) -> Option<(u64, Ack)> {
        let (receiver, flow) = self.reverse_receiver.as_mut()?;
        let ack = receiver.carry(self.cpu, data);
        Some((self.acks.push(*flow, &ack) + 1, ack))
    }

    /// Reports to the capture that TCP takes the ACK of this serial.
    pub(crate) fn capture_delivery(&mut self, serial: u64) {
        if let Some(capture) = &mut self.capture {
            let whose = Whose { flow: self.flow, kind: Kind::Ack };
            capture.store_ts_recent(whose, serial);
            capture.settle(whose, serial, Fate::Delivered);
        }
    }

    /// Offers an skb to the qdisc. TSQ counts `memory`, where it is in use. Returns whether the qdisc accepted it.
    fn push(&mut self, skb: &[Train], times: SkbTimes, what: What, memory: u64) -> bool {
        let SkbTimes { made, departs } = times;
        // A qdisc that holds skbs reports each one when it leaves, so the skb keeps what a capture needs.
        let holds = self.transmit.holds();
        let capture = self.capture.as_mut().filter(|_| holds);
        let number = capture.map_or(0, |capture| capture.keep(made, what));
        let packets = skb.iter().map(|train| train.count).sum();
        let tag = Tag { flow: self.flow, memory, packets, number, departs };
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

    /// Charges the capture for the skb taken last: twice, if the driver refused it once.
    fn pay_capture(&mut self) {
        let seen = 1 + u64::from(self.transmit.refused().is_some());
        self.cpu += Time(self.capture_cost.0 * seen);
    }

    /// Lets TSQ count skbs that leave the host until [`Tsq::end_softirq`]. If the same softirq `goes_on`, TSQ also
    /// counts the skbs that left during it.
    pub(super) fn begin_softirq(&mut self, goes_on: bool) {
        if !goes_on {
            self.in_host();
        }
        if let Some((tsq, _)) = &mut self.tsq {
            tsq.begin_softirq();
        }
    }

    /// Notes skbs that left a qdisc that holds them.
    fn note_gone(&mut self) {
        for gone in self.transmit.gone() {
            if let Some(capture) = &mut self.capture {
                capture.sent_late(&gone);
            }

            // TSQ of this flow is at hand; skbs of other flows are settled when this output ends.
            match &mut self.tsq {
                Some((tsq, overhead)) if gone.tag.flow == self.flow => {
                    let cut = gone.free_at <= self.cpu;
                    let heads = heads(*overhead, gone.tag, cut);
                    tsq.settle(gone.free_at, gone.tag.memory, heads);
                }
                _ => self.of_others.push(gone),
            }
        }
    }

    /// Memory of an skb with `len` bytes in TSQ's count.
    fn memory(&self, len: u32) -> u64 {
        let overhead = self.tsq.as_ref().map(|(_, overhead)| *overhead);
        let counts = overhead.filter(|_| !self.transmit.orphans());
        counts.map_or(0, |overhead| u64::from(len) + overhead)
    }
}

/// Memory of the further heads of an skb whose memory counts and that is `cut` into its packets. Each takes `overhead`.
fn heads(overhead: u64, skb: Tag, cut: bool) -> u64 {
    let further = u64::from(skb.packets.saturating_sub(1));
    if cut && skb.memory > 0 { overhead * further } else { 0 }
}

impl Output for HostOutput<'_> {
    fn transmit(&mut self, skb: Transmission) -> bool {
        let (full, rest) = (skb.len / skb.segment, skb.len % skb.segment);

        // An skb without data is still one segment.
        let segments = (full + u32::from(rest > 0)).max(1);
        let times = SkbTimes { made: self.cpu, departs: skb.departs };
        self.cpu += Time(self.cost.0 * u64::from(segments));
        if skb.retransmission {
            self.retransmitted.push(skb.seq);
        } else {
            *self.out_segs += u64::from(segments);
        }
        // The sender has left room for SACK blocks (`Sender::note_options`).
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

        // tcp_gso_segment: CWR is on the first segment alone, PSH and FIN are on the last.
        let whole = || Train { cwr: skb.cwr, ..stamped(of_whole) };
        let tail = || Train { cwr: skb.cwr && full == 0, ..stamped(of_tail) };
        let (push, fin) = (self.push && skb.push, skb.fin);
        let memory = self.memory(skb.len);

        // Where the qdisc holds skbs, the time of departure becomes known later (note_gone).
        let known = !self.transmit.holds();
        if let Some((tsq, _)) = self.tsq.as_mut().filter(|_| !known) {
            tsq.wait(memory);
        }
        let taken = match (full, rest) {
            (0, _) => self.push(&[Train { push, fin, ..tail() }], times, What::Plain, memory),
            (_, 0) => self.push(&[Train { push, fin, ..whole() }], times, What::Plain, memory),
            _ => self.push(&[whole(), Train { push, fin, ..tail() }], times, What::Plain, memory),
        };

        // sk_wmem_alloc counts the skb until it has left the host (tcp_wfree).
        let leaves = self.transmit.last_leaves(self.cpu);
        match &mut self.tsq {
            Some((tsq, overhead)) if known && taken => {
                let cut = leaves <= self.cpu;
                tsq.enter(
                    leaves,
                    memory
                        + heads(
                            *overhead,
                            Tag { memory, packets: segments, ..Tag::default() },
                            cut,
                        ),
                );
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
            // Only this host feeds the queue, so departures until then are known.
            self.transmit.wake(now, self.wire);
            self.note_gone();
        }
        self.tsq.as_mut().map_or(0, |(tsq, _)| tsq.at(now))
    }

    fn now(&self) -> Time {
        self.cpu
    }

    fn option_bytes(&self) -> u32 {
        self.reverse_receiver.as_ref().map_or(0, |(receiver, _)| receiver.option_bytes())
    }

    fn begin_page_frag(&mut self, page_frag: PageFrag) {
        self.page_frags.push((self.flow, page_frag));
    }

    fn walked(&mut self, skbs: u32) {
        self.cpu += Time(self.walk_cost.0 * u64::from(skbs));
    }
}
