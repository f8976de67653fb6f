//! Queue disciplines by hand: what leaves when, what is dropped, what is marked. And what holds of all of
//! them, whatever comes.

use crate::random;
use fullpipe_sim::config::{Codel, Discipline, Fq, QueueLimit, Red};
use fullpipe_sim::qdisc::{self, Effects, Queue, Size, Verdict, Waiting};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub const MTU: u32 = 1514;
pub const CODEL: Codel =
    Codel { target: Time::ms(5), interval: Time::ms(100), ecn: false, mtu: MTU };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    flow: u16,
    number: u32,
    capable: bool,
    departs: Time,
}

impl qdisc::Packet for Packet {
    fn connection(&self) -> u16 {
        self.flow
    }
    fn departs(&self) -> Time {
        self.departs
    }
    fn mark(&mut self) -> bool {
        self.capable
    }
}

/// A queue, and its effects.
pub struct Desk {
    queue: Box<dyn Queue<Packet>>,
    pub effects: Effects<Packet>,
    capable: bool,
    sent: u32,
}

impl Desk {
    pub fn new(discipline: Discipline, limit: QueueLimit) -> Desk {
        let queue = discipline.build(limit, 1, "queue");
        Desk { queue, effects: Effects::default(), capable: false, sent: 0 }
    }

    pub fn put(&mut self, now: Time, flow: u16, bytes: u32) -> Verdict {
        self.put_until(now, flow, bytes, Time::ZERO)
    }

    /// A packet that is to leave at `departs`.
    fn put_until(&mut self, now: Time, flow: u16, bytes: u32, departs: Time) -> Verdict {
        let packet = Packet { flow, number: self.sent, capable: self.capable, departs };
        self.sent += 1;
        self.queue.enqueue(Waiting { packet, bytes, came: now }, Size::default(), &mut self.effects)
    }

    pub fn take(&mut self, now: Time) -> Option<Waiting<Packet>> {
        self.queue.dequeue(now, &mut self.effects)
    }

    /// Flows of all that leaves, in order.
    fn flows(&mut self, now: Time) -> String {
        let letter = |flow: u16| char::from(b'A' + flow as u8);
        std::iter::from_fn(|| self.take(now)).map(|waiting| letter(waiting.packet.flow)).collect()
    }
}

/// Milliseconds at which a queue of 50 packets, into which one comes and of which one leaves each
/// millisecond, drops or marks.
fn signals(discipline: Discipline, capable: bool, ms: u64) -> Vec<u64> {
    let mut desk = Desk { capable, ..Desk::new(discipline, QueueLimit::Packets(1000)) };
    (0..50).for_each(|_| {
        desk.put(Time::ZERO, 0, MTU);
    });
    let mut times = Vec::new();
    for at in 0..ms {
        desk.put(Time::ms(at), 0, MTU);
        desk.take(Time::ms(at));
        let signals = desk.effects.dropped.drain(..).count() as u32 + desk.effects.marked;
        desk.effects.marked = 0;
        // Dropped packets are replaced, so that the queue stands.
        (0..signals).for_each(|_| {
            desk.put(Time::ms(at), 0, MTU);
        });
        times.extend((0..signals).map(|_| at));
    }
    times
}

/// The delay is above 5 ms from 5 ms on. An interval later it has been too long, at 106 ms (the time has to be over).
/// Then the control law applies: each drop comes an interval over sqrt(count) after the one before, at whole
/// milliseconds:
///
/// | count | 1/sqrt(count) | in Linux, by Newton's steps | after the one before, ms | sum | at, ms |
/// |--:|--:|--:|--:|--:|--:|
/// | 1 | 1 | 1 | 100.0 | 206.0 | 206 |
/// | 2 | 0.707 | 1 (3 - 2 x 1) / 2 = 0.5 | 50.0 | 256.0 | 256 |
/// | 3 | 0.577 | 0.5 (3 - 3 x 0.25) / 2 = 0.5625 | 56.2 | 312.2 | 313 |
/// | 4 | 0.5 | 0.5625 (3 - 4 x 0.3164) / 2 = 0.4878 | 48.8 | 361.0 | 361 |
/// | 5 | 0.447 | 0.4878 (3 - 5 x 0.2380) / 2 = 0.4416 | 44.2 | 405.2 | 406 |
/// | 6 | 0.408 | 0.4416 (3 - 6 x 0.1950) / 2 = 0.4040 | 40.4 | 445.6 | 446 |
/// | 7 | 0.378 | 0.4040 (3 - 7 x 0.1633) / 2 = 0.3752 | 37.5 | 483.1 | 484 |
/// | 8 | 0.354 | 0.3752 (3 - 8 x 0.1408) / 2 = 0.3515 | 35.2 | 518.3 | 519 |
#[test]
fn codel_drops_from_a_standing_queue_ever_sooner() {
    let drops = [106, 206, 256, 313, 361, 406, 446, 484];
    for (discipline, capable) in [
        (Discipline::Codel(CODEL), false),
        (Discipline::FqCodel(CODEL), false),
        (Discipline::Codel(CODEL), true),
        (Discipline::Codel(Codel { ecn: true, ..CODEL }), true),
        (Discipline::FqCodel(Codel { ecn: true, ..CODEL }), true),
    ] {
        let found = signals(discipline, capable, 510);
        assert!(found.len() == drops.len(), "{discipline:?}: {found:?}");
        let near = found.iter().zip(drops).all(|(found, drop)| found.abs_diff(drop) <= 1);
        assert!(near, "{discipline:?}: {found:?}");
    }
}

#[test]
fn codel_marks_what_can_be_marked_only() {
    let marking = Discipline::Codel(Codel { ecn: true, ..CODEL });
    for (capable, marked) in [(true, 1), (false, 0)] {
        let mut desk = Desk { capable, ..Desk::new(marking, QueueLimit::Packets(1000)) };
        (0..10).for_each(|_| {
            desk.put(Time::ZERO, 0, MTU);
        });
        desk.take(Time::ms(10));
        let left = desk.take(Time::ms(111)).expect("a packet");
        assert_eq!((desk.effects.marked, desk.effects.dropped.len() as u32), (marked, 1 - marked));
        assert_eq!(left.packet.number, 2 - marked);
    }
}

#[test]
fn codel_leaves_a_queue_of_one_packet_alone() {
    let discipline = Discipline::Codel(CODEL);
    for (behind, dropped) in [(1, 0), (2, 1)] {
        let mut desk = Desk::new(discipline, QueueLimit::Packets(1000));
        for at in 0..400 {
            while desk.sent - (desk.effects.dropped.len() as u32) < at + 1 + behind {
                desk.put(Time::ZERO, 0, MTU);
            }
            desk.take(Time::ms(u64::from(at) + 20));
        }
        assert_eq!(usize::from(!desk.effects.dropped.is_empty()), dropped, "{behind}");
    }
}

/// A turn is 1514 bytes. A's first packet takes it. Then B, which is new, has its turn until it owes 486. Then A has
/// two turns, because B has nothing more.
#[test]
fn fq_codel_serves_flows_in_turn() {
    let mut desk = Desk::new(Discipline::FqCodel(CODEL), QueueLimit::Packets(1000));
    (0..4).for_each(|_| {
        desk.put(Time::ZERO, 0, 1514);
    });
    (0..4).for_each(|_| {
        desk.put(Time::ZERO, 1, 500);
    });
    assert_eq!(desk.flows(Time::ms(1)), "ABBBBAAA");
}

/// Ten packets of B and two of A are one too many: half of B's bytes are dropped from its head. The sender of the new
/// packet learns of the drop if its own flow lost packets.
#[test]
fn a_full_fq_codel_loses_half_of_the_longest_flow() {
    for (last, verdict) in [(0, Verdict::Taken), (1, Verdict::Congested)] {
        let mut desk = Desk::new(Discipline::FqCodel(CODEL), QueueLimit::Packets(12));
        (0..2).for_each(|_| {
            desk.put(Time::ZERO, 0, MTU);
        });
        (0..10).for_each(|_| {
            desk.put(Time::ZERO, 1, MTU);
        });
        assert_eq!(desk.put(Time::ZERO, last, MTU), verdict);
        let lost: Vec<u32> = desk.effects.dropped.iter().map(|w| w.packet.number).collect();
        let half = if last == 0 { 5 } else { 6 };
        assert_eq!(lost, (2..2 + half).collect::<Vec<_>>());
    }
    let mut desk = Desk::new(Discipline::FqCodel(CODEL), QueueLimit::Packets(500));
    (0..501).for_each(|_| {
        desk.put(Time::ZERO, 0, MTU);
    });
    assert_eq!(desk.effects.dropped.len(), 64, "a batch");
}

/// Eight packets go by. Of A's next ones ten are its first turn (15140 bytes); B is new then; A goes on.
#[test]
fn fq_serves_new_flows_first() {
    let fq = Fq::new(100, MTU);
    let mut desk = Desk::new(Discipline::Fq(fq), QueueLimit::Packets(1000));
    (0..21).for_each(|_| {
        desk.put(Time::ZERO, 0, MTU);
    });
    (0..3).for_each(|_| {
        desk.put(Time::ZERO, 1, MTU);
    });
    assert_eq!(desk.flows(Time::ms(1)), ["A".repeat(18), "BBB".into(), "AAA".into()].concat());
    // A's first turn is over, of B's seven packets are left: then two each.
    (0..8).for_each(|_| {
        desk.put(Time::ms(2), 2, MTU);
    });
    for flow in [0, 1] {
        (0..14).for_each(|_| {
            desk.put(Time::ms(2), flow, MTU);
        });
    }
    assert_eq!(desk.flows(Time::ms(3)), "CCCCCCCCBBBBBBBABBAABBAABBAABAAAAAAA");
}

/// No packet bypasses the flows without bands. A's first turn are ten packets, so are B's; then they have two each in
/// turn.
#[test]
fn fq_bands() {
    let fq = |bands| Discipline::Fq(Fq { bands, ..Fq::new(100, MTU) });
    let order = |bands| {
        let mut desk = Desk::new(fq(bands), QueueLimit::Packets(1000));
        for (flow, packets) in [(0, 13), (1, 12)] {
            (0..packets).for_each(|_| {
                desk.put(Time::ZERO, flow, MTU);
            });
        }
        desk.flows(Time::ms(1))
    };
    assert_eq!(order(false), "AAAAAAAAAABBBBBBBBBBAABBA");
    assert_eq!(order(true), "AAAAAAAAAAAAABBBBBBBBBBBB", "eight of A's went by");
}

/// A at 20 us and 40, B at 30: a timer with 10 us of slack, unless the queue is asked before. C's packets may leave at
/// once. The first bypasses flows that wait, the second does not bypass a flow that is due.
#[test]
fn fq_keeps_packets_until_their_time() {
    let fq = Discipline::Fq(Fq::new(100, MTU));
    let us = Time::us;
    let new = || {
        let mut desk = Desk::new(fq, QueueLimit::Packets(1000));
        for (flow, until) in [(0, us(20)), (0, us(40)), (1, us(30))] {
            assert_eq!(desk.put_until(us(1), flow, MTU, until), Verdict::Taken);
        }
        assert_eq!((desk.flows(us(1)), desk.queue.due()), (String::new(), Some(us(30))));
        desk
    };
    let mut desk = new();
    assert_eq!((desk.flows(us(19)), desk.flows(us(20))), (String::new(), "A".into()));
    assert_eq!((desk.queue.due(), desk.flows(us(30))), (Some(us(40)), "B".into()));
    assert_eq!((desk.queue.due(), desk.flows(us(50))), (Some(us(50)), "A".into()));
    assert_eq!(desk.queue.due(), None);
    let mut desk = new();
    desk.put(us(19), 2, MTU);
    assert_eq!(desk.flows(us(19)), "C");
    desk.put(us(25), 2, MTU);
    assert_eq!(desk.flows(us(25)), "CA", "a new flow is before one that is released");
}

/// Times at which the queue gives packets, in microseconds, if it is asked at each time that it names.
fn leaves(desk: &mut Desk) -> Vec<u64> {
    let (mut now, mut times) = (Time(1), Vec::new());
    loop {
        let took = std::iter::from_fn(|| desk.take(now)).count();
        times.extend(std::iter::repeat_n(now.0 / 1000, took));
        let Some(due) = desk.queue.due() else { return times };
        now = due;
    }
}

/// A full packet takes 1000 us at 12.112 Mb/s, one of 757 bytes half of that. Each waits for the one before it, by a
/// timer that is 10 us late, which the next pause makes up for. An skb of five packets leaves whole, and the next one
/// waits for all of them.
#[test]
fn fq_has_a_largest_rate() {
    let limited = Fq { max_rate: Some(Rate(12_112_000)), ..Fq::new(100, MTU) };
    let left = |fq, sizes: &[u32], departs| {
        let mut desk = Desk::new(Discipline::Fq(fq), QueueLimit::Packets(1000));
        for &bytes in sizes {
            desk.put_until(Time(1), 0, bytes, departs);
        }
        leaves(&mut desk)
    };
    let (now, unsaid) = (Time(1), Time::ZERO);
    assert_eq!(left(limited, &[MTU; 4], now), [0, 1010, 2010, 3010]);
    assert_eq!(left(limited, &[MTU, MTU / 2, MTU], now), [0, 1010, 1510]);
    assert_eq!(left(limited, &[5 * MTU, MTU], now), [0, 5010]);
    // A packet without a departure time is not held back during its first turn, of ten packets or of the configured
    // bytes.
    assert_eq!(left(limited, &[MTU; 12], unsaid), [&[0; 10][..], &[2010, 2010]].concat());
    let short = Fq { initial_quantum: 2 * MTU, ..limited };
    assert_eq!(left(short, &[MTU; 5], unsaid), [0, 0, 2010, 2010, 4010]);
    // Below 550 kb/s it does not.
    let slow = Fq { max_rate: Some(Rate(121_120)), ..short };
    assert_eq!(left(slow, &[MTU; 3], unsaid), [0, 100_010, 200_010]);
    // Before 4.20 all packets have that first turn, whatever their times, and the timer has no slack. The longest pause
    // is 125 ms.
    let alone = Fq { paces_itself: true, bands: false, ..short };
    assert_eq!(left(alone, &[MTU; 5], now), [0, 0, 2000, 2000, 4000]);
    let slow = Fq { max_rate: Some(Rate(121_120)), ..alone };
    assert_eq!(left(slow, &[MTU; 3], now), [0, 0, 125_000]);
}

/// More than ten seconds ahead is too far.
#[test]
fn fq_has_a_horizon() {
    let mut desk = Desk::new(Discipline::Fq(Fq::new(9, MTU)), QueueLimit::Packets(9));
    let now = Time::secs(1);
    assert_eq!(desk.put_until(now, 0, MTU, Time::secs(11)), Verdict::Taken);
    assert_eq!(desk.put_until(now, 0, MTU, Time::secs(11) + Time(1)), Verdict::Refused);
}

#[test]
fn fq_bounds_each_flow() {
    let fq = Fq::new(3, MTU);
    let mut desk = Desk::new(Discipline::Fq(fq), QueueLimit::Packets(5));
    // Packets that bypass the flows count nowhere.
    let verdicts: Vec<bool> =
        (0..12).map(|_| desk.put(Time::ZERO, 0, MTU) == Verdict::Taken).collect();
    assert_eq!(verdicts.iter().filter(|taken| **taken).count(), 8 + 3);
    let others: Vec<bool> =
        (0..3).map(|_| desk.put(Time::ZERO, 1, MTU) == Verdict::Taken).collect();
    assert_eq!(others, [true, true, false], "five in all");
}

/// A queue of 2000 bytes between 1000 and 3000, with a tenth at 3000: a twentieth. The gaps between two drops
/// are uniform from 1 to 20.
#[test]
fn red_drops_at_even_gaps() {
    let red = Red {
        min: 1000,
        max: 3000,
        probability: 0.1,
        weight: 4,
        ecn: false,
        packet_time: Time::us(12),
    };
    let mut desk = Desk::new(Discipline::Red(red), QueueLimit::Bytes(1_000_000));
    desk.put(Time::ZERO, 0, 1000);
    desk.put(Time::ZERO, 0, 1000);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for us in 0..200_000 {
        gap += 1;
        if desk.put(Time::us(us), 0, 1000) == Verdict::Taken {
            desk.take(Time::us(us));
        } else if us > 1000 {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    let gaps = &gaps[1..];
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!((10.3..10.7).contains(&mean), "{mean} of {}", gaps.len());
    assert!(gaps.iter().all(|gap| (1..=20).contains(gap)));
    let often = |gap| gaps.iter().filter(|found| **found == gap).count() as f64;
    assert!((1..=20).all(|gap| (0.85..1.15).contains(&(often(gap) * 20.0 / gaps.len() as f64))));
}

/// A weight of a half: each 12 us of an empty queue halve the average, in steps of 2 us. That of 4000 bytes comes
/// below 1001, from which on all is dropped, after two of them.
#[test]
fn red_forgets_while_it_is_empty() {
    let red = Red {
        min: 1000,
        max: 1001,
        probability: 1.0,
        weight: 1,
        ecn: false,
        packet_time: Time::us(12),
    };
    for (pause, verdict) in [(22, Verdict::Congested), (24, Verdict::Taken)] {
        let mut desk = Desk::new(Discipline::Red(red), QueueLimit::Bytes(1_000_000));
        assert_eq!(desk.put(Time::ZERO, 0, 4000), Verdict::Taken);
        (0..30).for_each(|_| assert_eq!(desk.put(Time::ZERO, 0, 4000), Verdict::Congested));
        assert!(desk.take(Time::us(10)).is_some() && desk.take(Time::us(10)).is_none());
        assert_eq!(desk.put(Time::us(10 + pause), 0, 4000), verdict, "{pause}");
    }
}

#[test]
fn a_full_fifo_refuses() {
    for limit in [QueueLimit::Packets(2), QueueLimit::Bytes(3028)] {
        let mut desk = Desk::new(Discipline::Fifo, limit);
        let mut put = || desk.put(Time::ZERO, 0, MTU);
        assert_eq!([put(), put(), put()], [Verdict::Taken, Verdict::Taken, Verdict::Refused]);
    }
}

/// A discipline, its limit, and arrivals: ns since the one before, flow, bytes, whether it can be marked, and how many
/// packets are taken then.
type Case = (Discipline, QueueLimit, Vec<(u64, u16, u32, bool, u8)>);

fn case() -> impl Strategy<Value = Case> {
    let codel = (1..10u64, 1..50u64, any::<bool>()).prop_map(|(target, interval, ecn)| Codel {
        target: Time::us(100 * target),
        interval: Time::ms(interval),
        ecn,
        mtu: MTU,
    });
    let fq = crate::scenarios::paths::fq(MTU, 1..50);
    let red = (100..9000u64, 1..9000u64, 0.0..=1.0f64, 1..10u8, any::<bool>()).prop_map(
        |(min, more, probability, weight, ecn)| {
            let packet_time = Time::us(12);
            Red { min, max: min + more, probability, weight, ecn, packet_time }
        },
    );
    let discipline = prop_oneof![
        Just(Discipline::Fifo),
        codel.clone().prop_map(Discipline::Codel),
        codel.prop_map(Discipline::FqCodel),
        fq.prop_map(Discipline::Fq),
        red.prop_map(Discipline::Red),
    ];
    let limit = prop_oneof![
        (1..200u32).prop_map(QueueLimit::Packets),
        (1..200_000u64).prop_map(QueueLimit::Bytes),
    ];
    let coming = (0..3_000_000u64, 0..4u16, 40..1515u32, any::<bool>(), 0..3u8);
    (discipline, limit, prop::collection::vec(coming, 1..600))
}

/// Checks that every packet has left in its flow's order, was dropped, or waits, and is reported once.
fn keeps_its_books(case: &Case) -> Result<(), String> {
    let (discipline, limit, coming) = case;
    let mut desk = Desk::new(*discipline, *limit);
    let (mut now, mut last, mut left) = (Time::ZERO, BTreeMap::new(), 0usize);
    let mut until = BTreeMap::new();
    let mut leave =
        |waiting: &Waiting<Packet>| match last.insert(waiting.packet.flow, waiting.packet.number) {
            Some(before) if before >= waiting.packet.number => {
                Err(format!("{waiting:?} after {before}"))
            }
            _ => Ok(()),
        };
    for &(gap, flow, bytes, capable, takes) in coming {
        now += Time(gap);
        desk.capable = capable;
        let before = desk.effects.dropped.len();
        // Each second one has a later time, those of a flow in order.
        let last = until.entry(flow).or_insert(Time::ZERO);
        *last = (*last).max(now + Time(gap * u64::from(bytes % 2)));
        let refused = desk.put_until(now, flow, bytes, *last) == Verdict::Refused;
        if refused && desk.effects.dropped.len() != before + 1 {
            return Err("what was refused is dropped".into());
        }
        for _ in 0..takes {
            if let Some(waiting) = desk.take(now) {
                if matches!(discipline, Discipline::Fq(_)) && waiting.packet.departs > now {
                    return Err(format!("{waiting:?} leaves at {now}"));
                }
                leave(&waiting)?;
                left += 1;
            }
        }
    }
    let mut waits = 0;
    desk.queue.each(&mut |_| waits += 1);
    let dropped = desk.effects.dropped.len();
    if coming.len() != left + dropped + waits {
        return Err(format!("{} came, {left} left, {dropped} lost, {waits} wait", coming.len()));
    }
    let mut numbers: Vec<u32> = desk.effects.dropped.iter().map(|w| w.packet.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() == dropped { Ok(()) } else { Err("a packet was dropped twice".into()) }
}

#[test]
fn every_discipline_keeps_its_books() {
    random::check(3000, case(), keeps_its_books);
}
