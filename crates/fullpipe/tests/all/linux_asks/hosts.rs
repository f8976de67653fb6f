//! Hosts, flows, kernels.

use crate::linux_asks::show::{SCENARIO, devices, resolved};
use fullpipe::engine::{self, Engine, Support, linux};
use fullpipe::scenario::{self, SetOption, Source, load};

#[test]
fn a_host_has_the_queue_that_it_is_given() {
    let sender = |sets: &[&str]| {
        let text = devices(sets);
        text.lines().filter(|line| !line.starts_with("router")).collect::<Vec<_>>().join("; ")
    };
    let card =
        "sender: tbf rate 9843953185 burst 68130 and 4000 ns limit 4294967295 overhead 0; sender: ";
    let cases = [
        (
            vec!["hosts.sender.qdisc.kind=fq"],
            format!(
                "{card}Fq {{ limit: 10000, flow_limit: 100, initial_quantum: None, max_rate: None }}"
            ),
        ),
        (
            vec!["hosts.sender.qdisc={ kind = \"fq\", flow_limit = \"1000 packets\" }"],
            format!(
                "{card}Fq {{ limit: 10000, flow_limit: 1000, initial_quantum: None, max_rate: None }}"
            ),
        ),
        (
            vec![
                "hosts.sender.qdisc={ kind = \"fq\", initial_quantum = \"45420B\", maxrate = \"10Mbit\" }",
            ],
            format!(
                "{card}Fq {{ limit: 10000, flow_limit: 100, initial_quantum: Some(45420), max_rate: Some(1250000) }}"
            ),
        ),
        (
            vec!["hosts.sender.qdisc={ kind = \"bfifo\", limit = \"30kB\" }"],
            format!("{card}Bfifo {{ limit: 30000 }}"),
        ),
        (
            vec!["hosts.sender.qdisc={ kind = \"codel\", target = \"1ms\" }"],
            format!(
                "{card}Codel {{ limit: 1000, target_us: 1000, interval_us: 100000, ecn: false }}"
            ),
        ),
        (
            vec!["hosts.sender.qdisc.kind=fq_codel", "hosts.receiver.qdisc.kind=fq"],
            format!(
                "{card}FqCodel {{ limit: 10240, target_us: 5000, interval_us: 100000, ecn: true }}; \
                 receiver: Fq {{ limit: 10000, flow_limit: 100, initial_quantum: None, max_rate: None }}"
            ),
        ),
        (
            vec![
                "hosts.sender.qdisc={ kind = \"red\", limit = \"1MB\", min = \"50kB\", max = \"100kB\" }",
            ],
            format!(
                "{card}Ets; sender: Red {{ limit: 1000000, min: 50000, max: 100000, weight_log: 9, \
                 probability: 0.02, packet_ns: 1231, ecn: false }}"
            ),
        ),
    ];
    for (sets, expected) in cases {
        assert_eq!(sender(&sets), expected, "{sets:?}");
    }
}

/// A host that sends data has a card with a queue, which is a stage of the way of its data.
#[test]
fn a_flow_goes_backward_from_the_receivers_card() {
    let text = |sets: &[&str]| {
        let text = devices(sets);
        let of_receiver = text.lines().filter(|line| line.starts_with("receiver"));
        of_receiver.map(String::from).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(text(&[]), "");
    // The lists of the scenario go by the direction of their flow.
    let link = r#"path.forward=[{ kind = "link", name = "wire", rate = "1Gbit", queue = { limit = "1MB" } }]"#;
    let home = r#"path.back=[{ kind = "delay", name = "home", delay = "30ms" }]"#;
    let backward = ["flow.bulk.direction=backward", link, home];
    let expected = "receiver: tbf rate 10000000000 burst 1538 and 4000 ns limit 4294967295 overhead 24; \
                    receiver: Pfifo { limit: 1000 }";
    assert_eq!(text(&backward), expected);
    let plan = linux::plan(&resolved(&backward)).expect("it can be asked");
    assert!(plan.flows[0].backward);
    let card = plan.watched.iter().find(|watch| usize::from(watch.namespace) > plan.routers.len());
    assert_eq!(card.map(|watch| watch.device), Some(fullpipe_guest::record::LEFT_DEVICE));
    // The kernel grants what the host with this end allows.
    assert_eq!(plan.flows[0].sndbuf, Some(212_992));
}

/// A kernel has one value for all flows, which may be the default of none, some or all.
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

/// A scenario means the same with every default written out, also on another kernel.
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
fn sysctls_and_socket_options_of_real_kernels_are_handed_on() {
    let sets = [
        "hosts.sender.kernel=6.12",
        "hosts.sender.sysctl.net.ipv4.tcp_min_tso_segs=4",
        "flow.bulk.sockopt={ TCP_CORK = 1, SO_MAX_PACING_RATE = 12500000 }",
        "flow.bulk.receiver_sockopt={ TCP_WINDOW_CLAMP = 250000 }",
        "flow.bulk.quickack=each-read",
    ];
    let plan = linux::plan(&resolved(&sets)).expect("it can be asked");
    let limit = ("net/ipv4/tcp_min_tso_segs".to_string(), "4".to_string());
    assert!(plan.sender.sysctl.contains(&limit) && !plan.receiver.sysctl.contains(&limit));
    let options = [("SO_MAX_PACING_RATE".to_string(), 12_500_000), ("TCP_CORK".to_string(), 1)];
    assert_eq!(plan.flows[0].sender_options, options);
    let options = [("TCP_QUICKACK".to_string(), 1), ("TCP_WINDOW_CLAMP".to_string(), 250_000)];
    assert_eq!(plan.flows[0].receiver_options, options);
    assert_eq!(plan.flows[0].quickack, Some(1));
    let simulator = engine::find("sim").expect("an engine").support(&resolved(&sets));
    let refused: Vec<&str> = simulator.iter().map(|(key, _)| key.as_str()).collect();
    let expected = [
        "hosts.sender.sysctl.net.ipv4.tcp_min_tso_segs",
        "flow.bulk.receiver_sockopt.TCP_WINDOW_CLAMP",
    ];
    assert_eq!(refused, expected);
}

/// The simulator has a profile of a kernel that there is no package of, and says that nothing judges it.
#[test]
fn a_kernel_that_nothing_judges_is_refused() {
    let run = resolved(&["hosts.sender.kernel=6.18"]);
    let said = engine::find("linux").expect("an engine").support(&run);
    let found = said.iter().find(|(key, _)| key == "hosts.sender.kernel");
    let Some((_, Support::Refused(why))) = found else { panic!("{said:?}") };
    assert!(why.starts_with("Linux 6.18 is unvalidated: there is no source package"), "{why}");
    assert_eq!(engine::find("sim").expect("an engine").support(&run), []);
    let text = SCENARIO.replacen("3.14", "6.18", 1);
    let scenario = load(&Source::text("new.toml", &text), &[], &[]).expect("valid");
    let notes = scenario::notes(&scenario);
    let unvalidated =
        notes.iter().filter(|note| note.starts_with("the profile of Linux 6.18 is unvalidated"));
    assert_eq!(unvalidated.count(), 1, "{notes:?}");
    assert_eq!(
        (scenario::shown("6.18"), scenario::shown("6.12")),
        ("6.18 (unvalidated)".into(), "6.12".into())
    );
}

/// The pace, and the limit of unsent data, are those of 6.1 and 6.12; real kernels get the written values.
#[test]
fn pacing_is_of_kernels_whose_rules_are_known() {
    let sets = |kernel: &str| {
        vec![
            format!("hosts.sender.kernel={kernel}"),
            "hosts.sender.qdisc.kind=fq".into(),
            "hosts.sender.sysctl.net.ipv4.tcp_notsent_lowat=64KiB".into(),
            "hosts.sender.sysctl.net.ipv4.tcp_pacing_ca_ratio=150".into(),
            "flow.bulk.sockopt={ SO_MAX_PACING_RATE = 12500000, TCP_NOTSENT_LOWAT = 1 }".into(),
        ]
    };
    let run = |kernel: &str| {
        let sets = sets(kernel);
        resolved(&sets.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let option = "flow.bulk.sockopt={ TCP_NOTSENT_LOWAT = \"128KiB\" }";
    assert_eq!(resolved(&[option]).flow[0].sockopt["TCP_NOTSENT_LOWAT"], 131_072);
    let simulator = engine::find("sim").expect("an engine");
    assert_eq!((simulator.support(&run("6.1")), simulator.support(&run("6.12"))), (vec![], vec![]));
    let old = simulator.support(&run("2.6.32"));
    let keys: Vec<&str> = old.iter().map(|(key, _)| key.as_str()).collect();
    let refused = [
        "hosts.sender.sysctl.net.ipv4.tcp_notsent_lowat",
        "hosts.sender.sysctl.net.ipv4.tcp_pacing_ca_ratio",
        "flow.bulk.sockopt.SO_MAX_PACING_RATE",
        "flow.bulk.sockopt.TCP_NOTSENT_LOWAT",
    ];
    assert_eq!(keys[0], "hosts.sender.qdisc.kind");
    assert_eq!(keys[1..], refused);
    assert!(matches!(old[0].1, Support::Substituted(_)));
    assert!(old[1..].iter().all(|(_, support)| matches!(support, Support::Refused(_))));
    let plan = linux::plan(&run("6.12")).expect("it can be asked");
    for (name, value) in [("tcp_notsent_lowat", "65536"), ("tcp_pacing_ca_ratio", "150")] {
        let set = (format!("net/ipv4/{name}"), value.to_string());
        assert!(plan.sender.sysctl.contains(&set) && !plan.receiver.sysctl.contains(&set));
    }
}

#[test]
fn a_scenario_of_a_real_kernel_runs_on_it_and_on_another_one_if_asked() {
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
    // A sysctl that 6.1 lacks is refused there alone.
    let plb = [&both[..], &["hosts.sender.sysctl.net.ipv4.tcp_plb_enabled=1"]].concat();
    let refused = |engine: &dyn Engine| {
        engine.support(&resolved(&plb)).iter().any(|(key, _)| key.ends_with("tcp_plb_enabled"))
    };
    assert!(refused(other) && !refused(linux));
}

/// net.ipv4.tcp_mem belongs to a kernel: the hosts of a guest share it, and may not differ. The simulator has one for
/// each host from 6.1 on.
#[test]
fn hosts_share_the_memory_of_all_sockets() {
    let set = |host: &str, pages: &str| format!("hosts.{host}.sysctl.net.ipv4.tcp_mem=\"{pages}\"");
    let today = ["hosts.sender.kernel=6.12".to_string(), "hosts.receiver.kernel=6.12".to_string()];
    let run = |sets: &[String]| {
        let sets: Vec<&str> = today.iter().chain(sets).map(String::as_str).collect();
        resolved(&sets)
    };
    let memory = |run: &scenario::Resolved| {
        let plan = linux::plan(run).expect("it can be asked");
        let found = plan.sysctl.into_iter().find(|(key, _)| key == "net/ipv4/tcp_mem");
        found.expect("it is set").1
    };
    assert_eq!(memory(&run(&[])), "100000000 100000000 100000000");
    let one = run(&[set("receiver", "1024 1536 2048")]);
    assert_eq!(memory(&one), "1024 1536 2048");
    let both = run(&[set("receiver", "1024 1536 2048"), set("sender", "1024 1536 2048")]);
    assert_eq!(memory(&both), "1024 1536 2048");
    let differ = run(&[set("receiver", "1024 1536 2048"), set("sender", "1024 1536 4096")]);
    let said = engine::find("linux").expect("an engine").support(&differ);
    let is_refused = |(key, what): &(String, Support)| {
        key == "hosts.receiver.sysctl.net.ipv4.tcp_mem" && matches!(what, Support::Refused(_))
    };
    assert!(said.iter().any(is_refused), "{said:?}");

    let simulator = engine::find("sim").expect("an engine");
    assert_eq!(simulator.support(&differ), []);
    let older = resolved(&[&set("receiver", "1024 1536 2048")]);
    let [(key, Support::Refused(why))] = &simulator.support(&older)[..] else {
        panic!("{:?}", simulator.support(&older))
    };
    assert_eq!(key, "hosts.receiver.sysctl.net.ipv4.tcp_mem");
    assert_eq!(why, "not modelled of Linux 3.14, only of 6.1 and later");
}

/// Both engines have the sysctls of compressed SACKs, in kernels that compress them.
#[test]
fn compressed_sacks_are_bounded_on_both_engines() {
    let slack = "hosts.receiver.sysctl.net.ipv4.tcp_comp_sack_slack_ns=0";
    let today = resolved(&["hosts.sender.kernel=6.12", "hosts.receiver.kernel=6.12", slack]);
    let plan = linux::plan(&today).expect("it can be asked");
    let set = ("net/ipv4/tcp_comp_sack_slack_ns".to_string(), "0".to_string());
    assert!(plan.receiver.sysctl.contains(&set) && !plan.sender.sysctl.contains(&set));
    let simulator = engine::find("sim").expect("an engine");
    assert_eq!(simulator.support(&today), []);

    let older = simulator.support(&resolved(&[slack]));
    let [(key, Support::Refused(why))] = &older[..] else { panic!("{older:?}") };
    assert_eq!(key, "hosts.receiver.sysctl.net.ipv4.tcp_comp_sack_slack_ns");
    assert_eq!(why, "Linux 3.14 compresses no SACKs");
}
