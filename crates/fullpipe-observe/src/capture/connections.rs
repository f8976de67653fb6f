//! All connections of a capture, with counts: little memory for each.

use super::segment::{Offer, Segment};
use super::sequence::{Numbers, Stream};
use fullpipe_base::units::Time;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

/// Packets of a direction that are remembered to find copies.
const REMEMBERED: usize = 32;
/// Longest time between a packet and a copy of it, which may wait in a queue between two interfaces.
const COPY: Time = Time::ms(100);

/// Packets of a connection that one end sends.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Packets, without copies.
    pub packets: u64,
    /// Packets with data.
    pub data_packets: u64,
    /// Bytes of data, those that came again included.
    pub bytes: u64,
    /// Packets with data that came before, or that fill a hole.
    pub late_packets: u64,
    /// Bytes that came again.
    pub again: u64,
    /// Packets that were captured twice: a mirror of both directions, several interfaces, or a driver.
    pub copies: u64,
    /// ACKs with SACK blocks.
    pub sack_acks: u64,
    /// Windows of 0 bytes, but for those of RST.
    pub zero_windows: u64,
    /// Bytes that the other end acknowledged and that were never captured.
    pub unseen: u64,
    /// Largest segment, bytes of data.
    pub largest: u32,
    /// Options of its SYN; none where no SYN was captured.
    pub offer: Option<Offer>,
    /// Whether it sent FIN.
    pub fin: bool,
    /// Whether it sent RST.
    pub rst: bool,
    /// Whether options of a segment were cut off by the length of the capture.
    pub options_cut: bool,
    /// Whether it uses timestamps.
    pub stamps: bool,
    /// Least time from its data to the other end's ACK, where one was measured.
    pub answered: Option<Time>,
    /// Least time from the other end's segment to the first data that echoes its timestamp.
    pub echoed: Option<Time>,
    /// Interface of the first packet.
    interface: Option<u32>,
    /// Largest acknowledgment number.
    acked: u32,
    numbers: Numbers,
    stream: Stream,
    /// Signatures and times of the last packets.
    last: VecDeque<(u64, Time)>,
    /// End and time of a segment whose ACK is awaited.
    timed: Option<(u64, Time)>,
    /// Timestamp whose echo is awaited, and its time.
    stamped: Option<(u32, Time)>,
}

impl Way {
    /// Bytes of data without those that came again.
    pub fn unique(&self) -> u64 {
        self.bytes - self.again
    }

    /// Whether a packet was captured before: a retransmission has another identification.
    fn is_copy(&mut self, segment: &Segment) -> bool {
        let is_elsewhere = *self.interface.get_or_insert(segment.interface) != segment.interface;
        let is_copy = if is_elsewhere { !self.is_new(segment) } else { self.was_seen(segment) };
        self.copies += u64::from(is_copy);
        is_copy
    }

    /// Whether a segment has data or an acknowledgment beyond all before.
    fn is_new(&self, segment: &Segment) -> bool {
        let end = self.numbers.clone().of(segment.seq.wrapping_add(segment.len));
        let is_beyond = self.stream.top().is_none_or(|top| end > top);
        let newer = segment.ack.wrapping_sub(self.acked) as i32 > 0;
        (segment.takes() > 0 && is_beyond) || (segment.takes() == 0 && newer)
    }

    /// Whether the last packets have one with its identification and fields.
    fn was_seen(&mut self, segment: &Segment) -> bool {
        let Some(id) = segment.id.filter(|id| *id != 0) else { return false };
        let stamp = segment.stamps.map_or(0, |own| own.value);
        let fields = [segment.seq, segment.ack, segment.len, u32::from(segment.window), stamp];
        let signature = fields
            .into_iter()
            .fold(mixed(u64::from(id)), |sum, own| mixed(sum.wrapping_add(u64::from(own))));
        let is_near = |then: Time| segment.time.saturating_sub(then) <= COPY;
        if self.last.iter().any(|(it, then)| *it == signature && is_near(*then)) {
            return true;
        }
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back((signature, segment.time));
        false
    }
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its ends: the one that opened it first, or the one of the first packet.
    pub ends: [SocketAddr; 2],
    /// Time of its first packet, since 1970.
    pub first: Time,
    /// Time of its last packet.
    pub last: Time,
    /// Data and ACKs of each end.
    pub ways: [Way; 2],
    /// Times of SYN, SYN-ACK and the ACK behind it.
    pub handshake: [Option<Time>; 3],
    /// Number of the connection in its capture, from 0 on.
    pub index: usize,
}

impl Connection {
    fn new(segment: &Segment, index: usize) -> Connection {
        // A SYN-ACK comes from the end that was called.
        let is_answer = segment.flags.syn && segment.flags.ack;
        let [from, to] = segment.ends;
        Connection {
            ends: if is_answer { [to, from] } else { [from, to] },
            first: segment.time,
            last: segment.time,
            ways: [Way::default(), Way::default()],
            handshake: [None; 3],
            index,
        }
    }

    /// Number of the end that sends more data.
    pub fn main_way(&self) -> usize {
        usize::from(self.ways[1].unique() > self.ways[0].unique())
    }

    /// Packets of both ways.
    pub fn packets(&self) -> u64 {
        self.ways.iter().map(|own| own.packets).sum()
    }

    /// Length of its life.
    pub fn lasts(&self) -> Time {
        self.last.saturating_sub(self.first)
    }

    /// Number of the end that sends a segment.
    pub fn way_of(&self, segment: &Segment) -> usize {
        usize::from(segment.ends[0] != self.ends[0])
    }

    /// Whether both ends, or one with RST, have ended it.
    fn is_over(&self) -> bool {
        self.ways.iter().any(|own| own.rst) || self.ways.iter().all(|own| own.fin)
    }

    /// Counts a segment; returns false for a copy of an earlier packet.
    fn add(&mut self, segment: &Segment) -> bool {
        let way = self.way_of(segment);
        self.last = self.last.max(segment.time);
        if self.ways[way].is_copy(segment) {
            return false;
        }
        self.shake_hands(way, segment);
        let [first, second] = &mut self.ways;
        let (own, other) = if way == 0 { (first, second) } else { (second, first) };
        count(own, segment);
        data(own, segment);
        acknowledge(own, other, segment);
        true
    }

    fn shake_hands(&mut self, way: usize, segment: &Segment) {
        let flags = segment.flags;
        let place = match (flags.syn, flags.ack) {
            (true, false) => 0,
            (true, true) => 1,
            (false, true) if way == 0 && self.handshake[1].is_some() => 2,
            _ => return,
        };
        // A SYN that is sent again counts until its answer comes; of the others the first one.
        let is_open = place == 0 && self.handshake[1].is_none();
        if is_open || self.handshake[place].is_none() {
            self.handshake[place] = Some(segment.time);
        }
    }
}

/// A number whose bits all depend on those of another one (the finalizer of SplitMix64).
fn mixed(own: u64) -> u64 {
    let own = own.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let own = (own ^ own >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let own = (own ^ own >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    own ^ own >> 31
}

fn count(own: &mut Way, segment: &Segment) {
    let flags = segment.flags;
    own.packets += 1;
    own.fin |= flags.fin;
    own.rst |= flags.rst;
    own.stamps |= segment.stamps.is_some();
    own.options_cut |= segment.options_cut;
    own.offer = own.offer.or(segment.offer);
    own.sack_acks += u64::from(!segment.sacks.blocks().is_empty());
    if flags.ack && (own.packets == 1 || segment.ack.wrapping_sub(own.acked) as i32 > 0) {
        own.acked = segment.ack;
    }
    own.zero_windows += u64::from(flags.ack && !flags.rst && segment.window == 0);
}

fn data(own: &mut Way, segment: &Segment) {
    let first = own.numbers.of(segment.seq) + u64::from(segment.flags.syn);
    if segment.takes() == 0 {
        return;
    }
    let end = first + u64::from(segment.len);
    let added = own.stream.add(first, end);
    if segment.len == 0 {
        return;
    }
    own.data_packets += 1;
    own.bytes += u64::from(segment.len);
    own.largest = own.largest.max(segment.len);
    own.again += added.again;
    if added.again + added.filled > 0 {
        own.late_packets += 1;
        // An ACK of what was sent twice measures nothing (Karn).
        own.timed = None;
    } else if own.timed.is_none() {
        own.timed = Some((end, segment.time));
    }
}

/// Counts what a segment says about the other end's data.
fn acknowledge(own: &mut Way, other: &mut Way, segment: &Segment) {
    let least =
        |own: &mut Option<Time>, new: Time| *own = Some(own.map_or(new, |own| own.min(new)));
    if let Some(stamps) = segment.stamps {
        // Data echoes the last timestamp that its sender has received.
        if let Some((value, then)) = own.stamped.filter(|_| segment.len > 0)
            && stamps.echo.wrapping_sub(value) as i32 >= 0
        {
            if stamps.echo == value {
                least(&mut own.echoed, segment.time.saturating_sub(then));
            }
            own.stamped = None;
        }
        if other.stamped.is_none() {
            other.stamped = Some((stamps.value, segment.time));
        }
    }
    if !segment.flags.ack || other.stream.top().is_none() {
        return;
    }
    let ack = other.numbers.of(segment.ack);
    if let Some((_, then)) = other.timed.filter(|(end, _)| ack >= *end) {
        least(&mut other.answered, segment.time.saturating_sub(then));
        other.timed = None;
    }
    // A FIN takes a number, too.
    let top = other.stream.top().unwrap_or(ack);
    if ack > top + 1 {
        other.unseen += ack - top;
        other.stream.add(top, ack);
    }
}

/// Connections of a capture.
#[derive(Debug, Default)]
pub struct Connections {
    all: Vec<Connection>,
    /// The newest connection between two ends.
    newest: HashMap<(u32, [SocketAddr; 2]), usize>,
}

impl Connections {
    /// All connections, in the order of their first packets.
    pub fn all(&self) -> &[Connection] {
        &self.all
    }

    /// Counts a segment; returns the number of its connection, and false for a copy of an earlier packet.
    pub fn add(&mut self, segment: &Segment) -> (usize, bool) {
        let mut ends = segment.ends;
        ends.sort();
        let next = self.all.len();
        let place = self.newest.entry((segment.network, ends)).or_insert(next);

        // A SYN behind the end of a connection opens another one between its ends.
        let opens = segment.flags.syn && !segment.flags.ack;
        if *place < next && opens && self.all[*place].is_over() {
            *place = next;
        }
        if *place == next {
            self.all.push(Connection::new(segment, next));
        }
        (*place, self.all[*place].add(segment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::segment::{Flags, sample};

    fn segment(us: u64, from: u16, seq: u32, len: u32) -> Segment {
        Segment { id: Some(us as u16 + 1), ..sample(us, from, seq, len) }
    }

    fn syn(us: u64, from: u16, is_answer: bool) -> Segment {
        let flags = Flags { syn: true, ack: is_answer, ..Flags::default() };
        Segment { flags, ..segment(us, from, 99, 0) }
    }

    #[test]
    fn a_syn_behind_the_end_opens_another_connection() {
        let mut all = Connections::default();
        let fin = |us, from| Segment {
            flags: Flags { fin: true, ack: true, ..Flags::default() },
            ..segment(us, from, 100, 0)
        };
        for own in [syn(0, 1, false), syn(10, 2, true), fin(20, 1), syn(25, 1, false)] {
            all.add(&own);
        }
        assert_eq!(all.all().len(), 1, "one end is still open");
        for own in [fin(30, 2), syn(40, 1, false), syn(50, 2, true)] {
            all.add(&own);
        }
        assert_eq!(all.all().len(), 2);
        assert_eq!(all.all()[1].first, Time::us(40));
    }

    #[test]
    fn a_packet_that_is_captured_twice_counts_once() {
        let mut all = Connections::default();
        let own = segment(0, 1, 100, 10);
        let again = Segment { time: Time::us(40), ..own };
        let resent = Segment { id: Some(77), time: Time::us(80), ..own };
        assert_eq!([own, again, resent].map(|own| all.add(&own).1), [true, false, true]);
        let way = &all.all()[0].ways[0];
        assert_eq!((way.packets, way.copies, way.bytes, way.again), (2, 1, 20, 10));
        assert_eq!((way.unique(), way.late_packets), (10, 1));
    }

    #[test]
    fn packets_with_rising_identifications_are_no_copies() {
        let mut all = Connections::default();
        for n in 0..100 {
            let id = Some(500 + n as u16);
            assert!(all.add(&Segment { id, ..segment(n * 10, 1, 100 + n as u32, 1) }).1);
        }
        assert_eq!(all.all()[0].ways[0].copies, 0);
    }

    #[test]
    fn another_interface_adds_what_is_new_alone() {
        let mut all = Connections::default();
        let own = Segment { id: None, ..segment(0, 1, 100, 10) };
        let there = Segment { interface: 7, time: Time::ms(80), ..own };
        let next = Segment { seq: 110, ..there };
        assert_eq!([own, there, next].map(|own| all.add(&own).1), [true, false, true]);
        assert_eq!(all.all()[0].ways[0].late_packets, 0);
    }

    #[test]
    fn data_that_is_acknowledged_unseen_was_missed() {
        let mut all = Connections::default();
        all.add(&segment(0, 1, 100, 10));
        all.add(&Segment { ack: 160, ..segment(10, 2, 0, 0) });
        all.add(&segment(20, 1, 160, 10));
        let way = &all.all()[0].ways[0];
        assert_eq!((way.unseen, way.late_packets), (50, 0));
    }

    #[test]
    fn an_answer_shows_who_has_called() {
        let mut all = Connections::default();
        all.add(&syn(0, 2, true));
        assert_eq!(all.all()[0].ends[0].port(), 1);
        assert_eq!(all.all()[0].way_of(&segment(1, 2, 0, 0)), 1);
    }
}
