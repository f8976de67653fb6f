//! Effects of queue disciplines on a real kernel; without one these tests are skipped, unless FULLPIPE_REQUIRE_KERNEL
//! is set.

use crate::common::linux::{desk, number, run, scenario, stage, trace};
use serde_json::Value;

/// A flow of this window that fills a link of 100 Mb/s with such a queue, 20 ms, on Linux 6.12; with or without ECN.
fn full(queue: &str, window: &str, ecn: bool) -> String {
    let whole = format!("limit = \"{window}\"");
    let text = scenario("100Mbit", 1500, window, 3.0).replace(&whole, queue);
    let ecn = format!("hz = 1000\nsysctl = {{ \"net.ipv4.tcp_ecn\" = {}, ", u32::from(ecn));
    text.replace("kernel = \"3.14\"", "kernel = \"6.12\"").replace("hz = 1000\nsysctl = { ", &ecn)
}

/// The link of a run with this queue.
fn link_of(queue: &str, window: &str, ecn: bool) -> Option<Value> {
    let desk = desk(&full(queue, window, ecn))?;
    let document = run(&desk, "out", &["--set", "report.sample=1ms"]);
    Some(stage(&document, "link").clone())
}

#[test]
fn disciplines_mark_flows_with_ecn_and_drop_from_others() {
    let queues = [
        "discipline = \"codel\", ecn = true",
        "discipline = \"fq_codel\"",
        "discipline = \"pie\", ecn = true",
        "discipline = \"red\", limit = \"2MB\", min = \"60kB\", max = \"1MB\", ecn = true",
        "discipline = \"cake\"",
    ];
    for queue in queues {
        let Some(marking) = link_of(queue, "1MB", true) else { return };
        assert!(number(&marking, "marked") > 0.0, "{queue}: {marking}");
        assert_eq!(marking["dropped"], 0, "{queue}: {marking}");
        let dropping = link_of(queue, "1MB", false).expect("a kernel");
        assert!(number(&dropping, "dropped") > 0.0, "{queue}: {dropping}");
        assert_eq!(dropping["marked"], 0, "{queue}: {dropping}");
    }
}

/// Mean delay in a queue of 100 Mb/s in front of 20 ms, ms, after three seconds of `flows` flows. A packet of 1514
/// bytes takes 0.12 ms.
fn delay_ms(queue: &str, flows: u32) -> Option<f64> {
    let desk = desk(&full(queue, "5MB", false))?;
    let seconds = ["--set", "duration=8s", "--set", "flow.bulk.duration=8s"];
    desk.write(
        "my.toml",
        &desk.read("my.toml").replace("[[flow]]", &format!("[[flow]]\ncount = {flows}")),
    );
    let document = run(&desk, "out", &[&seconds[..], &["--set", "report.sample=1ms"]].concat());
    assert!(number(stage(&document, "link"), "left") > 60_000.0, "{queue}: {document}");
    let trace = trace(&desk, "out");
    let link = trace.stages.iter().find(|stage| stage.name == "link").expect("a link").index;
    let steady = trace.stage_samples.iter().filter(|s| s.stage == link && s.time.0 > 3_000_000_000);
    let waiting: Vec<f64> = steady.map(|sample| sample.waiting as f64).collect();
    Some(waiting.iter().sum::<f64>() / waiting.len() as f64 * 1514.0 * 8.0 / 100e3)
}

#[test]
#[ignore = "a study: make studies"]
fn study_delays_follow_the_targets_of_codel_and_pie() {
    let queues = [
        ("codel\", target = \"5ms\", interval = \"40ms", 5.0),
        ("codel\", target = \"20ms\", interval = \"160ms", 20.0),
        ("pie\", target = \"20ms", 20.0),
        ("pie\", target = \"40ms", 40.0),
    ];
    for (queue, target) in queues {
        let Some(found) = delay_ms(&format!("discipline = \"{queue}\""), 8) else { return };
        assert!((0.7..1.4).contains(&(found / target)), "{queue}: {found} for {target} ms");
    }
    let none = delay_ms("limit = \"5MB\"", 8).expect("a kernel");
    assert!(none > 150.0, "{none} ms without");
}

/// The average lies between the thresholds, since below the lower one nothing is dropped, and all above the upper one.
#[test]
#[ignore = "a study: make studies"]
fn study_the_queue_of_red_lies_between_its_thresholds() {
    for (min, max) in [(100, 300), (300, 900)] {
        let queue =
            format!("discipline = \"red\", limit = \"4MB\", min = \"{min}kB\", max = \"{max}kB\"");
        let Some(ms) = delay_ms(&queue, 20) else { return };
        let bytes = ms * 100e3 / 8.0 / 1e3;
        assert!((f64::from(min)..f64::from(max)).contains(&bytes), "{bytes} kB: {queue}");
    }
}

/// Short transfers, each of which raises the average a little. In the second between two of them the average falls
/// again, so that none loses anything. A long transfer raises it above the upper threshold, and continues all the same.
#[test]
fn a_pause_lets_the_average_of_red_fall() {
    let queue = "discipline = \"red\", limit = \"500kB\", min = \"4kB\", max = \"8kB\"";
    let text = full(queue, "1MB", false).replace("100Mbit", "10Mbit");
    let (path, _) = text.split_once("[[flow]]").expect("a flow");
    let Some(desk) = desk(&text) else { return };
    let flow = |name: &str, start: u32, bytes: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncongestion = \"reno\"\nsocket_buffer = \"1MB\"\n\
             start = \"{start}s\"\nbytes = \"{bytes}\"\n"
        )
    };
    let link = |out: &str, flows: &str| {
        desk.write("my.toml", &format!("{path}{flows}"));
        let document = run(&desk, out, &["--set", "duration=22s", "--set", "report.sample=10ms"]);
        let bytes = |flow: &Value| number(flow, "bytes");
        let flows = document["runs"][0]["flows"].as_array().expect("flows");
        (flows.iter().map(bytes).sum::<f64>(), number(stage(&document, "link"), "dropped"))
    };
    let short: String = (0..20).map(|n| flow(&format!("short-{n}"), n, "100kB")).collect();
    assert_eq!(link("short", &short), (2e6, 0.0));
    let (bytes, dropped) = link("long", &flow("long", 0, "2MB"));
    assert!(bytes == 2e6 && dropped > 0.0, "{bytes} bytes, {dropped} lost");
}

/// The sender's own queue is full with the allowed packets of one flow, and the packet in transmission. Packets of two
/// flows may be more than those of one.
#[test]
fn no_flow_has_more_in_fq_than_its_limit() {
    let Some(desk) = desk(&scenario("10Gbit", 1500, "5MB", 0.5)) else { return };
    let card = ["--set", "hosts.sender.nic_rate=1Gbit", "--without", "hosts.sender.tx_ring"];
    let peak = |limit: u32, flows: u32| {
        let kind = format!("{{ kind = \"fq\", flow_limit = \"{limit} packets\" }}");
        let (queue, count) =
            (format!("hosts.sender.qdisc={kind}"), format!("flow.bulk.count={flows}"));
        let sets = ["--set", &queue, "--set", &count, "--set", "report.sample=0.1ms"];
        let document = run(&desk, &format!("{limit}-{flows}"), &[&card[..], &sets].concat());
        let queue = stage(&document, "sender.qdisc");
        (number(queue, "peak"), number(queue, "dropped") > 0.0)
    };
    for (limit, flows) in [(3, 1), (5, 1), (3, 2)] {
        let (found, dropped) = peak(limit, flows);
        assert!(
            found <= f64::from(limit * flows + 1) && dropped,
            "{found}: {limit}, {flows} flows"
        );
    }
    // TCP itself wants more in the queue (its small queues).
    let (free, dropped) = peak(100, 1);
    assert!(free > 6.0 && !dropped, "{free}");
    let (two, _) = peak(100, 2);
    assert!(two > 7.0, "{two}");
}
