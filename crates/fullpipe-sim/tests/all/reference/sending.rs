//! The ends of flows that send their data.

use super::handshake::SynAck;
use super::host::{Host, Process, Step, timer};
use super::packet::Body;
use super::port::Port;
use super::transmit::Gone;
use super::{At, Context};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{self, App, Flow};
use fullpipe_sim::jiffy_clock::Expiry;
use fullpipe_sim::rng::Rng;
use fullpipe_sim::tcp::behaviour::profile_of;
use fullpipe_sim::tcp::profile::LockedTimers;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, Output};
use fullpipe_sim::trace::{EventKind, Limit};
use fullpipe_sim::units::Time;
use std::collections::VecDeque;

pub const TCP: usize = 0;
pub const CONNECT: usize = 1;
pub const WRITE: usize = 2;
/// An skb leaves the host.
pub const LEAVES: usize = 3;
/// TCP keeps its pace.
pub const PACE: usize = 4;

/// A flow here.
pub struct SendingFlow {
    pub tcp: Sender,
    config: Flow,
    pub written: u64,
    /// Bytes left of the write() in progress, and the size of the skbs it fills.
    write_left: u32,
    goal: u32,
    locked: bool,
    /// A call has begun, and has not had the socket yet.
    calls: bool,
    backlog: VecDeque<Ack>,
    /// Whether the backlog is being worked off.
    in_backlog: bool,
    /// Time at which TCP wanted its timer to fire, time at which it will, and whether the end of the lock is to do its
    /// work.
    wanted: Option<Expiry>,
    fires: Option<Expiry>,
    at_release: bool,
    locked_timers: LockedTimers,
    here: Vec<(Time, u64)>,
    /// The memory of those of which it is not known yet.
    held: u64,
    overhead: Option<u64>,
    left_while_locked: bool,
    /// Arrival of the packets processed last, if no timer's softirq ran since.
    packets_at: Option<Time>,
    pub syns: Vec<Time>,
    pub next_write: Time,
    has_written: bool,
    asleep_since: Option<Time>,
    rests: Rng,
    /// Time at which a program without pauses has to stop, and whether this has woken it.
    stops: Option<Time>,
    is_stopped: bool,
    slept: Time,
    last_state: u8,
    finished: bool,
    /// The present limit, since when it holds, and how long each one held before.
    limit: (Limit, Time),
    limited: [u64; Limit::COUNT],
}

/// Context that works on a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Process,
    /// `goes_on`: the softirq has processed other packets of this flow.
    Softirq {
        goes_on: bool,
    },
}

impl Host {
    /// `work` on a flow with the CPU at `cpu`; the CPU's time after it.
    pub fn work(
        &mut self,
        flow: usize,
        at: At,
        cx: &mut Context,
        work: impl FnOnce(&mut SendingFlow, &mut Port),
    ) -> Time {
        self.work_freeing(flow, at, By::Process, cx, work)
    }

    /// Work in a softirq.
    fn work_in_softirq(
        &mut self,
        flow: usize,
        at: At,
        cx: &mut Context,
        work: impl FnOnce(&mut SendingFlow, &mut Port),
    ) -> Time {
        self.sends[flow].packets_at = None;
        self.in_packet_softirq(flow, at, cx, work)
    }

    /// Work in a softirq that processes packets.
    fn in_packet_softirq(
        &mut self,
        flow: usize,
        at: At,
        cx: &mut Context,
        work: impl FnOnce(&mut SendingFlow, &mut Port),
    ) -> Time {
        let last = self.sends[flow].packets_at.replace(at.now);
        let by = By::Softirq { goes_on: last == Some(at.now) };
        self.work_freeing(flow, at, by, cx, work)
    }

    fn work_freeing(
        &mut self,
        flow: usize,
        at: At,
        by: By,
        cx: &mut Context,
        work: impl FnOnce(&mut SendingFlow, &mut Port),
    ) -> Time {
        let At { now, cpu } = at;
        let mut port = Port {
            transmit: &mut self.transmit,
            agenda: &mut cx.agenda,
            page_frags: &mut cx.page_frags,
            cpu,
            cost: self.host.cpu.transmit,
            walk_cost: self.host.cpu.walk,
            flow,
            headers: cx.headers,
            again: Vec::new(),
            here: std::mem::take(&mut self.sends[flow].here),
            held: self.sends[flow].held,
            overhead: self.sends[flow].overhead,
            in_softirq: false,
        };
        // A process learns which skbs have left when it asks for room.
        if by == (By::Softirq { goes_on: false }) {
            port.in_host();
        }
        port.in_softirq = by != By::Process;
        work(&mut self.sends[flow], &mut port);
        let (cpu, again) = (port.cpu, port.again);
        (self.sends[flow].here, self.sends[flow].held) = (port.here, port.held);
        self.follow();
        for seq in again {
            cx.record(now, flow, EventKind::Retransmit, seq);
        }
        cpu
    }

    /// Skbs have gone from the qdisc into the ring.
    pub fn follow(&mut self) {
        for Gone { flow, leaves, memory, .. } in self.transmit.gone.drain(..) {
            // ACKs do not wait.
            let Some(state) = self.sends.get_mut(&flow) else { continue };
            state.held -= memory;
            state.here.push((leaves, memory));
            if state.tcp.waits_for_host() && !state.left_while_locked {
                let next = state.here.iter().map(|(leaves, _)| *leaves).min();
                self.timers.set(timer(flow, LEAVES), next, None);
            }
        }
    }

    /// A packet that answers; the CPU's time after it.
    pub fn answer(&mut self, flow: usize, body: Body, at: At, cx: &mut Context) -> Time {
        let At { now, mut cpu } = at;
        match body {
            Body::Ack(ack) if self.sends[flow].locked => self.sends[flow].backlog.push_back(ack),
            Body::Ack(ack) => {
                cpu = self.in_packet_softirq(flow, At { now, cpu }, cx, |f, port| {
                    f.tcp.on_ack(&ack, port)
                });
            }
            Body::SynAck { window, tsval, tsecr, agrees } => {
                cpu = self.syn_ack(flow, SynAck { window, tsval, echo: tsecr, agrees }, at, cx);
            }
            _ => unreachable!("these do not answer"),
        }
        self.look_after_sending(flow, now, cx);
        cpu
    }

    /// Does the work that follows anything done for a flow.
    pub fn look_after_sending(&mut self, flow: usize, now: Time, cx: &mut Context) {
        let state = &mut self.sends[flow];
        let asleep = state.tcp.writer() == Writer::NoSpace && !state.in_backlog;
        if asleep && state.tcp.has_write_space() {
            state.tcp.set_writer(Writer::Active);
            let since = state.asleep_since.take().expect("a writer without space sleeps");
            state.slept += now - since;
            self.timers.set(timer(flow, WRITE), None, None);
            self.runnable.push_back(Process::Writer(flow));
        }
        if state.tcp.is_finished() && !std::mem::replace(&mut state.finished, true) {
            state.tcp.leave_metrics(self.metrics.get_mut(&self.peers[&flow]).expect("a host"));
        }
        state.limited = state.limits(now);
        state.limit = (state.tcp.limit(), now);
        if state.tcp.expiry() != state.wanted {
            state.wanted = state.tcp.expiry();
            state.fires = state.wanted;
        }
        self.timers.set_in(self.wheel, timer(flow, TCP), state.fires);
        // A writer that was woken has the CPU before the softirq that would continue for skbs that have left.
        let writes = self.woken_first && self.runnable.contains(&Process::Writer(flow));
        if writes && state.has_room_again(now) {
            state.left_while_locked = true;
            self.timers.set(timer(flow, LEAVES), None, None);
        }
        if state.tcp.waits_for_host() && !state.left_while_locked {
            let leaves = state.here.iter().map(|(leaves, _)| *leaves).min();
            self.timers.set(timer(flow, LEAVES), leaves, None);
        }
        self.timers.set(timer(flow, PACE), state.tcp.pacing_timer(), None);
        let ca_state = state.tcp.ca_state() as u8;
        if ca_state != state.last_state {
            state.last_state = ca_state;
            cx.record(now, flow, EventKind::CaState, ca_state.into());
        }
        for (kind, sent) in state.tcp.take_rounds() {
            cx.record(now, flow, kind, sent);
        }
    }

    pub fn sending_timer(&mut self, flow: usize, which: usize, now: Time, cx: &mut Context) {
        let begin = now.max(self.cpu.free);
        let mut cpu = begin;
        match which {
            TCP if self.sends[flow].locked => {
                self.locked_timers += 1;
                let (hz, jiffies) = (u64::from(self.host.hz), u64::from(self.host.hz / 20).max(1));
                let state = &mut self.sends[flow];
                state.at_release = state.locked_timers == LockedTimers::Released;
                let later = Time(jiffies * 1_000_000_000 / hz);
                state.fires = Some(Expiry::alone(now + later));
                state.fires = state.fires.filter(|_| !state.at_release);
            }
            TCP => cpu = self.tcp_timer(flow, At { now, cpu }, cx),
            CONNECT => cpu = self.connect(flow, At { now, cpu }, cx),
            LEAVES if self.sends[flow].locked => self.sends[flow].left_while_locked = true,
            LEAVES => {
                cpu = self.work_in_softirq(flow, At { now, cpu }, cx, |f, port| {
                    f.tcp.on_room_in_host(port)
                });
            }
            PACE => {
                self.paced += 1;
                let locked = self.sends[flow].locked;
                self.sends[flow].left_while_locked |= locked;
                let kick =
                    |f: &mut SendingFlow, port: &mut Port| f.tcp.on_pacing_timer(locked, port);
                cpu = self.work_in_softirq(flow, At { now, cpu }, cx, kick);
            }
            _ => {
                let state = &mut self.sends[flow];
                state.is_stopped = state.asleep_since.is_some() && state.stops == Some(now);
                state.tcp.set_writer(Writer::Active);
                state.slept += state.asleep_since.take().map_or(Time::ZERO, |since| now - since);
                self.runnable.push_back(Process::Writer(flow));
            }
        }
        self.cpu.urgent(begin, cpu);
        self.look_after_sending(flow, now, cx);
    }

    /// Does TCP's work when its timer fires, if TCP still wants it.
    fn tcp_timer(&mut self, flow: usize, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        let before = self.sends[flow].tcp.counters.timeouts;
        let cpu = self.work_in_softirq(flow, At { now, cpu }, cx, |f, port| f.tcp.on_timer(port));
        let timeouts = self.sends[flow].tcp.counters.timeouts;
        if timeouts > before {
            cx.record(now, flow, EventKind::Timeout, timeouts);
        }
        cpu
    }

    /// A writer's turn, with what it has copied before that if it has.
    pub fn write(&mut self, flow: usize, copied: Option<u32>, now: Time, cx: &mut Context) {
        let mut cpu = now;
        if let Some(bytes) = copied {
            cpu = self.copied(flow, bytes, At { now, cpu }, cx);
        }
        let (mut cpu, next) = self.write_on(flow, At { now, cpu }, cx);
        if !self.sends[flow].locked {
            cpu = self.give_back(flow, At { now, cpu }, cx);
        }
        self.cpu.urgent(now, cpu);
        if let Some((step, cost)) = next {
            self.step = Some(step);
            self.cpu.begin_step(cpu, cost);
        }
        self.look_after_sending(flow, now, cx);
    }

    fn copied(&mut self, flow: usize, bytes: u32, at: At, cx: &mut Context) -> Time {
        let cpu = self.work(flow, at, cx, |f, port| {
            f.written += u64::from(bytes);
            f.write_left -= bytes;
            f.tcp.copied(bytes, f.goal, f.write_left > 0, port);
        });
        self.written_peak = self.written_peak.max(self.not_acknowledged());
        cpu
    }

    /// Bytes written and not acknowledged.
    pub fn not_acknowledged(&self) -> u64 {
        self.sends.values().map(|f| f.written - f.tcp.bytes_acked()).sum()
    }

    /// Writes until a step takes time, the writer has to wait, or another writer has its turn. Returns the CPU's time
    /// then, and the step with its cost.
    fn write_on(&mut self, flow: usize, at: At, cx: &mut Context) -> (Time, Option<(Step, Time)>) {
        let At { now, mut cpu } = at;
        if self.sends[flow].in_backlog {
            cpu = self.unlock(flow, At { now, cpu }, cx);
            if self.sends[flow].in_backlog || self.sends[flow].tcp.writer() == Writer::NoSpace {
                return (cpu, None);
            }
        }
        if std::mem::take(&mut self.sends[flow].is_stopped) {
            cpu = self.work(flow, At { now, cpu }, cx, |f, port| f.tcp.interrupt_write(port));
        }
        loop {
            if self.sends[flow].write_left == 0 {
                if self.sends[flow].locked {
                    cpu = self.work(flow, At { now, cpu }, cx, |f, port| f.tcp.end_write(port));
                    cpu = self.unlock(flow, At { now, cpu }, cx);
                    if self.sends[flow].in_backlog {
                        return (cpu, None);
                    }
                    if !self.runnable.is_empty() {
                        self.runnable.push_back(Process::Writer(flow));
                        return (cpu, None);
                    }
                }
                if !self.begin_write(flow, now) {
                    if self.sends[flow].tcp.writer() == Writer::Done {
                        cpu = self.work(flow, At { now, cpu }, cx, |f, port| f.tcp.close(port));
                    }
                    return (cpu, None);
                }
                if self.host.cpu.write > Time::ZERO {
                    return (cpu, Some((Step::Call(flow), self.host.cpu.write)));
                }
            }
            let state = &mut self.sends[flow];
            if !state.locked {
                state.locked = true;
                state.goal = state.tcp.size_goal();
                if self.woken_first && state.has_room_again(cpu) {
                    state.left_while_locked = true;
                    self.timers.set(timer(flow, LEAVES), None, None);
                }
                let asks = std::mem::take(&mut state.calls) && state.tcp.is_controlled();
                if asks {
                    cpu = self
                        .work(flow, At { now, cpu }, cx, |f, port| f.tcp.check_app_limited(port));
                }
            }
            let state = &mut self.sends[flow];
            let Some(bytes) = state.tcp.next_copy(state.goal, state.write_left) else {
                state.tcp.set_writer(Writer::NoSpace);
                state.asleep_since = Some(now);
                cpu = self.work(flow, At { now, cpu }, cx, |f, port| f.tcp.push_before_sleep(port));
                let (state, hz) = (&mut self.sends[flow], self.host.hz);
                let mut until = state.stops.filter(|stops| *stops > now);
                if let Some(jiffies) = state.tcp.rest(hz, &mut state.rests) {
                    let jiffy = 1_000_000_000 / u64::from(hz);
                    let rested = Time((now.0 / jiffy + jiffies) * jiffy);
                    until = Some(until.map_or(rested, |stops| stops.min(rested)));
                }
                self.timers.set(timer(flow, WRITE), until, None);
                return (self.unlock(flow, At { now, cpu }, cx), None);
            };
            let cost = Time(u64::from(bytes) * self.host.cpu.copy_ps_per_byte / 1000);
            if cost > Time::ZERO {
                return (cpu, Some((Step::Copy(flow, bytes), cost)));
            }
            cpu = self.copied(flow, bytes, At { now, cpu }, cx);
        }
    }

    /// Processes the backlog, up to the first ACK for which the CPU had to walk. Then it is called again, with the
    /// socket still locked.
    fn unlock(&mut self, flow: usize, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        let mut cpu = cpu;
        while let Some(ack) = self.sends[flow].backlog.pop_front() {
            let walked = self.sends[flow].tcp.counters.walked.total();
            cpu = self.work(flow, At { now, cpu }, cx, |f, port| f.tcp.on_ack(&ack, port));
            let walked = self.sends[flow].tcp.counters.walked.total() > walked;
            if walked && self.host.cpu.walk > Time::ZERO {
                self.pauses += 1;
                self.sends[flow].in_backlog = true;
                self.runnable.push_front(Process::Writer(flow));
                return cpu;
            }
        }
        (self.sends[flow].locked, self.sends[flow].in_backlog) = (false, false);
        cpu = self.give_back(flow, At { now, cpu }, cx);
        if std::mem::take(&mut self.sends[flow].at_release) {
            cpu = self.tcp_timer(flow, At { now, cpu }, cx);
        }
        cpu
    }

    /// The socket is nobody's any more: what has left meanwhile lets TCP send, without softirqs. They follow, ten passes of them: packets are
    /// freed in one, and the next one is TCP's.
    fn give_back(&mut self, flow: usize, at: At, cx: &mut Context) -> Time {
        let At { now, mut cpu } = at;
        if !std::mem::take(&mut self.sends[flow].left_while_locked) {
            return cpu;
        }
        cpu = self.work_in_softirq(flow, At { now, cpu }, cx, |f, port| f.tcp.on_released(port));
        let mut passes = 10;
        while passes > 0 && self.sends[flow].has_room_again(cpu) {
            cpu = self
                .work_in_softirq(flow, At { now, cpu }, cx, |f, port| f.tcp.on_room_in_host(port));
            passes -= 2;
        }
        self.sends[flow].packets_at = None;
        cpu
    }

    /// Begins the next write(); false: there is none now.
    fn begin_write(&mut self, flow: usize, now: Time) -> bool {
        let state = &mut self.sends[flow];
        let config = &state.config;
        let left = config.bytes.map_or(u64::MAX, |bytes| bytes - state.written);
        if left == 0 || config.duration.is_some_and(|d| now >= config.start + d) {
            state.tcp.set_writer(Writer::Done);
            return false;
        }
        if let App::Rate(rate) = config.app {
            if state.has_written {
                let pace = rate.time_for(config.write.into());
                state.next_write = (state.next_write + pace).max(now);
                state.has_written = false;
            }
            if now < state.next_write {
                state.tcp.set_writer(Writer::Paused);
                self.timers.set(timer(flow, WRITE), Some(state.next_write), None);
                return false;
            }
            state.has_written = true;
        }
        if let App::OnOff { on, off } = config.app {
            // Turn by turn from the start on.
            let mut begins = config.start;
            while begins + on + off <= now {
                begins = begins + on + off;
            }
            if now >= begins + on {
                let over = config.duration.map_or(Time::NEVER, |d| config.start + d);
                state.tcp.set_writer(Writer::Paused);
                let goes_on = Some((begins + on + off).min(over));
                self.timers.set(timer(flow, WRITE), goes_on, None);
                return false;
            }
        }
        state.tcp.set_writer(Writer::Active);
        state.write_left = left.min(config.write.into()) as u32;
        state.calls = true;
        true
    }
}

impl SendingFlow {
    /// True if TCP waits for room in the host and an skb has left it by `now`.
    fn has_room_again(&self, now: Time) -> bool {
        self.tcp.waits_for_host() && self.here.iter().any(|(leaves, _)| *leaves <= now)
    }

    pub fn new(flow: &Flow, host: &config::Host, seed: u64, mss: u32) -> SendingFlow {
        let profile = profile_of(host).expect("a profile");
        let stream = Rng::new(seed, &flow.name).next_u64();
        let cc = Congestion::of(flow, profile.name, host.hz, stream);
        let cc = cc.expect("a known algorithm");
        let mut tcp = Sender::new(&profile, host, cc, mss, flow.sndbuf);
        tcp.set_options(flow.sockopt);
        SendingFlow {
            tcp,
            config: flow.clone(),
            written: 0,
            write_left: 0,
            goal: mss,
            locked: false,
            calls: false,
            backlog: VecDeque::new(),
            in_backlog: false,
            wanted: None,
            fires: None,
            at_release: false,
            locked_timers: profile.locked_timers,
            here: Vec::new(),
            packets_at: None,
            held: 0,
            overhead: profile.small_queues.then_some(profile.skb_overhead),
            left_while_locked: false,
            syns: Vec::new(),
            next_write: Time::ZERO,
            has_written: false,
            rests: Rng::new(seed, &format!("{}, rests", flow.name)),
            stops: flow.duration.filter(|_| matches!(flow.app, App::Bulk)).map(|d| flow.start + d),
            is_stopped: false,
            asleep_since: None,
            slept: Time::ZERO,
            last_state: 0,
            finished: false,
            limit: (Limit::Idle, Time::ZERO),
            limited: [0; Limit::COUNT],
        }
    }

    /// Nanoseconds that the application slept for want of buffer.
    pub fn blocked_ns(&self, now: Time) -> u64 {
        self.slept.0 + self.asleep_since.map_or(0, |since| (now - since).0)
    }

    /// Nanoseconds up to `now` during which each limit held.
    pub fn limits(&self, now: Time) -> [u64; Limit::COUNT] {
        let (limit, since) = self.limit;
        let mut spent = self.limited;
        spent[limit as usize] += (now - since).0;
        spent
    }
}
