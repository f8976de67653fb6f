//! Keys that engines cannot do.

use crate::linux_asks::show::{answers, resolved, way};
use fullpipe::engine::{self, Support, linux};

#[test]
fn the_simulator_refuses_disciplines_that_it_does_not_have() {
    let engine = engine::find("sim").expect("an engine");
    let said = |set: &str| engine.support(&resolved(&[set]));
    for kind in ["droptail", "codel", "fq_codel", "fq", "red"] {
        let link = format!("path.forward.wire.queue={{ discipline = \"{kind}\" }}");
        assert_eq!(said(&link), [], "{kind}");
    }
    let link = "path.forward.wire.queue={ discipline = \"cake\" }";
    let [(key, Support::Refused(why))] = &said(link)[..] else { panic!("{:?}", said(link)) };
    assert_eq!(key, "path, element wire, queue.discipline");
    assert!(why.contains("--engine linux"), "{why}");
    for kind in ["pfifo", "bfifo", "codel", "fq_codel", "netem"] {
        assert_eq!(said(&format!("hosts.sender.qdisc.kind={kind}")), [], "{kind}");
    }
    assert_eq!(said("hosts.sender.qdisc.kind=fq"), []);
    let before = resolved(&["hosts.sender.kernel=2.6.32", "hosts.sender.qdisc.kind=fq"]);
    let said = engine.support(&before);
    let [(key, Support::Substituted(_))] = &said[..] else { panic!("fq paces: {said:?}") };
    assert_eq!(key, "hosts.sender.qdisc.kind");
}

/// With one descriptor and no TSO nothing waits in a ring: the scenario itself describes the engine's ring.
#[test]
fn a_ring_in_which_nothing_waits_is_no_other_one() {
    let card = ["hosts.sender.nic_rate=900Mbit", "hosts.sender.tso=false"];
    let ring = |set: &str| {
        let said = answers(&[&card[..], &[set]].concat());
        said.iter().any(|line| line.starts_with("hosts.sender.tx_ring"))
    };
    assert!(ring("hosts.sender.tx_ring=2 descriptors"));
    assert!(!ring("hosts.sender.tx_ring=1 descriptors"));
}

/// Linux 3.3 is the first with byte queue limits.
#[test]
fn the_simulator_refuses_byte_queue_limits_of_kernels_that_had_none() {
    let engine = engine::find("sim").expect("an engine");
    let said = |kernel: &str| {
        let kernel = format!("hosts.receiver.kernel={kernel}");
        engine.support(&resolved(&[&kernel, "hosts.receiver.bql=true"]))
    };
    assert_eq!(said("3.14"), []);
    assert_eq!(said("6.12"), []);
    let why = "Linux 2.6.32 has no byte queue limits, 3.3 and later have them";
    let refused = Support::Refused(why.into());
    assert_eq!(said("2.6.32"), [("hosts.receiver.bql".to_string(), refused)]);
}

/// A driver's thresholds lie within its ring, and one that requeues stops no queue.
#[test]
fn the_simulator_refuses_thresholds_that_no_driver_has() {
    let engine = engine::find("sim").expect("an engine");
    let said = |sets: &[&str]| {
        let ring = "hosts.sender.tx_ring=64 descriptors";
        let answers = engine.support(&resolved(&[&[ring], sets].concat()));
        answers.into_iter().map(|(key, answer)| format!("{key}: {answer:?}")).collect::<Vec<_>>()
    };
    let refused = |key: &str, why: &str| vec![format!("hosts.sender.{key}: Refused({why:?})")];
    let stop = "hosts.sender.tx_stop=20 descriptors";
    assert!(said(&[stop]).is_empty());
    assert!(said(&[stop, "hosts.sender.tx_wake=64 descriptors"]).is_empty());
    let order = "a queue that stops below 20 free descriptors and wakes at 19 would never rest; set it to at most `tx_wake`";
    assert_eq!(said(&[stop, "hosts.sender.tx_wake=19 descriptors"]), refused("tx_stop", order));
    let beyond = "the ring has 64 descriptors, and 65 are never free; set it to at most `tx_ring`";
    assert_eq!(said(&["hosts.sender.tx_wake=65 descriptors"]), refused("tx_wake", beyond));
    let requeues = ["hosts.sender.driver=requeues", "hosts.sender.tso=false", stop];
    let stops_none = "a driver that requeues stops no queue; leave it out, or `driver`";
    assert_eq!(said(&requeues), refused("tx_stop", stops_none));
}

/// GRO waits beyond a poll from Linux 3.19 on, where there is GRO, which polled cards have.
#[test]
fn the_simulator_refuses_gro_to_wait_where_it_does_not() {
    let engine = engine::find("sim").expect("an engine");
    let said = |set: &str| {
        let waits = "hosts.receiver.gro_flush_timeout=20us";
        let answers = engine.support(&resolved(&["hosts.receiver.kernel=6.12", waits, set]));
        answers.into_iter().map(|(key, answer)| format!("{key}: {answer:?}")).collect::<Vec<_>>()
    };
    let refused = |why: &str| vec![format!("hosts.receiver.gro_flush_timeout: Refused({why:?})")];
    assert!(said("hosts.receiver.hz=1000").is_empty());
    let none = "it is GRO's, which `gro` or `receive_path` rule out";
    assert_eq!(said("hosts.receiver.gro=false"), refused(none));
    assert_eq!(said("hosts.receiver.receive_path=netif_rx"), refused(none));
    let early = "Linux 3.14 does not wait, 3.19 and later may";
    assert_eq!(said("hosts.receiver.kernel=3.14"), refused(early));
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
            r#"{ kind = "shaper", name = "x", rate = "10Mbit", burst = "2GB" }"#,
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

#[test]
fn large_packets_pass_what_looks_at_no_segments() {
    let link = r#"{ kind = "link", name = "x", rate = "1Gbit", framing = "ethernet", queue = { discipline = "red" } }"#;
    let large = |forward: &str| {
        let forward = format!("path.forward=[{forward}]");
        let path = ["path.gso=true", "path.back=[]", &forward];
        (linux::plan(&resolved(&path)), answers(&path))
    };
    let plan = large(link).0.expect("it can be asked");
    let way = way("forward", &plan.routers[1].forward);
    // 45 segments of 1514 bytes.
    assert!(plan.gso && way.contains("burst 68130 "), "{way}");
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
            r#"{ kind = "shaper", name = "x", rate = "1Gbit", burst = "60kB" }"#.into(),
            "a burst below the largest packet with path.gso",
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

/// Each of these elements needs a router, and addresses are for 249.
#[test]
fn a_path_has_so_many_routers_and_no_more() {
    let path = |elements: usize| {
        let delay = |n: usize| format!(r#"{{ kind = "delay", name = "far{n}", delay = "1ms" }}"#);
        let elements: Vec<String> = (0..elements).map(delay).collect();
        [format!("path.forward=[{}]", elements.join(",")), "path.back=[]".into()]
    };
    let ask = |sets: [String; 2]| {
        let sets = sets.each_ref().map(String::as_str);
        (linux::plan(&resolved(&sets)).expect("it can be asked"), answers(&sets))
    };
    let (plan, said) = ask(path(249));
    assert_eq!(plan.routers.len(), 249);
    assert!(said.iter().all(|line| !line.starts_with("path")), "{said:?}");
    let (_, said) = ask(path(250));
    let why = "path: refused: its elements and hosts need 250 routers, and one guest has 249 at most; leave some out, or \
               make one of several (delays behind each other are one longer delay)";
    assert!(said.iter().any(|line| line == why), "{said:?}");
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

/// The simulator has a congestion control of no kernel with all kernels; both engines have the others.
#[test]
fn compound_is_the_simulators_alone() {
    for kernel in ["2.6.32", "6.1", "6.12", "6.18"] {
        let kernel = format!("hosts.sender.kernel={kernel}");
        for name in ["scalable", "htcp", "compound", "{ name = \"compound\", gamma = 10 }"] {
            let run = resolved(&[&kernel, &format!("flow.bulk.congestion={name}")]);
            assert_eq!(engine::find("sim").expect("an engine").support(&run), [], "{name}");
        }
    }
    let said = |name: &str| answers(&[&format!("flow.bulk.congestion={name}")]);
    let why = "no version of Linux has compound";
    assert!(said("compound").iter().any(|line| line.contains(why)), "{:?}", said("compound"));
    for name in ["scalable", "htcp"] {
        assert!(!said(name).iter().any(|line| line.contains("congestion")), "{:?}", said(name));
    }
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
            "hosts.receiver.rx_coalesce=30us",
            "hosts.receiver.rx_coalesce: substituted: packets are received as they come",
        ),
        (
            "hosts.receiver.rx_frames=16 packets",
            "hosts.receiver.rx_frames: substituted: packets are received as they come",
        ),
        (
            "hosts.receiver.hz=250",
            "hosts.receiver.hz: refused: 250, and 1000 at the sender; all hosts are in one kernel, so \
             set `hz` of all to the same",
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
            "hosts.sender.behaviour={ initial_cwnd = \"ten\" }",
            "hosts.sender.behaviour: refused: a genuine kernel behaves as it does",
        ),
        (
            "hosts.receiver.nic_rate=1Gbit",
            "hosts.receiver.nic_rate: substituted: no queue is full of the ACKs that wait for the card",
        ),
        (
            "hosts.sender.nic_rate=900Mbit",
            "hosts.sender.tx_ring: substituted: all that waits for the card is in the qdisc",
        ),
        (
            "hosts.sender.bql=true",
            "hosts.sender.bql: refused: its card is a queue discipline, which has no byte queue limits; --engine sim has \
             them",
        ),
        (
            "hosts.receiver.window=256KiB",
            "hosts.receiver.window: refused: a genuine kernel makes its window of memory; --engine sim has a fixed one",
        ),
        (
            "hosts.receiver.system=\"windows\"",
            "hosts.receiver.system: refused: the engine is Linux; --engine sim has what is published of Windows",
        ),
        (
            "hosts.sender.tx_coalesce=20us",
            "hosts.sender.tx_coalesce: refused: its card is a queue discipline, which has no descriptors; --engine sim has \
             them",
        ),
        (
            "hosts.receiver.tx_stop=2 descriptors",
            "hosts.receiver.tx_stop: refused: its card is a queue discipline, which has no descriptors; --engine sim has \
             them",
        ),
        ("report.sample=50us", "report.sample: refused: samples are at least 0.1 ms apart"),
    ];
    for (set, answer) in cases {
        let said = answers(&[set]);
        assert!(said.iter().any(|line| line == answer), "{set}: {said:#?}");
    }
}
