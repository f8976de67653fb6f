//! The reference simulator: slow, naive, one packet at a time.
//!
//! It follows the documentation of `fullpipe_sim` literally. Packets stand in queues, a counter changes when an event
//! happens, a queue's length is found by looking. There are no trains, no closed forms and no counters of a path's
//! future. Only the TCP endpoints, the congestion controls and the random streams are shared; everything between them
//! is written a second time.

mod agenda;
mod bql;
mod counter;
mod cpu;
mod datagrams;
mod element;
mod gro;
mod handshake;
mod host;
mod late;
mod packet;
mod port;
mod receive;
mod receiving;
mod report;
mod sending;
mod softirqs;
mod timers;
mod transmit;
pub mod way;

use agenda::{Agenda, Happening};
use element::{Element, Place};
use fullpipe_sim::config::{Config, Direction};
use fullpipe_sim::tcp::page_frag::PageFrag;
use fullpipe_sim::tcp::{HEADERS, TIMESTAMP_OPTION};
use fullpipe_sim::trace::{Event, EventKind, Sink};
use fullpipe_sim::units::Time;
use host::Host;
use packet::Packet;

/// Time of an event, and time that the CPU of its host has reached.
#[derive(Clone, Copy)]
pub struct At {
    pub now: Time,
    pub cpu: Time,
}

/// Context of everything that happens: the agenda for consequences, and the events to report.
pub struct Context {
    agenda: Agenda,
    events: Vec<Event>,
    /// Round trips of echo requests: when, which, and how long.
    round_trips: Vec<(Time, usize, u64)>,
    /// PageFrags of senders' memory, by flow, of which the other end does not know yet.
    page_frags: Vec<(usize, PageFrag)>,
    headers: u32,
    /// Bytes of a SYN.
    opening: u32,
}

impl Context {
    fn record(&mut self, time: Time, flow: usize, kind: EventKind, value: u64) {
        self.events.push(Event { time, flow: flow as u16, kind, value });
    }
}

struct World {
    context: Context,
    forward: Vec<Box<dyn Element>>,
    back: Vec<Box<dyn Element>>,
    /// Hosts; those that send forward flows come first.
    hosts: Vec<Host>,
}

/// Switches off what only the hosts at one end have: the handshake would.
fn shake_hands(config: &mut Config) {
    let (a, b) = (config.sender.clone(), config.receiver.clone());
    let beside = config.neighbours.iter_mut().map(|beside| &mut beside.host);
    for host in [&mut config.sender, &mut config.receiver].into_iter().chain(beside) {
        host.timestamps = a.timestamps && b.timestamps;
        host.sysctl.tcp_sack = a.sysctl.tcp_sack && b.sysctl.tcp_sack;
        host.sysctl.tcp_window_scaling = a.sysctl.tcp_window_scaling && b.sysctl.tcp_window_scaling;
    }
}

/// Counts of a run that the trace does not have.
pub struct Done {
    /// Data segments sent.
    pub segments: u64,
    /// Timers that found their socket locked: TCP's at the sender, delayed ACKs' at the receiver.
    pub locked_timers: [u64; 2],
    /// ACKs of a backlog after which the CPU had its softirqs done, for they cost a walk.
    pub pauses: u64,
    /// Times that TCP went on at its pace.
    pub paced: u64,
    /// Timers of held ACKs that fired before their last moment, with another.
    pub fired_together: u64,
    /// Passes of softirqs that ended before their work, for each host. Two more counts follow: how often ksoftirqd got
    /// the CPU, and how often programs that it had delayed did.
    pub squeezed: Vec<u64>,
    pub turns: [u64; 2],
    /// Number of times that byte queue limits stopped a ring, and became smaller.
    pub limited: [u64; 2],
    /// Packets that GRO has joined to others, skbs that waited in GRO until its timer fired, and polls that left
    /// packets in GRO and in the ring.
    pub by_gro: [u64; 3],
}

/// Runs `config` to its end.
pub fn run(config: &Config, sink: &mut dyn Sink) -> Done {
    let mut config = config.clone();
    shake_hands(&mut config);
    let mut world = World::new(&config);
    sink.stages(&report::stages(&world));
    world.context.agenda.add(config.sample.min(config.end), Happening::Sample);
    world.plan(Time::ZERO);
    while let Some((now, what)) = world.context.agenda.next() {
        if !matches!(what, Happening::Sample) {
            world.happen(now, what);
            world.plan(now);
            continue;
        }
        report::sample(&mut world, now, sink);
        if now >= config.end {
            break;
        }
        world.context.agenda.add((now + config.sample).min(config.end), Happening::Sample);
    }
    let hosts = &world.hosts;
    let sum = |of: fn(&Host) -> u64| hosts.iter().map(of).sum();
    Done {
        segments: sum(|h| h.sends.values().map(|f| f.tcp.counters.segments_sent).sum()),
        locked_timers: [sum(|h| h.locked_timers), sum(|h| h.locked_delacks)],
        pauses: sum(|h| h.pauses),
        paced: sum(|h| h.paced),
        fired_together: sum(|h| h.fired_together),
        by_gro: [sum(|h| h.gro.joined), sum(|h| h.waited_in_gro), sum(|h| h.gro.left_in_ring)],
        squeezed: hosts.iter().map(|h| h.softirqs.squeezed).collect(),
        turns: [0, 1].map(|whose| hosts.iter().map(|h| h.softirqs.turns[whose]).sum()),
        limited: [0, 1].map(|what| hosts.iter().map(|h| h.transmit.limited()[what]).sum()),
    }
}

impl World {
    fn new(config: &Config) -> World {
        let headers = if config.sender.timestamps { HEADERS + TIMESTAMP_OPTION } else { HEADERS };
        let options = match (config.sender.timestamps, config.sender.sysctl.tcp_sack) {
            (true, _) => 4 + TIMESTAMP_OPTION,
            (false, true) => 8,
            (false, false) => 4,
        };
        let scale = if config.sender.sysctl.tcp_window_scaling { 4 } else { 0 };
        let opening = HEADERS + options + scale;
        let mss = config.mtu - headers;
        let build = |e| element::build(e, config.seed);
        World {
            context: Context {
                agenda: Agenda::default(),
                events: Vec::new(),
                round_trips: Vec::new(),
                page_frags: Vec::new(),
                headers,
                opening,
            },
            forward: config.forward.iter().map(build).collect(),
            back: config.back.iter().map(build).collect(),
            hosts: (0..config.hosts().len()).map(|place| Host::new(config, place, mss)).collect(),
        }
    }

    fn happen(&mut self, now: Time, what: Happening) {
        let cx = &mut self.context;
        match what {
            Happening::WireDone(host) => {
                self.hosts[host].transmit.advance(now, &mut cx.agenda);
                self.hosts[host].follow();
            }
            Happening::Due(way, at) => {
                let elements =
                    if way == Direction::Forward { &mut self.forward } else { &mut self.back };
                elements[at].due(now, Place { way, at }, &mut cx.agenda);
            }
            Happening::Arrival(way, at, packet) => self.arrive(now, way, at, packet),
            Happening::Entry(host, packet) => self.arrive(now, self.hosts[host].way, 0, packet),
            Happening::Interrupt(host) => self.hosts[host].interrupt(now),
            Happening::Softirq(host) => self.hosts[host].softirq(now, cx),
            Happening::Timer(host) => self.hosts[host].timer(now, cx),
            Happening::Process(host) => self.hosts[host].process(now, cx),
            Happening::Sample => {}
        }
        for (flow, page_frag) in self.context.page_frags.drain(..) {
            self.hosts
                .iter_mut()
                .filter_map(|host| host.receives.get_mut(&flow))
                .for_each(|end| end.tcp.begin_page_frag(page_frag));
        }
    }

    /// A packet comes to element `at` of its way, or to the host at the end.
    fn arrive(&mut self, now: Time, way: Direction, at: usize, packet: Packet) {
        let elements = match way {
            Direction::Forward => &mut self.forward,
            Direction::Backward => &mut self.back,
        };
        match elements.get_mut(at) {
            Some(element) => {
                element.arrive(now, Place { way, at }, packet, &mut self.context.agenda)
            }
            None => {
                let flow = packet.flow;
                let has = |host: &&mut Host| host.way != way && host.is_of(flow);
                let host = self.hosts.iter_mut().find(has).expect("a flow has two ends");
                host.receive.arrive(now, packet);
            }
        }
    }

    /// Writes down when each host will next have something to do, as far as is known now.
    fn plan(&mut self, now: Time) {
        let agenda = &mut self.context.agenda;
        for (place, host) in self.hosts.iter().enumerate() {
            agenda.wish(now, Happening::Interrupt(place), host.receive.next_interrupt());
            agenda.wish(now, Happening::Softirq(place), host.next_softirq());
            agenda.wish(now, Happening::Timer(place), host.timers.next());
            agenda.wish(now, Happening::Process(place), host.next_process());
        }
    }
}
