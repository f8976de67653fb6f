//! Random elements of a path.

use super::{capacity, decade, log_uniform, round};
use fullpipe_sim::config::{
    Codel, Delay, Discipline, Distribution, Drop, Duplicate, Element, FlowDelay, Fq,
    GilbertElliott, Jitter, Link, Loss, Mark, Mtu, Policer, QueueLimit, RateStep, Red, Reorder,
    Shaper, Timer, TraceLink, Unit, VaryingLink,
};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::units::{Framing, Rate, Time};
use proptest::prelude::*;
use std::ops::{Range, RangeInclusive};

/// Elements in a row, with names that begin with `name`.
pub fn elements(
    name: &'static str,
    count: RangeInclusive<usize>,
) -> impl Strategy<Value = Vec<Element>> {
    prop::collection::vec(element(), count).prop_map(move |elements| {
        let numbered = elements.into_iter().enumerate();
        numbered.map(|(i, element)| element.named(&format!("{name}{i}"))).collect()
    })
}

/// Any element; its name is still empty.
pub fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        8 => link().prop_map(link_or_shaper),
        8 => delay().prop_map(Element::Delay),
        3 => loss().prop_map(Element::Loss),
        1 => gilbert_elliott().prop_map(Element::GilbertElliott),
        1 => drop().prop_map(Element::Drop),
        1 => reorder().prop_map(Element::Reorder),
        1 => duplicate().prop_map(Element::Duplicate),
        1 => jitter().prop_map(Element::Jitter),
        1 => flow_delay().prop_map(Element::FlowDelay),
        1 => policer().prop_map(policer_or_mtu),
        1 => varying().prop_map(Element::VaryingLink),
        1 => trace_link().prop_map(Element::TraceLink),
    ]
}

fn rate() -> impl Strategy<Value = Rate> {
    let rate = prop_oneof![
        2 => log_uniform(1_000_000, 40_000_000_000).prop_map(round),
        1 => decade(1_000_000, 10_000_000_000),
    ];
    rate.prop_map(Rate)
}

fn framing() -> impl Strategy<Value = Framing> {
    prop::sample::select(vec![Framing::Ip, Framing::Ethernet, Framing::EthernetWire])
}

fn limit() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        capacity(100_000).prop_map(|n| QueueLimit::Packets(n as u32)),
        log_uniform(100, 100_000_000).prop_map(QueueLimit::Bytes),
    ]
}

/// A queue that is not always first in, first out. The rate and the limit decide its discipline, so no further random
/// number is drawn. The queue only drops, because the reference's packets cannot be marked.
fn queue(rate: Rate, limit: QueueLimit) -> (QueueLimit, Discipline) {
    let (unit, size) = match limit {
        QueueLimit::Packets(packets) => (1, u64::from(packets)),
        QueueLimit::Bytes(bytes) => (1000, bytes),
    };
    let mut drawn = Rng::new(rate.0 ^ size, "queue");
    let mut below = |n: u64| drawn.next_u64() % n;
    let packets = QueueLimit::Packets((size / unit).clamp(1, 100_000) as u32);
    let mtu = [300, 1514, 9014][below(3) as usize];
    let (target, interval) = (Time(1 << (10 + below(14))), Time(1 << (10 + below(17))));
    let codel = Codel { target, interval, ecn: false, mtu };
    match below(10) {
        0 => (packets, Discipline::Codel(codel)),
        1 => (packets, Discipline::FqCodel(codel)),
        2 => (packets, Discipline::Fq(Fq::new(1 + below(300) as u32, mtu))),
        3 => {
            let min = 100 + below(100_000);
            let (max, probability) = (min + 1 + below(300_000), below(1001) as f64 / 1000.0);
            let (weight, packet_time) = (1 + below(12) as u8, Time(100 + below(1_000_000)));
            let red = Red { min, max, probability, weight, ecn: false, packet_time };
            (QueueLimit::Bytes(size * 1000 / unit), Discipline::Red(red))
        }
        _ => (limit, Discipline::Fifo),
    }
}

/// Any fq with so many packets of a flow, two thirds of them with a largest rate.
pub fn fq(mtu: u32, flow_limits: Range<u32>) -> impl Strategy<Value = Fq> {
    let max_rate = prop_oneof![
        1 => Just(None),
        2 => log_uniform(100_000, 10_000_000_000).prop_map(|rate| Some(Rate(rate))),
    ];
    let kind = (flow_limits, any::<(bool, bool)>(), 1..100_000u32, max_rate);
    kind.prop_map(move |(flow_limit, (bands, paces_itself), initial_quantum, max_rate)| Fq {
        flow_limit,
        mtu,
        bands,
        paces_itself,
        initial_quantum,
        max_rate,
    })
}

/// Any link; its name is still empty.
pub fn link() -> impl Strategy<Value = Link> {
    let name = String::new();
    (rate(), framing(), limit()).prop_map(move |(rate, framing, limit)| {
        let (limit, discipline) = queue(rate, limit);
        Link { name: name.clone(), rate, framing, limit, discipline }
    })
}

fn delay() -> impl Strategy<Value = Delay> {
    let delay = prop_oneof![
        1 => Just(0),
        2 => log_uniform(1, 100_000_000),
        1 => log_uniform(1, 100_000_000).prop_map(round),
        1 => decade(1000, 100_000_000),
    ];
    (delay, capacity(100_000), prop::option::of(timer())).prop_map(|(delay, limit, timer)| Delay {
        name: String::new(),
        delay: Time(delay),
        limit: limit as u32,
        timer,
    })
}

fn timer() -> impl Strategy<Value = Timer> {
    let period = prop::sample::select(vec![100_000, 1_000_000, 3_333_333, 4_000_000, 10_000_000]);
    (period, 0..1000u64).prop_map(|(period, phase)| Timer {
        period: Time(period),
        phase: Time(period * phase / 1000),
    })
}

fn small() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        4 => log_uniform(100, 50_000).prop_map(|ppm| ppm as f64 / 1e6),
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(vec![Unit::Segment, Unit::Segment, Unit::Skb])
}

fn loss() -> impl Strategy<Value = Loss> {
    (small(), unit()).prop_map(|(probability, unit)| Loss {
        name: String::new(),
        probability,
        unit,
    })
}

fn gilbert_elliott() -> impl Strategy<Value = GilbertElliott> {
    let loss_bad = prop_oneof![Just(1.0), 0.0..=1.0f64];
    (small(), 0.2..=1.0f64, loss_bad, small(), unit()).prop_map(
        |(p, r, loss_bad, loss_good, unit)| GilbertElliott {
            name: String::new(),
            p,
            r,
            loss_bad,
            loss_good,
            unit,
        },
    )
}

fn drop() -> impl Strategy<Value = Drop> {
    let list = || prop::collection::btree_set(0..200u64, 0..20);
    let list = || list().prop_map(|numbers| numbers.into_iter().collect());
    (0..2u16, list(), list()).prop_map(|(flow, segments, acks)| Drop {
        name: String::new(),
        flow,
        segments,
        acks,
    })
}

/// Marks of the first flow, now near each other and now far apart.
pub fn marks(seed: u64) -> Mark {
    let step = 1 + seed % 60;
    let segments = (0..20).map(|i| i * step + (seed >> i) % step).collect();
    Mark { name: "marks".into(), flow: 0, segments }
}

/// A delay that lets many packets come meanwhile, or none.
fn some_time() -> impl Strategy<Value = Time> {
    prop_oneof![
        1 => Just(0),
        3 => log_uniform(1, 20_000_000),
        1 => decade(1000, 10_000_000),
    ]
    .prop_map(Time)
}

fn flow_delay() -> impl Strategy<Value = FlowDelay> {
    let name = String::new();
    (0..2u16, some_time()).prop_map(move |(flow, delay)| FlowDelay {
        name: name.clone(),
        flows: vec![flow],
        delay,
    })
}

fn correlation() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(0.25), 0.0..=1.0f64]
}

fn reorder() -> impl Strategy<Value = Reorder> {
    let gap = prop_oneof![Just(1), 1..10u32];
    let probability = prop_oneof![Just(1.0), 0.0..=0.3f64];
    (some_time(), some_time(), probability, correlation(), gap).prop_map(
        |(delay, chosen_delay, probability, correlation, gap)| Reorder {
            name: String::new(),
            delay,
            chosen_delay,
            probability,
            correlation,
            gap,
        },
    )
}

fn duplicate() -> impl Strategy<Value = Duplicate> {
    (prop_oneof![small(), 0.0..=1.0f64], correlation()).prop_map(|(probability, correlation)| {
        Duplicate { name: String::new(), probability, correlation }
    })
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let shape = prop::sample::select(vec![Distribution::Uniform, Distribution::Normal]);
    (some_time(), some_time(), correlation(), shape, any::<bool>()).prop_map(
        |(delay, jitter, correlation, distribution, keep_order)| Jitter {
            name: String::new(),
            delay,
            jitter,
            correlation,
            distribution,
            keep_order,
        },
    )
}

/// A policer, or one time of eight a smaller MTU, by a number that is drawn for something else.
fn policer_or_mtu(policer: Policer) -> Element {
    match policer.burst % 8 {
        0 => {
            let mtu = 400 + (policer.burst % 2000) as u32;
            let mss_clamp = (policer.burst / 8).is_multiple_of(2).then_some(mtu - 40);
            Element::Mtu(Mtu { name: policer.name, mtu, icmp: false, mss_clamp })
        }
        _ => Element::Policer(policer),
    }
}

fn policer() -> impl Strategy<Value = Policer> {
    (rate(), log_uniform(10_000, 10_000_000), framing())
        .prop_map(|(rate, burst, framing)| Policer { name: String::new(), rate, burst, framing })
}

/// Turns a third of the links with a first-in-first-out queue into shapers of their rate, without a further random
/// number.
fn link_or_shaper(link: Link) -> Element {
    let size = match link.limit {
        QueueLimit::Packets(packets) => packets.into(),
        QueueLimit::Bytes(bytes) => bytes,
    };
    let mut drawn = Rng::new(link.rate.0 ^ size, "shaper");
    if link.discipline != Discipline::Fifo || !drawn.next_u64().is_multiple_of(3) {
        return Element::Link(link);
    }
    let Link { name, rate, framing, limit, .. } = link;
    let burst = 500 << (drawn.next_u64() % 10);
    Element::Shaper(Shaper { name, rate, burst, framing, limit })
}

fn varying() -> impl Strategy<Value = VaryingLink> {
    let rate = || prop_oneof![5 => rate(), 1 => Just(Rate(0))];
    let later = prop::collection::btree_map(1..50_000_000u64, rate(), 0..8);
    (rate(), later, self::rate(), framing(), limit()).prop_map(
        |(first, later, last, framing, limit)| {
            let later = later.into_iter().map(|(at, rate)| RateStep { at: Time(at), rate });
            let first = [RateStep { at: Time::ZERO, rate: first }];
            let mut steps: Vec<_> = first.into_iter().chain(later).collect();
            steps.last_mut().expect("a step").rate = last;
            let (limit, discipline) = queue(last, limit);
            VaryingLink { name: String::new(), steps, framing, limit, discipline }
        },
    )
}

fn trace_link() -> impl Strategy<Value = TraceLink> {
    (prop::collection::vec(0..60u32, 1..200), limit()).prop_map(|(mut opportunities, limit)| {
        opportunities.push(60);
        opportunities.sort();
        TraceLink { name: String::new(), opportunities, limit, discipline: Discipline::Fifo }
    })
}
