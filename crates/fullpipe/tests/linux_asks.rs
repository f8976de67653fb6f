//! What the engine `linux` asks of the kernel, and what it answers to keys that it cannot do.

use fullpipe::engine::{self, Engine, Support, linux};
use fullpipe::scenario::{Resolved, SetOption, Source, load};
use fullpipe_guest::plan::{Drops, Qdisc, Router, Way};
use std::fmt::Write;

const SCENARIO: &str = r#"
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

fn resolved(sets: &[&str]) -> Resolved {
    let sets: Vec<_> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    let scenario = load(&Source::text("asked.toml", SCENARIO), &sets, &[]).expect("valid");
    scenario.plans()[0].resolved.clone()
}

fn drops(drops: &Drops) -> String {
    format!("drop of flow {}: segments {:?}, acks {:?}", drops.flow, drops.segments, drops.acks)
}

fn qdisc(qdisc: &Qdisc) -> String {
    match qdisc {
        Qdisc::Tbf { rate, burst, limit, overhead } => {
            format!("tbf rate {rate} burst {burst} limit {limit} overhead {overhead}")
        }
        Qdisc::Netem { delay_ns, limit, loss, seed, .. } => {
            format!("netem delay {delay_ns} ns limit {limit} {loss:?} seeded {}", *seed != 0)
        }
        other => format!("{other:?}"),
    }
}

fn way(name: &str, way: &Way) -> String {
    let parts = way.drops.iter().map(drops).chain(way.qdiscs.iter().map(qdisc));
    parts.fold(String::new(), |mut text, part| {
        let _ = writeln!(text, "{name}: {part}");
        text
    })
}

#[test]
fn a_path_is_routers_with_qdiscs() {
    let plan = linux::plan(&resolved(&[])).expect("it can be asked");
    let mut text = way("sender", &plan.sender.out);
    for (number, Router { forward, back }) in plan.routers.iter().enumerate() {
        text += &way(&format!("router {number} forward"), forward);
        text += &way(&format!("router {number} back"), back);
    }
    text += &way("receiver", &plan.receiver.out);
    // 45 segments of 1500 bytes are the largest packet for the card; the wire's slack is 4 us.
    let expected = "\
sender: tbf rate 10000000000 burst 74210 limit 4294967295 overhead 24
sender: Pfifo { limit: 1000 }
router 0 forward: drop of flow 0: segments [3, 17], acks []
router 0 forward: tbf rate 1000000000 burst 2000 limit 1000000 overhead -14
router 0 forward: Bfifo { limit: 1000000 }
router 1 forward: netem delay 0 ns limit 100000000 Random { probability: 0.01 } seeded true
router 2 forward: netem delay 20000000 ns limit 100000000 None seeded true
router 2 back: drop of flow 0: segments [], acks [2]
router 2 back: netem delay 30000000 ns limit 100000000 None seeded true
";
    assert_eq!(text, expected, "found:\n{text}");
}

#[test]
fn hosts_and_flows_are_asked_in_the_kernels_terms() {
    let plan = linux::plan(&resolved(&[])).expect("it can be asked");
    let value = |host: &fullpipe_guest::plan::Host, name: &str| {
        let found = host.sysctl.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert_eq!(value(&plan.sender, "net/ipv4/tcp_rmem"), "4096 87380 6291456");
    assert_eq!(value(&plan.sender, "net/ipv4/tcp_timestamps"), "1");
    assert_eq!((plan.sender.gso_max_segs, plan.receiver.gso_max_segs), (None, Some(1)));
    let flow = &plan.flows[0];
    // setsockopt grants wmem_max.
    assert_eq!((flow.sndbuf, flow.rcvbuf), (Some(2_000_000), None));
    assert_eq!((flow.start_ns, flow.bytes, flow.rate), (1_000_000_000, Some(10_000_000), None));
    assert_eq!((plan.end_ns, plan.mtu, plan.seed), (5_000_000_000, 1500, 7));
}

#[test]
fn sysctls_and_socket_options_of_genuine_kernels_are_handed_on() {
    let sets = [
        "hosts.sender.kernel=6.12",
        "hosts.sender.sysctl.net.ipv4.tcp_limit_output_bytes=4194304",
        "flow.bulk.sockopt={ TCP_NODELAY = 1, SO_MAX_PACING_RATE = 12500000 }",
        "flow.bulk.receiver_sockopt={ TCP_QUICKACK = 1 }",
    ];
    let plan = linux::plan(&resolved(&sets)).expect("it can be asked");
    let limit = ("net/ipv4/tcp_limit_output_bytes".to_string(), "4194304".to_string());
    assert!(plan.sender.sysctl.contains(&limit) && !plan.receiver.sysctl.contains(&limit));
    let options = [("SO_MAX_PACING_RATE".to_string(), 12_500_000), ("TCP_NODELAY".to_string(), 1)];
    assert_eq!(plan.flows[0].sender_options, options);
    assert_eq!(plan.flows[0].receiver_options, [("TCP_QUICKACK".to_string(), 1)]);
    let simulator = engine::find("sim").expect("an engine").support(&resolved(&sets));
    let refused: Vec<&str> = simulator.iter().map(|(key, _)| key.as_str()).collect();
    let expected = [
        "hosts.sender.kernel",
        "hosts.sender.sysctl.net.ipv4.tcp_limit_output_bytes",
        "flow.bulk.sockopt",
        "flow.bulk.receiver_sockopt",
    ];
    assert_eq!(refused, expected);
}

#[test]
fn a_scenario_of_a_genuine_kernel_runs_on_it_and_on_another_one_if_asked() {
    let linux = engine::find("linux").expect("an engine");
    let answers = |engine: &dyn Engine, sets: &[&str]| {
        let said = engine.support(&resolved(sets));
        let of_kernel = said.into_iter().filter(|(key, _)| key.ends_with("kernel"));
        (engine.kernel(&resolved(sets)), of_kernel.count())
    };
    assert_eq!(answers(linux, &[]), (Some("6.12"), 2));
    assert_eq!(answers(linux, &["hosts.sender.kernel=6.1"]), (Some("6.1"), 1));
    let other = linux.as_kernel("6.1").expect("a kernel");
    let both = ["hosts.sender.kernel=6.12", "hosts.receiver.kernel=6.12"];
    assert_eq!(answers(linux, &both), (Some("6.12"), 0));
    assert_eq!(answers(other, &both), (Some("6.1"), 2));
    assert!(linux.as_kernel("5.4").is_none());
    // What 6.1 does not have is refused there alone.
    let plb = [&both[..], &["hosts.sender.sysctl.net.ipv4.tcp_plb_enabled=1"]].concat();
    let refused = |engine: &dyn Engine| {
        engine.support(&resolved(&plb)).iter().any(|(key, _)| key.ends_with("tcp_plb_enabled"))
    };
    assert!(refused(other) && !refused(linux));
}

/// What the engine says to a scenario with these changes.
fn answers(sets: &[&str]) -> Vec<String> {
    let engine: &dyn Engine = engine::find("linux").expect("an engine");
    let said = engine.support(&resolved(sets));
    let line = |(key, support): (String, Support)| match support {
        Support::Exact => format!("{key}: exact"),
        Support::Substituted(what) => format!("{key}: substituted: {what}"),
        Support::Refused(why) => format!("{key}: refused: {why}"),
    };
    said.into_iter().map(line).collect()
}

#[test]
fn what_it_cannot_do_is_said_by_key() {
    let kernels = [
        "hosts.sender.kernel: substituted: Linux 6.12 for 3.14",
        "hosts.receiver.kernel: substituted: Linux 6.12 for 3.14",
    ];
    assert_eq!(answers(&[]), kernels);
    let cases = [
        (
            "hosts.sender.cpu.copy=0.1ns/byte",
            "hosts.sender.cpu: substituted: its CPU takes no time",
        ),
        (
            "hosts.receiver.coalesce=30us",
            "hosts.receiver.coalesce: substituted: packets are received as they come",
        ),
        (
            "hosts.receiver.hz=250",
            "hosts.receiver.hz: refused: both hosts are in one kernel, with one HZ",
        ),
        (
            "hosts.sender.behaviour={ reduction = \"prr\" }",
            "hosts.sender.behaviour: refused: a genuine kernel behaves as it does",
        ),
        (
            "hosts.receiver.nic_rate=1Gbit",
            "hosts.receiver.nic_rate: substituted: ACKs leave the receiver as they are sent",
        ),
        (
            "hosts.sender.nic_rate=900Mbit",
            "hosts.sender.tx_ring: substituted: all that waits for the card is in the qdisc",
        ),
        ("report.sample=50us", "report.sample: refused: samples are at least 0.1 ms apart"),
    ];
    for (set, answer) in cases {
        let said = answers(&[set]);
        assert!(said.iter().any(|line| line == answer), "{set}: {said:#?}");
    }
}
