//! Elements alone, fed with trains that hosts seldom make: spacings just below and above a link's time for a packet,
//! sizes that change, gaps that end on a tick.

use super::reference::way::{Passed, pass};
use crate::random;
use crate::scenarios::{log_uniform, paths};
use fullpipe_sim::config::Element;
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::packet::{Ecn, Kind, Train};
use fullpipe_sim::stage::Samples;
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::collections::HashSet;

/// A train before it is known what comes before it.
#[derive(Clone, Debug)]
struct Drawn {
    count: u32,
    ip_len: u32,
    spacing: Spacing,
    /// Nanoseconds after the last packet before it.
    gap: u64,
    /// Whether it belongs to the skb before it.
    same_skb: bool,
    ecn: Ecn,
}

#[derive(Clone, Copy, Debug)]
enum Spacing {
    Exactly(u64),
    /// Service time of a packet at the first link, and so much more or less.
    Service(i64),
}

/// Elements, trains, the interval of samples, and whether the chain is woken between trains.
type Case = (Vec<Element>, Vec<Drawn>, u64, bool);

fn case() -> impl Strategy<Value = Case> {
    let spacing = prop_oneof![
        Just(Spacing::Exactly(0)),
        log_uniform(1, 1_000_000).prop_map(Spacing::Exactly),
        (-2..=2i64).prop_map(Spacing::Service),
    ];
    let gap = prop_oneof![Just(0), Just(1_000_000), log_uniform(1, 5_000_000)];
    let size = prop_oneof![Just(40u32), Just(1500), 40..9000u32];
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ce)];
    let train = (log_uniform(1, 60), size, spacing, gap, any::<bool>(), ecn);
    let train = train.prop_map(|(count, ip_len, spacing, gap, same_skb, ecn)| {
        let count = count as u32;
        Drawn { count, ip_len, spacing, gap, same_skb, ecn }
    });
    let trains = prop::collection::vec(train, 1..40);
    (paths::elements("way", 1..=4), trains, log_uniform(1_000, 5_000_000), any::<bool>())
}

fn trains(elements: &[Element], drawn: &[Drawn]) -> Vec<Train> {
    let link = elements.iter().find_map(|e| if let Element::Link(l) = e { Some(l) } else { None });
    let (mut time, mut number, mut skb) = (Time::ZERO, 0, 0);
    let train = |d: &Drawn| {
        let wire = link.map(|l| l.rate.wire_time(u64::from(d.ip_len + l.framing.overhead())));
        let spacing = match d.spacing {
            Spacing::Exactly(ns) => ns,
            Spacing::Service(more) => wire.map_or(0, |w| w.0.saturating_add_signed(more)),
        };
        let (flow, kind, len, first) = (0, Kind::Ack, 0, time + Time(d.gap));
        let (count, ip_len) = (d.count, d.ip_len);
        skb += u32::from(!d.same_skb);
        let (serial, tsval) = (number, 0);
        let train = Train {
            flow,
            connection: flow,
            kind,
            skb,
            number,
            len,
            ip_len,
            ecn: d.ecn,
            ece: false,
            cwr: false,
            carries: 0,
            tsval,
            tsecr: 0,
            count,
            push: false,
            fin: false,
            serial,
            first,
            spacing,
        };
        (time, number) = (train.last(), number + u64::from(count));
        train
    };
    drawn.iter().map(train).collect()
}

/// The chain, pushed and sampled in order of time.
fn by_trains(elements: &[Element], trains: &[Train], samples: &[Time], wake: bool) -> Passed {
    let end = *samples.last().expect("a sample");
    let mut chain = Chain::new(elements, 7, Samples::every(samples[0], end));
    chain.watch(None);
    let mut out = Vec::new();
    let mut passed = Passed { out: Vec::new(), samples: Vec::new() };
    let mut coming = trains.iter().peekable();
    for &now in samples {
        while let Some(train) = coming.next_if(|train| train.first <= now) {
            if wake {
                wake_until(&mut chain, train.first, &mut out);
            }
            chain.push(train, &mut out);
        }
        wake_until(&mut chain, now, &mut out);
        passed.samples.extend(chain.stages_mut().map(|stage| stage.sample(now)));
    }
    let copies = elements.iter().any(|element| matches!(element, Element::Duplicate(_)));
    check_identity(&mut chain, trains, &out, copies);
    let packets = out.iter().flat_map(|t| (0..t.count).map(|i| (t.time(i), t.number_of(i))));
    passed.out = packets.filter(|(time, _)| *time <= end).collect();
    passed
}

/// Checks that a packet keeps its serial (here also its number) and its codepoint however trains are cut and joined.
/// Dropped packets do not come out, unless there are `copies`.
fn check_identity(chain: &mut Chain, trains: &[Train], out: &[Train], copies: bool) {
    let codepoint = |number| {
        let after = trains.partition_point(|train| train.number <= number);
        trains[after - 1].ecn
    };
    let mut came = HashSet::new();
    for train in out {
        assert_eq!(train.serial, train.number);
        for number in (0..train.count).map(|i| train.number_of(i)) {
            assert_eq!(train.ecn, codepoint(number));
            came.insert(number);
        }
    }
    for (_, train) in chain.dropped() {
        assert_eq!(train.serial, train.number);
        let again = (0..train.count).any(|i| came.contains(&train.number_of(i)));
        assert!(copies || !again, "{train:?}");
    }
}

fn wake_until(chain: &mut Chain, now: Time, out: &mut Vec<Train>) {
    while chain.wake_time() <= now {
        let at = chain.wake_time();
        chain.wake(at, out);
    }
}

fn compare(case: &Case) -> Result<(), String> {
    let (elements, drawn, interval, wake) = case;
    let trains = trains(elements, drawn);
    let packets = trains.iter().flat_map(|t| (0..t.count).map(|i| (t.time(i), t.ip_len, t.skb)));
    let packets: Vec<_> = packets.collect();
    let last = packets.last().map_or(Time::ZERO, |p| p.0) + Time::ms(50);
    // No more than some hundred samples, the last one at an odd time.
    let interval = Time((*interval).max(last.0 / 300));
    let count = last.0 / interval.0;
    let end = Time(interval.0 * count + interval.0 / 3);
    let samples: Vec<_> = (1..=count).map(|i| Time(interval.0 * i)).chain([end]).collect();
    let expected = pass(elements, 7, &packets, &samples);
    let found = by_trains(elements, &trains, &samples, *wake);
    let places = expected.samples.iter().zip(&found.samples).enumerate();
    for (i, (expected, found)) in places {
        if expected != found {
            let (at, time) = (i % elements.len(), samples[i / elements.len()]);
            return Err(format!("element {at} at {time}: {expected:#?}, found {found:#?}"));
        }
    }
    let differ = expected.out.iter().zip(&found.out).find(|(a, b)| a != b);
    match differ {
        Some(pair) => Err(format!("packets: {pair:?}\n{trains:#?}")),
        None if expected.out.len() != found.out.len() => {
            Err(format!("{} packets, found {}", expected.out.len(), found.out.len()))
        }
        None => Ok(()),
    }
}

#[test]
fn elements_pass_trains_as_they_pass_packets() {
    random::check(4000, case(), compare);
}
