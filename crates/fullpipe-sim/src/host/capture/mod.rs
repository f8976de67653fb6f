//! Packets that a capture at one point sees, in order of time.
//!
//! Hosts and path report packets to the capture; the capture has no effect on them. The path is computed ahead of time,
//! and a packet's fate is known only later. So a sighting waits here until two things hold. No earlier sighting can
//! follow, and all of its segments were delivered or dropped.
//!
//! Limits:
//! - In front of an element of the path, ACKs are captured where they leave the backward direction.
//! - An skb of several segments that is captured before it is cut, or behind GRO, has the codepoint and the CWR of its
//!   first segment.
//! - PSH is never set. The receiver keeps its side open and sends no FIN.

mod headers;
mod sent_segments;

use crate::config::{Config, Direction, Flow};
use crate::host::transmit::SkbFate;
use crate::packet::{Kind, Train};
use crate::tcp::Ack;
use crate::trace::{Packet, Point, StageInfo};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use headers::Headers;
pub(crate) use sent_segments::Fate;
use sent_segments::SentSegments;

/// An skb that its host's qdisc has accepted.
pub(crate) struct Sent<'a> {
    /// The skb as TCP offered it.
    pub(crate) skb: &'a [Train],
    /// Serial of its first segment.
    pub(crate) serial: u64,
    /// Time at which TCP made the skb.
    pub(crate) made: Time,
    /// Time at which the driver refused the skb, if it did. The capture sees it then, too (a "hardware duplicate").
    pub(crate) refused: Option<Time>,
    /// Time at which the skb enters the ring.
    pub(crate) entry: Time,
    /// Fields that the trains do not have.
    pub(crate) what: What<'a>,
}

/// Fields of packets that a train does not have.
#[derive(Clone, Copy)]
pub(crate) enum What<'a> {
    /// No further fields.
    Plain,
    /// Content of the ACK.
    Ack(&'a Ack),
}

/// Fields of [`What`], kept for an skb that waits.
enum Kept {
    Plain,
    Ack(Box<Ack>),
}

impl Kept {
    fn of(what: What) -> Kept {
        match what {
            What::Plain => Kept::Plain,
            What::Ack(ack) => Kept::Ack(Box::new(*ack)),
        }
    }

    fn what(&self) -> What<'_> {
        match self {
            Kept::Plain => What::Plain,
            Kept::Ack(ack) => What::Ack(ack),
        }
    }
}

/// A place at which packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Passage from a host's qdisc to its driver.
    Driver,
    /// Exit of a host.
    Out,
    /// Entry of the watched element.
    Element,
    /// Entry of a host.
    In,
    /// A host's softirq.
    Softirq,
}

impl Place {
    /// Whether `point` sees packets from these hosts when they pass this place.
    fn is_at(self, point: Point, going: Going) -> bool {
        match (self, point) {
            (Place::Driver, Point::Qdisc(host)) | (Place::Out, Point::Wire(host)) => {
                going.from == host
            }
            (Place::Softirq, Point::Qdisc(host)) | (Place::In, Point::Wire(host)) => {
                going.to == host
            }
            (Place::Element, Point::Element(_)) => going.forward,
            (Place::In, Point::Element(_)) => !going.forward,
            _ => false,
        }
    }
}

/// A packet's flow and kind.
#[derive(Clone, Copy)]
pub(crate) struct Whose {
    pub(crate) flow: u16,
    pub(crate) kind: Kind,
}

impl Whose {
    /// Flow and kind of a train's packets.
    pub(crate) fn of(train: &Train) -> Whose {
        Whose { flow: train.flow, kind: train.kind }
    }
}

/// A sighting: time, its order at that time, host that sent the packet, serial of the first segment, number of
/// segments.
type Sighting = (Time, u64, usize, u64, u32);

/// The hosts between which packets travel, by place.
#[derive(Clone, Copy)]
struct Going {
    from: usize,
    to: usize,
    /// Whether the packets travel from the sender's end of the path to the other.
    forward: bool,
}

/// State of a capture.
pub(crate) struct Capture {
    point: Point,
    headers: Headers,
    /// Hosts of each flow's data.
    flows: Vec<Going>,
    /// Packets of each host.
    ways: Vec<SentSegments>,
    seen: BinaryHeap<Reverse<Sighting>>,
    sightings: u64,
    /// Serials of the packets that GRO joined to one packet, by that packet's host and serial.
    joined: BTreeMap<(usize, u64), Vec<u64>>,
    /// Serials of such packets, by the number of the skb's sighting.
    skbs: BTreeMap<u64, Vec<u64>>,
    stages: StageNumbers,
    /// Skbs that may wait in a qdisc, by number: when TCP made them, and fields that their trains do not have.
    waiting: BTreeMap<u64, (Time, Kept)>,
    numbered: u64,
}

/// [`StageInfo::index`] of the stages that drop packets.
#[derive(Default)]
struct StageNumbers {
    /// First elements of the forward and of the backward direction.
    elements: [u16; 2],
    /// Receive ring of each host.
    rx_rings: Vec<u16>,
    receive_buffers: Vec<u16>,
}

impl Going {
    /// Hosts of the data of a flow of `config`.
    fn of(flow: &Flow, config: &Config) -> Going {
        let [from, to] = config.hosts_of(flow).map(|host| config.place(host.name));
        Going { from, to, forward: flow.direction == Direction::Forward }
    }
}

impl Capture {
    /// A capture at `point` of a run with configuration `asked`, which became `agreed` in the handshakes.
    pub(crate) fn new(point: Point, asked: &Config, agreed: &Config, mss: u32) -> Capture {
        Capture {
            point,
            headers: Headers::new(point, asked, agreed, mss),
            flows: agreed.flows.iter().map(|flow| Going::of(flow, agreed)).collect(),
            ways: agreed.hosts().iter().map(|_| SentSegments::default()).collect(),
            seen: BinaryHeap::new(),
            sightings: 0,
            joined: BTreeMap::new(),
            skbs: BTreeMap::new(),
            stages: StageNumbers::default(),
            waiting: BTreeMap::new(),
            numbered: 0,
        }
    }

    /// Hosts of these packets.
    fn going(&self, whose: Whose) -> Going {
        let Going { from, to, forward } = self.flows[usize::from(whose.flow)];
        match whose.kind.is_of_sender() {
            true => Going { from, to, forward },
            false => Going { from: to, to: from, forward: !forward },
        }
    }

    /// Element of the forward direction that the capture watches.
    pub(crate) fn element(&self) -> Option<usize> {
        match self.point {
            Point::Element(place) => Some(place),
            _ => None,
        }
    }

    /// Takes the stages' numbers: those of the hosts of these names, and of the elements. Elements follow the rings of
    /// the hosts at the beginning of their direction.
    pub(crate) fn number(&mut self, stages: &[StageInfo], hosts: &[&str]) {
        let of = |host: &&str, what: &str| {
            let named = stages.iter().find(|s| s.name.strip_prefix(*host) == Some(what));
            named.map_or(0, |stage| stage.index)
        };
        let ring_before = |way: &str| {
            let rings = stages.iter().filter(|s| s.direction == way && s.kind == "tx_ring");
            rings.map(|stage| stage.index).max().unwrap_or(0)
        };
        self.stages = StageNumbers {
            elements: ["forward", "back"].map(|way| ring_before(way) + 1),
            rx_rings: hosts.iter().map(|host| of(host, ".rx_ring")).collect(),
            receive_buffers: hosts.iter().map(|host| of(host, ".receive_buffer")).collect(),
        };
    }

    /// Keeps an skb that is offered to a qdisc and may wait there; returns its number.
    #[cold]
    pub(crate) fn keep(&mut self, made: Time, what: What) -> u64 {
        self.numbered += 1;
        self.waiting.insert(self.numbered, (made, Kept::of(what)));
        self.numbered
    }

    /// Handles the end of such an skb's wait; an skb that the qdisc dropped was never sent.
    #[cold]
    pub(crate) fn sent_late(&mut self, gone: &SkbFate) {
        let Some((made, kept)) = self.waiting.remove(&gone.tag.number) else { return };
        if let Some(entered) = &gone.entered {
            let (skb, serial, entry) = (&entered.trains[..], entered.serial, entered.at);
            self.sent(&Sent { skb, serial, made, refused: None, entry, what: kept.what() });
        }
    }

    /// Notes an skb that a host's qdisc has accepted.
    #[cold]
    pub(crate) fn sent(&mut self, sent: &Sent) {
        let Some(head) = sent.skb.first() else { return };
        let going = self.going(Whose::of(head));
        let mut segments = 0;
        for train in sent.skb {
            for i in 0..train.count {
                let packet = self.headers.packet(&train.part(i, 1), sent.made, sent.what);
                self.ways[going.from].add(sent.serial + u64::from(segments), packet);
                segments += 1;
            }
        }

        // dev_hard_start_xmit shows a capture the skb at each attempt, refused ones too.
        if Place::Driver.is_at(self.point, going) {
            for time in sent.refused.into_iter().chain([sent.entry]) {
                self.see(time, going.from, sent.serial, segments);
            }
        }
    }

    /// Notes packets that pass a place.
    #[cold]
    pub(crate) fn pass(&mut self, place: Place, train: &Train) {
        if train.kind.is_datagram() {
            return;
        }
        let going = self.going(Whose::of(train));
        if !place.is_at(self.point, going) {
            return;
        }
        for i in 0..train.count {
            self.ways[going.from].bear(train.serial + u64::from(i), train.ecn);
            self.see(train.time(i), going.from, train.serial + u64::from(i), 1);
        }
    }

    fn see(&mut self, time: Time, from: usize, serial: u64, segments: u32) {
        if !self.ways[from].see(serial, segments) {
            return;
        }
        self.seen.push(Reverse((time, self.sightings, from, serial, segments)));
        self.sightings += 1;
    }

    /// Notes a packet that a host's softirq hands up at `time`, with all packets that GRO joined to it, as one skb.
    #[cold]
    pub(crate) fn take(&mut self, packet: &Train, time: Time) {
        if packet.kind.is_datagram() {
            return;
        }
        let going = self.going(Whose::of(packet));
        if !Place::Softirq.is_at(self.point, going) {
            return;
        }

        let way = &mut self.ways[going.from];
        way.bear(packet.serial, packet.ecn);
        let joined = self.joined.get(&(going.from, packet.serial));
        let joined = joined.filter(|_| packet.kind == Kind::Data).into_iter().flatten().copied();
        // A copy that the path has made causes no second sighting.
        let joined: Vec<u64> = joined.filter(|&serial| way.see(serial, 1)).collect();
        if !joined.is_empty() {
            self.skbs.insert(self.sightings, joined);
        }
        self.see(time, going.from, packet.serial, 1);
    }

    /// Notes packets that an element dropped.
    pub(crate) fn drop_in_element(&mut self, place: usize, packets: &Train) {
        let way = usize::from(!self.going(Whose::of(packets)).forward);
        self.drop(packets, self.stages.elements[way] + place as u16);
    }

    /// Notes packets that a host dropped: in its receive ring (0) or in the backlog behind it (1).
    #[cold]
    pub(crate) fn drop_in_host(&mut self, place: u16, packets: &Train) {
        let host = self.going(Whose::of(packets)).to;
        self.drop(packets, self.stages.rx_rings[host] + place);
    }

    fn drop(&mut self, packets: &Train, stage: u16) {
        if packets.kind.is_datagram() {
            return;
        }
        for i in 0..packets.count {
            let whose = Whose::of(packets);
            self.settle(whose, packets.serial + u64::from(i), Fate::Dropped(stage));
        }
    }

    /// Notes that TCP of the receiving host took a data segment, or dropped it. TCP echoes its timestamp from now on,
    /// unless it begins above the acknowledged data (tcp_replace_ts_recent).
    #[cold]
    pub(crate) fn take_segment(&mut self, flow: u16, serial: u64, echoed: bool, dropped: bool) {
        let whose = Whose { flow, kind: Kind::Data };
        if echoed {
            self.store_ts_recent(whose, serial);
        }
        let Going { from, to, .. } = self.going(whose);
        let stage = self.stages.receive_buffers[to];
        let fate = if dropped { Fate::Dropped(stage) } else { Fate::Delivered };
        self.settle(whose, serial, fate);
        // Segments that GRO joined share the fate of their skb.
        for joined in self.joined.remove(&(from, serial)).unwrap_or_default() {
            self.settle(whose, joined, fate);
        }
    }

    /// Notes that GRO joined a packet to the skb of packet `first`: both have one fate from now on.
    #[cold]
    pub(crate) fn join_received(&mut self, flow: u16, first: u64, serial: u64) {
        let Going { from, .. } = self.going(Whose { flow, kind: Kind::Data });
        self.joined.entry((from, first)).or_default().push(serial);
    }

    /// Sets the fate of a packet.
    #[cold]
    pub(crate) fn settle(&mut self, whose: Whose, serial: u64, fate: Fate) {
        let Going { from, .. } = self.going(whose);
        self.ways[from].settle(serial, fate);
    }

    /// Lets TCP at the packet's end read its timestamp, to echo it.
    #[cold]
    pub(crate) fn store_ts_recent(&mut self, whose: Whose, serial: u64) {
        let Going { from, .. } = self.going(whose);
        if let Some(packet) = self.ways[from].packet(serial) {
            if whose.kind == Kind::Ack && packet.fin {
                self.headers.take_readers_fin(whose.flow);
            }
            self.headers.store_ts_recent(whose, packet.timestamps.map(|times| times.value));
        }
    }

    /// The next packet of the capture, when the run has reached `now`; at the run's `end` also packets on their way.
    pub(crate) fn next_packet(&mut self, now: Time, end: bool) -> Option<Packet> {
        let &Reverse((time, number, from, serial, segments)) = self.seen.peek()?;
        let way = &mut self.ways[from];
        let joined = self.skbs.get(&number).map_or(&[][..], |joined| joined);

        // A packet is written when nothing can change it: earlier sightings are over, all fates are known.
        let ready = match end {
            true => time <= now,
            false => time < now && way.is_settled(serial, segments, joined),
        };
        if !ready {
            return None;
        }

        self.seen.pop();
        let joined = self.skbs.remove(&number).unwrap_or_default();
        way.take_sighting(serial, segments, &joined, time)
    }
}
