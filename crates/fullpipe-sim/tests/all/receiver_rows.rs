//! Segments in a row beyond a hole that a receiver takes together do to it what they do one by one.

use crate::conversation::host;
use crate::random;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::{self, Profile};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

const MSS: u32 = 1000;

/// Arrivals at a receiver; segments have numbers.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Segments in a row; the first is so far from the highest one that has arrived.
    Row { from_highest: i64, count: u32 },
    /// The first missing segment.
    Next,
    /// The application reads all.
    Read,
}

type Case = (Host, Option<u64>, Vec<Step>);

/// Rows that were taken together, and their segments.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// One in sixteen is short.
fn len(number: u64) -> u32 {
    if number % 16 == 13 { 400 } else { MSS }
}

fn seq(number: u64) -> u64 {
    (0..number % 16).map(|i| u64::from(len(i))).sum::<u64>() + number / 16 * 15_400
}

fn number(seq: u64) -> u64 {
    (seq / 15_400 * 16..).find(|&number| self::seq(number) >= seq).expect("one begins there")
}

fn step() -> impl Strategy<Value = Step> {
    let from = prop_oneof![2 => Just(0i64), 2 => 1..4i64, 2 => -30..0i64];
    let row = (from, 1..12u32).prop_map(|(from_highest, count)| Step::Row { from_highest, count });
    prop_oneof![8 => row, 1 => Just(Step::Next), 1 => Just(Step::Read)]
}

fn case() -> impl Strategy<Value = Case> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let hosts = (switches, -2..3i32).prop_map(|((sack, dsack, timestamps, scaling), scale)| {
        let mut host = host();
        host.timestamps = timestamps;
        let sysctl = &mut host.sysctl;
        (sysctl.tcp_sack, sysctl.tcp_dsack, sysctl.tcp_window_scaling) = (sack, dsack, scaling);
        sysctl.tcp_adv_win_scale = scale;
        host
    });
    let buffers = prop_oneof![Just(None), (3_000..200_000u64).prop_map(Some)];
    (hosts, buffers, prop::collection::vec(step(), 1..40))
}

/// The ACKs of a row, one by one.
fn alone(tcp: &mut Receiver, first: u64, count: u32) -> Vec<Ack> {
    let numbers = first..first + u64::from(count);
    let segments = numbers.map(|i| Segment { seq: seq(i), len: len(i), ..Segment::default() });
    segments.filter_map(|segment| tcp.on_segment(Time::ms(1), segment)).collect()
}

/// ACKs of `count` segments, where as many as possible are taken together.
fn together(tcp: &mut Receiver, first: u64, count: u32) -> Vec<Ack> {
    let mut acks = Vec::new();
    let (mut next, beyond) = (first, first + u64::from(count));
    while next < beyond {
        let len = len(next);
        let row = (next..beyond).take_while(|&i| self::len(i) == len).count() as u32;
        let taken = (seq(next) > tcp.rcv_nxt)
            .then(|| tcp.on_row_beyond_hole(seq(next), len, row))
            .flatten();
        let Some(mut ack) = taken else {
            acks.extend(alone(tcp, next, 1));
            next += 1;
            continue;
        };
        TAKEN.fetch_add(row, Ordering::Relaxed);
        for _ in 0..row {
            acks.push(ack);
            if let Some(sacks) = &mut ack.sacks {
                sacks.blocks[0].end += u64::from(len);
            }
        }
        next += u64::from(row);
    }
    acks
}

fn state(tcp: &Receiver) -> String {
    let numbers = (tcp.rcv_nxt, tcp.readable(), tcp.dropped, tcp.duplicates, tcp.segments_queued);
    let acks = (tcp.acks.quick, tcp.acks.timer);
    format!("{numbers:?} {:?} {acks:?}", tcp.window)
}

fn compare(profile: &Profile, case: &Case) -> Result<(), String> {
    let (host, buffer, steps) = case;
    let new = || Receiver::new(profile, host, MSS, *buffer);
    let (mut one, mut other) = (new(), new());
    let mut highest = 0;
    for step in steps {
        let (from, count) = match *step {
            Step::Row { from_highest, count } => (highest as i64 + from_highest, count),
            Step::Next => (number(one.rcv_nxt) as i64, 1),
            Step::Read => {
                let bytes = one.readable();
                let read = (one.read(Time::ms(1), bytes), other.read(Time::ms(1), bytes));
                if read.0 != read.1 {
                    return Err(format!("{step:?}: {read:?}"));
                }
                continue;
            }
        };
        let from = from.max(0) as u64;
        highest = highest.max(from + u64::from(count));
        let acks = (alone(&mut one, from, count), together(&mut other, from, count));
        if acks.0 != acks.1 {
            return Err(format!("{step:?} from {from}: {:?}\n{:?}", acks.0, acks.1));
        }
        if state(&one) != state(&other) {
            return Err(format!("after {step:?} from {from}: {}\n{}", state(&one), state(&other)));
        }
    }
    Ok(())
}

fn in_2_6_20(case: &Case) -> Result<(), String> {
    compare(profile::find("2.6.20").expect("a profile"), case)
}

/// Joining in memory, and measurement of segment sizes, differ from one segment to the next.
fn where_segments_join(case: &Case) -> Result<(), String> {
    let today = profile::find("6.12").expect("a profile");
    compare(&Profile { compresses_sacks: false, ..*today }, case)
}

#[test]
fn rows_do_what_their_segments_do() {
    random::check(20_000, case(), in_2_6_20);
    let taken = TAKEN.load(Ordering::Relaxed);
    assert!(taken > 10_000, "hardly any segments were taken together: {taken}");
    random::check(2_000, case(), where_segments_join);
}
