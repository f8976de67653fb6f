//! Everything that is going to happen, in one heap.

use super::packet::Packet;
use fullpipe_sim::config::Direction;
use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, BinaryHeap};

/// Something that happens at a moment. Hosts are named by their places.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A card has put a segment on the wire.
    WireDone(usize),
    /// A packet leaves an element of the way, or its timer ticks.
    Due(Direction, usize),
    /// A packet comes to an element of the way, or beyond the last one to its host.
    Arrival(Direction, usize, Packet),
    /// A `netif_rx` driver's interrupt.
    Interrupt(usize),
    /// A host takes packets.
    Softirq(usize),
    /// A timer of a host is due.
    Timer(usize),
    /// An application's step ends, or one may begin.
    Process(usize),
    /// A packet of a host comes to a way into which several send.
    Entry(usize, Packet),
    /// The trace wants to know.
    Sample,
}

/// Ranks of what hosts wish.
const WISHES: std::ops::RangeInclusive<usize> = 2..=5;

impl Happening {
    /// Order of events at one moment: first departures from a place, then arrivals at one. Then follow the hosts in the
    /// order of `fullpipe_sim::sim`, then packets of merge queues, then the sample.
    fn rank(&self) -> (usize, usize) {
        match *self {
            Happening::WireDone(_) | Happening::Due(..) => (0, 0),
            Happening::Arrival(..) => (1, 0),
            Happening::Interrupt(host) => (2, host),
            Happening::Softirq(host) => (3, host),
            Happening::Timer(host) => (4, host),
            Happening::Process(host) => (5, host),
            Happening::Entry(host, _) => (6, host),
            Happening::Sample => (7, 0),
        }
    }
}

struct Entry {
    key: (Time, (usize, usize), u64),
    what: Happening,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.key == other.key
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    /// The heap's greatest is the earliest.
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        other.key.cmp(&self.key)
    }
}

/// Queue of future events.
#[derive(Default)]
pub struct Agenda {
    heap: BinaryHeap<Entry>,
    added: u64,
    now: Time,
    /// Time at which each host last wished to be called, by rank.
    wishes: BTreeMap<(usize, usize), Time>,
}

impl Agenda {
    /// `what` happens at `time`.
    pub fn add(&mut self, time: Time, what: Happening) {
        assert!(time >= self.now, "{what:?} at {time} was planned at {}", self.now);
        self.added += 1;
        let key = (time, what.rank(), self.added);
        self.heap.push(Entry { key, what });
    }

    /// A host wants `what` at `time` instead of when it wanted it before; none: not at all.
    pub fn wish(&mut self, now: Time, what: Happening, time: Option<Time>) {
        let time = time.map(|t| t.max(now));
        let rank = what.rank();
        if self.wishes.get(&rank).copied() != time {
            self.wishes.remove(&rank);
            if let Some(time) = time {
                self.wishes.insert(rank, time);
                self.add(time, what);
            }
        }
    }

    /// The next happening. A wish that was taken back does not happen.
    pub fn next(&mut self) -> Option<(Time, Happening)> {
        loop {
            let Entry { key: (time, rank, _), what } = self.heap.pop()?;
            assert!(time >= self.now, "time goes back from {} to {time}", self.now);
            self.now = time;
            if !WISHES.contains(&rank.0) {
                return Some((time, what));
            }
            if self.wishes.get(&rank) == Some(&time) {
                self.wishes.remove(&rank);
                return Some((time, what));
            }
        }
    }
}
