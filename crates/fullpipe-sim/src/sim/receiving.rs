//! The receiving host: its CPU is shared by the softirq (data) and the reading applications.
//!
//! A softirq takes a batch and runs to its end. The reader copies what is there, at most one buffer
//! at a time, with the socket locked; segments that come meanwhile wait in the socket's backlog. One that reads at
//! a rate works on what it got before it reads again.

mod beyond_hole;

use super::capture::What;
use super::clock::{Clockwork, Timers};
use super::cpu::Cpu;
use super::level::Level;
use super::port::Port;
use super::{Shared, copy_time};
use crate::config::{self, Config, Host};
use crate::path::host::receive::Receive;
use crate::path::host::transmit::Transmit;
use crate::tally::Samples;
use crate::tcp::behaviour::profile_of;
use crate::tcp::profile::TimerWheel;
use crate::tcp::receiver::Receiver;
use crate::tcp::{Ack, Segment, ecn};
use crate::trace::EventKind;
use crate::train::{Kind, Train};
use crate::units::{Rate, Time};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One flow at the receiving host.
pub(crate) struct ReceivingFlow {
    pub(crate) tcp: Receiver,
    /// Size of the reader's buffer, bytes.
    buffer: u64,
    /// Its rate; none: it reads at once.
    rate: Option<Rate>,
    /// When it has done with what it got, if it has not.
    works_until: Option<Time>,
    syn_seen: bool,
    accepted: bool,
    locked: bool,
    runnable: bool,
    backlog: VecDeque<Arrived>,
    finish_at: Option<u64>,
}

/// A data segment on its way to the socket.
#[derive(Clone, Copy)]
struct Arrived {
    segment: Segment,
    serial: u64,
}

/// A read in progress.
#[derive(Clone, Copy)]
struct Reading {
    flow: usize,
    bytes: u64,
}

const TIMERS_PER_FLOW: usize = 3;
const DELAYED: usize = 0;
const COMPRESSED: usize = 1;
/// The reader has done with what it got.
const READER: usize = 2;

/// See the module's description.
pub(crate) struct ReceivingHost {
    host: Host,
    pub(crate) transmit: Transmit,
    pub(crate) receive: Receive,
    pub(crate) wire: Vec<Train>,
    pub(crate) timers: Timers,
    timer_wheel: TimerWheel,
    pub(crate) flows: Vec<ReceivingFlow>,
    pub(crate) cpu: Cpu,
    /// Segments that wait for their readers.
    pub(crate) buffer: Level,
    reading: Option<Reading>,
    runnable: VecDeque<usize>,
    batch: Vec<Train>,
}

impl ReceivingHost {
    pub(crate) fn new(config: &Config, mss: u32) -> Result<ReceivingHost, String> {
        let host = config.receiver.clone();
        let profile = profile_of(&host).map_err(|e| format!("hosts.receiver: {e}"))?;
        let flows = config.flows.iter().map(|flow| ReceivingFlow {
            tcp: Receiver::new(&profile, &host, mss, flow.rcvbuf),
            buffer: flow.read_size(&host),
            rate: flow.reader.map(|reader| reader.rate),
            works_until: None,
            syn_seen: false,
            accepted: false,
            locked: false,
            runnable: false,
            backlog: VecDeque::new(),
            finish_at: flow.bytes,
        });
        let samples = Samples::of(config);
        Ok(ReceivingHost {
            transmit: Transmit::of_receiver(config),
            receive: Receive::new(&host, samples),
            wire: Vec::new(),
            timers: Timers::new(config.flows.len() * TIMERS_PER_FLOW + 1),
            timer_wheel: profile.timer_wheel,
            flows: flows.collect(),
            cpu: Cpu::default(),
            buffer: Level::default(),
            reading: None,
            runnable: VecDeque::new(),
            batch: Vec::new(),
            host,
        })
    }

    pub(crate) fn arrive(&mut self, train: Train) {
        self.receive.arrive(train);
    }

    pub(crate) fn packets_ready(&self) -> Time {
        self.receive.ready_time(self.cpu.free)
    }

    pub(crate) fn process_ready(&self) -> Time {
        match self.cpu.step_end() {
            Some(end) => end,
            None if !self.runnable.is_empty() => self.cpu.free,
            None => Time::NEVER,
        }
    }

    /// A flow's way out, with the CPU at `cpu`.
    fn port<'a>(&'a mut self, flow: usize, cpu: Time, shared: &'a mut Shared) -> Port<'a> {
        Port {
            transmit: &mut self.transmit,
            wire: &mut self.wire,
            cpu,
            cost: Time::ZERO,
            walk_cost: Time::ZERO,
            in_host: None,
            flow: flow as u16,
            mss: shared.mss,
            headers: shared.headers,
            opening: shared.opening,
            push: false,
            retransmitted: Vec::new(),
            congested: false,
            of_others: Vec::new(),
            capture: shared.capture.as_deref_mut(),
        }
    }

    /// A qdisc in which things wait is woken when it asks for it.
    fn follow_qdisc(&mut self) {
        if self.transmit.holds() {
            let number = self.flows.len() * TIMERS_PER_FLOW;
            self.timers.set(number, self.transmit.wake_time(), Clockwork::Own);
        }
    }

    fn wake_qdisc(&mut self, now: Time, shared: &mut Shared) {
        self.transmit.wake(now, &mut self.wire);
        for gone in self.transmit.gone() {
            if let Some(capture) = &mut shared.capture {
                capture.sent_late(&gone);
            }
        }
        self.follow_qdisc();
    }

    fn send_ack(&mut self, flow: usize, cpu: Time, ack: Ack, shared: &mut Shared) {
        let number = shared.acks.push(flow, &ack);
        self.port(flow, cpu, shared).send_control(Kind::Ack, number, What::Ack(&ack));
        self.follow_qdisc();
    }

    /// The softirq takes what has arrived.
    pub(crate) fn on_packets(&mut self, now: Time, shared: &mut Shared) {
        let mut batch = core::mem::take(&mut self.batch);
        self.receive.take(now, &mut batch);
        shared.note_drops(&mut self.receive);
        let mut cpu = now;
        for train in batch.drain(..) {
            for i in 0..train.count {
                let packet = train.part(i, 1);
                shared.take(&packet, cpu);
                cpu += self.host.cpu.receive;
                self.on_packet(packet, cpu, now, shared);
            }
            self.after(usize::from(train.flow));
        }
        self.batch = batch;
        self.cpu.urgent(now, cpu);
    }

    pub(crate) fn costs_nothing(&self) -> bool {
        self.host.cpu == config::Cpu::default()
    }

    /// Packets that have the CPU for themselves, which takes no time: all if they lie beyond a hole, or
    /// the first of them. How many.
    pub(crate) fn on_lone_packets(&mut self, packets: &Train, shared: &mut Shared) -> u32 {
        let all = self.take_beyond_hole(packets, shared);
        if !all {
            self.on_packet(packets.part(0, 1), packets.first, packets.first, shared);
        }
        let taken = if all { packets.count } else { 1 };
        let now = packets.time(taken - 1);
        self.after(usize::from(packets.flow));
        self.cpu.urgent(now, now);
        taken
    }

    fn on_packet(&mut self, packet: Train, cpu: Time, now: Time, shared: &mut Shared) {
        let flow = usize::from(packet.flow);
        match packet.kind {
            Kind::Syn => {
                shared.hear_and_settle(packet);
                self.on_syn(flow, packet.ece, cpu, shared);
            }
            Kind::Data if self.flows[flow].syn_seen => self.on_data(packet, cpu, now, shared),
            _ => shared.settle(packet),
        }
    }

    /// A SYN that asks for ECN or does not; the first one counts (`inet_rtx_syn_ack` repeats the answer).
    fn on_syn(&mut self, flow: usize, asks: bool, cpu: Time, shared: &mut Shared) {
        let state = &mut self.flows[flow];
        if !state.syn_seen {
            state.tcp.use_ecn(asks && ecn::agrees(&self.host));
        }
        state.syn_seen = true;
        let tsval = state.tcp.on_syn(cpu);
        let (window, agreed) = (state.tcp.window.told_first(), state.tcp.uses_ecn());
        self.port(flow, cpu, shared).send_syn_ack(window, tsval, agreed);
        self.follow_qdisc();
    }

    fn on_data(&mut self, packet: Train, cpu: Time, now: Time, shared: &mut Shared) {
        let flow = usize::from(packet.flow);
        let state = &mut self.flows[flow];
        if !state.accepted {
            state.accepted = true;
            state.tcp.on_accept(cpu);
            shared.event(now, packet.flow, EventKind::Accepted, 0);
            if packet.len == 0 && !packet.fin {
                return shared.settle(packet);
            }
        }
        if state.tcp.rcv_nxt == 0 && packet.len > 0 && packet.number == 0 {
            shared.event(now, packet.flow, EventKind::FirstData, u64::from(packet.len));
        }
        let Train { number: seq, len, tsval, tsecr, push, fin, ecn, cwr, .. } = packet;
        let segment = Segment { seq, len, tsval, tsecr, push, fin, ecn, cwr };
        let segment = Arrived { segment, serial: packet.serial };
        if state.locked {
            state.backlog.push_back(segment);
        } else {
            self.on_segment(flow, cpu, segment, shared);
        }
    }

    fn on_segment(&mut self, flow: usize, cpu: Time, arrived: Arrived, shared: &mut Shared) {
        let tcp = &mut self.flows[flow].tcp;
        let (queued, next, dropped) = (tcp.segments_queued, tcp.rcv_nxt, tcp.dropped);
        let echoed = arrived.segment.seq <= tcp.window.rcv_wup;
        let ack = tcp.on_segment(cpu, arrived.segment);
        self.buffer.change(queued, tcp.segments_queued);
        if let Some(capture) = &mut shared.capture {
            // Where rcv_nxt moved, others were dropped for this one.
            let refused = tcp.dropped > dropped && tcp.rcv_nxt == next;
            capture.take_segment(flow, arrived.serial, echoed, refused);
        }
        if let Some(ack) = ack {
            self.send_ack(flow, cpu, ack, shared);
        }
    }

    /// Wakes the reader and follows the delayed ACK's timer.
    fn after(&mut self, flow: usize) {
        let state = &mut self.flows[flow];
        let idle = !state.locked && !state.runnable && state.works_until.is_none();
        if idle && state.tcp.readable() > 0 {
            state.runnable = true;
            self.runnable.push_back(flow);
        }
        let (number, wheel) = (flow * TIMERS_PER_FLOW, Clockwork::Wheel(self.timer_wheel));
        self.timers.set(number + DELAYED, state.tcp.acks.fires, wheel);
        self.timers.set(number + COMPRESSED, state.tcp.compressed_due(), Clockwork::Own);
        self.timers.set(number + READER, state.works_until, Clockwork::Own);
    }

    pub(crate) fn on_timers(&mut self, now: Time, shared: &mut Shared) {
        let Some(number) = self.timers.pop(now) else { return };
        let flow = number / TIMERS_PER_FLOW;
        if flow == self.flows.len() {
            return self.wake_qdisc(now, shared);
        }
        let cpu = now.max(self.cpu.free);
        let state = &mut self.flows[flow];
        let ack = match number % TIMERS_PER_FLOW {
            READER => {
                state.works_until = None;
                self.cpu.urgent(cpu, cpu);
                None
            }
            // Data comes more often than a reader has the socket: its end of read makes up for it.
            COMPRESSED => state.tcp.on_compressed_timer(now),
            _ if state.locked => {
                state.tcp.on_delack_timer_while_locked(now);
                None
            }
            _ => state.tcp.on_delack_timer(now),
        };
        if let Some(ack) = ack {
            self.send_ack(flow, cpu, ack, shared);
        }
        self.after(flow);
    }

    /// A read is done, or one may begin.
    pub(crate) fn on_process(&mut self, now: Time, shared: &mut Shared) {
        if let Some(reading) = self.reading.take() {
            self.cpu.end_step();
            self.finish_read(reading, now, shared);
        }
        while let Some(flow) = self.runnable.pop_front() {
            let state = &mut self.flows[flow];
            state.runnable = false;
            state.locked = true;
            let bytes = state.tcp.readable().min(state.buffer);
            let cost = copy_time(&self.host, bytes);
            let reading = Reading { flow, bytes };
            if cost > Time::ZERO {
                self.reading = Some(reading);
                self.cpu.begin_step(now, cost);
                return;
            }
            self.finish_read(reading, now, shared);
        }
    }

    fn finish_read(&mut self, reading: Reading, now: Time, shared: &mut Shared) {
        let flow = reading.flow;
        let tcp = &mut self.flows[flow].tcp;
        let read = tcp.segments_read;
        let ack = tcp.read(now, reading.bytes);
        self.buffer.change(tcp.segments_read, read);
        if let Some(ack) = ack {
            self.send_ack(flow, now, ack, shared);
        }
        self.flows[flow].locked = false;
        while let Some(segment) = self.flows[flow].backlog.pop_front() {
            self.on_segment(flow, now, segment, shared);
        }
        let read = self.flows[flow].tcp.bytes_read;
        let state = &mut self.flows[flow];
        state.works_until = state.rate.map(|rate| now + rate.time_for(reading.bytes));
        if state.finish_at == Some(read) {
            state.finish_at = None;
            shared.event(now, flow as u16, EventKind::Finished, read);
        }
        self.after(flow);
    }
}
