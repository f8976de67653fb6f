//! What the engine `linux` asks of the kernel, and what it answers to keys that it cannot do.

use fullpipe::engine::{self, Engine, Support, linux};
use fullpipe::scenario::{Resolved, SetOption, Source, load};
use fullpipe_guest::plan::{
    Apart, Chance, Change, Drops, Netem, Overtake, Police, Qdisc, Router, Spread, Way, Wire,
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
    let apart = |a: &Apart| format!("flow {}: {}", a.flow, qdisc(&a.qdisc));
    let parts = way
        .drops
        .iter()
        .map(drops)
        .chain(way.police.iter().map(police))
        .chain(way.apart.iter().map(apart));
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
    // 45 segments of 1500 bytes are the largest packet for the card, which counts 1514 of 1538; the wire's slack is
    // 4 us. Behind a link is its wire.
    let expected = "\
sender: tbf rate 9843953185 burst 73051 limit 4294967295 overhead 0
sender: Pfifo { limit: 1000 }
router 0 forward: drop of flow 0: segments [3, 17], acks []
router 0 forward: tbf rate 1000000000 burst 2000 limit 1000000 overhead -14
router 0 forward: Bfifo { limit: 1000000 }
router 1 forward: netem delay 0 ns limit 100000000 None seeded false wire 1000000000 overhead -14
router 2 forward: netem delay 0 ns limit 100000000 Random { probability: 0.01 } seeded true
router 3 forward: netem delay 20000000 ns limit 100000000 None seeded true
router 3 back: drop of flow 0: segments [], acks [2]
router 3 back: netem delay 30000000 ns limit 100000000 None seeded true
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
        // The same flow again has the next router.
        (
            r#"{ kind = "flow-delay", name = "x", flow = "bulk", delay = "1ms" },
               { kind = "flow-delay", name = "y", flow = "bulk", delay = "2ms" }"#,
            "0 forward: flow 0: netem delay 1000000 ns limit 100000000 None seeded true\n\
             1 forward: flow 0: netem delay 2000000 ns limit 100000000 None seeded true\n",
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

/// A link of 100 Mb/s with such a queue.
fn link(queue: &str) -> String {
    forward(&format!(
        "{{ kind = \"link\", name = \"x\", rate = \"100Mbit\", framing = \"ethernet\", queue = {{ {queue} }} }}"
    ))
}

#[test]
fn disciplines_have_the_options_of_linux_and_its_defaults() {
    let wire =
        "1 forward: netem delay 0 ns limit 100000000 None seeded false wire 100000000 overhead 0\n";
    let below = |limit: &str, qdisc: &str| {
        format!(
            "0 forward: tbf rate 100000000 burst 1564 limit {limit} overhead 0\n0 forward: {qdisc}\n{wire}"
        )
    };
    let cases = [
        ("discipline = \"fq\"", below("10000", "Fq { limit: 10000, flow_limit: 100 }")),
        (
            "discipline = \"fq\", limit = \"9 packets\", flow_limit = \"8 packets\"",
            below("9", "Fq { limit: 9, flow_limit: 8 }"),
        ),
        (
            "discipline = \"codel\"",
            below(
                "1000",
                "Codel { limit: 1000, target_us: 5000, interval_us: 100000, ecn: false }",
            ),
        ),
        (
            "discipline = \"fq_codel\"",
            below(
                "10240",
                "FqCodel { limit: 10240, target_us: 5000, interval_us: 100000, ecn: true }",
            ),
        ),
        (
            "discipline = \"fq_codel\", target = \"1ms\", interval = \"20ms\", ecn = false",
            below(
                "10240",
                "FqCodel { limit: 10240, target_us: 1000, interval_us: 20000, ecn: false }",
            ),
        ),
        (
            "discipline = \"pie\", ecn = true",
            below("1000", "Pie { limit: 1000, target_us: 15000, update_us: 15000, ecn: true }"),
        ),
        (
            "discipline = \"red\", limit = \"1200kB\"",
            below(
                "1200000",
                "Red { limit: 1200000, min: 100000, max: 300000, weight_log: 9, probability: 0.02, \
                 packet_ns: 121120, ecn: false }",
            ),
        ),
        // Linux averages no lengths from 2^22 on by a weight of 2^-9.
        (
            "discipline = \"red\", limit = \"40MB\", ecn = true",
            below(
                "40000000",
                "Red { limit: 40000000, min: 3333333, max: 10000000, weight_log: 7, \
                 probability: 0.02, packet_ns: 121120, ecn: true }",
            ),
        ),
        (
            "discipline = \"cake\", rtt = \"20ms\"",
            "0 forward: Cake { rate: Some(100000000), rtt_us: 20000, overhead: 0, \
             memory: Some(4194304), ack_filter: false }\n"
                .to_string()
                + wire,
        ),
    ];
    for (queue, expected) in cases {
        let found = link(queue);
        assert_eq!(found, expected, "{queue}: found\n{found}");
    }
}

#[test]
fn delays_of_several_flows_share_a_router() {
    let other = "[[flow]]\nname = \"other\"\nbytes = \"1MB\"\ncongestion = \"reno\"\n";
    let elements = r#"path.forward=[
        { kind = "flow-delay", name = "x", flow = "other", delay = "1ms" },
        { kind = "flow-delay", name = "y", flow = "bulk", delay = "2ms" },
        { kind = "delay", name = "z", delay = "3ms" } ]"#;
    let sets = [elements, "path.back=[]"].map(|set| SetOption(set.into()));
    let source = Source::text("asked.toml", &format!("{SCENARIO}{other}"));
    let plans = load(&source, &sets, &[]).expect("valid");
    let plan = linux::plan(&plans.plans()[0].resolved).expect("it can be asked");
    let text: String = plan.routers.iter().map(|router| way("", &router.forward)).collect();
    let expected = "\
: flow 1: netem delay 1000000 ns limit 100000000 None seeded true
: flow 0: netem delay 2000000 ns limit 100000000 None seeded true
: netem delay 3000000 ns limit 100000000 None seeded true
";
    assert_eq!(text, expected, "found:\n{text}");
    assert_eq!(plan.routers.len(), 2);
}

#[test]
fn a_host_has_the_queue_that_it_is_given() {
    let sender = |sets: &[&str]| {
        let text = devices(sets);
        text.lines().filter(|line| !line.starts_with("router")).collect::<Vec<_>>().join("; ")
    };
    let card = "sender: tbf rate 9843953185 burst 73051 limit 4294967295 overhead 0; sender: ";
    let cases = [
        (
            vec!["hosts.sender.qdisc.kind=fq"],
            format!("{card}Fq {{ limit: 10000, flow_limit: 100 }}"),
        ),
        (
            vec!["hosts.sender.qdisc={ kind = \"fq\", flow_limit = \"1000 packets\" }"],
            format!("{card}Fq {{ limit: 10000, flow_limit: 1000 }}"),
        ),
        (
            vec!["hosts.sender.qdisc.kind=fq_codel", "hosts.receiver.qdisc.kind=fq"],
            format!(
                "{card}FqCodel {{ limit: 10240, target_us: 5000, interval_us: 100000, ecn: true }}; \
                 receiver: Fq {{ limit: 10000, flow_limit: 100 }}"
            ),
        ),
    ];
    for (sets, expected) in cases {
        assert_eq!(sender(&sets), expected, "{sets:?}");
    }
}

#[test]
fn the_simulator_refuses_what_is_not_droptail() {
    let engine = engine::find("sim").expect("an engine");
    let said = |set: &str| engine.support(&resolved(&[set]));
    assert_eq!(said("path.forward.wire.queue.discipline=droptail"), []);
    let link = "path.forward.wire.queue={ discipline = \"codel\" }";
    let [(key, Support::Refused(why))] = &said(link)[..] else { panic!("{:?}", said(link)) };
    assert_eq!(key, "path, element wire, queue.discipline");
    assert!(why.contains("--engine linux"), "{why}");
    let said = said("hosts.sender.qdisc.kind=fq");
    assert_eq!(said[0].0, "hosts.sender.qdisc.kind");
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
            r#"{ kind = "loss", name = "x", probability = 0.1, unit = "skb" }"#,
            "packets on the path are single segments (unit = \"segment\") without path.gso",
        ),
    ];
    for (element, why) in cases {
        let said = answers(&[&format!("path.forward=[{element}]"), "path.back=[]"]);
        let expected = format!("path, element x: refused: {why}");
        assert!(said.contains(&expected), "{element}: {said:#?}");
    }
}

/// One kernel has one value for all flows, which may be the default of none, some or all.
#[test]
fn parameters_of_one_algorithm_are_the_same_in_all_flows() {
    let flows = |a: &str, b: &str| {
        let other = format!("[[flow]]\nname = \"other\"\nbytes = \"1MB\"\ncongestion = {b}\n");
        let sets = [SetOption(format!("flow.bulk.congestion={a}"))];
        let source = Source::text("asked.toml", &format!("{SCENARIO}{other}"));
        let plans = load(&source, &sets, &[]).expect("valid");
        let wrong = linux::plan(&plans.plans()[0].resolved).err().unwrap_or_default();
        wrong.contains("one kernel has one for all cubic flows")
    };
    let (plain, one, two) = (
        r#"{ name = "cubic" }"#,
        r#"{ name = "cubic", beta = 600 }"#,
        r#"{ name = "cubic", beta = 500 }"#,
    );
    assert!(!flows(plain, plain) && !flows(one, one));
    assert!(flows(one, two) && flows(one, plain) && flows(plain, one));
}

/// What a scenario means is what it says with every default written out, also on another kernel.
#[test]
fn parameters_are_those_of_the_scenarios_kernel() {
    let words = |sets: &[&str]| linux::words(&resolved(sets)).expect("they can be asked");
    let old = ["hosts.sender.kernel=2.6.20", "hosts.receiver.kernel=2.6.20"];
    let bic = [&old[..], &["flow.bulk.congestion=bic"]].concat();
    assert_eq!(words(&bic), ["tcp_bic.initial_ssthresh=100"]);
    let none =
        [&old[..], &["flow.bulk.congestion={ name = \"bic\", initial_ssthresh = 0 }"]].concat();
    assert!(words(&none).is_empty());
    let today = ["hosts.sender.kernel=6.12", "flow.bulk.congestion=cubic"];
    assert!(words(&today).is_empty());
}

#[test]
fn large_packets_pass_what_looks_at_no_segments() {
    let link = r#"{ kind = "link", name = "x", rate = "1Gbit", framing = "ethernet" }"#;
    let large = |forward: &str| {
        let forward = format!("path.forward=[{forward}]");
        let path = ["path.gso=true", "path.back=[]", &forward];
        (linux::plan(&resolved(&path)), answers(&path))
    };
    let plan = large(link).0.expect("it can be asked");
    let way = way("forward", &plan.routers[0].forward);
    // 45 segments of 1514 bytes.
    assert!(plan.gso && way.contains("burst 68630 "), "{way}");
    let refused = [
        (link.replace("ethernet", "ip"), "Linux counts the segments of a packet with path.gso by"),
        (
            r#"{ kind = "drop", name = "x", flow = "bulk", segments = [2] }"#.into(),
            "it looks at segments",
        ),
        (
            r#"{ kind = "policer", name = "x", rate = "1Gbit", burst = "1MB" }"#.into(),
            "it looks at",
        ),
        (
            r#"{ kind = "loss", name = "x", probability = 0.1 }"#.into(),
            "packets on the path have many",
        ),
    ];
    for (element, why) in refused {
        let expected = format!("path, element x: refused: {why}");
        let said = large(&element).1;
        assert!(said.iter().any(|said| said.starts_with(&expected)), "{said:?}");
    }
    let simulator = engine::find("sim").expect("an engine").support(&resolved(&["path.gso=true"]));
    assert!(simulator.iter().any(|(key, _)| key == "path.gso"), "{simulator:?}");
}

#[test]
fn a_delay_by_a_timer_can_be_had_without_the_timer() {
    let delay = r#"{ kind = "delay", name = "x", delay = "1ms", timer = { hz = 100 } }"#;
    let set = format!("path.forward=[{delay}]");
    let said = answers(&[&set, "path.back=[]"]);
    let expected = "path.forward.x.timer: substituted: packets leave when they are due";
    assert!(said.contains(&expected.to_string()), "{said:#?}");
    let plan = linux::plan(&resolved(&[&set, "path.back=[]"])).expect("it can be asked");
    let way = way("forward", &plan.routers[0].forward);
    assert!(way.contains("netem delay 1000000 ns"), "{way}");
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
            "hosts.receiver.hz: refused: 250, and 1000 at the sender; both hosts are in one kernel, so \
             set `hz` of both to the same",
        ),
        (
            "flow.bulk.sockopt={ IP_TOS = 16 }",
            "flow.bulk.sockopt.IP_TOS: substituted: the sender's queue has one band",
        ),
        (
            "hosts.sender.hz=123",
            "hosts.sender.hz: refused: 123; values of HZ that Linux offers: 100, 250, 300, 1000",
        ),
        ("path.mtu=80", "path.mtu: refused: 80; Linux sends segments of 48 bytes at least: 88"),
        (
            "path.forward.wire.rate=7bit",
            "path, element wire: refused: a rate below 8 bit/s: Linux counts in bytes per second",
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
