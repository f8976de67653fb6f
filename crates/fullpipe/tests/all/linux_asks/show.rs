//! A scenario, and its plan as text.

use fullpipe::engine::{self, Engine, Support, linux};
use fullpipe::scenario::{self, Resolved, SetOption, Source, load};
use fullpipe_guest::plan::{
    Apart, Chance, Change, Drops, Netem, Overtake, Police, Qdisc, Router, Spread, Way, Wire,
};
use std::fmt::Write;

pub const SCENARIO: &str = r#"
title = "asked of Linux"
seed = 7
duration = "5s"

[path]
mtu = 1500
forward = [
    { kind = "drop", name = "first", flow = "bulk", segments = [3, 17] },
    { kind = "link", name = "wire", rate = "1Gbit", framing = "ip", queue = { limit = "1MB" } },
    { kind = "loss", name = "noise", probability = 0.01 },
    { kind = "delay", name = "far", delay = "20ms" },
]
back = [
    { kind = "drop", name = "lost-acks", flow = "bulk", acks = [2] },
    { kind = "delay", name = "home", delay = "30ms" },
]

[hosts.sender]
kernel = "3.14"
hz = 1000
sysctl = { "net.core.wmem_max" = "2MB" }
[hosts.receiver]
kernel = "3.14"
hz = 1000
tso = false

[[flow]]
name = "bulk"
congestion = { name = "cubic", hystart = 0 }
sndbuf = "4MB"
start = "1s"
bytes = "10MB"
"#;

pub fn resolved(sets: &[&str]) -> Resolved {
    let sets: Vec<_> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    let scenario = load(&Source::text("asked.toml", SCENARIO), &sets, &[]).expect("valid");
    scenario.plans()[0].resolved.clone()
}

pub fn drops(drops: &Drops) -> String {
    let what = if drops.mark { "mark" } else { "drop" };
    let Drops { flow, segments, acks, .. } = drops;
    format!("{what} of flow {flow}: segments {segments:?}, acks {acks:?}")
}

pub fn of_netem(netem: &Netem) -> String {
    let Netem { delay_ns, spread, limit, loss, duplicate, overtake, seed, wire } = netem;
    let mut text = format!("delay {delay_ns} ns limit {limit} {loss:?} seeded {}", *seed != 0);
    if let Some(Wire { rate, overhead }) = wire {
        let _ = write!(text, " wire {rate} overhead {overhead}");
    }
    if let Some(Spread { width_ns, normal, keep_order }) = spread {
        let _ = write!(text, " spread {width_ns} ns normal {normal} keep_order {keep_order}");
    }
    if let Some(Chance { probability, correlation }) = duplicate {
        let _ = write!(text, " duplicate {probability} {correlation}");
    }
    if let Some(Overtake { chance: Chance { probability, correlation }, gap }) = overtake {
        let _ = write!(text, " overtake {probability} {correlation} gap {gap}");
    }
    text
}

pub fn qdisc(qdisc: &Qdisc) -> String {
    match qdisc {
        Qdisc::Tbf { rate, burst, ahead_ns, limit, overhead } => {
            let burst = format!("burst {burst} and {ahead_ns} ns");
            format!("tbf rate {rate} {burst} limit {limit} overhead {overhead}")
        }
        Qdisc::Netem(netem) => format!("netem {}", of_netem(netem)),
        other => format!("{other:?}"),
    }
}

pub fn way(name: &str, way: &Way) -> String {
    let police = |p: &Police| match p.largest {
        Some(bytes) => format!("nothing above {bytes} bytes"),
        None => format!("police {} burst {} overhead {}", p.rate, p.burst, p.overhead),
    };
    let change = |c: &Change| format!("at {} ns {}: {}", c.at_ns, c.number, qdisc(&c.qdisc));
    let apart = |a: &Apart| format!("flow {}: {}", a.flow, qdisc(&a.qdisc));
    let clamp = |most: &u16| format!("MSS {most} at most");
    let parts = way
        .drops
        .iter()
        .map(drops)
        .chain(way.police.iter().map(police))
        .chain(way.mss_clamp.iter().map(clamp))
        .chain(way.apart.iter().map(apart));
    let parts = parts.chain(way.qdiscs.iter().map(qdisc)).chain(way.changes.iter().map(change));
    parts.fold(String::new(), |mut text, part| {
        let _ = writeln!(text, "{name}: {part}");
        text
    })
}

/// The plan's devices, a line for each element on them.
pub fn devices(sets: &[&str]) -> String {
    let plan = linux::plan(&resolved(sets)).expect("it can be asked");
    let mut text = way("sender", &plan.sender.out);
    for (number, Router { forward, back }) in plan.routers.iter().enumerate() {
        text += &way(&format!("router {number} forward"), forward);
        text += &way(&format!("router {number} back"), back);
    }
    text + &way("receiver", &plan.receiver.out)
}

/// Answers of the engine to a scenario with these changes.
pub fn answers(sets: &[&str]) -> Vec<String> {
    let engine: &dyn Engine = engine::find("linux").expect("an engine");
    let run = resolved(sets);
    let (said, keys) = (engine.support(&run), scenario::keys(&run));
    let substituted = said.iter().filter(|(_, what)| matches!(what, Support::Substituted(_)));
    for (key, _) in substituted {
        assert!(keys.contains(key), "--without cannot name {key}");
    }
    let line = |(key, support): (String, Support)| match support {
        Support::Exact => format!("{key}: exact"),
        Support::Substituted(what) => format!("{key}: substituted: {what}"),
        Support::Noted(what) => format!("{key}: told: {what}"),
        Support::Refused(why) => format!("{key}: refused: {why}"),
    };
    said.into_iter().map(line).collect()
}
