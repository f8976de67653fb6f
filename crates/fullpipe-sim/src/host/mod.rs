//! A host: one CPU, one way out and one way in for all of its flows. It has one end of each flow: the sending end
//! (`sending`) or the receiving end (`receiving`). Packets leave by [`transmit`] (qdisc, transmit ring) and arrive by
//! [`receive`] (receive ring, backlog, GRO).
//!
//! The softirq (packets) and the applications share the CPU. A softirq takes a batch of packets and runs to its end; it
//! delays the application's step in progress. `softirq` decides how many batches it takes before an application
//! continues. An application copies with the socket locked; packets for this socket wait in its backlog meanwhile.

mod accepting;
mod acks;
mod beyond_hole;
pub(crate) mod capture;
mod carried_ack;
mod clock;
mod closing;
mod cpu;
mod datagrams;
mod flow_table;
mod output;
mod path_mtu;
mod peak;
mod polling;
pub mod receive;
mod receiving;
mod rpc;
mod sending;
mod sending_flow;
pub(crate) mod shared;
mod softirq;
pub(crate) mod stage;
mod timers;
pub mod transmit;
mod tsq;
mod turn;
mod udp_reader;
mod udp_socket;
pub(crate) mod work;
mod writing;

use crate::config::{self, Config, Flow, Station};
use crate::packet::{Kind, Train};
use crate::tcp::behaviour::profile_of;
use crate::tcp::memory::TcpMemory;
use crate::tcp::profile::SharedProfile;
use crate::tcp::receiver::compressed;
use crate::tcp::sender::metrics::Metrics;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cpu::Cpu;
use datagrams::Sending;
use flow_table::FlowTable;
use output::Out;
use peak::Peak;
use receive::Receive;
use receive::gro::Gro;
use receiving::{Reading, ReceivingFlow, receiving_ends};
use rpc::HostRpc;
use sending::{Copying, SendingFlow, sending_ends};
use shared::Shared;
use softirq::Softirq;
use timers::{Due, HostTimers, Timer};
use transmit::{SkbFate, Transmit};
use udp_reader::Listening;
use udp_socket::UdpSockets;
use work::Work;

/// State of a host.
pub(crate) struct Host {
    /// Place among the hosts of the run.
    place: usize,
    pub(crate) name: String,
    host: config::Host,
    pub(crate) out: Out,
    pub(crate) receive: Receive,
    pub(crate) gro: Gro,
    pub(crate) handed_up: HandedUp,
    /// CPU time of captured ACKs that was not charged yet. The next softirq or the one in progress pays it.
    owed: Time,
    timers: HostTimers,
    softirq: Softirq,
    pub(crate) cpu: Cpu,
    pub(crate) sends: FlowTable<SendingFlow>,
    pub(crate) receives: FlowTable<ReceivingFlow>,
    /// Programs that send datagrams, and sockets that receive them, by their place in the configuration.
    pub(crate) sends_datagrams: FlowTable<Sending>,
    pub(crate) receives_datagrams: FlowTable<Listening>,
    /// Content of these sockets.
    pub(crate) udp_sockets: UdpSockets,
    pub(crate) rpc: HostRpc,
    /// Memory of all TCP sockets, where it is bounded.
    pub(crate) memory: Option<TcpMemory>,
    /// Bytes written but not acknowledged.
    pub(crate) send_buffer: Peak,
    /// Segments that wait for their readers.
    pub(crate) receive_buffer: Peak,
    /// Metrics that finished flows leave for the next ones to the same host, by its place.
    metrics: Vec<Metrics>,
    /// MTU of the route to each host by ICMP, by its place (`u32::MAX`: unknown).
    route_mtus: Vec<u32>,
    /// The place of the host at the other end of each flow.
    peers: Vec<usize>,
    /// The application's step in progress.
    step: Option<Step>,
    runnable: VecDeque<Process>,
    /// [`Profile::woken_first`](crate::tcp::profile::Profile::woken_first).
    woken_first: bool,
    /// [`Profile::woken_preempts`](crate::tcp::profile::Profile::woken_preempts).
    woken_preempts: bool,
    /// Time at which ksoftirqd does all work of softirqs before programs that they wake.
    all_in_ksoftirqd: Option<Time>,
    batch: Vec<Train>,
    /// Flows with packets in the backlog of their sockets at this moment.
    backlogged: Vec<usize>,
    /// Retransmissions of the work in hand.
    resent: Vec<u64>,
}

/// Packets that the softirq has handed up, each possibly several that GRO joined.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HandedUp {
    /// All packets (`__netif_receive_skb`; processed in /proc/net/softnet_stat).
    pub(crate) packets: u64,
    /// TCP segments (`tcp_v4_rcv`; Tcp.InSegs).
    pub(crate) segments: u64,
}

impl HandedUp {
    fn note(&mut self, packets: u32, kind: Kind) {
        self.packets += u64::from(packets);
        self.segments += u64::from(if kind.is_datagram() { 0 } else { packets });
    }
}

/// An application that runs, by its flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Writer(usize),
    Reader(usize),
    /// A program that sends datagrams.
    DatagramWriter(usize),
    /// A program that reads datagrams.
    DatagramReader(usize),
}

/// Step of an application that takes time.
#[derive(Clone, Copy)]
enum Step {
    /// A write(2) of a flow, before it locks the socket.
    Calling(usize),
    Copying(Copying),
    Reading(Reading),
    /// Copy of a datagram into the kernel.
    WritingDatagram(usize),
    /// Copy of a datagram out of the kernel.
    ReadingDatagram(usize),
}

/// Place of the host at the other end of a flow; for a flow without an end at `name` the place of its sender.
fn peer(name: &str, flow: &Flow, config: &Config) -> usize {
    let [from, to] = config.hosts_of(flow);
    let peer = if from.name == name { to } else { from };
    config.place(peer.name)
}

impl Host {
    /// Configuration of the host.
    pub(crate) fn config(&self) -> &config::Host {
        &self.host
    }

    /// Sysctls of the host.
    pub(crate) fn sysctl(&self) -> &config::Sysctl {
        &self.host.sysctl
    }

    /// The host at this place among those of `config`, before the run.
    pub(crate) fn new(config: &Config, place: usize, mss: u32) -> Result<Host, String> {
        let hosts = config.hosts();
        let own @ Station { name, direction, host } = hosts[place];
        let profile = profile_of(host).map_err(|e| format!("hosts.{name}: {e}"))?;

        // PSH is set only where a peer acts on it: by an ACK, or in GRO.
        let mut push = false;
        for peer in hosts.iter().filter(|peer| peer.direction != direction) {
            let peers = profile_of(peer.host).map_err(|e| format!("hosts.{}: {e}", peer.name))?;
            push |= peers.push_asks_ack || peers.gro && peer.host.gro;
        }
        let profile = SharedProfile::from(&profile);
        let timers = HostTimers::new(
            [config.flows.len(), config.datagrams.len(), config.rpc.clients.len()],
            profile.timer_wheel,
            host.hz,
            compressed::slack(&host.sysctl),
        );
        let receives_datagrams = udp_reader::receiving_sockets(own, &profile, config);
        let mut new = Host {
            place,
            name: name.into(),
            out: Out::new(Transmit::of(own, config), host.cpu, push),
            receive: Receive::new(host, config.samples()),
            gro: Gro::new(host, profile.gro),
            handed_up: HandedUp::default(),
            owed: Time::ZERO,
            timers,
            softirq: Softirq::new(host, &profile),
            cpu: Cpu::default(),
            sends: sending_ends(own, &profile, config, mss)?,
            receives: receiving_ends(own, &profile, config, mss),
            sends_datagrams: datagrams::sending_ends(own, config),
            udp_sockets: UdpSockets::new(receives_datagrams.iter().map(Listening::rcvbuf)),
            receives_datagrams,
            rpc: HostRpc::new(own, config),
            memory: TcpMemory::new(host),
            send_buffer: Peak::default(),
            receive_buffer: Peak::default(),
            metrics: hosts.iter().map(|_| Metrics::default()).collect(),
            route_mtus: alloc::vec![u32::MAX; hosts.len()],
            peers: config.flows.iter().map(|flow| peer(name, flow, config)).collect(),
            step: None,
            runnable: VecDeque::new(),
            woken_first: profile.woken_first,
            woken_preempts: profile.woken_preempts,
            all_in_ksoftirqd: None,
            batch: Vec::new(),
            backlogged: Vec::new(),
            resent: Vec::new(),
            host: host.clone(),
        };

        // First timers: a flow that answers or follows another one opens with it, not at a time.
        new.share_memory();
        for (i, flow) in config.flows.iter().enumerate() {
            let connects = flow.answers.is_none() && flow.after.is_none();
            let start = new.sends.get(i).filter(|_| connects).map(|_| flow.start);
            new.timers.set(i, Timer::Start, start);
        }
        for (i, datagrams) in config.datagrams.iter().enumerate() {
            let first = new.sends_datagrams.get(i).and_then(|_| datagrams.due(0));
            new.timers.set_datagrams(i, first);
        }
        for (i, client) in config.rpc.clients.iter().enumerate() {
            let start = new.rpc.clients[i].as_ref().map(|_| client.start);
            new.timers.set_rpc(i, start);
        }
        Ok(new)
    }

    /// Lets all sockets share the host's memory, where it is bounded. One more socket listens for connections.
    fn share_memory(&mut self) {
        let Some(memory) = &self.memory else { return };
        let least = self.host.sysctl.tcp_rmem[0];
        self.sends.iter_mut().for_each(|flow| flow.tcp.share_memory(memory));
        self.receives.iter_mut().for_each(|flow| flow.tcp.share_memory(memory, least));
        if self.receives.iter().next().is_some() {
            memory.open_socket();
        }
    }

    /// Begins a capture in this host.
    pub(crate) fn begin_capture(&mut self) {
        self.out.capture_cost = self.host.cpu.capture;
    }

    pub(crate) fn arrive(&mut self, train: Train) {
        self.receive.arrive(train);
    }

    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Times of its next work of each kind, in the order of [`Work`].
    pub(crate) fn due(&self) -> [Time; 3] {
        let process = self.process_ready();
        [self.packets_ready(process < Time::NEVER), self.timers.next(), process]
    }

    /// Time at which packets are taken; `wanted`: programs want the CPU.
    fn packets_ready(&self, wanted: bool) -> Time {
        let free = self.cpu.free;
        let held_until = self.softirq.held_until();
        if !wanted || held_until <= free {
            return self.receive.ready_time(free);
        }
        let interrupt = self.softirq.interrupts_after().map(|_| self.receive.next_backlogged(free));
        self.receive.ready_time(held_until).min(interrupt.unwrap_or(Time::NEVER))
    }

    fn process_ready(&self) -> Time {
        match self.cpu.step_end() {
            Some(end) => end,
            None if !self.runnable.is_empty() => self.cpu.free,
            None => Time::NEVER,
        }
    }

    pub(crate) fn handle(&mut self, now: Time, work: Work, shared: &mut Shared) {
        if let Some(memory) = &self.memory {
            memory.set_now(now);
        }
        match work {
            Work::Packets => self.on_packets(now, shared),
            Work::Timers => self.on_timers(now, shared),
            Work::Process => self.on_process(now, shared),
        }
    }

    /// Passes of softirqs that ended before their work.
    pub(crate) fn time_squeeze(&self) -> u64 {
        self.softirq.time_squeeze
    }

    pub(crate) fn segments_sent(&self) -> u64 {
        self.sends.iter().map(|f| f.tcp.counters.segments_sent).sum()
    }

    fn on_timers(&mut self, now: Time, shared: &mut Shared) {
        match self.timers.pop(now) {
            None => {}
            Some(Due::Qdisc) => self.wake_qdisc(now, shared),
            Some(Due::Gro) => self.on_gro_timer(now, shared),
            Some(Due::Datagrams(at)) => self.wake_sender(at, now),
            Some(Due::ReadsDatagrams(at)) => self.wake_datagram_reader(at, now),
            Some(Due::Rpc(at)) => self.on_rpc_timer(at, now, shared),
            Some(Due::Flow(_, Timer::Compressed)) => self.fire_expired(now, shared),
            Some(Due::Flow(flow, Timer::Answer)) => self.on_answer_timer(flow, now, shared),
            Some(Due::Flow(flow, timer @ (Timer::Delayed | Timer::Reader))) => {
                self.on_receiving_timer(flow, timer, now, shared);
            }
            Some(Due::Flow(flow, timer)) => {
                self.on_sending_timer(flow, timer, now, shared);

                // __hrtimer_run_queues also runs the timers of compressed ACKs that are within their slack.
                if timer == Timer::Pacing {
                    self.fire_expired(now, shared);
                }
            }
        }
    }

    /// Ends an application's step, or begins one.
    fn on_process(&mut self, now: Time, shared: &mut Shared) {
        let step = self.step.take();
        if let Some(step) = &step {
            self.cpu.end_step(now);
            if !matches!(step, Step::Calling(_)) {
                self.softirq.end_call(now, matches!(step, Step::ReadingDatagram(_)));
            }
        }

        // The step that has ended takes effect now; some steps decide alone what runs next.
        match step {
            Some(Step::Calling(flow)) => return self.write(flow, now, now, shared),
            Some(Step::Copying(copying)) => return self.go_on_writing(copying, now, shared),
            Some(Step::Reading(reading)) => self.finish_read(reading, now, shared),
            Some(Step::WritingDatagram(at)) => return self.write_datagram(at, now, shared),
            Some(Step::ReadingDatagram(at)) => self.finish_datagram_read(at, now, shared),
            None => {}
        }
        // Processes run one after the other, until one takes time; a writer may take time at any turn.
        while let Some(process) = self.runnable.pop_front() {
            match process {
                Process::Writer(flow) => return self.write(flow, now, now, shared),
                Process::Reader(flow) => self.read(flow, now, shared),
                Process::DatagramWriter(at) => return self.send_datagram(at, now, shared),
                Process::DatagramReader(at) => self.read_datagram(at, now, shared),
            }
            if self.step.is_some() {
                return;
            }
        }
    }

    /// Notes skbs that left a qdisc that holds them, and sets its timer.
    #[inline]
    fn follow_qdisc(&mut self, gone: Vec<SkbFate>) {
        if self.out.transmit.holds() {
            self.follow_held(gone);
        }
    }

    #[inline(never)]
    fn follow_held(&mut self, gone: Vec<SkbFate>) {
        for SkbFate { tag, free_at, .. } in gone {
            let flow = usize::from(tag.flow);
            if let Some(state) = self.sends.get_mut(flow) {
                state.tsq.settle(free_at, tag.memory, 0);
                self.await_leaving(flow);
            }
        }
        self.timers.set_qdisc(self.out.transmit.wake_time());
    }

    /// Handles the qdisc's timer.
    fn wake_qdisc(&mut self, now: Time, shared: &mut Shared) {
        self.out.transmit.wake(now, &mut self.out.wire);
        let gone: Vec<SkbFate> = self.out.transmit.gone().collect();
        if let Some(capture) = &mut shared.capture {
            gone.iter().for_each(|gone| capture.sent_late(gone));
        }
        self.follow_qdisc(gone);
    }
}
