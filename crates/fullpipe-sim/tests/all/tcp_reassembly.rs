//! The receiver against a list of segments, each of which has arrived or not: readable data, memory, ACKs. Segments
//! arrive in any order, again and again.

use crate::conversation::{SEGMENT, host, profile};
use crate::random;
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::rng::Rng;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;
use proptest::prelude::*;

/// Memory of a segment besides its data, in the profile that is used here.
const RX_OVERHEAD: u64 = 256;

/// Events.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A segment comes, so many after the first one that is missing.
    Segment(usize),
    /// Reads so many bytes.
    Read(u64),
    /// The delayed ACK's timer fires, if it runs.
    Timer,
}

/// Lengths of all segments, what happens, and the buffer asked for.
type Story = (Vec<u32>, Vec<Step>, u64);

fn story(rcvbuf: impl Strategy<Value = u64>) -> impl Strategy<Value = Story> {
    let length = prop_oneof![3 => Just(SEGMENT), 1 => 1..SEGMENT];
    let step = prop_oneof![
        6 => prop_oneof![3 => Just(0usize), 2 => 0..12usize].prop_map(Step::Segment),
        2 => prop_oneof![1..5000u64, Just(1 << 20)].prop_map(Step::Read),
        1 => Just(Step::Timer),
    ];
    (prop::collection::vec(length, 300), prop::collection::vec(step, 1..250), rcvbuf)
}

struct Pair {
    tcp: Receiver,
    /// Start, length and whether it has come.
    segments: Vec<(u64, u64, bool)>,
    read: u64,
    now: Time,
    /// End of the last advertised window.
    edge: u64,
    /// The segment in hand, if it has arrived before.
    twice: Option<SeqRange>,
    /// The last segment, until an ACK reports it.
    latest: Option<SeqRange>,
}

fn segment_of(seq: u64, len: u64) -> Segment {
    Segment { seq, len: len as u32, ..Segment::default() }
}

impl Pair {
    fn new(lengths: &[u32], rcvbuf: u64) -> Pair {
        let mut at = 0;
        let segment = |&len: &u32| {
            at += u64::from(len);
            (at - u64::from(len), u64::from(len), false)
        };
        let segments = lengths.iter().map(segment).collect();
        let tcp = Receiver::new(profile(|_| {}), &host(), SEGMENT, Some(rcvbuf));
        Pair { tcp, segments, read: 0, now: Time::ms(1), edge: 0, twice: None, latest: None }
    }

    /// Whether all of the segment lies in the last advertised window.
    fn may_come(&self, at: usize) -> bool {
        let (start, len, _) = self.segments[at];
        start + len <= self.edge || self.edge == 0 && at < 4
    }

    fn perform(&mut self, step: Step) -> Option<Ack> {
        self.now += Time::ms(1);
        match step {
            Step::Segment(ahead) => {
                let missing = self.segments.iter().position(|s| !s.2)?;
                // Now and then an acknowledged segment arrives again.
                let at = if ahead == 11 { missing.saturating_sub(2) } else { missing + ahead };
                if at >= self.segments.len() || !self.may_come(at) {
                    return None;
                }
                let (start, len, _) = self.segments[at];
                self.twice = self.segments[at].2.then_some(SeqRange::new(start, start + len));
                self.segments[at].2 = true;
                self.latest = Some(SeqRange::new(start, start + len));
                self.tcp.on_segment(self.now, segment_of(start, len))
            }
            Step::Read(bytes) => {
                let bytes = bytes.min(self.tcp.readable());
                self.read += bytes;
                self.tcp.read(self.now, bytes)
            }
            Step::Timer => {
                self.now = self.tcp.acks.timer?.max(self.now);
                self.tcp.on_delack_timer(self.now)
            }
        }
    }

    /// First byte missing.
    fn next(&self) -> u64 {
        let end = self.segments.last().map_or(0, |s| s.0 + s.1);
        self.segments.iter().find(|s| !s.2).map_or(end, |s| s.0)
    }

    fn compare(&mut self, ack: Option<Ack>) -> Result<(), String> {
        let next = self.next();
        let held = self.segments.iter().filter(|s| s.2 && s.0 + s.1 > self.read);
        let memory: u64 = held.map(|s| s.1 + RX_OVERHEAD).sum();
        let whole = |until: u64| self.segments.iter().filter(|s| s.0 + s.1 <= until).count() as u64;
        let expected = [next, next - self.read, memory, whole(next), whole(self.read), 0];
        let tcp = &self.tcp;
        let memory = tcp.window.rmem_alloc;
        let (queued, read) = (tcp.segments_queued, tcp.segments_read);
        let found = [tcp.rcv_nxt, tcp.readable(), memory, queued, read, tcp.dropped];
        if expected != found {
            return Err(format!("{found:?}, not {expected:?}"));
        }
        ack.map_or(Ok(()), |ack| self.judge(&ack))
    }

    /// Checks an ACK: it reports the missing number and data that arrived twice, and SACKs arrived ranges, whole and
    /// once.
    fn judge(&mut self, ack: &Ack) -> Result<(), String> {
        let next = self.next();
        let edge = ack.ack + ack.window;
        let slack = 1 << self.tcp.window.wscale;
        if ack.ack != next || edge + slack <= self.edge {
            return Err(format!(
                "{ack:?}, but {next} is next and the window ended at {}",
                self.edge
            ));
        }
        self.edge = edge;
        let mut blocks: Vec<_> =
            ack.sacks.iter().flat_map(|s| s.blocks[..s.count].iter().copied()).collect();
        let twice = self.twice.take().map(|expected| (expected, blocks.remove(0)));
        if twice.is_some_and(|(expected, found)| expected != found) {
            return Err(format!("{ack:?}: twice came {twice:?}"));
        }
        let runs = self.runs_beyond(next);
        let latest = self.latest.take().filter(|latest| latest.start > next);
        if latest
            .is_some_and(|l| !blocks.first().is_some_and(|b| b.start <= l.start && l.end <= b.end))
        {
            return Err(format!("{ack:?}, but {latest:?} has come now"));
        }
        // A block may be less than the arrived data: others were forgotten in between.
        let within =
            |b: &SeqRange| !b.is_empty() && runs.iter().any(|r| r.0 <= b.start && b.end <= r.1);
        let count = blocks.len();
        blocks.sort_unstable_by_key(|block| block.start);
        let apart = blocks.windows(2).all(|pair| pair[0].end < pair[1].start);
        if count > 4 - usize::from(twice.is_some()) || !apart || !blocks.iter().all(within) {
            return Err(format!("{ack:?}, but {runs:?} have come"));
        }
        Ok(())
    }

    /// Ranges without a hole above `next`.
    fn runs_beyond(&self, next: u64) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (start, len, _) in self.segments.iter().filter(|s| s.2 && s.0 > next) {
            match runs.last_mut() {
                Some((_, end)) if end == start => *end += len,
                _ => runs.push((*start, start + len)),
            }
        }
        runs
    }
}

fn agree(story: &Story) -> Result<(), String> {
    let (lengths, steps, rcvbuf) = story;
    let mut pair = Pair::new(lengths, *rcvbuf);
    for (i, step) in steps.iter().enumerate() {
        let ack = pair.perform(*step);
        let judged = pair.compare(ack);
        judged
            .map_err(|e| format!("step {i} {step:?}: next, readable, memory, queued, read: {e}"))?;
    }
    Ok(())
}

#[test]
fn segments_are_reassembled_and_accounted_one_by_one() {
    random::check(2000, story(100_000..2_000_000u64), agree);
}

/// However little memory there is: in the end everything is read, in order, and all memory is free.
fn survives(story: &Story) -> Result<(), String> {
    let (lengths, steps, rcvbuf) = story;
    let mut pair = Pair::new(lengths, *rcvbuf);
    for step in steps {
        let ack = pair.perform(*step);
        // A dropped segment has not arrived.
        let next = pair.tcp.rcv_nxt;
        if pair.tcp.dropped > 0 {
            pair.segments.iter_mut().for_each(|s| s.2 = s.0 < next);
            pair.tcp.dropped = 0;
        }
        pair.edge = pair.edge.max(ack.map_or(0, |ack| ack.ack + ack.window));
        let (used, granted) = (pair.tcp.window.rmem_alloc, pair.tcp.window.rcvbuf);
        if used > granted + u64::from(SEGMENT) + RX_OVERHEAD {
            return Err(format!("{used} bytes of {granted} are in use after {step:?}"));
        }
    }
    while let Some(segment) = pair.segments.iter().find(|s| s.0 + s.1 > pair.tcp.rcv_nxt).copied() {
        pair.now += Time::ms(1);
        pair.tcp.read(pair.now, pair.tcp.readable());
        // A probe: its answer has the window that this has opened.
        pair.tcp.on_segment(pair.now, segment_of(pair.tcp.rcv_nxt, 0));
        pair.tcp.on_segment(pair.now, segment_of(segment.0, segment.1));
        if pair.tcp.rcv_nxt < segment.0 + segment.1 {
            return Err(format!("{segment:?} is not taken at {}", pair.tcp.rcv_nxt));
        }
    }
    pair.tcp.read(pair.now, pair.tcp.readable());
    let all: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let (read, memory) = (pair.tcp.bytes_read, pair.tcp.window.rmem_alloc);
    if (read, memory) == (all, 0) { Ok(()) } else { Err(format!("{read} of {all}, {memory} used")) }
}

#[test]
fn a_small_buffer_loses_nothing_for_good() {
    random::check(2000, story(3_000..30_000u64), survives);
}

/// A sender that cuts its data anew sends segments that overlap those that came before. Whatever their bounds and order,
/// all data becomes readable, and no memory remains.
#[test]
fn segments_may_overlap() {
    const BYTES: u64 = 60_000;
    for (seed, kernel) in (0..300).zip(["2.6.20", "3.14", "6.1", "6.12"].into_iter().cycle()) {
        let profile = find(kernel).expect("it is there");
        let mut tcp = Receiver::new(profile, &host(), SEGMENT, Some(1 << 20));
        let mut random = Rng::new(seed, "overlaps");
        let mut draw = |most: u64| random.next_u64() % most;
        for round in 0..200 {
            let seq = draw(BYTES - 1);
            let len = (1 + draw(u64::from(SEGMENT))).min(BYTES - seq) as u32;
            tcp.on_segment(Time::ms(round), Segment { seq, len, ..Segment::default() });
        }

        // At last everything is sent again, in order and in other segments.
        let (mut read, mut seq) = (0, 0);
        while seq < BYTES {
            let len = (700 + draw(300)).min(BYTES - seq) as u32;
            tcp.on_segment(Time::secs(1), Segment { seq, len, ..Segment::default() });
            read += tcp.readable();
            tcp.read(Time::secs(1), tcp.readable());
            seq += u64::from(len);
        }
        assert_eq!(read, BYTES, "seed {seed} on {kernel}");
        assert_eq!(tcp.window.rmem_alloc, 0, "seed {seed} on {kernel}");
    }
}
