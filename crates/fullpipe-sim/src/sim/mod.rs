//! The simulator: the hosts at the two ends of a path, and the order of events.
//!
//! Only hosts have events, because only there things depend on each other. The path works on whole trains as they are
//! sent. A host's work happens one piece after another on its CPU. Events at equal times follow the order of
//! [`Work`](crate::host::work::Work), then of the hosts ([`Config::hosts`]).
//!
//! A host works alone as long as no packet can reach it that is not on its way yet ([`lookahead`]). Later work of the
//! others arrives later by the path's delay. So the path gets longer trains. Where several hosts send into one
//! direction, their packets wait in its [`merge_queue`] for earlier packets of the others.
//!
//! Exact order (`tests/all/reference` computes it packet by packet):
//! - Packets that several hosts send into a direction at one time enter it after all work of the hosts at that time, in
//!   the order of the hosts.
//! - At one time in the path, departures from a place (a tick, the end of a transmission or a delay) come before
//!   arrivals. Then the hosts follow, then the sample, which sees all of it.
//! - All work of a host at an event is done before anything else happens there: a whole batch, a timer, all steps of an
//!   application that cost nothing. A sample sees the work from the event's time on, and its events have this time. The
//!   cost delays the host's next work. The packets are offered to the qdisc when the CPU is done.
//! - A softirq begins when there are packets, moderation allows an interrupt and no urgent work is in progress. Where
//!   softirqs do not end, ksoftirqd shares the CPU with programs (`host/softirq.rs`).
//! - A timer acts when it is due, unless the socket is locked (`locked_timers` of the profile). The CPU works for it
//!   after earlier urgent work. Urgent work delays an application's step in progress.
//! - At one time, timers of the kernel's wheel come first (TCP's, the repeated SYN's, the delayed ACK's). Among them
//!   the last one started is first; in kernels before 6.1 the first one. Then the other timers follow in the order of
//!   starting (`host/clock.rs`).
//! - Applications take turns after each write or read. Readers with free turns follow each other, up to and including
//!   the first writer.
//! - Events of one moment: retransmissions, then the timeout that caused them, then a change of the
//!   congestion state.

mod datagram_counters;
mod host_counters;
mod lookahead;
mod merge_queue;
mod rpc_counters;
mod rpc_limits;
mod sampler;

use crate::config::{Config, Direction, Element, Station};
use crate::host::Host;
use crate::host::capture::{Capture, Place};
use crate::host::shared::Shared;
use crate::link::chain::Chain;
use crate::packet::{Kind, Train};
use crate::stage::Drops;
use crate::tcp::sender::options;
use crate::tcp::{self, ecn};
use crate::trace::{Control, Point, Sink};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use merge_queue::MergeQueue;

/// Trains that leave the path before the host takes them: few enough to stay in the nearest cache.
const DELIVERED_AT_ONCE: usize = 64;

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Simulated time reached.
    pub end: Time,
    /// Whether the run reached its end (false: stopped by [`Control`]).
    pub complete: bool,
    /// Data segments sent, the measure of a run's size.
    pub segments: u64,
    /// Trains that the hosts put on the wires, the measure of the path's work.
    pub trains: u64,
}

/// A direction, and the hosts at its beginning.
struct PathDirection {
    chain: Chain,
    /// Places of the hosts.
    hosts: Range<usize>,
    /// Merge queue, where there are several hosts, or routers of the other direction send messages back.
    merge_queue: Option<MergeQueue>,
    /// Place of the host at the end of this direction, for each flow.
    to: Vec<usize>,
}

/// State of a run: hosts, the path between them, and what they share.
struct Simulation {
    /// Forward and backward directions.
    ways: [PathDirection; 2],
    /// Hosts in the order of [`Config::hosts`].
    hosts: Vec<Host>,
    shared: Shared,
    scratch: Vec<Train>,
    trains: u64,
}

/// Runs `config` and reports to `sink` until the end, or until `control` stops the run.
///
/// Equal configurations give equal calls of `sink`.
///
/// # Errors
/// A configuration outside the bounds of [`Config::check`], or an unknown kernel profile or
/// congestion control.
pub fn run(
    config: &Config,
    sink: &mut dyn Sink,
    control: &mut dyn Control,
) -> Result<Outcome, String> {
    let asked = config;
    let config = accepted(asked)?;
    let mut run = Simulation::new(&config)?;
    if let Some(point) = sink.point() {
        if !config.datagrams.is_empty() {
            return Err("a capture knows segments of TCP only: leave datagrams out".to_string());
        }
        run.watch(Capture::new(point, asked, &config, run.shared.mss), point);
    }
    let mut sampler = sampler::Sampler::new(&config, &mut run, sink);
    let (end, complete) = loop {
        // Hosts work ahead at most up to the next sample.
        let now = sampler.next;
        run.advance(now, sink);
        sampler.sample(&mut run, sink);
        if !control.go_on(now) || now >= config.end {
            break (now, now >= config.end);
        }
    };
    sampler.end(&mut run, end, sink);
    run.emit_packets(end, true, sink);
    let segments = run.hosts.iter().map(Host::segments_sent).sum();
    Ok(Outcome { end, complete, segments, trains: run.trains })
}

/// Whether [`run`] would begin a run of `config`.
///
/// # Errors
/// The reason that [`run`] would give.
pub fn check(config: &Config) -> Result<(), String> {
    Simulation::new(&accepted(config)?).map(drop)
}

/// A configuration within all bounds, after the handshake.
fn accepted(config: &Config) -> Result<Config, String> {
    config.check()?;
    ecn::check(config)?;
    options::check(config)?;
    Ok(negotiated(config))
}

/// The configuration after the handshake: a TCP option holds if both hosts have it.
fn negotiated(config: &Config) -> Config {
    let mut config = config.clone();
    let Config { sender, receiver, .. } = &config;
    let timestamps = sender.timestamps && receiver.timestamps;
    let sack = sender.sysctl.tcp_sack && receiver.sysctl.tcp_sack;
    let scaling = sender.offers_scaling() && receiver.offers_scaling();
    let beside = config.neighbours.iter_mut().map(|beside| &mut beside.host);
    for host in [&mut config.sender, &mut config.receiver].into_iter().chain(beside) {
        host.timestamps = timestamps;
        host.sysctl.tcp_sack = sack;
        host.sysctl.tcp_window_scaling = scaling;
    }
    config
}

/// Maximum segment size on this path and bytes of headers.
///
/// # Errors
/// An MTU too small for a segment.
fn mss(config: &Config) -> Result<(u32, u32), String> {
    let headers = tcp::headers(config.sender.timestamps);
    match config.mtu.checked_sub(headers) {
        Some(mss) if mss >= 8 => Ok((mss, headers)),
        _ => Err("mtu: leaves no room for a segment".to_string()),
    }
}

impl PathDirection {
    /// The elements of `config` in this direction, and its hosts.
    fn new(config: &Config, direction: Direction) -> PathDirection {
        let elements = match direction {
            Direction::Forward => &config.forward,
            Direction::Backward => &config.back,
        };
        let hosts = config.hosts();
        let begins = |host: &Station| host.direction == direction;
        let first = hosts.iter().position(begins).unwrap_or_default();
        let several = hosts.iter().filter(|host| begins(host)).count();

        // A direction ends at a flow's receiver, or at its sender, which gets ACKs.
        let end = |there: Direction, [from, to]: [Station; 2]| {
            config.place(if there == direction { to.name } else { from.name })
        };
        let flows = config.flows.iter().map(|flow| end(flow.direction, config.hosts_of(flow)));
        let datagrams = config.datagrams.iter();
        let datagrams = datagrams.map(|own| end(own.direction, config.hosts_of_datagrams(own)));

        // Routers of the opposite direction send their ICMP messages into this one.
        let opposite = if direction == Direction::Forward { &config.back } else { &config.forward };
        let senders = several
            + opposite.iter().filter(|own| matches!(own, Element::Mtu(own) if own.icmp)).count();
        PathDirection {
            chain: Chain::new(elements, config.seed, config.samples()),
            hosts: first..first + several,
            merge_queue: (senders > 1).then(|| MergeQueue::new(senders)),
            to: flows.chain(datagrams).collect(),
        }
    }
}

impl Simulation {
    fn new(config: &Config) -> Result<Simulation, String> {
        let (mss, headers) = mss(config)?;
        let shared = Shared::new(config, mss, headers);
        let hosts = 0..config.hosts().len();
        Ok(Simulation {
            ways: [Direction::Forward, Direction::Backward]
                .map(|way| PathDirection::new(config, way)),
            hosts: hosts.map(|place| Host::new(config, place, mss)).collect::<Result<_, _>>()?,
            shared,
            scratch: Vec::new(),
            trains: 0,
        })
    }

    /// Lets the hosts and the path report packets to `capture` from now on.
    fn watch(&mut self, capture: Capture, point: Point) {
        if let Point::Qdisc(place) = point {
            self.hosts[place].begin_capture();
        }
        let [forward, back] = &mut self.ways;
        forward.chain.watch(capture.element());
        back.chain.watch(None);
        for host in &mut self.hosts {
            host.receive.drops().into_iter().for_each(Drops::name);
        }
        self.shared.capture = Some(Box::new(capture));
    }

    #[cold]
    fn emit_packets(&mut self, now: Time, end: bool, sink: &mut dyn Sink) {
        let Some(capture) = &mut self.shared.capture else { return };
        while let Some(packet) = capture.next_packet(now, end) {
            sink.packet(&packet);
        }
    }

    /// Carries packets that the hosts put on the wire through the path.
    fn carry(&mut self) {
        if !self.shared.page_frags.is_empty() {
            self.pass_on_page_frags();
        }
        for way in 0..self.ways.len() {
            for host in self.ways[way].hosts.clone() {
                self.send(way, host);
            }
            self.deliver(way);
            self.send_back(way);
        }
        // Only when all sent packets are at hand, later arrivals are known.
        for way in 0..self.ways.len() {
            if self.ways[way].merge_queue.is_some() {
                self.let_in(way, self.all_sent(way));
                self.deliver(way);
                self.send_back(way);
            }
        }
        self.forget_acks();
    }

    /// Sends packets that a host put on the wire into the direction, or into its merge queue.
    fn send(&mut self, way: usize, host: usize) {
        let mut sent = core::mem::take(&mut self.hosts[host].out.wire);
        self.trains += sent.len() as u64;
        for train in sent.drain(..) {
            self.shared.pass(Place::Out, &train);
            let PathDirection { chain, hosts, merge_queue, .. } = &mut self.ways[way];
            match merge_queue {
                None => chain.push(&train, &mut self.scratch),
                Some(merge_queue) => merge_queue.put(host - hosts.start, train),
            }

            // Delivery in portions bounds the memory of the list.
            if self.scratch.len() >= DELIVERED_AT_ONCE {
                self.deliver(way);
            }
        }
        self.hosts[host].out.wire = sent;
    }

    /// Puts messages of a direction's routers into the merge queue of the other direction.
    fn send_back(&mut self, way: usize) {
        if self.ways[way].chain.routers() == 0 {
            return;
        }
        let [forward, back] = &mut self.ways;
        let (there, back) = if way == 0 { (forward, back) } else { (back, forward) };
        let Some(merge_queue) = &mut back.merge_queue else { return };
        let first = back.hosts.len();
        there.chain.take_messages(|router, message| merge_queue.put(first + router, message));
    }

    /// Sends packets of a merge queue that enter before `end` into the direction.
    fn let_in(&mut self, way: usize, end: Time) {
        loop {
            let PathDirection { chain, merge_queue, .. } = &mut self.ways[way];
            let Some(train) = merge_queue.as_mut().and_then(|merge_queue| merge_queue.take(end))
            else {
                return;
            };
            chain.push(&train, &mut self.scratch);
            if self.scratch.len() >= DELIVERED_AT_ONCE {
                self.deliver(way);
            }
        }
    }

    /// Gives receivers the senders' memory layout before the data arrive.
    #[cold]
    fn pass_on_page_frags(&mut self) {
        for (flow, page_frag) in self.shared.page_frags.drain(..) {
            for host in &mut self.hosts {
                host.begin_page_frag(flow.into(), page_frag);
            }
        }
    }

    /// Forgets the ACKs of which no packet is on its way any more, where they may arrive in any order.
    fn forget_acks(&mut self) {
        if !self.shared.acks.are_many() {
            return;
        }

        // The oldest ACK of each flow that any packet still bears; packets on their way decide it.
        let mut oldest = alloc::vec![u64::MAX; self.shared.acks.flows()];
        let mut look = |train: &Train| {
            let flow = usize::from(train.flow);
            let named = match (train.kind, train.carries) {
                (Kind::Ack, _) => Some((flow, train.number)),
                (_, 0) => None,
                (_, carries) => self.shared.reverse_of[flow].map(|reverse| (reverse, carries - 1)),
            };
            if let Some((flow, number)) = named {
                oldest[flow] = oldest[flow].min(number);
            }
        };

        // Every place that may hold packets is asked.
        for host in &self.hosts {
            host.out.transmit.held(&mut look);
            host.receive.held(&mut look);
            host.gro.held(&mut look);
        }
        for way in &self.ways {
            way.chain.held(&mut look);
            way.merge_queue.iter().for_each(|merge_queue| merge_queue.held(&mut look));
        }
        self.shared.acks.forget_before(&oldest);
    }

    /// Delivers packets at the end of a direction to the hosts there.
    fn deliver(&mut self, way: usize) {
        if self.shared.capture.is_some() {
            self.note_path(way);
        }
        let to = &self.ways[way].to;
        for train in self.scratch.drain(..) {
            self.hosts[to[usize::from(train.flow)]].arrive(train);
        }
    }

    /// Reports the events of the path to the capture; `scratch` has the arrivals.
    #[cold]
    fn note_path(&mut self, way: usize) {
        let Some(capture) = &mut self.shared.capture else { return };
        self.ways[way].chain.seen().for_each(|train| capture.pass(Place::Element, &train));
        self.scratch.iter().for_each(|train| capture.pass(Place::In, train));
        for way in &mut self.ways {
            way.chain.dropped().for_each(|(place, train)| capture.drop_in_element(place, &train));
        }
    }
}
