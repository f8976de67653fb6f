//! The reference simulator: slow, naive, one packet at a time.
//!
//! It does what the documentation of `fullpipe_sim` says and nothing cleverly: packets stand in
//! queues, a counter changes when something happens, a queue's length is found by looking. It has no
//! trains, no closed forms and no counters that keep the future of a path. Only the TCP endpoints,
//! the congestion controls and the random streams are shared; what lies between them is written a
//! second time.

mod agenda;
mod bql;
mod counter;
mod cpu;
mod element;
mod gro;
mod handshake;
mod host;
mod late;
mod packet;
mod receive;
mod receiving;
mod report;
mod sending;
mod timers;
mod transmit;
pub mod way;

use agenda::{Agenda, Happening, Side};
use element::{Element, Place};
use fullpipe_sim::config::Config;
use fullpipe_sim::tcp::pieces::Piece;
use fullpipe_sim::tcp::{HEADERS, TIMESTAMP_OPTION};
use fullpipe_sim::trace::{Event, EventKind, Sink};
use fullpipe_sim::units::Time;
use host::Host;
use packet::Packet;

/// What everything that happens may need: where to put what follows, and what to tell.
pub struct Context {
    agenda: Agenda,
    told: Vec<Event>,
    /// Pieces of senders' memory, by flow, of which the other end does not know yet.
    pieces: Vec<(usize, Piece)>,
    mss: u32,
    headers: u32,
    /// Bytes of a SYN.
    opening: u32,
}

impl Context {
    fn tell(&mut self, time: Time, flow: usize, kind: EventKind, value: u64) {
        self.told.push(Event { time, flow: flow as u16, kind, value });
    }
}

struct World {
    context: Context,
    forward: Vec<Box<dyn Element>>,
    back: Vec<Box<dyn Element>>,
    sender: Host,
    receiver: Host,
}

/// Switches off what only one of the hosts has: the handshake would.
fn shake_hands(config: &mut Config) {
    let both = config.sender.timestamps && config.receiver.timestamps;
    (config.sender.timestamps, config.receiver.timestamps) = (both, both);
    let (a, b) = (&mut config.sender.sysctl, &mut config.receiver.sysctl);
    let sack = a.tcp_sack && b.tcp_sack;
    (a.tcp_sack, b.tcp_sack) = (sack, sack);
    let scaling = a.tcp_window_scaling && b.tcp_window_scaling;
    (a.tcp_window_scaling, b.tcp_window_scaling) = (scaling, scaling);
}

/// What a run did, beside what it told.
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
    /// How often byte queue limits stopped a ring, and became smaller.
    pub limited: [u64; 2],
    /// Packets that GRO has joined to others, skbs that waited in it until its timer came, and polls that left something in it
    /// and in the ring.
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
    let hosts = [&world.sender, &world.receiver];
    let sum = |of: fn(&Host) -> u64| hosts.into_iter().map(of).sum();
    Done {
        segments: sum(|h| h.sends.values().map(|f| f.tcp.counters.segments_sent).sum()),
        locked_timers: [sum(|h| h.locked_timers), sum(|h| h.locked_delacks)],
        pauses: sum(|h| h.pauses),
        paced: sum(|h| h.paced),
        fired_together: sum(|h| h.fired_together),
        by_gro: [sum(|h| h.gro.joined), sum(|h| h.waited_in_gro), sum(|h| h.gro.left_in_ring)],
        limited: [0, 1].map(|what| hosts.into_iter().map(|h| h.transmit.limited()[what]).sum()),
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
                told: Vec::new(),
                pieces: Vec::new(),
                mss,
                headers,
                opening,
            },
            forward: config.forward.iter().map(build).collect(),
            back: config.back.iter().map(build).collect(),
            sender: Host::new(config, Side::Sender, mss),
            receiver: Host::new(config, Side::Receiver, mss),
        }
    }

    fn happen(&mut self, now: Time, what: Happening) {
        let cx = &mut self.context;
        match what {
            Happening::WireDone(Side::Sender) => {
                self.sender.transmit.advance(now, &mut cx.agenda);
                self.sender.follow();
            }
            Happening::WireDone(_) => {
                self.receiver.transmit.advance(now, &mut cx.agenda);
                self.receiver.follow();
            }
            Happening::Due(from @ Side::Sender, at) => {
                self.forward[at].due(now, Place { from, at }, &mut cx.agenda)
            }
            Happening::Due(from, at) => self.back[at].due(now, Place { from, at }, &mut cx.agenda),
            Happening::Arrival(from, at, packet) => self.arrive(now, from, at, packet),
            Happening::Interrupt(Side::Sender) => self.sender.receive.interrupt(now),
            Happening::Interrupt(_) => self.receiver.receive.interrupt(now),
            Happening::Softirq(Side::Sender) => self.sender.softirq(now, cx),
            Happening::Softirq(_) => self.receiver.softirq(now, cx),
            Happening::Timer(Side::Sender) => self.sender.timer(now, cx),
            Happening::Timer(_) => self.receiver.timer(now, cx),
            Happening::Process(Side::Sender) => self.sender.process(now, cx),
            Happening::Process(_) => self.receiver.process(now, cx),
            Happening::Sample => {}
        }
        for (flow, piece) in self.context.pieces.drain(..) {
            let ends = [&mut self.sender.receives, &mut self.receiver.receives];
            ends.into_iter()
                .filter_map(|ends| ends.get_mut(&flow))
                .for_each(|end| end.tcp.begin_piece(piece));
        }
    }

    /// A packet sent by `from` comes to element `at` of its way, or to the other host.
    fn arrive(&mut self, now: Time, from: Side, at: usize, packet: Packet) {
        let elements = match from {
            Side::Sender => &mut self.forward,
            Side::Receiver => &mut self.back,
        };
        match elements.get_mut(at) {
            Some(element) => {
                element.arrive(now, Place { from, at }, packet, &mut self.context.agenda)
            }
            None if from == Side::Sender => self.receiver.receive.arrive(now, packet),
            None => self.sender.receive.arrive(now, packet),
        }
    }

    /// Writes down when each host will next have something to do, as far as is known now.
    fn plan(&mut self, now: Time) {
        let agenda = &mut self.context.agenda;
        let (sender, receiver) = (&self.sender, &self.receiver);
        agenda.wish(now, Happening::Interrupt(Side::Sender), sender.receive.next_interrupt());
        agenda.wish(now, Happening::Interrupt(Side::Receiver), receiver.receive.next_interrupt());
        agenda.wish(now, Happening::Softirq(Side::Sender), sender.next_softirq());
        agenda.wish(now, Happening::Softirq(Side::Receiver), receiver.next_softirq());
        agenda.wish(now, Happening::Timer(Side::Sender), sender.timers.next());
        agenda.wish(now, Happening::Timer(Side::Receiver), receiver.timers.next());
        agenda.wish(now, Happening::Process(Side::Sender), sender.next_process());
        agenda.wish(now, Happening::Process(Side::Receiver), receiver.next_process());
    }
}
