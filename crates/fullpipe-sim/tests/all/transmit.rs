//! Packets offered together go the way out of a host as they go one by one.

use crate::conversation::host;
use crate::random;
use crate::scenarios;
use crate::scenarios::{Size, log_uniform};
use fullpipe_sim::config::{Config, Host};
use fullpipe_sim::host::transmit::{Tag, Transmit};
use fullpipe_sim::packet::{Ecn, Kind, Train, append};
use fullpipe_sim::stage::Samples;
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::sync::atomic::{AtomicU32, Ordering};

/// ACKs of 52 bytes.
pub fn acks(first: u64, spacing: u64, count: u32) -> Train {
    Train {
        flow: 0,
        connection: 0,
        kind: Kind::Ack,
        skb: 0,
        number: 0,
        len: 0,
        ip_len: 52,
        ecn: Ecn::NotEct,
        ece: false,
        cwr: false,
        carries: 0,
        tsval: 0,
        tsecr: 0,
        push: false,
        fin: false,
        count,
        serial: 0,
        first: Time(first),
        spacing,
    }
}

/// A way out of a host on which `busy` ACKs were sent at once.
fn way_out(config: &Config, busy: u32, out: &mut Vec<Train>) -> Transmit {
    let samples = Samples::every(Time::us(10), Time::secs(1));
    let mut transmit = Transmit::new(&config.receiver, "receiver", &[], 1, config.mtu, samples);
    for _ in 0..busy {
        transmit.push(Time::us(1), &[acks(1000, 0, 1)], Tag::default(), out);
    }
    transmit
}

/// Output side with a number of ACKs on it. Then the gap to the next ACKs, their spacing and number, and the time from
/// the last of them to one more.
type Case = (Config, u32, (u64, u64, u32, u64));

/// Cases in which the packets were taken together.
static TAKEN: AtomicU32 = AtomicU32::new(0);

fn compare(case: &Case) -> Result<(), String> {
    let (config, busy, (gap, spacing, count, after)) = case;
    let packets = acks(1000 + gap, *spacing, *count);
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    let mut first = way_out(config, *busy, &mut together);
    let mut second = way_out(config, *busy, &mut alone);
    if !first.passes_each(&packets) {
        return Ok(());
    }
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // Some of them are smaller.
    let large = packets.part(0, count.div_ceil(2));
    first.pass_each(&large, &mut together);
    let small = *count - large.count;
    if small > 0 {
        let small = Train { ip_len: packets.ip_len - 8, ..packets.part(large.count, small) };
        first.pass_each(&small, &mut together);
    }
    for i in 0..*count {
        let less = if i < large.count { 0 } else { 8 };
        let packet = Train { ip_len: packets.ip_len - less, ..packets.part(i, 1) };
        let mut on_the_wire = Vec::new();
        second.push(packet.first, &[packet], Tag::default(), &mut on_the_wire);
        on_the_wire.into_iter().for_each(|train| append(&mut alone, train));
    }
    let more = acks(packets.last().0 + after, 0, 1);
    first.push(more.first, &[more], Tag::default(), &mut together);
    second.push(more.first, &[more], Tag::default(), &mut alone);
    let each = |trains: &[Train]| -> Vec<Train> {
        trains
            .iter()
            .flat_map(|train| (0..train.count).map(|i| train.retimed(i, 1, train.time(i), 0)))
            .collect()
    };
    if each(&together) != each(&alone) {
        return Err(format!("{together:?}\n{alone:?}"));
    }
    for time in (0..200).map(|i| Time::us(10 * i)) {
        let a = (first.sample(time), first.stopped(time));
        let b = (second.sample(time), second.stopped(time));
        if a != b {
            return Err(format!("at {time}: {a:?}\n{b:?}"));
        }
    }
    let (a, b) = ((first.taken(), first.last_entry()), (second.taken(), second.last_entry()));
    if a == b { Ok(()) } else { Err(format!("{a:?} {b:?}")) }
}

#[test]
fn packets_together_fare_as_one_by_one() {
    let configs = scenarios::config(Size { packets: 1, samples: 1 });
    let times =
        (log_uniform(1, 100_000), log_uniform(1, 100_000), 1..100u32, log_uniform(1, 20_000));
    random::check(6000, (configs, 0..4u32, times), compare);
    let taken = TAKEN.load(Ordering::Relaxed);
    assert!(taken > 500, "hardly any rows were taken: {taken}");
}

#[test]
fn a_free_wire_takes_them_and_a_busy_one_does_not() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let configs = scenarios::config(Size { packets: 1, samples: 1 });
    let mut config = configs.new_tree(&mut runner).expect("a configuration").current();
    // 90 bytes of Ethernet take 7.2 us at 100 Mb/s.
    config.receiver.nic_rate = Rate(100_000_000);
    let takes = |busy, first, spacing| {
        let mut out = Vec::new();
        way_out(&config, busy, &mut out).passes_each(&acks(first, spacing, 9))
    };
    assert!(takes(0, 1000, 7_200));
    assert!(!takes(0, 1000, 7_199));
    assert!(takes(1, 8_200, 7_200));
    assert!(!takes(1, 8_199, 7_200));
}

/// An skb's memory is free as soon as the NIC has fetched it into its own buffer. The buffer holds the largest skb (of
/// 45 segments with TSO, of one without) and 4 us, up to a multiple of 64 ns. At 1 Gb/s that is 12.304 us for each
/// segment.
#[test]
fn a_card_fetches_the_largest_skb_ahead_of_its_wire() {
    let leaves = |tso: bool, segments: u32| {
        let host = Host { nic_rate: Rate(1_000_000_000), tso, ..host() };
        let samples = Samples::every(Time::us(10), Time::secs(1));
        let mut transmit = Transmit::new(&host, "sender", &[], 1, 1500, samples);
        let mut out = Vec::new();
        [(); 3].map(|()| {
            let skb = Train { kind: Kind::Data, ip_len: 1500, ..acks(0, 0, segments) };
            transmit.push(Time::ZERO, &[skb], Tag::default(), &mut out);
            transmit.last_leaves(Time::ZERO).0
        })
    };
    assert_eq!(leaves(true, 40), [0, 426_624, 918_784]);
    assert_eq!(leaves(true, 45), [0, 549_664, 1_103_344]);
    assert_eq!(leaves(false, 1), [0, 8_288, 20_592]);
}
