//! Actions of the application and fates of packets, from a golden file.

use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes in a segment.
pub const SEGMENT: u32 = 1000;
/// Delay from the sender to the receiver, and back, ms, if a file says nothing else.
const WAY_MS: u64 = 50;

/// Actions of the application and fates of packets. Segments are numbered from 0, and `5/2` is the second transmission
/// of segment 5.
pub struct Plan {
    /// Times of writes, and the segments that each writes, in tenths.
    pub writes: Vec<(u64, u64)>,
    /// Time at which the application closes.
    pub closes: Option<u64>,
    pub lost: BTreeSet<(u64, u32)>,
    pub doubled: BTreeSet<(u64, u32)>,
    pub marked: BTreeSet<(u64, u32)>,
    pub delayed: BTreeMap<(u64, u32), u64>,
    /// Packets that the host's own queue refuses.
    pub refused: BTreeSet<(u64, u32)>,
    /// ACKs that are lost, by their number.
    pub lost_acks: BTreeSet<u64>,
    /// SO_RCVBUF.
    pub rcvbuf: Option<u64>,
    /// Whether rows of ACKs show their windows.
    pub windows: bool,
    /// Skbs wait in the host until the link has sent them, and take so much memory there besides their data, bytes.
    pub host: Option<u64>,
    /// Whether the same was done before, by another connection to the same host.
    pub earlier: bool,
    /// Time for which the receiving application rests: from, until.
    pub rests: Option<(u64, u64)>,
    pub end: u64,
    /// Rows before this time are not shown.
    pub from: u64,
    /// Delay from the sender to the receiver, and back, ms; at least 1.
    pub way: u64,
    /// Whether rows show how much of what is written the send buffer has taken.
    pub buffer: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            writes: Vec::new(),
            closes: None,
            lost: BTreeSet::new(),
            doubled: BTreeSet::new(),
            marked: BTreeSet::new(),
            delayed: BTreeMap::new(),
            refused: BTreeSet::new(),
            lost_acks: BTreeSet::new(),
            rcvbuf: None,
            windows: false,
            host: None,
            earlier: false,
            rests: None,
            end: 0,
            from: 0,
            way: WAY_MS,
            buffer: false,
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

/// `5`, `5/2`, `5..8`
fn packets(text: &str) -> Vec<(u64, u32)> {
    if let Some((start, end)) = text.split_once("..") {
        return (number(start)..number(end)).map(|n| (n, 1)).collect();
    }
    match text.split_once('/') {
        Some((segment, copy)) => vec![(number(segment), number(copy))],
        None => vec![(number(text), 1)],
    }
}

impl Plan {
    /// Time at which rows begin to count, ms; the handshake has taken a round trip until then.
    pub fn begins(&self) -> u64 {
        (2 * self.way).max(100)
    }

    /// Time of a row.
    pub fn time(&self, ms: u64) -> Time {
        Time::ms(self.begins() + ms)
    }

    /// The row's time when it is `time`.
    pub fn ms_at(&self, time: Time) -> u64 {
        time.as_us() / 1000 - self.begins()
    }

    /// A line of a golden file.
    pub fn line(&mut self, words: &[&str]) {
        let all = |rest: &[&str]| rest.iter().flat_map(|w| packets(w)).collect::<Vec<_>>();
        match words {
            ["write", amount] => self.writes.push((0, tenths(amount))),
            ["write", amount, "at", ms] => self.writes.push((number(ms), tenths(amount))),
            ["write", amount, "each", ms, "times", count] => {
                let (ms, count): (u64, u64) = (number(ms), number(count));
                self.writes.extend((0..count).map(|i| (i * ms, tenths(amount))));
            }
            ["close", "at", ms] => self.closes = Some(number(ms)),
            ["lose", rest @ ..] => self.lost.extend(all(rest)),
            ["refuse", rest @ ..] => self.refused.extend(all(rest)),
            ["mark", rest @ ..] => self.marked.extend(all(rest)),
            ["double", rest @ ..] => self.doubled.extend(all(rest)),
            ["delay", rest @ .., "by", ms] => {
                self.delayed.extend(all(rest).into_iter().map(|p| (p, number(ms))));
            }
            ["lose-acks", rest @ ..] => {
                self.lost_acks.extend(all(rest).into_iter().map(|p| p.0));
            }
            ["rcvbuf", bytes] => self.rcvbuf = Some(number(bytes)),
            ["rest", from, until] => self.rests = Some((number(from), number(until))),
            ["windows"] => self.windows = true,
            ["host", bytes] => self.host = Some(number(bytes)),
            ["way", ms] => self.way = number(ms),
            ["buffer"] => self.buffer = true,
            ["earlier"] => self.earlier = true,
            ["from", ms] => self.from = number(ms),
            ["end", ms] => self.end = number(ms),
            _ => panic!("{words:?} is no setting"),
        }
    }
}

/// An amount of segments in tenths.
fn tenths(text: &str) -> u64 {
    (number::<f64>(text) * 10.0).round() as u64
}
