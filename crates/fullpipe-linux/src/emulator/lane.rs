//! One direction of the path: its elements, and the packets that wait for their fate or their time.

use super::queue::Verdict;
use fullpipe_base::trace::StageSample;
use fullpipe_base::units::Time;
use fullpipe_guest::plan::SEEN_BYTES;
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::packet::{Ecn, Kind, Train};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Fate of a segment that no element has decided yet.
const OPEN: u64 = u64::MAX;
/// Fate of a segment that an element dropped; smaller values are the times at which segments arrive.
const LOST: u64 = u64::MAX - 1;

pub(super) use fullpipe_guest::plan::{FIRST_PORT, SEGMENTS_QUEUE, WHOLE_QUEUE};

/// A packet of the kernel whose segments have no fate yet, or not all of them.
struct Undecided {
    id: u32,
    /// Number of its first segment.
    first: u64,
    /// Fate of each segment.
    fates: Vec<u64>,
    open: usize,
}

/// A decided packet that waits for its time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    /// Time of its release, ns from the run's start.
    pub(super) at: u64,
    /// Number of its last segment: packets of one time keep their order.
    pub(super) last: u64,
    /// Number of the packet in its queue, and the queue's.
    pub(super) id: u32,
    pub(super) queue: u16,
}

/// A segment that the kernel has split off and that has not come back yet.
struct Returning {
    fate: u64,
    number: u64,
}

/// A verdict to give now.
pub(super) struct Given {
    pub(super) queue: u16,
    pub(super) id: u32,
    pub(super) verdict: Verdict,
}

/// Flows of each connection in one direction, by the connection's number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flows {
    /// Flow whose data goes in this direction.
    pub(super) data: Vec<u16>,
    /// Flow whose ACKs do.
    pub(super) acks: Vec<u16>,
}

impl Flows {
    /// Flow of a packet: a connection's number follows from the receiver's port.
    fn of(&self, shape: &Shape) -> u16 {
        let numbers = shape.ports.into_iter().map(|port| port.wrapping_sub(FIRST_PORT));
        let all = if shape.kind == Kind::Ack { &self.acks } else { &self.data };
        let mut found = numbers.filter_map(|number| all.get(usize::from(number)));
        found.next().copied().unwrap_or_default()
    }
}

/// One direction.
pub(super) struct Lane {
    chain: Chain,
    flows: Flows,
    /// Largest IP packet of the path, bytes.
    mtu: u32,
    /// Number of the next segment.
    next: u64,
    undecided: VecDeque<Undecided>,
    due: BinaryHeap<Reverse<Due>>,
    returning: VecDeque<Returning>,
    arrivals: Vec<Train>,
    spare: Vec<Vec<u64>>,
    /// Segments that elements dropped.
    pub(super) drops: u64,
}

impl Lane {
    pub(super) fn new(chain: Chain, flows: Flows, mtu: u32) -> Lane {
        Lane {
            chain,
            flows,
            mtu,
            next: 0,
            undecided: VecDeque::new(),
            due: BinaryHeap::new(),
            returning: VecDeque::new(),
            arrivals: Vec::new(),
            spare: Vec::new(),
            drops: 0,
        }
    }

    /// Takes a packet that the kernel queued at `now`; `header` is its beginning.
    pub(super) fn take(&mut self, now: Time, id: u32, header: &[u8], given: &mut Vec<Given>) {
        let shape = Shape::of(header, self.mtu);
        let whole = Train { flow: self.flows.of(&shape), ..shape.train(now) };
        let mut fates = self.spare.pop().unwrap_or_default();
        fates.resize(shape.count() as usize, OPEN);
        let open = fates.len();
        self.undecided.push_back(Undecided { id, first: self.next, fates, open });

        // Segments of the full size are one train, a shorter last one is another.
        let parts = [(shape.full, shape.full_bytes), (u32::from(shape.rest > 0), shape.rest)];
        for (count, ip_len) in parts.into_iter().filter(|(count, _)| *count > 0) {
            let len = ip_len.saturating_sub(shape.headers);
            let train = Train { count, ip_len, len, serial: self.next, ..whole };
            self.next += u64::from(count);
            self.chain.push(&train, &mut self.arrivals);
        }
        self.judge(given);
    }

    /// Takes a segment that the kernel split off.
    pub(super) fn take_back(&mut self, id: u32, given: &mut Vec<Given>) {
        let queue = SEGMENTS_QUEUE;
        match self.returning.pop_front() {
            Some(Returning { fate: LOST, .. }) => {
                given.push(Given { queue, id, verdict: Verdict::Drop });
            }
            Some(Returning { fate: at, number }) => {
                self.due.push(Reverse(Due { at, last: number, id, queue }));
            }
            // No split was asked for: the packet goes on.
            None => given.push(Given { queue, id, verdict: Verdict::Accept }),
        }
    }

    /// Lets elements act that are due by `now`.
    pub(super) fn wake(&mut self, now: Time, given: &mut Vec<Given>) {
        loop {
            let time = self.chain.wake_time();
            if time > now {
                return;
            }
            self.chain.wake(time, &mut self.arrivals);
            self.judge(given);
        }
    }

    /// Time at which there is something to do, ns; none: only a packet changes something.
    pub(super) fn next_time(&mut self) -> u64 {
        let release = self.due.peek().map_or(u64::MAX, |Reverse(due)| due.at);
        let acts = self.chain.wake_time();
        if acts == Time::NEVER { release } else { release.min(acts.0) }
    }

    /// The next packet that is due by `now`, in order.
    pub(super) fn release(&mut self, now: u64) -> Option<Due> {
        let Reverse(next) = self.due.peek()?;
        // No packet overtakes a segment that is on its way back from the kernel.
        let waits = self.returning.front().is_some_and(|own| own.number < next.last);
        if next.at > now || waits {
            return None;
        }
        self.due.pop().map(|Reverse(due)| due)
    }

    /// Samples of the elements at `time`.
    pub(super) fn sample(&mut self, time: Time) -> Vec<StageSample> {
        self.chain.stages_mut().map(|stage| stage.sample(time)).collect()
    }

    /// Hands the fates that elements have decided to the packets of the kernel.
    fn judge(&mut self, given: &mut Vec<Given>) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for train in arrivals.drain(..) {
            for i in 0..train.count {
                self.decide(train.serial + u64::from(i), train.time(i).0, given);
            }
        }
        self.arrivals = arrivals;
        let dropped: Vec<Train> = self.chain.dropped().map(|(_, train)| train).collect();
        for train in dropped {
            self.drops += u64::from(train.count);
            for i in 0..train.count {
                self.decide(train.serial + u64::from(i), LOST, given);
            }
        }
    }

    /// Sets the fate of a segment; a packet with no open one is decided.
    fn decide(&mut self, number: u64, fate: u64, given: &mut Vec<Given>) {
        let behind = self.undecided.partition_point(|own| own.first <= number);
        let Some(own) = behind.checked_sub(1).and_then(|at| self.undecided.get_mut(at)) else {
            return;
        };
        let Some(slot) = own.fates.get_mut((number - own.first) as usize) else { return };
        if *slot != OPEN {
            return;
        }
        *slot = fate;
        own.open -= 1;
        if own.open == 0 {
            self.finish(behind - 1, given);
        }
    }

    /// Decides a packet whose segments all have a fate.
    fn finish(&mut self, at: usize, given: &mut Vec<Given>) {
        let Some(own) = self.undecided.remove(at) else { return };
        let Undecided { id, first, mut fates, .. } = own;
        let lost = fates.iter().filter(|fate| **fate == LOST).count();
        let queue = WHOLE_QUEUE;
        if lost == fates.len() {
            given.push(Given { queue, id, verdict: Verdict::Drop });
        } else if lost == 0 {
            // A packet is whole at the other end when its last segment has arrived.
            let at = fates.iter().copied().max().unwrap_or_default();
            let last = first + fates.len() as u64 - 1;
            self.due.push(Reverse(Due { at, last, id, queue }));
        } else {
            let numbered = fates.iter().zip(first..);
            let back = numbered.map(|(fate, number)| Returning { fate: *fate, number });
            self.returning.extend(back);
            given.push(Given { queue, id, verdict: Verdict::Requeue(SEGMENTS_QUEUE) });
        }
        fates.clear();
        self.spare.push(fates);
    }
}

/// Segments of a packet.
struct Shape {
    /// Segments of the full size, and their IP bytes.
    full: u32,
    full_bytes: u32,
    /// IP bytes of a last segment that is shorter; 0: there is none.
    rest: u32,
    /// Bytes of the headers in each segment.
    headers: u32,
    kind: Kind,
    ecn: Ecn,
    /// Source and destination port of TCP or UDP.
    ports: [u16; 2],
}

impl Shape {
    /// Segments of the packet with that beginning; an unknown one is a single segment.
    fn of(header: &[u8], mtu: u32) -> Shape {
        let byte = |at: usize| header.get(at).copied().unwrap_or_default();
        let total = u32::from(u16::from_be_bytes([byte(2), byte(3)]));
        let ip = usize::from(byte(0) & 0xf) * 4;
        let ecn = match byte(1) & 3 {
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            3 => Ecn::Ce,
            _ => Ecn::NotEct,
        };
        let is_tcp = byte(9) == 6;
        let ports = [ip, ip + 2].map(|at| u16::from_be_bytes([byte(at), byte(at + 1)]));
        let headers = ip as u32 + u32::from(byte(ip + 12) >> 4) * 4;
        let payload = total.saturating_sub(headers);
        const FIN: u8 = 1;
        const SYN: u8 = 2;
        let flags = byte(ip + 13);
        let kind = match is_tcp {
            true if flags & SYN > 0 => Kind::Syn,
            // A FIN alone takes a number, as data does.
            true if payload > 0 || flags & FIN > 0 => Kind::Data,
            true => Kind::Ack,
            false => Kind::Datagram,
        };
        if !is_tcp || total <= mtu || headers >= mtu || headers > SEEN_BYTES {
            return Shape { full: 1, full_bytes: total.max(1), rest: 0, headers, kind, ecn, ports };
        }
        let each = mtu - headers;
        let rest = payload % each;
        let rest = if rest > 0 { rest + headers } else { 0 };
        Shape { full: payload / each, full_bytes: mtu, rest, headers, kind, ecn, ports }
    }

    /// Number of segments.
    fn count(&self) -> u32 {
        self.full + u32::from(self.rest > 0)
    }

    /// A train of its packets that begins at `now`, without their number and size.
    fn train(&self, now: Time) -> Train {
        Train {
            flow: 0,
            connection: 0,
            kind: self.kind,
            skb: 0,
            number: 0,
            len: 0,
            ip_len: 0,
            ecn: self.ecn,
            ece: false,
            cwr: false,
            carries: 0,
            tsval: 0,
            tsecr: 0,
            push: false,
            fin: false,
            count: 0,
            serial: 0,
            first: now,
            spacing: 0,
        }
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
