//! Everything that is going to happen, in one heap.

use super::packet::Packet;
use fullpipe_sim::units::Time;
use std::collections::BinaryHeap;

/// One of the two hosts; for a packet, the host that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sends data.
    Sender,
    /// Sends ACKs.
    Receiver,
}

/// Something that happens at a moment.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A card has put a segment on the wire.
    WireDone(Side),
    /// A packet leaves an element of the way that begins at this host, or its timer ticks.
    Due(Side, usize),
    /// A packet comes to an element of the way, or beyond the last one to the host.
    Arrival(Side, usize, Packet),
    /// A `netif_rx` driver's interrupt.
    Interrupt(Side),
    /// A host takes packets.
    Softirq(Side),
    /// A timer of a host is due.
    Timer(Side),
    /// An application's step ends, or one may begin.
    Process(Side),
    /// The trace wants to know.
    Sample,
}

impl Happening {
    /// Order of what happens at one moment: first what leaves a place, then what arrives at one, then
    /// the hosts in the order that `fullpipe_sim::sim` gives, then the sample.
    fn rank(&self) -> usize {
        match self {
            Happening::WireDone(_) | Happening::Due(..) => 0,
            Happening::Arrival(..) => 1,
            Happening::Interrupt(Side::Sender) => 2,
            Happening::Interrupt(Side::Receiver) => 3,
            Happening::Softirq(Side::Sender) => 4,
            Happening::Softirq(Side::Receiver) => 5,
            Happening::Timer(Side::Sender) => 6,
            Happening::Timer(Side::Receiver) => 7,
            Happening::Process(Side::Sender) => 8,
            Happening::Process(Side::Receiver) => 9,
            Happening::Sample => 10,
        }
    }
}

struct Entry {
    key: (Time, usize, u64),
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

/// See the module's description.
#[derive(Default)]
pub struct Agenda {
    heap: BinaryHeap<Entry>,
    added: u64,
    now: Time,
    /// When each host last wished to be called, by rank.
    wishes: [Option<Time>; 11],
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
        let wished = &mut self.wishes[what.rank()];
        if *wished != time {
            *wished = time;
            if let Some(time) = time {
                self.add(time, what);
            }
        }
    }

    /// What happens next. A wish that was taken back does not.
    pub fn next(&mut self) -> Option<(Time, Happening)> {
        loop {
            let Entry { key: (time, rank, _), what } = self.heap.pop()?;
            assert!(time >= self.now, "time goes back from {} to {time}", self.now);
            self.now = time;
            if !(2..10).contains(&rank) {
                return Some((time, what));
            }
            if self.wishes[rank] == Some(time) {
                self.wishes[rank] = None;
                return Some((time, what));
            }
        }
    }
}
