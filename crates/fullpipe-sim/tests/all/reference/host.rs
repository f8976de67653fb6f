//! A host: it sends the data of some flows and receives that of others, with one CPU.
//!
//! All work of a moment is done before anything else happens. Its cost is time of the CPU, and its packets are offered
//! to the qdisc at the CPU's time.

use super::cpu::Cpu;
use super::datagrams::{self, Program, Socket, SocketLogEntry};
use super::gro::Gro;
use super::packet::{Body, Packet};
use super::receive::Receive;
use super::receiving::{self, ReceivingFlow};
use super::sending::{self, SendingFlow};
use super::softirqs::Softirqs;
use super::timers::Timers;
use super::transmit::{Out, Transmit};
use super::{At, Context};
use fullpipe_sim::config::{self, Config, Direction, Element};
use fullpipe_sim::tcp::behaviour::profile_of;
use fullpipe_sim::tcp::headers;
use fullpipe_sim::tcp::profile::TimerWheel;
use fullpipe_sim::tcp::sender::metrics::Metrics;
use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut, Index, IndexMut};

const TIMERS: usize = 9;

/// The number of a flow's timer.
pub fn timer(flow: usize, which: usize) -> usize {
    flow * TIMERS + which
}

/// Ends of flows by number.
pub struct Ends<T>(BTreeMap<usize, T>);

impl<T> Deref for Ends<T> {
    type Target = BTreeMap<usize, T>;

    fn deref(&self) -> &BTreeMap<usize, T> {
        &self.0
    }
}

impl<T> DerefMut for Ends<T> {
    fn deref_mut(&mut self) -> &mut BTreeMap<usize, T> {
        &mut self.0
    }
}

impl<T> Index<usize> for Ends<T> {
    type Output = T;

    fn index(&self, flow: usize) -> &T {
        self.0.get(&flow).expect("this end is here")
    }
}

impl<T> IndexMut<usize> for Ends<T> {
    fn index_mut(&mut self, flow: usize) -> &mut T {
        self.0.get_mut(&flow).expect("this end is here")
    }
}

/// An application that waits for its turn, by flow.
#[derive(PartialEq, Eq)]
pub enum Process {
    Writer(usize),
    Reader(usize),
    /// Program of datagrams, by number.
    Program(usize),
    Socket(usize),
}

/// Step of an application that takes time: its flow and the bytes.
pub enum Step {
    Call(usize),
    Copy(usize, u32),
    Read(usize, u64),
    Send(usize),
    ReadDatagram(usize),
}

/// State of a host.
pub struct Host {
    pub name: String,
    /// The way that begins here.
    pub way: Direction,
    pub host: config::Host,
    pub transmit: Transmit,
    pub receive: Receive,
    pub gro: Gro,
    /// Number of its timer, behind those of the flows.
    gro_timer: usize,
    /// Number of the first timer of datagrams: first a timer of the sending program for each of all hosts, then one of
    /// the reading program for each.
    datagrams: usize,
    pub timers: Timers,
    pub wheel: TimerWheel,
    pub woken_first: bool,
    pub sends: Ends<SendingFlow>,
    pub receives: Ends<ReceivingFlow>,
    /// Programs of datagrams that are sent and received here, by their numbers as flows.
    pub programs: Ends<Program>,
    pub sockets: Ends<Socket>,
    /// Content of these programs' sockets, its start, and the number of entries that the last sample has seen.
    pub socket_log: Vec<SocketLogEntry>,
    pub socket_log_sampled: usize,
    /// Numbers of the datagrams with echo requests to this host.
    pub echoes: Vec<usize>,
    pub cpu: Cpu,
    pub softirqs: Softirqs,
    pub step: Option<Step>,
    pub runnable: VecDeque<Process>,
    /// Metrics that finished flows left, and the first timeout of a connection in seconds.
    pub metrics: BTreeMap<String, Metrics>,
    /// The name of the host at the other end of each flow.
    pub peers: BTreeMap<usize, String>,
    pub timeout_init: u64,
    /// Number of SYNs after which the timeout doubles.
    pub linear_timeouts: usize,
    /// Highest content of all send buffers since the last sample, bytes.
    pub written_peak: u64,
    /// Highest number of segments in all receive buffers since the last sample.
    pub queued_peak: u64,
    /// See [`super::Done`].
    pub locked_timers: u64,
    pub locked_delacks: u64,
    pub pauses: u64,
    pub paced: u64,
    pub fired_together: u64,
    pub waited_in_gro: u64,
}

/// MSS of a SYN, bytes, behind the routers that it passes in their order.
fn clamped(config: &Config, announced: u32) -> u32 {
    let mut mss = announced;
    for element in config.back.iter().chain(&config.forward) {
        if let Element::Mtu(router) = element {
            mss = router.mss_clamp.map_or(mss, |most| most.min(mss));
        }
    }
    mss
}

impl Host {
    pub fn new(config: &Config, place: usize, mss: u32) -> Host {
        let hosts = config.hosts();
        let config::Station { name, direction, host } = hosts[place];
        let several = hosts.iter().filter(|host| host.direction == direction).count() > 1;
        let profile = profile_of(host).expect("a profile");
        let gro_timer = config.flows.len() * TIMERS;
        let mut timers = Timers::new(gro_timer + 1 + 2 * config.datagrams.len());
        let (mut sends, mut receives) = (BTreeMap::new(), BTreeMap::new());
        let mut peers = BTreeMap::new();
        for (i, flow) in config.flows.iter().enumerate() {
            let [from, to] = config.hosts_of(flow).map(|host| host.name);
            peers.insert(i, if from == name { to } else { from }.to_string());
            if from == name {
                timers.set(timer(i, sending::CONNECT), Some(flow.start), None);
                let mut new = SendingFlow::new(flow, host, config.seed, mss);
                let peers_mtu = config.hosts_of(flow)[1].host.mtu.unwrap_or(config.mtu);
                new.tcp.take_peer_mss(clamped(config, peers_mtu.saturating_sub(headers(false))));
                sends.insert(i, new);
            } else if to == name {
                let mut new = ReceivingFlow::new(flow, host, mss);
                let peers_mtu = config.hosts_of(flow)[0].host.mtu.unwrap_or(config.mtu);
                new.tcp.take_peer_mss(clamped(config, peers_mtu.saturating_sub(headers(false))));
                receives.insert(i, new);
            }
        }
        let (programs, sockets, echoes) = datagrams::of_host(config, place);
        for (&number, program) in &programs {
            let timer = gro_timer + 1 + number - config.flows.len();
            timers.set(timer, program.due(), None);
        }
        Host {
            programs: Ends(programs),
            sockets: Ends(sockets),
            socket_log: Vec::new(),
            socket_log_sampled: 0,
            echoes,
            name: name.into(),
            way: direction,
            transmit: Transmit::new(Out { place, way: direction, several }, host, config.mtu),
            receive: Receive::new(host),
            gro: Gro::new(host, profile.gro),
            gro_timer,
            datagrams: config.datagrams.len(),
            waited_in_gro: 0,
            timers,
            wheel: profile.timer_wheel,
            woken_first: profile.woken_first,
            sends: Ends(sends),
            receives: Ends(receives),
            cpu: Cpu::default(),
            softirqs: Softirqs::new(host, &profile),
            step: None,
            runnable: VecDeque::new(),
            metrics: hosts.iter().map(|host| (host.name.into(), Metrics::default())).collect(),
            peers,
            timeout_init: profile.timeout_init_s.into(),
            linear_timeouts: profile.syn_linear_timeouts as usize,
            written_peak: 0,
            queued_peak: 0,
            locked_timers: 0,
            locked_delacks: 0,
            pauses: 0,
            paced: 0,
            fired_together: 0,
            host: host.clone(),
        }
    }

    /// Whether it has an end of that flow, or of these datagrams.
    pub fn is_of(&self, flow: usize) -> bool {
        let tcp = self.sends.contains_key(&flow) || self.receives.contains_key(&flow);
        tcp || self.programs.contains_key(&flow)
            || self.sockets.contains_key(&flow)
            || self.echoes.contains(&flow)
    }

    /// The timer of a program that sends datagrams.
    pub fn program_timer(&self, number: usize) -> usize {
        self.gro_timer + 1 + number - self.gro_timer / TIMERS
    }

    /// The timer of a program that reads datagrams.
    pub fn socket_timer(&self, number: usize) -> usize {
        self.program_timer(number) + self.datagrams
    }

    pub fn next_softirq(&self) -> Option<Time> {
        let ready = self.receive.next_softirq()?.max(self.cpu.free);
        Some(match self.next_process() {
            Some(_) => ready.max(self.softirqs.locked_out_until()),
            None => ready,
        })
    }

    /// The driver's interrupt; as it ends pending softirqs may run.
    pub fn interrupt(&mut self, now: Time) {
        self.receive.interrupt(now);
        self.softirqs.interrupt(now);
    }

    pub fn next_process(&self) -> Option<Time> {
        let may_begin = (!self.runnable.is_empty()).then_some(self.cpu.free);
        self.cpu.step_end().or(may_begin)
    }

    /// Lets a program call first if its timer is due when packets of its connection arrive. The packets are in its
    /// backlog meanwhile. It may be a writer or a reader; a short read takes the rest from them.
    fn call_before(&mut self, packets: &[Packet], now: Time, cx: &mut Context) {
        while let Some(number) = self.timers.first(now).filter(|&number| number < self.gro_timer) {
            let flow = number / TIMERS;
            let which = number % TIMERS;
            let calls = self.woken_first && matches!(which, sending::WRITE | receiving::READER);
            if !calls || packets.iter().all(|packet| packet.flow != flow) {
                break;
            }
            if which == receiving::READER {
                let its = packets.iter().filter(|packet| packet.flow == flow);
                self.receives[flow].tcp.begin_backlog(its.map(|packet| (1, packet.data_len())));
            }
            self.timer(now, cx);
            if which == receiving::READER && !self.receives[flow].has_a_whole_read() {
                self.receives[flow].copy_what_there_is(now);
            } else {
                self.let_programs_go_on(now, cx);
            }
        }
        let mut datagrams = packets.iter().map(|packet| &packet.body);
        let come =
            datagrams.any(|body| matches!(body, Body::Datagram(own) if !own.asks && !own.answers));
        let first_reader = self.gro_timer + 1 + self.datagrams;
        while self.woken_first && come && self.timers.first(now).is_some_and(|n| n >= first_reader)
        {
            self.timer(now, cx);
            self.let_programs_go_on(now, cx);
        }
    }

    fn let_programs_go_on(&mut self, now: Time, cx: &mut Context) {
        while self.next_process().is_some_and(|at| at <= now) {
            self.process(now, cx);
        }
    }

    /// Takes all packets that wait, one after the other; timers of the wheel that are due fire first.
    pub fn softirq(&mut self, now: Time, cx: &mut Context) {
        self.softirqs.enter(now, self.next_process().is_some());
        while self.timers.first_is_of_wheel(now) {
            self.timer(now, cx);
        }
        let flows = self.gro_timer;
        let paces = |number: usize| number < flows && number % TIMERS == sending::PACE;
        while self.timers.first(now).is_some_and(paces) {
            self.timer(now, cx);
        }
        if self.holds_past(now) {
            self.fire_within_slack(now, cx);
        }
        let packets = self.receive.take(now, self.softirqs.quota());
        self.call_before(&packets, now, cx);
        let begin = now.max(self.cpu.free);
        let mut cpu = begin;
        let took = packets.len();
        for packet in packets {
            cpu += match packet.body {
                Body::Ack(_) | Body::SynAck { .. } => self.host.cpu.ack,
                Body::Data(_) | Body::Syn { .. } | Body::Datagram(_) => self.host.cpu.receive,
            };
            for up in self.gro.poll(packet, cpu) {
                cpu = self.up(up, At { now, cpu }, cx);
            }
        }
        self.gro.is_late = self.gro.until.is_some_and(|at| at <= now);
        let up = self.gro.polled(cpu, took, self.receive.is_polled());
        for up in up {
            cpu = self.up(up, At { now, cpu }, cx);
        }
        let flows: Vec<_> = self.receives.keys().copied().collect();
        for flow in flows {
            self.end_backlog(flow, cpu, cx);
            self.look_after_receiving(flow);
        }
        self.timers.set(self.gro_timer, self.gro.until, None);
        self.cpu.urgent(begin, cpu);
        let wanted = self.next_process().is_some();
        let idle = self.step.is_none();
        self.softirqs.polled(begin, cpu, took, self.receive.has_more(), wanted, idle);
    }

    fn up(&mut self, packet: Packet, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        match packet.body {
            Body::Ack(_) | Body::SynAck { .. } => {
                self.answer(packet.flow, packet.body, At { now, cpu }, cx)
            }
            Body::Data(_) | Body::Syn { .. } => {
                self.come(packet.flow, packet.body, At { now, cpu }, cx);
                cpu
            }
            Body::Datagram(datagram) => self.datagram(packet.flow, datagram, At { now, cpu }, cx),
        }
    }

    fn gro_has_waited(&mut self, now: Time, cx: &mut Context) {
        let free = now.max(self.cpu.free);
        let mut cpu = free;
        for up in self.gro.polled(free, 0, true) {
            self.waited_in_gro += 1;
            cpu = self.up(up, At { now, cpu }, cx);
        }
        self.cpu.urgent(free, cpu);
    }

    pub fn timer(&mut self, now: Time, cx: &mut Context) {
        let Some(number) = self.timers.take(now) else { return };
        if number == self.gro_timer {
            return self.gro_has_waited(now, cx);
        }
        if number > self.gro_timer {
            let own = number - self.gro_timer - 1;
            let flow = self.gro_timer / TIMERS + own % self.datagrams;
            let free = now.max(self.cpu.free);
            self.cpu.urgent(free, free);
            if own >= self.datagrams {
                return self.go_on_to_read(flow, now);
            }
            return self.runnable.push_back(Process::Program(flow));
        }
        let (flow, which) = (number / TIMERS, number % TIMERS);
        if which == receiving::ANSWER {
            self.answer_again(flow, now, cx);
        } else if which < receiving::DELAYED {
            self.sending_timer(flow, which, now, cx);
        } else if which != receiving::COMPRESSED {
            self.receiving_timer(flow, which, now, cx);
        }
        if which == receiving::COMPRESSED || which == sending::PACE {
            self.fire_within_slack(now, cx);
        }
    }

    /// Ends an application's step; then others have their turns until one takes time, or has written.
    pub fn process(&mut self, now: Time, cx: &mut Context) {
        match self.step {
            None | Some(Step::Call(_)) => {}
            Some(Step::ReadDatagram(_)) => self.softirqs.datagram_is_read(now),
            Some(_) => self.softirqs.call_ends(now),
        }
        match self.step.take() {
            Some(Step::Call(flow)) => {
                self.cpu.end_step(now);
                return self.write(flow, None, now, cx);
            }
            Some(Step::Copy(flow, bytes)) => {
                self.cpu.end_step(now);
                return self.write(flow, Some(bytes), now, cx);
            }
            Some(Step::Read(flow, bytes)) => {
                self.cpu.end_step(now);
                self.has_read(flow, bytes, now, cx);
            }
            Some(Step::Send(number)) => {
                self.cpu.end_step(now);
                return self.has_written(number, now, cx);
            }
            Some(Step::ReadDatagram(number)) => {
                self.cpu.end_step(now);
                self.has_read_datagram(number, now);
            }
            None => {}
        }
        while self.step.is_none()
            && let Some(process) = self.runnable.pop_front()
        {
            match process {
                Process::Reader(flow) => self.read(flow, now, cx),
                Process::Writer(flow) => return self.write(flow, None, now, cx),
                Process::Program(number) => return self.program(number, now, cx),
                Process::Socket(number) => self.socket(number, now),
            }
        }
    }
}
