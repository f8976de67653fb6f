//! Random elements of a path.

use super::{capacity, decade, log_uniform, round};
use fullpipe_sim::config::{Delay, Element, Link, Loss, QueueLimit, Timer};
use fullpipe_sim::units::{Framing, Rate, Time};
use proptest::prelude::*;
use std::ops::RangeInclusive;

/// So many elements in a row, with names that begin with `name`.
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
        3 => link().prop_map(Element::Link),
        3 => delay().prop_map(Element::Delay),
        1 => loss().prop_map(Element::Loss),
    ]
}

/// Any link; its name is still empty.
pub fn link() -> impl Strategy<Value = Link> {
    let rate = prop_oneof![
        2 => log_uniform(1_000_000, 40_000_000_000).prop_map(round),
        1 => decade(1_000_000, 10_000_000_000),
    ];
    let rate = rate.prop_map(Rate);
    let framing = prop::sample::select(vec![Framing::Ip, Framing::Ethernet, Framing::EthernetWire]);
    let limit = prop_oneof![
        capacity(100_000).prop_map(|n| QueueLimit::Packets(n as u32)),
        log_uniform(100, 100_000_000).prop_map(QueueLimit::Bytes),
    ];
    let name = String::new();
    (rate, framing, limit).prop_map(move |(rate, framing, limit)| Link {
        name: name.clone(),
        rate,
        framing,
        limit,
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

fn loss() -> impl Strategy<Value = Loss> {
    let probability = prop_oneof![
        1 => Just(0.0),
        4 => log_uniform(100, 50_000).prop_map(|ppm| ppm as f64 / 1e6),
    ];
    probability.prop_map(|probability| Loss { name: String::new(), probability })
}
