//! Programs that limit themselves, on simulator and real kernel: a window of their own, requests in flight, answers in several
//! writes. Without a kernel these tests are skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{desk, number};
use serde_json::Value;

const SCENARIO: &str = r#"
duration = "6s"
[path]
rate = "1Gbit"
delay = { forward = "20ms", back = "20ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "bulk"
duration = "5s"
"#;
/// Most of the difference between the engines.
const ALIKE: f64 = 0.02;
/// Round trip of the path, s.
const TRIP: f64 = 0.04;

/// Rate of the first flow on the simulator and on the kernel, Mb/s, and the verdicts' codes.
fn both(sets: &[&str]) -> Option<[(f64, Value); 2]> {
    let runs = documents(sets)?;
    Some(runs.map(|run| (number(&run["flows"][0], "mean_mbit"), run["headline"]["code"].clone())))
}

/// A host with a card that takes more than the path announces a larger MSS, which its windows follow. A sender with
/// such a card sends no more.
#[test]
fn a_larger_mtu_of_a_host_acts_alike_on_both_engines() {
    let rmem = "hosts.receiver.sysctl.net.ipv4.tcp_rmem=\"4096 87380 6291456\"";
    let mut rates = Vec::new();
    for sets in [
        &["flow.bulk.bytes=20MB", rmem][..],
        &["flow.bulk.bytes=20MB", rmem, "hosts.receiver.mtu=9001"],
        &["flow.bulk.bytes=20MB"],
        &["flow.bulk.bytes=20MB", "hosts.sender.mtu=9000"],
    ] {
        let Some(found) = both(sets) else { return };
        are_alike(&found);
        rates.push(found.map(|(mbit, _)| mbit));
    }
    let is_less = (0..2).all(|engine| rates[1][engine] < rates[0][engine]);
    assert!(is_less, "a larger MSS of the receiver does nothing: {rates:?}");
    assert_eq!(rates[3], rates[2]);
}

/// The run on the simulator and that on the kernel.
fn documents(sets: &[&str]) -> Option<[Value; 2]> {
    documents_of(SCENARIO, sets)
}

/// Runs of a scenario on the simulator and on the kernel.
fn documents_of(scenario: &str, sets: &[&str]) -> Option<[Value; 2]> {
    let desk = desk(scenario)?;
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments = ["run", "my.toml", "--engine", "sim,linux", "--json", "-q", "--out", "both"];
    let arguments: Vec<&str> = arguments.into_iter().chain(sets).collect();
    let document = desk.call(&arguments).ends_with(0).json();
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    Some([runs[0].clone(), runs[1].clone()])
}

fn are_alike([(simulator, _), (kernel, _)]: &[(f64, Value); 2]) {
    assert!((simulator / kernel - 1.0).abs() < ALIKE, "{simulator} and {kernel} Mb/s");
}

/// A window's rate is the window over the round trip, less a message that is on its way back.
#[test]
fn a_programs_window_is_the_limit_on_both_engines() {
    for (app, most_mbit) in [
        ("{ window = \"256KiB\", size = \"16KiB\" }", 262_144.0 * 8e-6 / TRIP),
        ("{ program = \"http2\" }", 65_535.0 * 8e-6 / TRIP),
        ("{ requests = 16, size = \"32KiB\" }", 524_288.0 * 8e-6 / TRIP),
    ] {
        let Some(found) = both(&[&format!("flow.bulk.app={app}")]) else { return };
        are_alike(&found);
        let (mbit, _) = found[0];
        assert!((0.85 * most_mbit..most_mbit).contains(&mbit), "{app}: {mbit} of {most_mbit}");
        assert!(found.iter().all(|(_, code)| code == "app_window"), "{app}: {found:?}");
    }
}

/// Connections that end within a sample keep their bytes at both ends, and those of their answers.
#[test]
fn connections_shorter_than_a_sample_are_whole_on_both_engines() {
    let near = "path.delay={ forward = \"300us\", back = \"300us\" }";
    let again = "flow.bulk.again={ count = 8, until = \"4s\" }";
    let answers = "flow.bulk.app={ requests = 2, size = \"4kB\" }";
    for more in [&[][..], &[answers]] {
        let sets: Vec<&str> =
            [near, again, "flow.bulk.bytes=20kB"].into_iter().chain(more.iter().copied()).collect();
        let Some(runs) = documents(&sets) else { return };
        let [own, real] = runs.map(|run| {
            let flows = run["flows"].as_array().expect("flows").clone();
            flows.iter().map(|flow| number(flow, "bytes")).collect::<Vec<f64>>()
        });
        assert!(own.len() >= 8 && own.iter().all(|bytes| *bytes > 0.0), "{sets:?}: {own:?}");
        assert_eq!(own, real, "{sets:?}");
    }
}

/// A program opens the next connection when the other end has closed the one before. Loops share a queue that drops, and the
/// connections of a loop have requests and answers.
#[test]
fn connections_one_after_another_begin_and_end_alike() {
    let queue = "path.queue={ limit = \"100kB\" }";
    let dialogue = "flow.bulk.app={ requests = 4, size = \"100kB\" }";
    for sets in [
        &["flow.bulk.bytes=1MB", "flow.bulk.count=3", queue][..],
        &["flow.bulk.bytes=500kB", dialogue],
        &["flow.bulk.bytes=20kB", "flow.bulk.write=20kB"],
        &["flow.bulk.duration=\"300ms\""],
    ] {
        let again = "flow.bulk.again={ count = 8, pause = \"50ms\", until = \"4s\" }";
        let sets: Vec<&str> = sets.iter().copied().chain([again]).collect();
        let Some(runs) = documents(&sets) else { return };
        let lives = runs.map(|run| lives(&run));
        assert!(lives[0].len() >= 6, "{sets:?}: {:?}", lives[0]);
        for (own, real) in lives[0].iter().zip(&lives[1]) {
            let apart = |at: fn(&Life) -> f64| (at(own) - at(real)).abs();
            // A flow that ends by time is over with a sample of the simulator, and with an event of the guest.
            let is_near =
                apart(|life| life.accepted_s) < 1e-6 && apart(|life| life.lasted_s) < 1e-3;
            assert!(own.flow == real.flow && is_near, "{sets:?}: {own:?} and {real:?}");
        }
        assert_eq!(lives[0].len(), lives[1].len(), "{sets:?}");
    }
}

/// A flow that carried data: when the receiver accepted it, and how long it lasted, s.
#[derive(Debug)]
struct Life {
    flow: String,
    accepted_s: f64,
    lasted_s: f64,
}

fn lives(run: &Value) -> Vec<Life> {
    let flows = run["flows"].as_array().expect("flows").iter();
    let life = |flow: &Value| Life {
        flow: flow["name"].as_str().expect("a name").into(),
        accepted_s: number(flow, "clock_start_s"),
        lasted_s: flow["completion_s"].as_f64().unwrap_or_default(),
    };
    flows.map(life).collect()
}

/// The last request is shorter than the others, and the connection is closed when the last answer has arrived.
#[test]
fn transfers_of_a_fixed_size_end_on_both_engines() {
    for app in ["{ window = \"64KiB\", size = \"10kB\" }", "{ requests = 7, size = \"33kB\" }"] {
        let sets = [format!("flow.bulk.app={app}"), "flow.bulk.bytes=3MB".into()];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Some(found) = both(&sets) else { return };
        are_alike(&found);
    }
}

/// A request of 1 kB and its answer of 1 kB take a round trip and 2 x 8.5 us on the wire. Sixteen of 32 KiB go at once, the first ones
/// in slow start.
#[test]
fn messages_take_as_long_on_both_engines() {
    for (app, most_ms) in [
        ("{ requests = 1, size = \"1kB\" }", 1e3 * TRIP + 0.1),
        ("{ requests = 16, size = \"32KiB\" }", 1e3 * TRIP + 0.5),
    ] {
        let Some(runs) = documents(&[&format!("flow.bulk.app={app}")]) else { return };
        let [simulator, kernel] = runs.map(|run| {
            let flows = run["flows"].as_array().expect("flows").clone();
            let messages = flows.into_iter().find_map(|flow| flow.get("messages").cloned());
            messages.expect("a flow that asks")
        });
        for name in ["median_ms", "p95_ms", "worst_ms"] {
            let [own, real] = [&simulator, &kernel].map(|own| number(own, name));
            assert!((own - real).abs() < 0.05 * real, "{app} {name}: {own} and {real}");
        }
        let median = number(&simulator, "median_ms");
        assert!((1e3 * TRIP..most_ms).contains(&median), "{app}: {median}");
    }
}

/// A message each 100 ms for 5 s are 50 of them. Where each has to wait for the answer of the one before, a period below the round trip
/// does nothing. Nagle's rule makes small messages late that follow each other sooner.
#[test]
fn messages_have_a_period_on_both_engines() {
    let scenario = SCENARIO.to_string()
        + "write = \"200B\"\napp = { kind = \"messages\" }\n\
           [[flow]]\nname = \"replies\"\nreply_to = \"bulk\"\nwrite = \"400B\"\n";
    for (period, in_flight, nodelay, count) in
        [("100ms", 1, 0, 50), ("10ms", 1, 0, 124), ("10ms", 8, 1, 500), ("10ms", 8, 0, 397)]
    {
        let app =
            format!("{{ kind = \"messages\", period = \"{period}\", in_flight = {in_flight} }}");
        let sets = [
            format!("flow.bulk.app={app}"),
            format!("flow.bulk.sockopt.TCP_NODELAY={nodelay}"),
            format!("flow.replies.sockopt.TCP_NODELAY={nodelay}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Some(runs) = documents_of(&scenario, &sets) else { return };
        let medians = runs.map(|run| {
            let messages = &run["flows"][0]["messages"];
            assert_eq!(messages["count"], count, "{sets:?}: {messages}");
            number(messages, "median_ms")
        });
        let [own, real] = medians;
        assert!((own - real).abs() < 0.005 * real, "{sets:?}: {own} and {real} ms");
        let is_late = own > 1e3 * TRIP + 0.3;
        assert_eq!(is_late, count == 397, "{sets:?}: {own} ms");
    }
}

/// Messages in several writes that nobody answers, with and without TCP_CORK: their times one way are those of the kernel, up to a
/// microsecond. A socket that stays corked keeps each last partial segment for a message to come, or a fifth of a second.
#[test]
fn messages_one_way_take_as_long_on_both_engines() {
    let scenario = SCENARIO.replace("1Gbit", "10Mbit") + "write = \"700B\"\n";
    let messages = |more: &str| {
        format!(
            "flow.bulk.app={{ kind = \"messages\", size = \"5000B\", period = \"30ms\"{more} }}"
        )
    };
    let nodelay = "flow.bulk.sockopt.TCP_NODELAY=1";
    let mut medians = Vec::new();
    for sets in [
        &[messages("").as_str()][..],
        &[&messages(""), nodelay],
        &[&messages(", cork = true"), nodelay],
        &[&messages(", cork = true")],
        &[&messages(""), "flow.bulk.sockopt.TCP_CORK=1"],
    ] {
        let Some(runs) = documents_of(&scenario, sets) else { return };
        let [sim, linux] = runs.map(|run| run["flows"][0]["messages"].clone());
        assert_eq!((&sim["one_way"], &sim["count"]), (&linux["one_way"], &linux["count"]));
        for time in ["median_ms", "p95_ms", "worst_ms"] {
            let (own, real) = (number(&sim, time), number(&linux, time));
            assert!((own - real).abs() < 1e-3, "{sets:?}, {time}: {own} and {real}");
        }
        medians.push(number(&sim, "median_ms"));
    }
    let [nagle, nodelay, both, corked, always] = medians[..] else { panic!("{medians:?}") };
    // Corked messages leave in fewer segments, and their ends need not wait for more.
    assert!(both < nodelay && nodelay < nagle && corked <= nagle, "{medians:?}");
    assert!(always > nagle, "{medians:?}");
}

/// Requests in two writes, of the parity suite: the times of their answers, and the packets of both hosts.
#[test]
fn quick_acks_are_those_of_linux() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/parity/quickack.toml");
    let scenario = std::fs::read_to_string(file).expect("the suite's scenario");
    let scenario = scenario.replace("\"calls\"", "\"bulk\"").replace("flow.calls", "flow.bulk");
    let Some(desk) = desk(&scenario) else { return };
    let arguments = ["run", "my.toml", "--engine", "sim,linux", "--json", "-q", "--out", "both"];
    let document = desk.call(&arguments).ends_with(0).json();
    let runs = document["runs"].as_array().expect("runs");
    let medians: Vec<f64> = runs.chunks(2).map(quick_ack_median).collect();

    // A round trip takes 4 ms, a delayed ACK 40 ms. Nagle's rule costs a round trip and the ACK's delay.
    let [delayed, once, each, none, of_one, of_both, off, off_each] = medians[..] else {
        panic!("{medians:?}")
    };
    let near = |own: f64, ms: f64| (own - ms).abs() < 2.1;
    assert!(near(delayed, 48.0) && once == delayed && near(each, 8.0), "{medians:?}");
    assert!(near(off, 48.0) && near(off_each, 48.0), "{medians:?}");
    assert!(near(none, 92.0) && near(of_one, 52.0) && near(of_both, 12.0), "{medians:?}");
}

/// Median time of an answer on the simulator, ms, which has to be as on the kernel.
fn quick_ack_median(pair: &[Value]) -> f64 {
    let [own, real] = pair else { panic!("runs of two engines") };
    let name = &own["variant"];
    let [messages, of_kernel] = [own, real].map(|run| &run["flows"][0]["messages"]);
    assert_eq!(messages["count"], of_kernel["count"], "{name}");
    for time in ["median_ms", "p95_ms", "worst_ms"] {
        let apart = number(messages, time) - number(of_kernel, time);
        assert!(apart.abs() < 1e-3, "{name}, {time}: {messages} and {of_kernel}");
    }
    let sent = |run: &Value| {
        let counters = run["counters"].as_array().expect("counters").iter();
        let sent = counters.filter(|own| own["name"] == "Tcp.OutSegs");
        sent.map(|own| own["value"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(sent(own), sent(real), "{name}: packets of each host");
    number(messages, "median_ms")
}
