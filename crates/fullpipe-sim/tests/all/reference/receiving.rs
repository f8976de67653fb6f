//! The receiving host.

use super::Context;
use super::agenda::{Agenda, Side};
use super::cpu::Cpu;
use super::late::Skb;
use super::packet::{Body, Packet};
use super::receive::Receive;
use super::timers::Timers;
use super::transmit::Transmit;
use fullpipe_sim::config::{Config, Host, Reader};
use fullpipe_sim::tcp::behaviour::profile_of;
use fullpipe_sim::tcp::profile::TimerWheel;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::{Segment, ecn};
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

/// A flow here.
pub struct ReceivingFlow {
    pub tcp: Receiver,
    /// Size of the reader's buffer, bytes.
    buffer: u64,
    /// A reader with a rate, and until when it works on what it got.
    reader: Option<Reader>,
    works_until: Option<Time>,
    syn_seen: bool,
    accepted: bool,
    locked: bool,
    runnable: bool,
    backlog: VecDeque<Segment>,
    finish_at: Option<u64>,
}

/// See the module's description.
pub struct ReceivingHost {
    host: Host,
    pub transmit: Transmit,
    pub receive: Receive,
    pub timers: Timers,
    wheel: TimerWheel,
    pub flows: Vec<ReceivingFlow>,
    pub cpu: Cpu,
    /// The read in progress: flow and bytes.
    reading: Option<(usize, u64)>,
    runnable: VecDeque<usize>,
    /// Highest number of segments in all receive buffers since the last sample.
    pub buffer_peak: u64,
    /// See [`super::Done`].
    pub locked_timers: u64,
}

impl ReceivingHost {
    pub fn new(config: &Config, mss: u32) -> ReceivingHost {
        let profile = profile_of(&config.receiver).expect("a profile");
        let flows = config.flows.iter().map(|flow| ReceivingFlow {
            tcp: Receiver::new(&profile, &config.receiver, mss, flow.rcvbuf),
            buffer: flow.read_size(&config.receiver),
            reader: flow.reader,
            works_until: None,
            syn_seen: false,
            accepted: false,
            locked: false,
            runnable: false,
            backlog: VecDeque::new(),
            finish_at: flow.bytes,
        });
        ReceivingHost {
            transmit: Transmit::new(Side::Receiver, &config.receiver),
            receive: Receive::new(&config.receiver),
            timers: Timers::new(config.flows.len() * 3),
            wheel: profile_of(&config.receiver).expect("a profile").timer_wheel,
            flows: flows.collect(),
            cpu: Cpu::default(),
            reading: None,
            runnable: VecDeque::new(),
            buffer_peak: 0,
            locked_timers: 0,
            host: config.receiver.clone(),
        }
    }

    pub fn next_softirq(&self) -> Option<Time> {
        Some(self.receive.next_softirq()?.max(self.cpu.free))
    }

    pub fn next_process(&self) -> Option<Time> {
        let may_begin = (!self.runnable.is_empty()).then_some(self.cpu.free);
        self.cpu.step_end().or(may_begin)
    }

    fn send(&mut self, flow: usize, cpu: Time, body: Body, headers: u32, agenda: &mut Agenda) {
        let packet = Packet { flow, skb: 0, ip_len: headers, body };
        self.transmit.offer(cpu, Skb::plain(vec![packet]), agenda);
    }

    /// Takes all packets that wait, one after the other.
    pub fn softirq(&mut self, now: Time, cx: &mut Context) {
        let mut cpu = now;
        for packet in self.receive.take(now) {
            cpu += self.host.cpu.receive;
            let flow = packet.flow;
            match packet.body {
                Body::Syn { asks } => self.syn(flow, asks, cpu, cx),
                Body::Data(segment) => self.data(flow, segment, (now, cpu), cx),
                Body::Ack(_) | Body::SynAck { .. } => {
                    unreachable!("the sender does not send these")
                }
            }
            self.look_after(flow);
        }
        self.cpu.urgent(now, cpu);
    }

    fn syn(&mut self, flow: usize, asks: bool, cpu: Time, cx: &mut Context) {
        let state = &mut self.flows[flow];
        if !std::mem::replace(&mut state.syn_seen, true) {
            state.tcp.use_ecn(asks && ecn::agrees(&self.host));
        }
        let tsval = state.tcp.on_syn(cpu);
        let (window, agrees) = (state.tcp.window.told_first(), state.tcp.uses_ecn());
        self.send(flow, cpu, Body::SynAck { window, tsval, agrees }, cx.opening, &mut cx.agenda);
    }

    fn data(&mut self, flow: usize, segment: Segment, at: (Time, Time), cx: &mut Context) {
        let (now, cpu) = at;
        let Segment { seq, len, fin, .. } = segment;
        let state = &mut self.flows[flow];
        assert!(state.syn_seen, "nobody sends data before the handshake");
        let first = !state.accepted;
        if first {
            state.accepted = true;
            state.tcp.on_accept(cpu);
            cx.tell(now, flow, EventKind::Accepted, 0);
        }
        if first && len == 0 && !fin {
            return;
        }
        if state.tcp.rcv_nxt == 0 && seq == 0 && len > 0 {
            cx.tell(now, flow, EventKind::FirstData, len.into());
        }
        if state.locked {
            state.backlog.push_back(segment);
        } else {
            self.segment(flow, segment, cpu, cx);
        }
    }

    fn segment(&mut self, flow: usize, segment: Segment, cpu: Time, cx: &mut Context) {
        let ack = self.flows[flow].tcp.on_segment(cpu, segment);
        if let Some(ack) = ack {
            self.send(flow, cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.buffer_peak = self.buffer_peak.max(self.buffered());
    }

    /// Segments that wait for their readers.
    pub fn buffered(&self) -> u64 {
        self.flows.iter().map(|f| f.tcp.segments_queued - f.tcp.segments_read).sum()
    }

    fn look_after(&mut self, flow: usize) {
        let state = &mut self.flows[flow];
        let busy = state.locked || state.runnable || state.works_until.is_some();
        if !busy && state.tcp.readable() > 0 {
            state.runnable = true;
            self.runnable.push_back(flow);
        }
        self.timers.set(flow * 3, state.tcp.acks.fires, Some(self.wheel));
        self.timers.set(flow * 3 + 1, state.tcp.compressed_due(), None);
        self.timers.set(flow * 3 + 2, state.works_until, None);
    }

    pub fn timer(&mut self, now: Time, cx: &mut Context) {
        let Some(number) = self.timers.take(now) else { return };
        let flow = number / 3;
        if number % 3 == 2 {
            self.flows[flow].works_until = None;
            let free = now.max(self.cpu.free);
            self.cpu.urgent(free, free);
            return self.look_after(flow);
        }
        let cpu = now.max(self.cpu.free);
        let tcp = &mut self.flows[flow].tcp;
        let reads = self.reading.is_some_and(|(reader, _)| reader == flow);
        let ack = if number % 3 == 1 {
            tcp.on_compressed_timer(now)
        } else if reads {
            self.locked_timers += 1;
            tcp.on_delack_timer_while_locked(now);
            None
        } else {
            tcp.on_delack_timer(now)
        };
        if let Some(ack) = ack {
            self.send(flow, cpu, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.look_after(flow);
    }

    pub fn process(&mut self, now: Time, cx: &mut Context) {
        if let Some((flow, bytes)) = self.reading.take() {
            self.cpu.end_step(now);
            self.has_read(flow, bytes, now, cx);
        }
        while let Some(flow) = self.runnable.pop_front() {
            let state = &mut self.flows[flow];
            state.runnable = false;
            state.locked = true;
            let bytes = state.tcp.readable().min(state.buffer);
            let cost = Time(bytes * self.host.cpu.copy_ps_per_byte / 1000);
            if cost > Time::ZERO {
                self.reading = Some((flow, bytes));
                self.cpu.begin_step(now, cost);
                return;
            }
            self.has_read(flow, bytes, now, cx);
        }
    }

    fn has_read(&mut self, flow: usize, bytes: u64, now: Time, cx: &mut Context) {
        if let Some(ack) = self.flows[flow].tcp.read(now, bytes) {
            self.send(flow, now, Body::Ack(ack), cx.headers, &mut cx.agenda);
        }
        self.flows[flow].locked = false;
        for segment in std::mem::take(&mut self.flows[flow].backlog) {
            self.segment(flow, segment, now, cx);
        }
        if let Some(reader) = self.flows[flow].reader {
            self.flows[flow].works_until = Some(now + reader.rate.time_for(bytes));
        }
        let read = self.flows[flow].tcp.bytes_read;
        if self.flows[flow].finish_at == Some(read) {
            self.flows[flow].finish_at = None;
            cx.tell(now, flow, EventKind::Finished, read);
        }
        self.look_after(flow);
    }
}
