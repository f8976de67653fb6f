//! The ends of flows that receive their data.

use super::agenda::Agenda;
use super::host::{Host, Process, Step, timer};
use super::late::Skb;
use super::packet::{Body, Packet};
use super::{At, Context};
use fullpipe_sim::config::{self, Flow, Reader};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::tcp::behaviour::profile_of;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

pub const ANSWER: usize = 5;
pub const DELAYED: usize = 6;
pub const COMPRESSED: usize = 7;
pub const READER: usize = 8;
/// Delay of the timer of held ACKs after its time, where no other timer fires, ns (tcp_comp_sack_slack_ns unless set).
const SLACK: u32 = 100_000;

/// A flow here.
pub struct ReceivingFlow {
    pub tcp: Receiver,
    /// Size of the reader's buffer, bytes.
    buffer: u64,
    /// A reader with a rate, and until when it works on what it got.
    reader: Option<Reader>,
    works_until: Option<Time>,
    pub syn_seen: bool,
    /// The timestamp of the first SYN.
    pub echo: u32,
    /// Number of answers that its own timer repeated.
    pub answered_again: u32,
    pub accepted: bool,
    locked: bool,
    runnable: bool,
    /// Bytes that the read has which waits for the rest.
    has: u64,
    backlog: VecDeque<Segment>,
    finish_at: Option<u64>,
}

impl ReceivingFlow {
    /// Whether a read gets as much as it asks for.
    pub fn has_a_whole_read(&self) -> bool {
        self.tcp.readable() >= self.buffer
    }

    pub fn copy_what_there_is(&mut self, now: Time) {
        self.has = self.tcp.readable();
        if self.has > 0 {
            self.tcp.copy(now, self.has);
        }
    }

    pub fn new(flow: &Flow, host: &config::Host, mss: u32) -> ReceivingFlow {
        let profile = profile_of(host).expect("a profile");
        ReceivingFlow {
            tcp: Receiver::new(&profile, host, mss, flow.rcvbuf),
            buffer: flow.read_size(host),
            reader: flow.reader,
            works_until: None,
            syn_seen: false,
            echo: 0,
            answered_again: 0,
            accepted: false,
            locked: false,
            runnable: false,
            has: 0,
            backlog: VecDeque::new(),
            finish_at: flow.bytes,
        }
    }
}

impl Host {
    pub fn send(&mut self, flow: usize, cpu: Time, body: Body, headers: u32, agenda: &mut Agenda) {
        let blocks = match &body {
            Body::Ack(ack) => ack.sacks.map_or(0, |sacks| sacks.count as u32),
            _ => 0,
        };
        // Two times no operation, kind and length, then two numbers for each block.
        let sacks = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let packet = Packet { flow, skb: 0, ip_len: headers + sacks, body };
        let skb = Skb { departs: cpu, ..Skb::plain(vec![packet]) };
        self.transmit.offer(cpu, skb, agenda);
        self.follow();
    }

    /// A packet of the other end, when the CPU has taken it.
    pub fn come(&mut self, flow: usize, body: Body, at: At, cx: &mut Context) {
        match body {
            Body::Syn { asks, tsval } => self.syn(flow, asks, tsval, at, cx),
            Body::Data(segment) => self.data(flow, segment, at, cx),
            _ => unreachable!("these answer"),
        }
        self.look_after_receiving(flow);
    }

    fn data(&mut self, flow: usize, segment: Segment, at: At, cx: &mut Context) {
        let At { now, cpu } = at;
        let Segment { seq, len, fin, .. } = segment;
        let state = &mut self.receives[flow];
        assert!(state.syn_seen, "nobody sends data before the handshake");
        let first = !state.accepted;
        if first {
            state.accepted = true;
            state.tcp.on_accept(cpu, segment.tsecr, len > 0);
            state.tcp.take_metrics(&self.metrics[&self.peers[&flow]]);
            self.timers.set(timer(flow, ANSWER), None, None);
            cx.record(now, flow, EventKind::Accepted, 0);
        }
        if first && len == 0 && !fin {
            return;
        }
        if state.tcp.rcv_nxt == 0 && seq == 0 && len > 0 {
            cx.record(now, flow, EventKind::FirstData, len.into());
        }
        if state.locked {
            state.backlog.push_back(segment);
        } else {
            self.segment(flow, segment, cpu, cx);
        }
    }

    fn segment(&mut self, flow: usize, segment: Segment, cpu: Time, cx: &mut Context) {
        let ack = self.receives[flow].tcp.on_segment(cpu, segment);
        if let Some(ack) = ack {
            self.send(flow, cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.queued_peak = self.queued_peak.max(self.not_read());
    }

    /// Segments that wait for their readers.
    pub fn not_read(&self) -> u64 {
        self.receives.values().map(|f| f.tcp.segments_queued - f.tcp.segments_read).sum()
    }

    pub fn look_after_receiving(&mut self, flow: usize) {
        let state = &mut self.receives[flow];
        let busy = state.locked || state.runnable || state.works_until.is_some();
        if !busy && state.tcp.readable() > 0 {
            state.runnable = true;
            self.runnable.push_back(Process::Reader(flow));
        }
        self.timers.set_in(self.wheel, timer(flow, DELAYED), state.tcp.acks.expiry);
        self.timers.set(timer(flow, COMPRESSED), state.tcp.compressed_due(), None);
        self.timers.set(timer(flow, READER), state.works_until, None);
    }

    /// Whether a timer of held ACKs is due, which fires before packets.
    pub fn holds_past(&self, now: Time) -> bool {
        self.receives.values().any(|f| f.tcp.compressed_due().is_some_and(|at| at <= now))
    }

    /// The softirq for timers runs: held ACKs that may go do, in the order of their last moments.
    pub fn fire_within_slack(&mut self, now: Time, cx: &mut Context) {
        let latest =
            |(&flow, f): (&usize, &ReceivingFlow)| f.tcp.compressed_due().map(|at| (at, flow));
        let mut held: Vec<_> = self.receives.iter().filter_map(latest).collect();
        let slack = Time(self.host.sysctl.tcp_comp_sack_slack_ns.unwrap_or(SLACK).into());
        held.retain(|(at, _)| *at <= now + slack);
        held.sort();
        for (at, flow) in held {
            self.fired_together += u64::from(at > now);
            self.receiving_timer(flow, COMPRESSED, now, cx);
        }
    }

    pub fn receiving_timer(&mut self, flow: usize, which: usize, now: Time, cx: &mut Context) {
        if which == READER {
            self.receives[flow].works_until = None;
            let free = now.max(self.cpu.free);
            self.cpu.urgent(free, free);
            return self.look_after_receiving(flow);
        }
        let cpu = now.max(self.cpu.free);
        let tcp = &mut self.receives[flow].tcp;
        let reads = matches!(self.step, Some(Step::Read(reader, _)) if reader == flow);
        let ack = if which == COMPRESSED {
            tcp.on_compressed_timer(now)
        } else if reads {
            self.locked_delacks += 1;
            tcp.on_delack_timer_while_locked(now);
            None
        } else {
            tcp.on_delack_timer(now)
        };
        if let Some(ack) = ack {
            self.send(flow, cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.look_after_receiving(flow);
    }

    /// A reader's turn.
    pub fn read(&mut self, flow: usize, now: Time, cx: &mut Context) {
        let state = &mut self.receives[flow];
        state.runnable = false;
        state.locked = true;
        let bytes = state.tcp.readable().min(state.buffer - state.has);
        let mut cost = Time(bytes * self.host.cpu.copy_ps_per_byte / 1000);
        if state.has == 0 {
            cost += self.host.cpu.read;
        }
        if cost > Time::ZERO {
            self.step = Some(Step::Read(flow, bytes));
            self.cpu.begin_step(now, cost);
        } else {
            self.has_read(flow, bytes, now, cx);
        }
    }

    pub fn end_backlog(&mut self, flow: usize, cpu: Time, cx: &mut Context) {
        if let Some(ack) = self.receives.get_mut(&flow).and_then(|f| f.tcp.end_backlog()) {
            self.send(flow, cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
    }

    pub fn has_read(&mut self, flow: usize, bytes: u64, now: Time, cx: &mut Context) {
        let state = &mut self.receives[flow];
        let waits = !state.backlog.is_empty();
        if waits {
            let segments = state.backlog.iter();
            state.tcp.begin_backlog(segments.map(|s| (s.packets(), s.packet_len())));
        }
        let ack = match bytes {
            0 if state.has > 0 => state.tcp.clean_up(),
            _ => state.tcp.read(now, bytes),
        };
        if let Some(ack) = ack {
            self.send(flow, now, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.receives[flow].locked = false;
        for segment in std::mem::take(&mut self.receives[flow].backlog) {
            self.segment(flow, segment, now, cx);
        }
        if waits {
            self.end_backlog(flow, now, cx);
        }
        let all = bytes + std::mem::take(&mut self.receives[flow].has);
        if let Some(reader) = self.receives[flow].reader {
            self.receives[flow].works_until = Some(now + reader.rate.time_for(all));
        }
        let read = self.receives[flow].tcp.bytes_read;
        if self.receives[flow].finish_at == Some(read) {
            self.receives[flow].finish_at = None;
            cx.record(now, flow, EventKind::Finished, read);
        }
        self.look_after_receiving(flow);
    }
}
