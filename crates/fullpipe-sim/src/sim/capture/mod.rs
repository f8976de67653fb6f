//! What a capture at one point sees, in order of time.
//!
//! The hosts and the path tell of what they do with packets; nothing of it comes back to them. The
//! path is computed ahead of time, and what becomes of a packet is known only later: so what was
//! seen waits here until nothing can come before it any more and all of its segments were delivered
//! or dropped.

mod headers;
mod way;

use crate::config::{Config, Direction};
use crate::path::host::transmit::Gone;
use crate::tcp::Ack;
use crate::trace::{Packet, Point, StageInfo};
use crate::train::{Kind, Train};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use headers::Headers;
pub(super) use way::Fate;
use way::Way;

/// An skb that its host's qdisc has taken.
pub(super) struct Sent<'a> {
    /// As it was offered.
    pub(super) skb: &'a [Train],
    /// Serial of its first segment.
    pub(super) serial: u64,
    /// When TCP made it.
    pub(super) made: Time,
    /// When the driver refused it: it is seen then, too (a "hardware duplicate").
    pub(super) refused: Option<Time>,
    /// When it enters the ring.
    pub(super) entry: Time,
    /// What the trains do not say of it.
    pub(super) what: What<'a>,
}

/// What a train does not say of its packets.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    /// Nothing.
    Plain,
    /// What the ACK says.
    Ack(&'a Ack),
}

/// The same, kept for an skb that waits.
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
pub(super) enum Place {
    /// They go from a host's qdisc to its driver.
    Driver,
    /// They leave a host.
    Out,
    /// They come to the watched element.
    Element,
    /// They come to a host.
    In,
    /// A host's softirq takes them.
    Softirq,
}

impl Place {
    /// Whether packets of this direction are seen at `point` when they pass here.
    fn is_at(self, point: Point, forward: bool) -> bool {
        match (point, forward) {
            (Point::SenderQdisc, true) | (Point::Receiver, false) => self == Place::Driver,
            (Point::SenderQdisc, false) | (Point::Receiver, true) => self == Place::Softirq,
            (Point::SenderWire, true) => self == Place::Out,
            (Point::Element(_), true) => self == Place::Element,
            (Point::SenderWire | Point::Element(_), false) => self == Place::In,
        }
    }
}

/// A packet's flow and kind.
pub(super) type Whose = (u16, Kind);

/// When, the order of what is seen at one time, the direction, serial of the first segment, how many.
type Sighting = (Time, u64, bool, u64, u32);

/// See the module's description.
pub(super) struct Capture {
    point: Point,
    headers: Headers,
    /// Whether each flow's data goes from the sender to the receiver.
    forward: Vec<bool>,
    /// The way forward, the way back.
    ways: [Way; 2],
    seen: BinaryHeap<Reverse<Sighting>>,
    sightings: u64,
    /// Serials of the packets that came to TCP as one with the first, by direction and that one's serial.
    joined: BTreeMap<(bool, u64), Vec<u64>>,
    stages: StageNumbers,
    /// Skbs that may wait in a qdisc, by number: when TCP made them, and what their trains do not say.
    waiting: BTreeMap<u64, (Time, Kept)>,
    numbered: u64,
}

/// [`StageInfo::index`] of the stages that drop packets.
#[derive(Default)]
struct StageNumbers {
    /// The first element of each way, then `rx_ring` at its end.
    elements: [u16; 2],
    rx_rings: [u16; 2],
    /// Of the receiver, and of the sender.
    receive_buffers: [u16; 2],
}

impl Capture {
    /// A capture at `point` of a run for which `asked` was configured and `agreed` was negotiated.
    pub(super) fn new(point: Point, asked: &Config, agreed: &Config, mss: u32) -> Capture {
        Capture {
            point,
            headers: Headers::new(asked, agreed, mss),
            forward: agreed.flows.iter().map(|f| f.direction == Direction::Forward).collect(),
            ways: Default::default(),
            seen: BinaryHeap::new(),
            sightings: 0,
            joined: BTreeMap::new(),
            stages: StageNumbers::default(),
            waiting: BTreeMap::new(),
            numbered: 0,
        }
    }

    /// Whether these packets go from the sender to the receiver.
    fn is_forward(&self, (flow, kind): Whose) -> bool {
        kind.is_of_sender() == self.forward[usize::from(flow)]
    }

    /// The element of the way forward that is to be watched.
    pub(super) fn element(&self) -> Option<usize> {
        match self.point {
            Point::Element(place) => Some(place),
            _ => None,
        }
    }

    /// Learns the stages' numbers.
    pub(super) fn number(&mut self, stages: &[StageInfo]) {
        let number = |name: &str| stages.iter().find(|s| s.name == name).map_or(0, |s| s.index);
        self.stages = StageNumbers {
            elements: ["sender.tx_ring", "receiver.tx_ring"].map(|name| number(name) + 1),
            rx_rings: ["receiver.rx_ring", "sender.rx_ring"].map(number),
            receive_buffers: ["receiver.receive_buffer", "sender.receive_buffer"].map(number),
        };
    }

    /// An skb is offered to a qdisc in which it may wait; its number.
    #[cold]
    pub(super) fn keep(&mut self, made: Time, what: What) -> u64 {
        self.numbered += 1;
        self.waiting.insert(self.numbered, (made, Kept::of(what)));
        self.numbered
    }

    /// Such an skb has left the qdisc; one that was dropped there was never sent.
    #[cold]
    pub(super) fn sent_late(&mut self, gone: &Gone) {
        let Some((made, kept)) = self.waiting.remove(&gone.tag.number) else { return };
        if let Some(entered) = &gone.entered {
            let (skb, serial, entry) = (&entered.trains[..], entered.serial, entered.at);
            self.sent(&Sent { skb, serial, made, refused: None, entry, what: kept.what() });
        }
    }

    /// A host's qdisc has taken an skb.
    #[cold]
    pub(super) fn sent(&mut self, sent: &Sent) {
        let Some(head) = sent.skb.first() else { return };
        let forward = self.is_forward((head.flow, head.kind));
        let mut segments = 0;
        for train in sent.skb {
            for i in 0..train.count {
                let packet = self.headers.packet(&train.part(i, 1), sent.made, sent.what);
                self.ways[usize::from(!forward)].add(sent.serial + u64::from(segments), packet);
                segments += 1;
            }
        }
        if Place::Driver.is_at(self.point, forward) {
            for time in sent.refused.into_iter().chain([sent.entry]) {
                self.see(time, forward, sent.serial, segments);
            }
        }
    }

    /// Packets pass a place.
    #[cold]
    pub(super) fn pass(&mut self, place: Place, train: &Train) {
        let forward = self.is_forward((train.flow, train.kind));
        if !place.is_at(self.point, forward) {
            return;
        }
        for i in 0..train.count {
            self.ways[usize::from(!forward)].bear(train.serial + u64::from(i), train.ecn);
            self.see(train.time(i), forward, train.serial + u64::from(i), 1);
        }
    }

    fn see(&mut self, time: Time, forward: bool, serial: u64, segments: u32) {
        if !self.ways[usize::from(!forward)].see(serial, segments) {
            return;
        }
        self.seen.push(Reverse((time, self.sightings, forward, serial, segments)));
        self.sightings += 1;
    }

    /// A host's softirq takes a packet at `time`.
    #[cold]
    pub(super) fn take(&mut self, packet: &Train, time: Time) {
        self.pass(Place::Softirq, &packet.retimed(0, 1, time, 0));
    }

    /// An element dropped packets.
    pub(super) fn drop_in_element(&mut self, place: usize, packets: &Train) {
        let way = usize::from(!self.is_forward((packets.flow, packets.kind)));
        self.drop(packets, self.stages.elements[way] + place as u16);
    }

    /// A host dropped packets: in its receive ring (0) or in the backlog behind it (1).
    #[cold]
    pub(super) fn drop_in_host(&mut self, place: u16, packets: &Train) {
        let way = usize::from(!self.is_forward((packets.flow, packets.kind)));
        self.drop(packets, self.stages.rx_rings[way] + place);
    }

    fn drop(&mut self, packets: &Train, stage: u16) {
        for i in 0..packets.count {
            let whose = (packets.flow, packets.kind);
            self.settle(whose, packets.serial + u64::from(i), Fate::Dropped(stage));
        }
    }

    /// TCP of the receiving host took a data segment, or dropped it. Its timestamp is echoed from now
    /// on if it does not begin above what was acknowledged (tcp_replace_ts_recent).
    #[cold]
    pub(super) fn take_segment(&mut self, flow: u16, serial: u64, echoed: bool, dropped: bool) {
        let whose = (flow, Kind::Data);
        if echoed {
            self.hear(whose, serial);
        }
        let forward = self.is_forward(whose);
        let stage = self.stages.receive_buffers[usize::from(!forward)];
        let fate = if dropped { Fate::Dropped(stage) } else { Fate::Delivered };
        self.settle(whose, serial, fate);
        for joined in self.joined.remove(&(forward, serial)).unwrap_or_default() {
            self.settle(whose, joined, fate);
        }
    }

    /// GRO has joined a packet of a flow to the skb whose first one is `first`: what becomes of that becomes of both.
    #[cold]
    pub(super) fn join_received(&mut self, flow: u16, first: u64, serial: u64) {
        let forward = self.is_forward((flow, Kind::Data));
        self.joined.entry((forward, first)).or_default().push(serial);
    }

    /// It is known what became of a packet.
    #[cold]
    pub(super) fn settle(&mut self, whose: Whose, serial: u64, fate: Fate) {
        let way = usize::from(!self.is_forward(whose));
        self.ways[way].settle(serial, fate);
    }

    /// TCP at the packet's end reads its timestamp, to echo it.
    #[cold]
    pub(super) fn hear(&mut self, whose: Whose, serial: u64) {
        let way = usize::from(!self.is_forward(whose));
        if let Some(packet) = self.ways[way].packet(serial) {
            self.headers.hear(whose, packet.timestamps);
        }
    }

    /// The next packet to tell when the run has come to `now`; at its `end` also what is under way.
    pub(super) fn tell(&mut self, now: Time, end: bool) -> Option<Packet> {
        let &Reverse((time, _, forward, serial, segments)) = self.seen.peek()?;
        let way = &mut self.ways[usize::from(!forward)];
        let ready = match end {
            true => time <= now,
            false => time < now && way.is_settled(serial, segments),
        };
        if !ready {
            return None;
        }
        self.seen.pop();
        way.tell(serial, segments, time)
    }
}
