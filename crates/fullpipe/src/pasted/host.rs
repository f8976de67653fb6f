//! Counters of a host as a trace: `nstat`, `tc -s qdisc`, `ethtool`.

use super::lines::Quote;
use super::{Answer, Kind, Named, blind, meta};
use crate::analysis::document::{Finding, Run};
use crate::analysis::pasted::{Column, Pasted};
use crate::analysis::settings::HostSettings;
use crate::analysis::view::View;
use crate::analysis::{self};
use crate::base::trace::{Counter, FlowSample, StageInfo, StageSample};
use crate::base::units::Time;
use crate::numbers::count;
use crate::observation::meta::of_sockets;
use crate::trace::recording::Recording;
use crate::trace::schema::Row as _;
use fullpipe_observe::text::ethtool::{CardCounter, Ring};
use fullpipe_observe::text::qdisc::Queue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Source of the trace.
const ENGINE: &str = "counters";
/// Parts of drivers' names of packets that found no free descriptor.
const MISSED: [&str; 9] = [
    "missed",
    "no_buf",
    "out_of_buffer",
    "fifo_err",
    "no_dma_res",
    "discard",
    "drops",
    "dropped",
    "ring_full",
];
/// Parts of drivers' names of damaged frames.
const DAMAGED: [&str; 3] = ["crc_err", "fcs_err", "symbol_err"];
/// Parts of drivers' names of a transmit queue that was full.
const FULL: [&str; 4] = ["queue_stopped", "busy", "dropped", "drops"];

/// A counter of a text, by the name that rules read.
struct Value {
    name: String,
    value: u64,
    line: usize,
}

/// The verdict on a text's counters; none where it has none.
pub fn answer(from: &Named) -> Option<Answer> {
    let text = &from.text;
    if text.counters.is_empty()
        && text.queues.is_empty()
        && text.card.is_empty()
        && text.rings.is_empty()
    {
        return None;
    }
    let counted = counted(from);
    let queue = most_dropping(&text.queues);
    let recording = recording(&counted, queue);
    let pasted = Pasted { no_socket: true, ..blind(&Column::ALL) };
    let mut flow = meta::flow("host".into(), "", None, pasted);
    flow.settings.hosts[0] = settings(queue, text.rings.first());
    let meta = of_sockets(&from.name, ENGINE, vec![flow], meta::MSS, Time::secs(1));
    let run = analysis::run_in(View::SenderSockets, &meta, &recording);
    let device = queue.map(|own| own.device.as_str()).filter(|own| !own.is_empty());
    let device = device.unwrap_or("DEV");
    Some(Answer {
        about: about(from),
        lines: lines(from, &counted, queue, &run),
        hidden: "which connection it was, and when: the counters are sums".into(),
        next: format!(
            "nstat -n; tc -s qdisc show dev {device}; ethtool -S {device}; sleep 10; nstat; tc -s qdisc show dev {device}; ethtool -S {device}; ss -tin"
        ),
        notes: notes(text.rings.first()),
        kind: Kind::Host,
        run,
    })
}

/// Counters of a text: where one comes twice, its growth.
fn counted(from: &Named) -> Vec<Value> {
    let text = &from.text;
    let own = text.counters.iter().map(|own| (own.name.clone(), own.value, own.line));
    let card = text.card.iter().filter_map(|own| Some((of_card(own)?, own.value, own.line)));
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    let mut all: Vec<Value> = Vec::new();
    let is_card = |name: &str| name.starts_with("ethtool.");
    for (name, value, line) in own.chain(card) {
        match all.iter_mut().find(|own| own.name == name) {
            // Queues of a card and their sum have one name here: the largest is the sum.
            Some(it) if is_card(&name) => {
                if value > it.value {
                    (it.value, it.line) = (value, line);
                }
            }
            Some(it) => {
                let before = first.get(&name).copied().unwrap_or(0);
                (it.value, it.line) = (value.saturating_sub(before), line);
            }
            None => {
                first.insert(name.clone(), value);
                all.push(Value { name, value, line });
            }
        }
    }
    all
}

/// The name that rules read, of a card's counter. Drivers name them at will, and XDP drops on purpose.
fn of_card(own: &CardCounter) -> Option<String> {
    let name = own.name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is = |way: &str| name.starts_with(way) || name.contains(&format!(".{way}"));
    let plain = match () {
        () if name.contains("xdp") => return None,
        () if has(&DAMAGED) => "rx_crc_errors",
        () if is("rx") && has(&MISSED) => "rx_missed_errors",
        () if is("tx") && has(&FULL) => "tx_dropped",
        () => return None,
    };
    Some(format!("ethtool.{plain}"))
}

/// The queue that drops most; a root comes before its parts, whose drops it counts.
fn most_dropping(queues: &[Queue]) -> Option<&Queue> {
    queues.iter().rev().max_by_key(|own| (own.dropped, own.is_root, own.packets))
}

fn recording(counted: &[Value], queue: Option<&Queue>) -> Recording {
    let time = Time::secs(1);
    let counter = |own: &Value| Counter {
        time,
        host: Arc::from(meta::HOST),
        name: Arc::from(own.name.as_str()),
        value: own.value,
    };
    let stage = |own: &Queue| StageInfo {
        index: 0,
        name: format!("{}.qdisc", meta::HOST),
        kind: "qdisc",
        direction: "forward",
        unit: "skb",
        capacity: own.limit.map(u64::from),
        timed: false,
    };
    let sample = |own: &Queue| StageSample {
        time,
        stage: 0,
        entered: own.packets.saturating_add(own.backlog),
        left: own.packets,
        dropped: own.dropped,
        waiting: own.backlog,
        requeues: own.requeues,
        ..StageSample::default()
    };
    // A flow without data stands for the host.
    let flow = FlowSample { time, ..FlowSample::blank() };
    Recording {
        stages: queue.map(stage).into_iter().collect(),
        stage_samples: queue.map(sample).into_iter().collect(),
        counters: counted.iter().map(counter).collect(),
        flows: vec![FlowSample { bytes_sent: 1, ..flow }],
        ..Recording::default()
    }
}

fn settings(queue: Option<&Queue>, ring: Option<&Ring>) -> HostSettings {
    HostSettings {
        qdisc: queue.map_or_else(String::new, |own| own.kind.clone()),
        qdisc_limit: queue.and_then(|own| own.limit),
        maxrate: queue.and_then(|own| own.maxrate),
        rx_ring: ring.and_then(|own| own.rx).unwrap_or(0),
        tx_ring: ring.and_then(|own| own.tx).unwrap_or(0),
        ..HostSettings::default()
    }
}

fn about(from: &Named) -> String {
    let text = &from.text;
    let mut parts = Vec::new();
    let many = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    if !text.counters.is_empty() {
        parts.push(format!("{} of the kernel", many(text.counters.len(), "counter")));
    }
    if !text.queues.is_empty() {
        parts.push(many(text.queues.len(), "qdisc"));
    }
    if !text.card.is_empty() {
        parts.push(format!("{} counters of the card", text.card.len()));
    }
    if !text.rings.is_empty() {
        parts.push("sizes of rings".into());
    }
    format!("{}: {}", from.name, parts.join(", "))
}

fn notes(ring: Option<&Ring>) -> Vec<String> {
    let mut notes = vec![
        "the counters are those of all connections, since boot or the last `nstat`".to_string(),
    ];
    if let Some((now, most)) = ring.and_then(|own| Some((own.rx?, own.rx_max?)))
        && now < most
    {
        let (now, most) = (count(now.into()), count(most.into()));
        notes.push(format!("the receive ring has {now} descriptors and may have {most}"));
    }
    notes
}

/// Lines of the counters that the first verdicts name.
fn lines(from: &Named, counted: &[Value], queue: Option<&Queue>, run: &Run) -> Vec<Quote> {
    let named = |finding: &Finding, own: &Value| {
        let plain = own
            .name
            .strip_prefix("ethtool.")
            .map_or_else(|| own.name.replace('.', ""), String::from);
        let short = own.name.rsplit('.').next().unwrap_or_default();
        let says = |text: &String| text.starts_with(&plain) || text.starts_with(short);
        finding.evidence.iter().any(says)
    };
    let mut numbers: Vec<usize> = Vec::new();
    for finding in run.findings.iter().take(3) {
        let own = counted.iter().filter(|own| named(finding, own) && own.value > 0);
        numbers.extend(own.map(|own| own.line));
        if finding.code == "qdisc" {
            numbers.extend(queue.map(|own| own.counted));
        }
        let is_loss = finding.rule == "counted-losses";
        let again = counted.iter().filter(|own| is_loss && own.name.ends_with("Tcp.RetransSegs"));
        numbers.extend(again.map(|own| own.line));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|line| Quote::of(from, line)).collect()
}
