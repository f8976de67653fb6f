//! What the engine `linux` asks of the kernel, and what it answers to keys that it cannot do.

use fullpipe::engine::{self, Engine, Support, linux};
use fullpipe::scenario::{Resolved, SetOption, Source, load};
use fullpipe_guest::plan::{
    Chance, Change, Drops, Netem, Overtake, Police, Qdisc, Router, Spread, Way,
};
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

fn of_netem(netem: &Netem) -> String {
    let Netem { delay_ns, spread, limit, loss, duplicate, overtake, seed } = netem;
    let mut text = format!("delay {delay_ns} ns limit {limit} {loss:?} seeded {}", *seed != 0);
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

fn qdisc(qdisc: &Qdisc) -> String {
    match qdisc {
        Qdisc::Tbf { rate, burst, limit, overhead } => {
            format!("tbf rate {rate} burst {burst} limit {limit} overhead {overhead}")
        }
        Qdisc::Netem(netem) => format!("netem {}", of_netem(netem)),
        other => format!("{other:?}"),
    }
}

fn way(name: &str, way: &Way) -> String {
    let police =
        |p: &Police| format!("police {} burst {} overhead {}", p.rate, p.burst, p.overhead);
    let change = |c: &Change| format!("at {} ns {}: {}", c.at_ns, c.number, qdisc(&c.qdisc));
    let parts = way.drops.iter().map(drops).chain(way.police.iter().map(police));
    let parts = parts.chain(way.qdiscs.iter().map(qdisc)).chain(way.changes.iter().map(change));
    parts.fold(String::new(), |mut text, part| {
        let _ = writeln!(text, "{name}: {part}");
        text
    })
}

/// The plan's devices, a line for each thing that stands on one.
fn devices(sets: &[&str]) -> String {
    let plan = linux::plan(&resolved(sets)).expect("it can be asked");
    let mut text = way("sender", &plan.sender.out);
    for (number, Router { forward, back }) in plan.routers.iter().enumerate() {
        text += &way(&format!("router {number} forward"), forward);
        text += &way(&format!("router {number} back"), back);
    }
    text + &way("receiver", &plan.receiver.out)
}

#[test]
fn a_path_is_routers_with_qdiscs() {
    let text = devices(&[]);
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

/// What stands for elements on the data's way; the sender's own are left out.
fn forward(elements: &str) -> String {
    let text = devices(&[&format!("path.forward=[{elements}]"), "path.back=[]"]);
    text.lines()
        .filter_map(|line| line.strip_prefix("router "))
        .fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn what_elements_do_has_its_counterpart() {
    let cases = [
        (
            r#"{ kind = "jitter", name = "x", delay = "10ms", jitter = "2ms" }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             spread 2000000 ns normal false keep_order false\n",
        ),
        (
            r#"{ kind = "jitter", name = "x", delay = "10ms", jitter = "2ms",
                 distribution = "normal", keep_order = true }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             spread 2000000 ns normal true keep_order true\n",
        ),
        (
            r#"{ kind = "reorder", name = "x", delay = "10ms", probability = 0.1,
                 correlation = 0.25, gap = 5 }"#,
            "0 forward: netem delay 10000000 ns limit 100000000 None seeded true \
             overtake 0.1 0.25 gap 5\n",
        ),
        // What comes has to be counted before it is copied.
        (
            r#"{ kind = "duplicate", name = "x", probability = 0.1, correlation = 0.25 }"#,
            "0 forward: Pfifo { limit: 100000000 }\n\
             1 forward: netem delay 0 ns limit 100000000 None seeded true duplicate 0.1 0.25\n",
        ),
        (
            r#"{ kind = "delay", name = "y", delay = "1ms" },
               { kind = "duplicate", name = "x", probability = 0.1 }"#,
            "0 forward: netem delay 1000000 ns limit 100000000 None seeded true\n\
             1 forward: netem delay 0 ns limit 100000000 None seeded true duplicate 0.1 0\n",
        ),
        (
            r#"{ kind = "policer", name = "x", rate = "10Mbit", burst = "30kB" }"#,
            "0 forward: police 10000000 burst 30000 overhead 14\n",
        ),
        (
            r#"{ kind = "varying-link", name = "x", rate = "100Mbit", framing = "ethernet",
                 steps = [{ at = "1s", rate = "1Gbit" }], queue = { limit = "300 packets" } }"#,
            "0 forward: tbf rate 100000000 burst 1564 limit 300 overhead 0\n\
             0 forward: Pfifo { limit: 300 }\n\
             0 forward: at 1000000000 ns 0: tbf rate 1000000000 burst 2014 limit 300 overhead 0\n",
        ),
    ];
    for (element, expected) in cases {
        let found = forward(element);
        assert_eq!(found, expected, "{element}: found\n{found}");
    }
}

#[test]
fn what_an_element_does_that_linux_cannot_is_refused() {
    let cases = [
        (
            r#"{ kind = "jitter", name = "x", delay = "10ms", jitter = "2ms", correlation = 0.5 }"#,
            "next to nothing is left of a correlation in netem's delays",
        ),
        (
            r#"{ kind = "jitter", name = "x", delay = "10s", jitter = "3s" }"#,
            "netem's delays vary by 2.147483647 s at most",
        ),
        (
            r#"{ kind = "reorder", name = "x", delay = "0s", chosen_delay = "5ms",
                 probability = 0.1 }"#,
            "netem lets chosen packets go at once (`chosen_delay` 0), not late",
        ),
        (
            r#"{ kind = "duplicate", name = "y", probability = 0.1 },
               { kind = "duplicate", name = "x", probability = 0.1 }"#,
            "a copy is not copied again: one duplication on a way",
        ),
        (
            r#"{ kind = "policer", name = "x", rate = "10Mbit", burst = "2GB" }"#,
            "a burst of more than 1 GB",
        ),
        (
            r#"{ kind = "varying-link", name = "x", rate = "100Mbit",
                 steps = [{ at = "1s", rate = "0bit" }, { at = "2s", rate = "1Gbit" }] }"#,
            "an outage: a qdisc that has stood still is not woken when it ends",
        ),
        (
            r#"{ kind = "trace-link", name = "x", opportunities = [1, 2] }"#,
            "no queue discipline of Linux sends at the times of a trace",
        ),
        (
            r#"{ kind = "delay", name = "x", delay = "1ms", timer = { hz = 100 } }"#,
            "a delay by a timer is of old kernels' netem",
        ),
        (
            r#"{ kind = "loss", name = "x", probability = 0.1, unit = "skb" }"#,
            "here packets on the path are single segments (unit = \"segment\")",
        ),
    ];
    for (element, why) in cases {
        let said = answers(&[&format!("path.forward=[{element}]"), "path.back=[]"]);
        let expected = format!("path, element x: refused: {why}");
        assert!(said.contains(&expected), "{element}: {said:#?}");
    }
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
