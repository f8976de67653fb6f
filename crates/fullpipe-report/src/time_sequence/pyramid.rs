//! Drawing of a flow with too many packets for single marks: the range of sequence numbers in each bin of time.
//!
//! Bins are 2^shift ns wide and begin at multiples of that; bins of each level are four times as wide as bins of the
//! level below, so that one covers exactly four of them. Empty bins are left out. The finest level is the first that
//! needs no more than a set number of bins.

use super::chunk::{difference, number};
use fullpipe_analysis::trace::packets::PacketTrain;
use std::collections::BTreeMap;

/// Marks of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Mark {
    /// Data for the first time.
    Data,
    /// Retransmissions.
    Resent,
    /// Data seen before: hardware duplicates.
    Again,
    /// Data that was dropped later.
    Dropped,
    /// Acknowledged data.
    Ack,
    /// Where the advertised window ends.
    Edge,
    /// Data that SACK blocks reported.
    Sack,
    /// Data marked CE.
    Marked,
    /// ACKs that were dropped later, by the data that they acknowledge.
    AckDropped,
}

impl Mark {
    /// Number of marks.
    pub const COUNT: usize = 9;
}

/// Number of packets, and the range of their sequence numbers; nothing where the count is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Segments, ACKs or blocks.
    pub count: u64,
    /// The lowest.
    pub lo: u64,
    /// One past the highest sequence number.
    pub hi: u64,
}

impl Span {
    /// Joins another span.
    pub fn join(&mut self, other: Span) {
        *self = match (self.count, other.count) {
            (_, 0) => return,
            (0, _) => other,
            _ => Span {
                count: self.count + other.count,
                lo: self.lo.min(other.lo),
                hi: self.hi.max(other.hi),
            },
        };
    }
}

/// Spans of a bin, by [`Mark`].
pub type Bin = [Span; Mark::COUNT];

/// A level: bins by number, which is their time divided by their width.
#[derive(Clone, Debug)]
pub struct Level {
    /// Bins are 2^shift ns wide.
    pub shift: u32,
    /// In order.
    pub bins: Vec<(u64, Bin)>,
}

/// Bins of a page.
pub const BINS: usize = 2048;
/// The width of bins to begin with: 1024 ns.
const FINEST: u32 = 10;
/// Ratio of the widths of bins in consecutive levels: 4, as a power of two.
const STEP: u32 = 2;
/// Levels end when one has no more bins than this.
const FEW: usize = 512;

/// Ranges of sequence numbers by mark, in bins of time. Bins become four times as wide while there are more than
/// `most`.
#[derive(Debug)]
pub struct Pyramid {
    shift: u32,
    most: usize,
    bins: BTreeMap<u64, Bin>,
    trains: u64,
    /// All that passed.
    pub all: Bin,
}

impl Pyramid {
    /// An empty one that holds at most `most` bins.
    pub fn new(most: usize) -> Pyramid {
        Pyramid { shift: FINEST, most, bins: BTreeMap::new(), trains: 0, all: Bin::default() }
    }

    /// Takes a train.
    pub fn add(&mut self, train: &PacketTrain) {
        self.trains += 1;
        let mut from = 0;

        // A long train may span several bins: each gets its part.
        while from < train.count {
            let to = self.end_of_bin(train, from);
            let spans = spans(train, from, to);
            let bin = self.bins.entry(train.time_of(from).0 >> self.shift).or_default();
            for (i, span) in spans.iter().enumerate() {
                bin[i].join(*span);
                self.all[i].join(*span);
            }

            // Too many bins: neighbours join until the finest level fits again.
            while self.bins.len() > self.most {
                self.bins = widened(std::mem::take(&mut self.bins));
                self.shift += STEP;
            }
            from = to;
        }
    }

    /// The first packet of a train behind `from` that is not in the same bin.
    fn end_of_bin(&self, train: &PacketTrain, from: u32) -> u32 {
        let time = train.time_of(from).0;
        let end = ((time >> self.shift) + 1) << self.shift;
        let within = (end - time).div_ceil(train.spacing.max(1)).max(1);
        if train.spacing == 0 {
            train.count
        } else {
            from.saturating_add(within.min(u64::from(train.count)) as u32).min(train.count)
        }
    }

    /// The levels, the finest first: levels with at most a quarter as many bins as there were trains.
    pub fn levels(self) -> Vec<Level> {
        let (mut shift, mut bins, mut levels) = (self.shift, self.bins, Vec::new());
        loop {
            // A level with few bins is the coarsest: the loop ends there.
            let (few, packed) = (bins.len() <= FEW, bins.len() as u64 <= self.trains / 4);
            let next = if few { BTreeMap::new() } else { widened(bins.clone()) };
            if packed {
                levels.push(Level { shift, bins: bins.into_iter().collect() });
            }
            if few {
                return levels;
            }
            (bins, shift) = (next, shift + STEP);
        }
    }
}

/// Joins four bins each into one of four times the width.
fn widened(bins: BTreeMap<u64, Bin>) -> BTreeMap<u64, Bin> {
    let mut wide: BTreeMap<u64, Bin> = BTreeMap::new();
    for (number, bin) in bins {
        let into = wide.entry(number >> STEP).or_default();
        into.iter_mut().zip(bin).for_each(|(into, span)| into.join(span));
    }
    wide
}

/// Marks of the packets `from .. to` of a train.
fn spans(train: &PacketTrain, from: u32, to: u32) -> Bin {
    let mut bin = Bin::default();
    let (first, last) = (train.packet(from), train.packet(to - 1));
    let packets = u64::from(to - from);
    let segments = packets * u64::from(train.segments);
    let dropped = packets * u64::from(train.dropped);
    let mut set = |mark: Mark, count, lo, hi| bin[mark as usize].join(Span { count, lo, hi });
    if train.acks {
        // Packets before the first ACK acknowledge nothing.
        if train.ack == 0 {
            return bin;
        }
        let (lo, hi) = (first.ack, last.ack);
        set(Mark::Ack, packets, lo, hi);
        set(Mark::Edge, packets, lo + train.window, hi + train.window);
        set(Mark::AckDropped, dropped, lo, hi);

        // A block moves within the train: from its first start to its last end.
        for (block, (start, _)) in first.sacks.iter().enumerate().filter(|(_, sack)| sack.1 > 0) {
            set(Mark::Sack, packets, *start, last.sacks[block].1);
        }
        return bin;
    }
    let (lo, hi) = (first.seq, last.seq + u64::from(train.len));

    // A segment that is sent again is drawn apart from new data.
    let mark = match (train.again, train.resent) {
        (true, _) => Mark::Again,
        (_, true) => Mark::Resent,
        _ => Mark::Data,
    };
    set(mark, segments, lo, hi);
    set(Mark::Dropped, dropped, lo, hi);

    // ECN field 3 is CE: a queue has marked the packet.
    set(Mark::Marked, if train.ecn == 3 { segments } else { 0 }, lo, hi);
    bin
}

/// Bins as bytes: the numbers, then of each mark the counts, the lowest and the sizes; these only where there is something.
pub fn bins(bins: &[(u64, Bin)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut before = 0;

    // Neighbours differ little: differences take fewer bytes.
    for (index, _) in bins {
        difference(&mut out, *index, before);
        before = *index;
    }

    // Counts of all bins say which values follow.
    for mark in 0..Mark::COUNT {
        bins.iter().for_each(|(_, bin)| number(&mut out, bin[mark].count));
        let there = || bins.iter().map(|(_, bin)| bin[mark]).filter(|span| span.count > 0);
        let mut before = 0;
        for span in there() {
            difference(&mut out, span.lo, before);
            before = span.hi;
        }
        there().for_each(|span| number(&mut out, span.hi - span.lo));
    }
    out
}
