//! Valid scenarios, and their meaning.

use fullpipe::scenario::{
    App, Beside, Diagnostics, Discipline, Element, Reader, Resolved, Scenario, SetOption, Source,
    Target, Tolerance, load, recipe, recipes,
};
use fullpipe_sim::config::{Direction, QueueLimit};
use fullpipe_sim::units::{Framing, Rate, Time};
use serde_json::json;

const SHORT: &str = r#"
[path]
rate = "1Gbit"
delay = { forward = "15ms", back = "5ms" }

[hosts]
sender = { kernel = "2.6.20" }
receiver = { kernel = "2.6.20" }

[[flow]]
name = "bulk"
duration = "10s"
"#;

/// Loads `text` with the options `sets`.
fn given(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<SetOption> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    load(&Source::text("dir/short.toml", text), &sets, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The only run of `text` with the options `sets`.
fn only(text: &str, sets: &[&str]) -> Resolved {
    let scenario = given(text, sets);
    assert_eq!(scenario.plans().len(), 1);
    scenario.plans()[0].resolved.clone()
}

fn names(scenario: &Scenario) -> Vec<String> {
    scenario.plans().iter().map(|plan| plan.name()).collect()
}

#[test]
fn a_resolved_scenario_parses_to_itself() {
    let sweep = format!(
        "{SHORT}app = {{ kind = \"rate\", rate = \"3Mbit\" }}\nsndbuf = \"70001B\"\n\n[sweep]\n\
         path.loss = [0.3333333333333333, {{ back = 1e-9 }}, 1]\nseed = [0, 9223372036854775807]\n\
         path.queue.limit = [\"7 packets\", \"1MiB\"]\nhosts.sender.timestamps = [true, false]\n"
    );
    let sources = recipes().iter().map(|recipe| recipe.source());
    // A kernel without a profile of its own is written by the name of its profile.
    let nearest = SHORT.replace("2.6.20", "5.15.0-91-generic");
    assert_ne!(nearest, SHORT);
    let texts = [Source::text("sweep.toml", &sweep), Source::text("nearest.toml", &nearest)];
    for source in sources.chain(texts) {
        let scenario = load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        for plan in scenario.plans() {
            let text = plan.resolved.to_toml();
            assert_eq!(only(&text, &[]), plan.resolved, "{}\n{text}", plan.name());
        }
    }
}

#[test]
fn defaults_are_the_documented_ones() {
    let run = only(SHORT, &[]);
    assert_eq!((run.title.as_str(), run.seed), ("short", 1));
    assert_eq!(run.duration, Time::ms(10_000 + 1_000 + 40));
    let [Element::Link(link), Element::Delay(delay)] = run.path.forward.as_slice() else {
        panic!("{:?}", run.path.forward)
    };
    assert_eq!((link.name.as_str(), link.framing), ("link", Framing::EthernetWire));
    assert_eq!(link.queue.limit, QueueLimit::Bytes(2_500_000), "1 Gbit/s x 20 ms");
    assert_eq!((delay.name.as_str(), delay.delay, delay.limit), ("delay", Time::ms(15), u32::MAX));
    assert_eq!(run.path.back[0].name(), "back-delay");
    let sender = &run.hosts.sender;
    assert_eq!(
        (sender.config.hz, sender.config.timestamps, sender.qdisc.limit()),
        (250, true, 1000)
    );
    assert_eq!((sender.config.nic_rate, sender.config.sysctl.rmem_max), (Rate::gbit(10), 131_071));
    let flow = &run.flow[0];
    assert_eq!((flow.congestion.name.as_str(), flow.write), ("cubic", 65_536));
    assert_eq!(flow.congestion.parameters["initial_ssthresh"], 100);
    assert_eq!((flow.sndbuf, flow.app, flow.reader), (None, App::Bulk, None));
    assert_eq!((run.report.interval, run.report.sample), (Time::secs(1), Time::ms(1)));
    assert_eq!(run.report.first_interval, Time::secs(1));
}

#[test]
fn a_reader_takes_64_kib_at_a_time_unless_it_is_said() {
    let run = only(SHORT, &["flow.bulk.reader={ rate = \"50Mbit\" }"]);
    assert_eq!(run.flow[0].reader, Some(Reader { rate: Rate::mbit(50), read: 65_536 }));
    let run = only(SHORT, &["flow.bulk.reader={ rate = \"1Gbit\", read = \"1B\" }"]);
    assert_eq!(run.flow[0].reader, Some(Reader { rate: Rate::gbit(1), read: 1 }));
}

#[test]
fn a_flow_goes_forward_unless_it_is_said_and_is_its_senders() {
    let newer = "hosts.receiver.kernel=6.12";
    let run = only(SHORT, &[newer]);
    assert_eq!(run.flow[0].direction, Direction::Forward);
    assert_eq!(run.flow[0].congestion.parameters["initial_ssthresh"], 100);
    assert_eq!(run.hosts_of(&run.flow[0]).map(|station| station.name), ["sender", "receiver"]);
    let run = only(SHORT, &[newer, "flow.bulk.direction=backward"]);
    assert_eq!(run.flow[0].direction, Direction::Backward);
    assert_eq!(run.flow[0].congestion.parameters["initial_ssthresh"], 0);
    assert_eq!(run.hosts_of(&run.flow[0]).map(|station| station.name), ["receiver", "sender"]);
    assert_eq!(only(&run.to_toml(), &[]), run);
}

/// A host may have the default of a key, which is not shown, where another host has another value.
#[test]
fn hosts_beside_others_mean_the_same_when_written_out() {
    let keys = [
        ("tx_coalesce", "\"20us\"", "\"0s\""),
        ("rx_coalesce", "\"20us\"", "\"0s\""),
        ("rx_frames", "\"16 packets\"", "\"0 packets\""),
        ("tx_stop", "\"2 descriptors\"", "\"1 descriptors\""),
        ("tx_wake", "\"3 descriptors\"", "\"1 descriptors\""),
        ("bql", "true", "false"),
        ("driver", "\"requeues\"", "\"stops\""),
        ("behaviour", "{ pushes_tso = true }", "{}"),
    ];
    let sets = keys.map(|(key, value, _)| format!("hosts.sender.{key}={value}"));
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    for (key, .., usual) in keys {
        let beside = format!(
            "[[host]]\nname = \"second\"\nbeside = \"sender\"\nset = {{ {key} = {usual} }}\n"
        );
        let run = only(&format!("{SHORT}\n{beside}"), &sets);
        assert_ne!(run.host[0].host, run.hosts.sender, "{key}");
        assert_eq!(only(&run.to_toml(), &[]), run, "{key}");
    }
}

#[test]
fn a_queue_holds_at_least_a_hundred_packets() {
    let run = only(SHORT, &["path.rate=1Mbit", "path.delay.back=0s", "path.framing=ip"]);
    let Element::Link(link) = &run.path.forward[0] else { panic!() };
    assert_eq!(link.queue.limit, QueueLimit::Bytes(150_000));
    assert!(run.path.back.is_empty());
}

/// Defaults fit the written keys: the thresholds lie within the limit, in their order, and the resolved scenario can be
/// read again.
#[test]
fn red_has_thresholds_below_its_limit_whatever_is_left_out() {
    let thresholds = |queue: &str, host: &str| {
        let queue = format!("path.queue={{ discipline = \"red\", {queue} }}");
        let host = format!("hosts.sender.qdisc={{ kind = \"red\", {host} }}");
        let run = only(SHORT, &[&queue, &host]);
        assert_eq!(only(&run.to_toml(), &[]), run);
        let Element::Link(link) = &run.path.forward[0] else { panic!("{:?}", run.path) };
        let Discipline::Red(of_path) = &link.queue.discipline else { panic!("{link:?}") };
        let qdisc = &run.hosts.sender.qdisc;
        let of_host = qdisc.red.as_ref().expect("red");
        [(of_path, link.queue.limit), (of_host, qdisc.limit)].map(|(red, limit)| {
            let QueueLimit::Bytes(limit) = limit else { panic!("{limit:?}") };
            assert!(red.min < red.max && red.max <= limit, "{red:?} of {limit}");
            (red.min, red.max, limit)
        })
    };
    let [path, host] = thresholds("min = \"5MB\"", "limit = \"20kB\", min = \"19kB\"");
    assert_eq!(path, (5_000_000, 15_000_000, 15_000_000));
    assert_eq!(host, (19_000, 20_000, 20_000));
    let [path, host] = thresholds("max = \"9MB\"", "limit = \"2 B\"");
    assert_eq!(path, (3_000_000, 9_000_000, 9_000_000));
    assert_eq!(host, (1, 2, 2));
    let [path, host] = thresholds("ecn = true", "limit = \"400kB\", max = \"400kB\"");
    // 1 Gb/s for 20 ms.
    assert_eq!(path, (208_333, 625_000, 2_500_000));
    assert_eq!(host, (133_333, 400_000, 400_000));
}

#[test]
fn samples_grow_coarser_with_long_or_many_flows() {
    let sample = |time: &str, count: u32| {
        let sets = [format!("flow.bulk.duration={time}"), format!("flow.bulk.count={count}")];
        only(SHORT, &[&sets[0], &sets[1]]).report.sample
    };
    assert_eq!(sample("30s", 1), Time::ms(1));
    assert_eq!(sample("31s", 1), Time::ms(2));
    assert_eq!(sample("1h", 1), Time::ms(120));
    assert_eq!(sample("30s", 10), Time::ms(1));
    assert_eq!(sample("30s", 11), Time::ms(2));
    assert_eq!(sample("10s", 1000), Time::ms(34));
    assert_eq!(sample("1h", 10_000), Time::secs(1));
}

#[test]
fn options_are_toml_or_bare_text() {
    let run = only(
        SHORT,
        &[
            "path.delay.forward=120ms",
            "path.mtu = 9000",
            "path.loss=0.1%",
            "hosts.sender.timestamps=false",
            "hosts.sender.sysctl.net.core.wmem_max=4MiB",
            "hosts.receiver.sysctl.\"net.ipv4.tcp_rmem\"=4096 87380 8MiB",
            "flow.bulk.congestion=bic",
            "flow.bulk.congestion.low_window=20",
            "flow.bulk.app={ kind = \"rate\", rate = \"5Mbit\" }",
            "title=2007-05-06",
            "hosts.receiver.qdisc.limit=\"2000 packets\"",
        ],
    );
    assert_eq!(run.path.mtu, 9000);
    let Element::Loss(loss) = &run.path.forward[0] else { panic!("{:?}", run.path.forward) };
    assert_eq!(loss.probability, 0.001);
    assert!(!run.hosts.sender.config.timestamps && run.hosts.receiver.config.timestamps);
    assert_eq!(run.hosts.sender.config.sysctl.wmem_max, 4 << 20);
    assert_eq!(run.hosts.receiver.config.sysctl.tcp_rmem, [4096, 87_380, 8 << 20]);
    assert_eq!(run.hosts.receiver.qdisc.limit(), 2000);
    let flow = &run.flow[0];
    assert_eq!(flow.congestion.name, "bic");
    assert_eq!(flow.congestion.parameters["low_window"], 20);
    assert_eq!(flow.congestion.parameters["smooth_part"], 20);
    assert_eq!(flow.app, App::Rate { rate: Rate::mbit(5) });
    assert_eq!(run.title, "2007-05-06");
}

#[test]
fn a_table_replaces_the_whole_value() {
    let text = SHORT.replace("duration", "congestion = { name = \"bic\", beta = 700 }\nduration");
    let parameters = |set: &str| only(&text, &[set]).flow[0].congestion.parameters.clone();
    assert_eq!(parameters("flow.bulk.congestion.low_window=1")["beta"], 700);
    assert_eq!(parameters("flow.bulk.congestion={ name = \"bic\" }")["beta"], 819);
}

#[test]
fn variants_and_sweeps_make_a_product_in_order() {
    let text = format!(
        "{SHORT}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset.path.mtu = 9000\n\n\
         [sweep]\nseed = [1, 2]\n\"path.rate\" = [\"1Gbit\", \"2Gbit\"]\n"
    );
    let scenario = given(&text, &["path.loss=0.5"]);
    let point = |variant: &str, seed: u32, rate: &str| {
        format!("{variant}, seed={seed}, path.rate={rate}Gbit")
    };
    let wanted = ["a", "b"].into_iter().flat_map(|v| {
        [1, 2].into_iter().flat_map(move |seed| ["1", "2"].map(|rate| point(v, seed, rate)))
    });
    assert_eq!(names(&scenario), wanted.collect::<Vec<_>>());
    let last = &scenario.plans()[7];
    assert_eq!((last.resolved.path.mtu, last.resolved.seed), (9000, 2));
    let set = json!({ "path.mtu": 9000, "seed": 2, "path.rate": "2Gbit", "path.loss": 0.5 });
    assert_eq!(serde_json::Value::Object(last.set.clone()), set);
    // An option takes an axis out of the product.
    let fixed = given(&text, &["seed=7"]);
    assert_eq!(fixed.plans().len(), 4);
    assert!(fixed.plans().iter().all(|plan| plan.resolved.seed == 7));
    // Only the chosen variant runs.
    let one = load(&Source::text("x", &text), &[], &["b".into()]).expect("right");
    assert!(one.plans().iter().all(|plan| plan.variant == "b"));
}

#[test]
fn lists_of_elements_are_addressed_by_name() {
    let text = SHORT.replace(
        "rate = \"1Gbit\"\ndelay = { forward = \"15ms\", back = \"5ms\" }",
        "back = []\n[[path.forward]]\nkind = \"delay\"\nname = \"wan\"\ndelay = \"10ms\"\n\
         [[path.forward]]\nkind = \"link\"\nname = \"radio\"\nrate = \"1Mbit\"",
    );
    let run = only(&text, &["path.forward.radio.rate=7Mbit", "path.forward.wan.delay=1us"]);
    assert_eq!(run.path.forward.iter().map(Element::name).collect::<Vec<_>>(), ["wan", "radio"]);
    let Element::Link(radio) = &run.path.forward[1] else { panic!() };
    assert_eq!((radio.rate, run.hosts.sender.config.nic_rate), (Rate::mbit(7), Rate::mbit(70)));
}

#[test]
fn copies_of_a_flow_are_numbered() {
    let run = only(SHORT, &["flow.bulk.count=3", "flow.bulk.socket_buffer=1MiB"]);
    let names: Vec<&str> = run.flow.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["bulk-1", "bulk-2", "bulk-3"]);
    assert!(run.flow.iter().all(|flow| flow.rcvbuf == Some(1 << 20) && flow.sndbuf == flow.rcvbuf));
}

#[test]
fn expectations_apply_to_their_variant() {
    let scenario =
        load(&recipe("fink-2007").expect("it exists").source(), &[], &[]).expect("right");
    assert_eq!(
        names(&scenario),
        [
            "reno",
            "bic, initial_ssthresh 100",
            "cubic, initial_ssthresh 100",
            "cubic, initial_ssthresh 0"
        ]
    );
    let cubic = &scenario.plans()[2];
    let first = &cubic.expectations[0];
    assert_eq!((first.interval, first.of.as_slice()), (Some([0, 3]), &[798.0, 1897.0, 2979.0][..]));
    assert_eq!(first.tolerance, Tolerance::Absolute(1.0));
    let column = Target::Flow { flow: "bulk".into(), column: "segments_delivered" };
    assert_eq!(first.target, column);
    assert_eq!(cubic.resolved.duration, Time::ms(30_250 + 1_000 + 160));
    let bic = &scenario.plans()[1].expectations[0];
    assert_eq!(bic.tolerance, Tolerance::Relative(0.003));
    assert!(bic.tolerance.accepts(1000.0, 997.0) && !bic.tolerance.accepts(1000.0, 996.0));
}

#[test]
fn published_figures_have_the_length_that_size_and_rate_give() {
    let scenario =
        load(&recipe("fink-2007").expect("it exists").source(), &[], &[]).expect("right");
    let data = scenario.published.as_ref().expect("it names some");
    for plan in scenario.plans() {
        let run = data.run(plan.published_run.as_deref().expect("named")).expect("there");
        let first = run.rows[0].end_s;
        let reported = plan.resolved.report.first_interval.as_secs_f64();
        assert!((first - reported).abs() < 1e-6, "{}: {first} and {reported}", plan.name());
        for pair in run.rows.windows(2) {
            assert_eq!(pair[0].end_s, pair[1].start_s);
            assert!((pair[1].end_s - pair[1].start_s - 1.0).abs() < 0.01);
        }
    }
    let reno = data.run("reno-w60m").expect("there");
    assert_eq!((reno.rows.len(), reno.rows[0].bytes), (9, 73_382_389));
    assert_eq!(reno.total_mbit, Some(6554.4883));
}

#[test]
fn unknown_recipes_have_near_names() {
    assert_eq!(recipe("finck-2007").map(|_| ()), Err(vec!["fink-2007", "fink-2007-udp"]));
    assert!(recipes().iter().all(|recipe| recipe.title() != recipe.name));
}

/// A recipe may be some of a text's variants: it has no others, though they can be expected there.
#[test]
fn a_recipe_has_its_own_variants_alone() {
    let source = recipe("onl-reno-1flow").expect("it exists").source();
    let names = |chosen: &[String]| {
        let scenario = load(&source, &[], chosen)?;
        Ok(scenario.plans().iter().map(|plan| plan.variant.clone()).collect::<Vec<_>>())
    };
    let wrong = |refused: Diagnostics| refused.to_string();
    assert_eq!(names(&[]).map_err(wrong), Ok(vec!["reno".into()]));
    assert_eq!(names(&["reno".into()]).map_err(wrong), Ok(vec!["reno".into()]));
    let refused = names(&["bic, host".into()]).map_err(wrong).expect_err("it is another recipe's");
    assert!(refused.contains("no variant is called \"bic, host\""), "{refused}");
    assert!(!refused.contains("reno, ring"), "{refused}");
}

#[test]
fn files_are_read_with_what_lies_beside_them() {
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let source = Source::read(&scenarios.join("published/fink-2007.toml")).expect("it is there");
    assert!(matches!(source.beside, Beside::Directory(_)));
    let scenario = load(&source, &[], &[]).expect("right");
    let built_in =
        load(&recipe("fink-2007").expect("it exists").source(), &[], &[]).expect("right");
    assert_eq!(scenario, built_in);
}
