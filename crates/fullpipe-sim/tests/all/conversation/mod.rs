//! Conversations with one endpoint, as tables: each row is an event and the endpoint's reaction.
//!
//! A table is both a script and its result. The test performs the first two columns of each row and compares the whole.
//! One segment is 1000 bytes and the unit of everything: `4..6` are the bytes 4000 to 5999, a window of 8 is 8000
//! bytes. A jiffy is 1 ms.

pub mod receiver;
pub mod sender;

use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{App, Flow, Host, Sysctl};
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::profile::{self, Profile};
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, Output, Sacks, Transmission};
use fullpipe_sim::units::Time;

/// Bytes in a segment.
pub const SEGMENT: u32 = 1000;

/// The profile of Linux 2.6.20, changed by `change`.
pub fn profile(change: impl Fn(&mut Profile)) -> &'static Profile {
    let mut profile = *profile::find("2.6.20").expect("it is known");
    change(&mut profile);
    Box::leak(Box::new(profile))
}

/// A flow of reno from the start on, which writes without end.
pub fn flow(name: &str, write: u32) -> Flow {
    Flow {
        name: name.into(),
        direction: Default::default(),
        from: None,
        to: None,
        answers: None,
        quickack: None,
        congestion: "reno".into(),
        parameters: Vec::new(),
        slow_start: None,
        sndbuf: None,
        rcvbuf: None,
        sockopt: Default::default(),
        start: Time::ZERO,
        after: None,
        app: App::Bulk,
        bytes: None,
        duration: None,
        write,
        reader: None,
    }
}

/// A host with room for everything.
pub fn host() -> Host {
    let sysctl = Sysctl {
        rmem_max: 1 << 24,
        wmem_max: 1 << 24,
        tcp_rmem: [4096, 87_380, 1 << 24],
        tcp_wmem: [4096, 16_384, 1 << 24],
        ..Sysctl::LINUX_2_6_20
    };
    Host { sysctl, ..Host::plain("2.6.20") }
}

/// Takes all that TCP sends.
#[derive(Default)]
pub struct Wire {
    pub now: Time,
    pub sent: Vec<Transmission>,
}

impl Output for Wire {
    fn transmit(&mut self, skb: Transmission) -> bool {
        self.sent.push(skb);
        true
    }
    fn now(&self) -> Time {
        self.now
    }
}

/// A connection to which so many segments were written at 100 ms, which its handshake took, and its wire.
pub fn written(profile: &Profile, host: &Host, cc: Congestion, segments: u32) -> (Sender, Wire) {
    let mut tcp = Sender::new(profile, host, cc, SEGMENT, Some(1 << 22));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(wire.now, 1 << 20, Some(Time::ZERO), None);
    let goal = tcp.size_goal();
    (0..segments).rev().for_each(|left| tcp.copied(SEGMENT, goal, left > 0, &mut wire));
    tcp.end_write(&mut wire);
    (tcp, wire)
}

/// An ACK of so many segments, with SACK blocks in segments.
pub fn ack(segments: u64, sacks: &[(u64, u64)]) -> Ack {
    let bytes = |n| n * u64::from(SEGMENT);
    let mut blocks = [SeqRange::default(); 4];
    for (slot, &(start, end)) in blocks.iter_mut().zip(sacks) {
        *slot = SeqRange::new(bytes(start), bytes(end));
    }
    let sacks = (!sacks.is_empty()).then_some(Sacks { blocks, count: sacks.len() });
    Ack { ack: bytes(segments), window: 1 << 20, sacks, ..Ack::default() }
}

/// `4.5` segments in bytes.
pub fn bytes(text: &str) -> u64 {
    let segments: f64 = text.parse().unwrap_or_else(|_| panic!("{text} is not a number"));
    (segments * f64::from(SEGMENT)).round() as u64
}

/// Bytes in segments.
pub fn segments(bytes: u64) -> String {
    format!("{}", bytes as f64 / f64::from(SEGMENT))
}

/// `4..6`
pub fn range(text: &str) -> SeqRange {
    let (start, end) = text.split_once("..").unwrap_or_else(|| panic!("{text} is not a range"));
    SeqRange::new(bytes(start), bytes(end))
}

/// A range of segments as text.
pub fn shown(range: SeqRange) -> String {
    format!("{}..{}", segments(range.start), segments(range.end))
}

/// Performs the rows of `table` with `perform`, which returns a row's time and its last columns. Compares the result
/// with `table`.
pub fn perform(table: &str, mut perform: impl FnMut(u64, &str) -> (u64, String, String)) {
    let mut rows = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = rows.next().expect("a table has a head");
    let mut out = vec![head.to_string()];
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let time = cells[0].parse().unwrap_or_else(|_| panic!("a time first: {row}"));
        let (time, state, sent) = perform(time, cells[1]);
        out.push(format!("{time} | {} | {state} | {sent}", cells[1]));
    }
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected: Vec<_> = table.lines().map(plain).filter(|line| !line.is_empty()).collect();
    let found: Vec<_> = out.iter().map(|line| plain(line)).collect();
    assert!(expected == found, "\nexpected:{table}\nfound:\n{}\n", aligned(&out));
}

/// Columns under each other.
fn aligned(rows: &[String]) -> String {
    let rows: Vec<Vec<_>> =
        rows.iter().map(|row| row.split('|').map(str::trim).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.len()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<&str>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(i, (cell, width))| match i {
            0 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        format!("        {}", cells.collect::<Vec<_>>().join(" | ")).trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
