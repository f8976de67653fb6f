//! What path elements and queues do on a genuine kernel; without one these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

mod common;

use common::linux::{desk, run, scenario, stage};
use serde_json::Value;

/// The lossless path with these elements on it, behind the link.
fn with(elements: &str, rate: &str, seconds: f64) -> String {
    let delay = "{ kind = \"delay\", name = \"far\"";
    scenario(rate, 1500, "5MB", seconds).replace(delay, &format!("{elements},\n{delay}"))
}

fn number(stage: &Value, key: &str) -> f64 {
    stage[key].as_f64().unwrap_or_else(|| panic!("no {key} in {stage}"))
}

/// Throughput of the first flow by whole seconds, Mb/s.
fn throughput(document: &Value) -> Vec<f64> {
    let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
    intervals.iter().map(|interval| number(interval, "throughput_mbit")).collect()
}

#[test]
fn copies_are_as_many_as_was_asked_and_are_not_counted_as_coming() {
    let element = r#"{ kind = "duplicate", name = "twice", probability = 0.05 }"#;
    let Some(desk) = desk(&with(element, "100Mbit", 1.0)) else { return };
    let document = run(&desk, "out", &[]);
    let (link, twice) = (stage(&document, "link"), stage(&document, "twice"));
    let (entered, left) = (number(twice, "entered"), number(twice, "left"));
    assert!((number(link, "left") - entered).abs() <= 1.0, "{link} {twice}");
    let (copies, expected) = (left - entered, entered * 0.05);
    assert!((copies - expected).abs() < 4.0 * (expected * 0.95).sqrt(), "{copies} of {entered}");
    assert!(expected > 100.0, "{entered} tell little");
}

#[test]
fn a_policer_passes_its_rate_and_its_burst_and_drops_the_rest() {
    // A segment takes 1514 bytes of the bucket and brings 1448 of the application.
    let element = r#"{ kind = "policer", name = "limit", rate = "10Mbit", burst = "30kB" }"#;
    let Some(desk) = desk(&with(element, "1Gbit", 2.0)) else { return };
    let paced = |rate: &str| {
        let app = format!("flow.bulk.app={{ kind = \"rate\", rate = \"{rate}\" }}");
        let document = run(&desk, rate, &["--set", &app, "--set", "flow.bulk.write=1448B"]);
        stage(&document, "limit").clone()
    };
    let below = paced("9Mbit");
    assert_eq!(below["dropped"], 0, "{below}");
    assert!(number(&below, "left") > 1000.0, "{below}");
    let above = paced("12Mbit");
    assert!(number(&above, "dropped") > 10.0, "{above}");
    let passed = number(&above, "left") * 1514.0;
    let most = 10e6 / 8.0 * 2.0 + 30e3;
    assert!(passed <= most, "{passed} of {most} bytes");
    assert_eq!(above["entered"], above["left"]);
}

#[test]
fn a_varying_link_has_each_rate_in_its_time() {
    // Seconds count from accept().
    let link = "{ kind = \"link\", name = \"link\", rate = \"1Gbit\"";
    let steps =
        "steps = [{ at = \"2.2s\", rate = \"40Mbit\" }, { at = \"4.2s\", rate = \"150Mbit\" }]";
    for queue in ["5MB", "4000 packets"] {
        let varying =
            format!("{{ kind = \"varying-link\", name = \"link\", rate = \"100Mbit\", {steps}");
        let text = scenario("1Gbit", 1500, "1MB", 7.0).replace(link, &varying);
        let text = text
            .replace("queue = { limit = \"1MB\" }", &format!("queue = {{ limit = \"{queue}\" }}"));
        let Some(desk) = desk(&text) else { return };
        let document = run(&desk, "out", &[]);
        let found = throughput(&document);
        for (second, rate) in [(1, 100.0), (3, 40.0), (5, 150.0)] {
            let expected = rate * 1448.0 / 1514.0;
            assert!(
                (found[second] / expected - 1.0).abs() < 0.003,
                "{queue}, second {second}: {} for {expected} Mb/s",
                found[second]
            );
        }
        assert_eq!(stage(&document, "link")["dropped"], 0);
    }
}

/// Jitter as the whole engine does it: the mean of many round trips, and packets that overtake.
#[test]
fn jitter_moves_round_trips_and_reorders() {
    let element = r#"{ kind = "jitter", name = "shaky", delay = "20ms", jitter = "5ms" }"#;
    let Some(desk) = desk(&with(element, "1Gbit", 3.0)) else { return };
    let app = "flow.bulk.app={ kind = \"rate\", rate = \"1Mbit\" }";
    let document = run(&desk, "out", &["--set", app, "--set", "flow.bulk.write=1448B"]);
    let intervals = &document["runs"][0]["flows"][0]["intervals"];
    let srtt = number(intervals.as_array().expect("intervals").last().expect("one"), "srtt_us");
    // One segment each 11.6 ms: srtt is the mean of about 8 of them (deviation 5 / sqrt 3 / sqrt 15 ms).
    assert!((srtt / 1e3 - 40.0).abs() < 4.0 * 0.75, "{srtt}");
    assert_eq!(stage(&document, "shaky")["dropped"], 0);
}

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

/// A packet of 1514 bytes takes 0.12 ms of 100 Mb/s.
#[test]
fn codel_holds_the_delay_near_its_target_and_droptail_does_not() {
    let delay_ms = |queue: &str| {
        let link = link_of(queue, "5MB", false)?;
        assert!(number(&link, "left") > 15_000.0, "{link}");
        Some(number(&link, "mean_waiting") * 1514.0 * 8.0 / 100e3)
    };
    let Some(short) = delay_ms("discipline = \"codel\", target = \"5ms\", interval = \"40ms\"")
    else {
        return;
    };
    let long = delay_ms("discipline = \"codel\", target = \"40ms\", interval = \"320ms\"")
        .expect("a kernel");
    let none = delay_ms("limit = \"5MB\"").expect("a kernel");
    assert!((1.0..=12.0).contains(&short), "{short} ms by a target of 5 ms");
    assert!((15.0..=80.0).contains(&long), "{long} ms by a target of 40 ms");
    assert!(none > 150.0, "{none} ms without");
}

#[test]
fn flows_have_round_trips_of_their_own() {
    let element = r#"{ kind = "flow-delay", name = "own", flow = "slow", delay = "40ms" }"#;
    let flow = "[[flow]]\nname = \"slow\"\ncongestion = \"reno\"\nsocket_buffer = \"60kB\"\nduration = \"2s\"\n";
    let text = with(element, "1Gbit", 2.0) + flow;
    let Some(desk) = desk(&text) else { return };
    let document = run(&desk, "out", &["--set", "flow.bulk.socket_buffer=60kB"]);
    for (flow, ms) in [(0, 20.0), (1, 60.0)] {
        let intervals = &document["runs"][0]["flows"][flow]["intervals"];
        let srtt = number(&intervals[1], "srtt_us") / 1e3;
        assert!((srtt - ms).abs() < 0.5, "flow {flow}: {srtt} ms");
    }
    let (own, link) = (stage(&document, "own"), stage(&document, "link"));
    let (of_flow, of_all) = (number(own, "left"), number(link, "left"));
    assert!(of_flow > 50.0 && of_flow < of_all / 2.0, "{own} {link}");
}
