//! Trains against packets: the simulator's trace equals that of the naive reference, sample by sample and event by
//! event, on random scenarios.
//!
//! `FULLPIPE_CASES` asks for more cases, new ones each time; `FULLPIPE_SEED` repeats them.

mod budget;
mod datagrams;
mod dumbbell;
mod elements;
mod held;
mod high_speed;
mod locked;
mod paced;
mod requeues;
mod softirq;

use crate::random;
use crate::record::{Call, Record, ToTheEnd};
use crate::reference;
use crate::reference::Done;
use crate::scenarios;
use crate::scenarios::Size;
use fullpipe_sim::config::{Config, Cpu, Drop, Element, KINDS, ReceivePath};
use fullpipe_sim::trace::{EventKind, option};
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Number of cases that showed each effect: random cases that show nothing would prove nothing.
type Seen = Mutex<BTreeMap<String, u32>>;

/// Names of the effects of byte queue limits and GRO.
const AT_THE_CARD: [&str; 4] =
    ["stopped by its limit", "a smaller limit", "joined by GRO", "waits in GRO"];

static SEEN: Seen = Mutex::new(BTreeMap::new());

fn show(seen: &Seen, what: &str) {
    *seen.lock().unwrap().entry(what.into()).or_default() += 1;
}

/// Whether a call of a program costs CPU time.
fn calls_take_time(config: &Config) -> bool {
    let hosts = [&config.sender, &config.receiver];
    hosts.into_iter().any(|host| host.cpu.write + host.cpu.read > Time::ZERO)
}

fn compare(config: &Config) -> Result<(), String> {
    let (record, done) = same(config)?;
    note(&record, done.segments);
    if calls_take_time(config) {
        show(&SEEN, "calls that take time");
    }
    if done.paced > 0 {
        show(&SEEN, "waits for its pace");
    }
    let often = done.limited.into_iter().chain(done.by_gro);
    for (what, often) in AT_THE_CARD.into_iter().zip(often) {
        if often > 1 {
            show(&SEEN, what);
        }
    }
    let last = record.flows().filter(|sample| sample.time == config.end);
    let lively = last.filter(|sample| sample.segments_delivered > 50);
    let ways = lively.map(|sample| config.flows[usize::from(sample.flow)].direction);
    if ways.collect::<BTreeSet<_>>().len() == 2 {
        show(&SEEN, "data both ways");
    }
    Ok(())
}

/// Runs a configuration both ways; returns the record and the counts if both records are equal.
fn same(config: &Config) -> Result<(Record, Done), String> {
    let (mut expected, mut record) = (Record::default(), Record::default());
    let done = reference::run(config, &mut expected);
    let outcome = fullpipe_sim::sim::run(config, &mut record, &mut ToTheEnd)?;
    let alone = without_around(&record);
    if let Some(difference) = expected.difference(["reference", "simulator"], &alone) {
        return Err(difference);
    }
    if (outcome.segments, outcome.end, outcome.complete) != (done.segments, config.end, true) {
        return Err(format!("{outcome:?}, but {} segments until {}", done.segments, config.end));
    }
    Ok((record, done))
}

/// The record without what host and peer add to a sender's socket ([`Around`]), which the reference leaves out.
///
/// [`Around`]: fullpipe_sim::tcp::sender::socket::Around
fn without_around(record: &Record) -> Record {
    let mut record = record.clone();
    for call in &mut record.0 {
        let Call::Flow(sample) = call else { continue };
        let sender = &mut sample.sender;
        (sender.wmem_alloc, sender.snd_wscale, sender.rcv_wscale) = (0, 0, 0);
        sender.options &= !option::WSCALE;
        sender.total_rto = 0;
    }
    record
}

/// Notes what a case showed.
fn note(record: &Record, segments: u64) {
    let show = |what: &str| show(&SEEN, what);
    if segments > 100 {
        show("more than 100 segments");
    }
    let mut kinds: Vec<_> = record.events().map(|event| event.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds.into_iter().for_each(|kind| show(kind.name()));
    for stage in record.announced() {
        show(&format!("a {}", stage.kind));
        let last = record.samples().filter(|s| s.stage == stage.index).last();
        if last.is_some_and(|sample| sample.dropped > 0) {
            show(&format!("dropped by {}", stage.kind));
        }
        if last.is_some_and(|sample| sample.marked > 0) {
            show("marked");
        }
        let full = last.is_some_and(|sample| sample.full_ns > 0);
        if full {
            show(&format!("full: {}", stage.kind));
        }
        if full && stage.unit == "byte" {
            show("full by bytes");
        }
    }
}

#[test]
fn trains_and_packets_give_equal_traces() {
    let size = Size { packets: 3000, samples: 100 };
    let configs = scenarios::config(size).prop_map(scenarios::with_ecn);
    let configs = configs.prop_map(scenarios::with_calls);
    random::check(5000, configs.prop_map(scenarios::with_options), compare);
    let seen = SEEN.lock().unwrap();
    let kinds = [EventKind::Established, EventKind::FirstData, EventKind::CaState];
    let kinds = kinds.iter().chain(&[EventKind::Retransmit, EventKind::Timeout]);
    let places = ["qdisc", "link", "delay", "loss", "rx_ring", "backlog", "policer"]
        .into_iter()
        .chain(["gilbert-elliott", "drop", "shaper", "varying-link", "trace-link"]);
    let drops = places.map(|place| format!("dropped by {place}"));
    let elements = KINDS.iter().map(|kind| format!("a {kind}"));
    let full =
        ["qdisc", "tx_ring", "link", "shaper", "varying-link", "trace-link", "delay", "rx_ring"];
    let full = full.into_iter().chain(["backlog"]).map(|place| format!("full: {place}"));
    let few = kinds.map(|kind| kind.name().to_string()).chain(drops).chain(elements).chain(full);
    let more = ["more than 100 segments", "marked", "waits for its pace", "data both ways"]
        .into_iter()
        .chain(["full by bytes", "calls that take time"])
        .chain(AT_THE_CARD);
    for what in few.chain(more.map(String::from)) {
        assert!(seen.get(&what).is_some_and(|&cases| cases >= 20), "hardly any {what}: {seen:?}");
    }
}

/// Holes in the first flow, at a receiver that takes packets in rows: one interrupt for each packet, which takes no
/// time.
fn with_holes(mut config: Config, gaps: Vec<u64>) -> Config {
    let segments = gaps.iter().scan(0, |at, gap| {
        *at += gap;
        Some(*at)
    });
    let (name, segments) = ("holes".to_string(), segments.collect());
    let holes = Element::Drop(Drop { name, flow: 0, segments, acks: Vec::new() });
    config.forward.insert(0, holes);
    let receiver = &mut config.receiver;
    (receiver.cpu, receiver.interrupt_gap) = (Cpu::default(), Time::ZERO);
    receiver.gro_flush_timeout = Time::ZERO;
    (receiver.receive_path, receiver.rx_ring) = (ReceivePath::Napi, 256);
    config
}

#[test]
#[ignore = "a study: make studies"]
fn study_rows_beyond_holes_give_equal_traces() {
    let size = Size { packets: 1000, samples: 3000 };
    let gaps = prop::collection::vec(1..60u64, 1..8);
    let configs =
        (scenarios::config(size), gaps).prop_map(|(config, gaps)| with_holes(config, gaps));
    random::check(1500, configs, compare);
}
