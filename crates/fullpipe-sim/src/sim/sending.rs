//! The sending host: its CPU is shared by the softirq (ACKs) and the writing applications.
//!
//! A softirq takes a batch of ACKs and runs to its end; it delays the application's step in
//! progress. The application copies one skb per step with the socket locked; ACKs that come
//! meanwhile wait in the socket's backlog until the write ends (Linux 2.6.20 `release_sock`). Where they
//! make the CPU walk along the send queue they are worked off one by one, and softirqs go on, as on
//! another CPU (on the same one 2.6.20 has them off): what they bring joins the backlog, for the socket
//! stays locked until that is empty.

mod writing;

use super::Shared;
use super::capture::What;
use super::clock::{Clockwork, LimitClock, Timers};
use super::cpu::Cpu;
use super::in_host::InHost;
use super::level::Level;
use super::port::Port;
use crate::cc::Congestion;
use crate::config::{self, Config, Flow, Host};
use crate::path::host::receive::Receive;
use crate::path::host::transmit::{Gone, Transmit};
use crate::tally::Samples;
use crate::tcp::behaviour::profile_of;
use crate::tcp::metrics::Metrics;
use crate::tcp::profile::LockedTimers;
use crate::tcp::sender::{Sender, Writer};
use crate::tcp::{Ack, ecn};
use crate::trace::EventKind;
use crate::train::{Kind, Train};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One flow at the sending host.
pub(crate) struct SendingFlow {
    pub(crate) tcp: Sender,
    pub(crate) limits: LimitClock,
    config: Flow,
    /// Bytes the application has written.
    pub(crate) written: u64,
    /// Of these, not acknowledged when this was last looked at.
    buffered: u64,
    /// Bytes left of the write() in progress.
    write_left: u32,
    goal: u32,
    locked: bool,
    /// ACKs that wait while the socket is locked, with their serials.
    backlog: VecDeque<(Ack, u64)>,
    /// Whether the backlog is being worked off.
    releasing: bool,
    /// A timer that found the socket locked: when it was due, and when it is due instead (none: when the
    /// socket is given back).
    put_off: Option<(Time, Option<Time>)>,
    locked_timers: LockedTimers,
    /// What of it is in the host, and the memory of an skb besides its data where that limits it.
    in_host: InHost,
    overhead: Option<u64>,
    /// Whether some left, or the timer of the pace was due, while the application had the socket
    /// (TCP_TSQ_DEFERRED).
    wakes_when_released: bool,
    syn_sent: Option<Time>,
    syn_repeats: u32,
    next_write: Time,
    /// Whether a write has been begun since that was set.
    paces: bool,
    /// Since when the application sleeps for want of buffer, and how long it did before.
    no_space: (Option<Time>, u64),
    ca_state: u8,
    finished: bool,
    timeout_init: Time,
}

/// A step of a write in progress.
#[derive(Clone, Copy)]
struct Copying {
    flow: usize,
    bytes: u32,
}

/// See the module's description.
pub(crate) struct SendingHost {
    host: Host,
    pub(crate) transmit: Transmit,
    pub(crate) receive: Receive,
    pub(crate) wire: Vec<Train>,
    pub(crate) timers: Timers,
    wheel: Clockwork,
    pub(crate) flows: Vec<SendingFlow>,
    pub(crate) cpu: Cpu,
    /// Bytes written and not acknowledged.
    pub(crate) buffer: Level,
    /// What finished flows left for the next ones.
    metrics: Metrics,
    copying: Option<Copying>,
    runnable: VecDeque<usize>,
    batch: Vec<Train>,
    /// What the work in hand sends again.
    resent: Vec<u64>,
}

const TIMERS_PER_FLOW: usize = 5;
const TCP_TIMER: usize = 0;
const CONNECT_TIMER: usize = 1;
const WRITE_TIMER: usize = 2;
/// An skb leaves the host.
const LEAVES_TIMER: usize = 3;
/// TCP may go on at its pace.
const PACING_TIMER: usize = 4;

impl SendingHost {
    pub(crate) fn new(config: &Config, mss: u32) -> Result<SendingHost, String> {
        let host = config.sender.clone();
        let flows = config.flows.iter().map(|f| SendingFlow::new(f, &host, config.seed, mss));
        let flows = flows.collect::<Result<Vec<_>, _>>()?;
        let mut timers = Timers::new(flows.len() * TIMERS_PER_FLOW + 1);
        for (i, flow) in flows.iter().enumerate() {
            let number = i * TIMERS_PER_FLOW + CONNECT_TIMER;
            timers.set(number, Some(flow.config.start), Clockwork::Own);
        }
        let samples = Samples::of(config);
        Ok(SendingHost {
            transmit: Transmit::of_sender(config),
            receive: Receive::new(&host, samples),
            wire: Vec::new(),
            timers,
            wheel: Clockwork::Wheel(profile_of(&host)?.timer_wheel),
            flows,
            cpu: Cpu::default(),
            buffer: Level::default(),
            metrics: Metrics::default(),
            copying: None,
            runnable: VecDeque::new(),
            batch: Vec::new(),
            resent: Vec::new(),
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

    pub(crate) fn segments_sent(&self) -> u64 {
        self.flows.iter().map(|f| f.tcp.counters.segments_sent).sum()
    }

    /// Runs `work` for a flow with the CPU at `cpu`; returns the CPU's time after it.
    fn with_port(
        &mut self,
        flow: usize,
        cpu: Time,
        shared: &mut Shared,
        now: Time,
        work: impl FnOnce(&mut SendingFlow, &mut Port),
    ) -> Time {
        let mut in_host = core::mem::take(&mut self.flows[flow].in_host);
        let overhead = self.flows[flow].overhead;
        let mut port = Port {
            in_host: overhead.map(|overhead| (&mut in_host, overhead)),
            transmit: &mut self.transmit,
            wire: &mut self.wire,
            cpu,
            cost: self.host.cpu.transmit,
            walk_cost: self.host.cpu.walk,
            flow: flow as u16,
            mss: shared.mss,
            headers: shared.headers,
            opening: shared.opening,
            push: shared.push,
            retransmitted: core::mem::take(&mut self.resent),
            congested: false,
            of_others: Vec::new(),
            capture: shared.capture.as_deref_mut(),
        };
        let state = &mut self.flows[flow];
        work(state, &mut port);
        let (cpu, of_others) = (port.cpu, port.of_others);
        self.resent = port.retransmitted;
        state.in_host = in_host;
        self.follow_qdisc(of_others);
        for seq in self.resent.drain(..) {
            shared.event(now, flow as u16, EventKind::Retransmit, seq);
        }
        cpu
    }

    /// Notes what left a qdisc in which things wait, and when it is to be woken.
    fn follow_qdisc(&mut self, gone: Vec<Gone>) {
        for Gone { tag, free_at, .. } in gone {
            let flow = usize::from(tag.flow);
            let state = &mut self.flows[flow];
            state.in_host.settle(free_at, tag.memory);
            if state.tcp.waits_for_host() && !state.wakes_when_released {
                let leaves = state.in_host.next();
                self.timers.set(flow * TIMERS_PER_FLOW + LEAVES_TIMER, leaves, Clockwork::Own);
            }
        }
        if self.transmit.holds() {
            let number = self.flows.len() * TIMERS_PER_FLOW;
            self.timers.set(number, self.transmit.wake_time(), Clockwork::Own);
        }
    }

    /// The qdisc's timer is due.
    fn wake_qdisc(&mut self, now: Time, shared: &mut Shared) {
        self.transmit.wake(now, &mut self.wire);
        let gone: Vec<Gone> = self.transmit.gone().collect();
        if let Some(capture) = &mut shared.capture {
            gone.iter().for_each(|gone| capture.sent_late(gone));
        }
        self.follow_qdisc(gone);
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
                cpu += self.host.cpu.ack;
                cpu = self.on_packet(packet, cpu, now, shared);
            }
        }
        self.batch = batch;
        self.cpu.urgent(now, cpu);
    }

    pub(crate) fn costs_nothing(&self) -> bool {
        self.host.cpu == config::Cpu::default()
    }

    /// Packets that have the CPU for themselves, which takes no time: the first of them.
    pub(crate) fn on_lone_packets(&mut self, packets: &Train, shared: &mut Shared) -> u32 {
        let now = packets.first;
        self.on_packet(packets.part(0, 1), now, now, shared);
        self.cpu.urgent(now, now);
        1
    }

    fn on_packet(&mut self, packet: Train, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let flow = usize::from(packet.flow);
        let mut cpu = cpu;
        match packet.kind {
            Kind::SynAck => {
                shared.hear_and_settle(packet);
                cpu = self.on_syn_ack(flow, &packet, cpu, now, shared);
            }
            Kind::Ack => {
                let Some(ack) = shared.acks.take(flow, packet.number) else { return cpu };
                if self.flows[flow].locked {
                    self.flows[flow].backlog.push_back((ack, packet.serial));
                } else {
                    let work = |f: &mut SendingFlow, p: &mut Port| f.on_ack(&ack, packet.serial, p);
                    cpu = self.with_port(flow, cpu, shared, now, work);
                }
            }
            Kind::Data | Kind::Syn => {}
        }
        self.after(flow, now, shared);
        cpu
    }

    fn on_syn_ack(
        &mut self,
        flow: usize,
        answer: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let state = &mut self.flows[flow];
        let Some(sent) = state.syn_sent.filter(|_| !state.tcp.is_established()) else { return cpu };
        let measured = (state.syn_repeats == 0).then_some(sent);
        state.tcp.use_ecn(answer.ece && ecn::asks(&self.host, 0));
        state.tcp.take_timestamp(answer.tsval);
        state.tcp.established(cpu, answer.number, measured, Some(&self.metrics));
        state.next_write = now;
        self.timers.set(flow * TIMERS_PER_FLOW + CONNECT_TIMER, None, self.wheel);
        self.runnable.push_back(flow);
        shared.event(now, flow as u16, EventKind::Established, (now - sent).0);
        // The third packet of the handshake: an ACK of nothing, carried as an empty segment.
        self.with_port(flow, cpu, shared, now, |_, port| {
            port.send_control(Kind::Data, 0, What::Plain);
        })
    }

    /// Books the limit, follows TCP's timer, wakes the writer, tells of a change of state.
    fn after(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        self.note_buffer(flow);
        let state = &mut self.flows[flow];
        let sleeps = state.tcp.writer == Writer::NoSpace && !state.releasing;
        if sleeps && state.tcp.has_write_space() {
            state.tcp.writer = Writer::Active;
            let slept = state.no_space.0.take().map_or(0, |since| (now - since).0);
            state.no_space.1 += slept;
            self.runnable.push_back(flow);
        }
        if !state.finished && state.tcp.is_finished() {
            state.finished = true;
            state.tcp.leave_metrics(&mut self.metrics);
        }
        state.limits.set(now, state.tcp.limit());
        self.timers.set(flow * TIMERS_PER_FLOW + TCP_TIMER, state.timer(), self.wheel);
        if state.tcp.waits_for_host() && !state.wakes_when_released {
            let leaves = state.in_host.next();
            self.timers.set(flow * TIMERS_PER_FLOW + LEAVES_TIMER, leaves, Clockwork::Own);
        }
        self.timers.set(
            flow * TIMERS_PER_FLOW + PACING_TIMER,
            state.tcp.pacing_timer(),
            Clockwork::Own,
        );
        let ca_state = state.tcp.ca_state() as u8;
        if ca_state != state.ca_state {
            state.ca_state = ca_state;
            shared.event(now, flow as u16, EventKind::CaState, u64::from(ca_state));
        }
    }

    pub(crate) fn on_timers(&mut self, now: Time, shared: &mut Shared) {
        let Some(number) = self.timers.pop(now) else { return };
        let flow = number / TIMERS_PER_FLOW;
        if flow == self.flows.len() {
            return self.wake_qdisc(now, shared);
        }
        let begin = now.max(self.cpu.free);
        let mut cpu = begin;
        match number % TIMERS_PER_FLOW {
            TCP_TIMER if self.flows[flow].locked => self.flows[flow].put_timer_off(now, &self.host),
            TCP_TIMER => cpu = self.run_timer(flow, cpu, now, shared),
            CONNECT_TIMER => cpu = self.connect(flow, cpu, now, shared),
            LEAVES_TIMER if self.flows[flow].locked => self.flows[flow].wakes_when_released = true,
            LEAVES_TIMER => {
                cpu = self.with_port(flow, cpu, shared, now, |f, p| f.tcp.on_room_in_host(p));
            }
            PACING_TIMER => {
                let locked = self.flows[flow].locked;
                self.flows[flow].wakes_when_released |= locked;
                let work = |f: &mut SendingFlow, p: &mut Port| f.tcp.on_pacing_timer(locked, p);
                cpu = self.with_port(flow, cpu, shared, now, work);
            }
            _ => {
                self.flows[flow].tcp.writer = Writer::Active;
                self.runnable.push_back(flow);
            }
        }
        self.cpu.urgent(begin, cpu);
        self.after(flow, now, shared);
    }

    /// TCP's timer acts.
    fn run_timer(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let before = self.flows[flow].tcp.counters.timeouts;
        let cpu = self.with_port(flow, cpu, shared, now, |f, port| f.tcp.on_timer(port));
        let timeouts = self.flows[flow].tcp.counters.timeouts;
        if timeouts > before {
            shared.event(now, flow as u16, EventKind::Timeout, timeouts);
        }
        cpu
    }

    fn connect(&mut self, flow: usize, cpu: Time, now: Time, shared: &mut Shared) -> Time {
        let state = &mut self.flows[flow];
        if state.syn_sent.is_some() {
            state.syn_repeats += 1;
        }
        let wait = Time(state.timeout_init.0 << state.syn_repeats.min(5));
        state.syn_sent.get_or_insert(now);
        let number = flow * TIMERS_PER_FLOW + CONNECT_TIMER;
        self.timers.set(number, Some(now + wait), self.wheel);
        let asks = ecn::asks(&self.host, state.syn_repeats);
        self.with_port(flow, cpu, shared, now, |_, port| {
            port.send_syn(asks);
        })
    }
}

/// HZ/20 jiffies.
fn twentieth_of_a_second(host: &Host) -> Time {
    let jiffies = u64::from(host.hz / 20).max(1);
    Time(jiffies * 1_000_000_000 / u64::from(host.hz))
}

impl SendingFlow {
    fn new(flow: &Flow, host: &Host, seed: u64, mss: u32) -> Result<SendingFlow, String> {
        let profile = profile_of(host).map_err(|e| format!("hosts.sender: {e}"))?;
        let stream = crate::rng::Rng::new(seed, &flow.name).next_u64();
        let cc = Congestion::of(flow, profile.name, host.hz, stream)
            .map_err(|e| format!("flow {}: {e}", flow.name))?;
        let mut tcp = Sender::new(&profile, host, cc, mss, flow.sndbuf);
        tcp.set_options(flow.sockopt);
        Ok(SendingFlow {
            tcp,
            limits: LimitClock::new(),
            config: flow.clone(),
            written: 0,
            buffered: 0,
            write_left: 0,
            goal: mss,
            locked: false,
            backlog: VecDeque::new(),
            releasing: false,
            put_off: None,
            locked_timers: profile.locked_timers,
            in_host: InHost::default(),
            wakes_when_released: false,
            overhead: profile.small_queues.then_some(profile.skb_overhead),
            syn_sent: None,
            syn_repeats: 0,
            next_write: Time::ZERO,
            paces: false,
            no_space: (None, 0),
            ca_state: 0,
            finished: false,
            timeout_init: Time::secs(u64::from(profile.timeout_init_s)),
        })
    }

    fn on_ack(&mut self, ack: &Ack, serial: u64, port: &mut Port) {
        port.hear_and_settle(serial);
        self.tcp.on_ack(ack, port);
    }

    /// When TCP's timer is to act, as far as is known.
    fn timer(&self) -> Option<Time> {
        let due = self.tcp.timer()?;
        match self.put_off {
            Some((of, until)) if of == due => until,
            _ => Some(due),
        }
    }

    /// TCP's timer is due, and the application has the socket ([`LockedTimers`]).
    fn put_timer_off(&mut self, now: Time, host: &Host) {
        let later = match self.locked_timers {
            LockedTimers::PutOff => Some(now + twentieth_of_a_second(host)),
            LockedTimers::Released => None,
        };
        self.put_off = self.tcp.timer().map(|due| (due, later));
    }

    /// Nanoseconds the application has slept for want of buffer, up to `now`.
    pub(crate) fn blocked_ns(&self, now: Time) -> u64 {
        self.no_space.1 + self.no_space.0.map_or(0, |since| (now - since).0)
    }
}
