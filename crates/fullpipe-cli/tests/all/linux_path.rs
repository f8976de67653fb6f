//! Effects of path elements on a real kernel; without one these tests are skipped, unless FULLPIPE_REQUIRE_KERNEL is
//! set.

use crate::common::linux::{desk, number, run, scenario, stage, trace};
use fullpipe::trace::recording::Recording;
use serde_json::Value;

/// The lossless path with these elements on it, behind the link.
fn with(elements: &str, rate: &str, seconds: f64) -> String {
    let delay = "{ kind = \"delay\", name = \"far\"";
    scenario(rate, 1500, "5MB", seconds).replace(delay, &format!("{elements},\n{delay}"))
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
    assert!(expected > 100.0, "{entered} show little");
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

/// A full segment of 1500 bytes does not pass 1400, and one of 1400 does. With tcp_mtu_probing the kernel finds the MTU
/// by itself.
#[test]
fn a_smaller_mtu_drops_full_packets_alone() {
    let element = r#"{ kind = "mtu", name = "tunnel", mtu = 1400 }"#;
    let Some(desk) = desk(&with(element, "100Mbit", 5.0)) else { return };
    let simulated = |sets: &[&str], out: &str| {
        let run = ["run", "my.toml", "--json", "-q", "--out", out];
        desk.call(&[&run[..], sets].concat()).ends_with(0).json()
    };
    for sets in [&[][..], &["--set", "path.mtu=1400"]] {
        let name = sets.len().to_string();
        let documents = [run(&desk, &name, sets), simulated(sets, &format!("{name}-simulated"))];
        let [kernel, simulator] = documents.map(|document| {
            let tunnel = stage(&document, "tunnel").clone();
            ["left", "dropped"].map(|key| number(&tunnel, key) as u64)
        });
        assert_eq!(kernel[1], simulator[1], "{sets:?}: packets that did not pass");
        assert_eq!(kernel[1] > 0, sets.is_empty(), "{sets:?}: {kernel:?}");
        if sets.is_empty() {
            assert_eq!(
                kernel, simulator,
                "packets of the handshake passed, and those that did not"
            );
        }
    }
    let probing = "hosts.sender.sysctl.net.ipv4.tcp_mtu_probing=1";
    let found = run(&desk, "probing", &["--set", probing]);
    let bytes = number(&found["runs"][0]["flows"][0], "bytes");
    assert!(bytes > 1e6, "{bytes} bytes have come with probing");
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

/// A packet that finds the link idle takes its time on the wire, at the current rate.
#[test]
fn a_varying_link_takes_its_time_for_each_packet() {
    let link = "{ kind = \"link\", name = \"link\", rate = \"1Mbit\"";
    let steps = "steps = [{ at = \"4s\", rate = \"2Mbit\" }, { at = \"8s\", rate = \"500kbit\" }]";
    let varying = format!("{{ kind = \"varying-link\", name = \"link\", rate = \"1Mbit\", {steps}");
    let Some(desk) = desk(&scenario("1Mbit", 1500, "100kB", 12.0).replace(link, &varying)) else {
        return;
    };
    let one = "flow.bulk.app={ kind = \"rate\", rate = \"144800bit\" }";
    let write = ["--set", one, "--set", "flow.bulk.write=1448B", "--set", "report.sample=10ms"];
    // Cards with wires on which nothing takes long.
    let cards = ["hosts.sender.nic_rate=10Gbit", "hosts.receiver.nic_rate=10Gbit"];
    let write = [&write[..], &["--set", cards[0], "--set", cards[1]]].concat();
    // Alone, in front of a delay that takes the wire over, and without one.
    for behind in ["", "{ kind = \"loss\", name = \"none\", probability = 0 },"] {
        let far = "{ kind = \"delay\", name = \"far\"";
        desk.write("my.toml", &desk.read("my.toml").replace(far, &format!("{behind}{far}")));
        let document = run(&desk, &format!("out{}", behind.len()), &write);
        let intervals = &document["runs"][0]["flows"][0]["intervals"];
        // 20 ms, and 1514 bytes; the rest of another rate after four seconds of measuring is an eighth of 1 %.
        for (second, mbit) in [(3, 1.0), (7, 2.0), (11, 0.5)] {
            let (srtt, expected) =
                (number(&intervals[second], "srtt_us"), 20_000.0 + 1514.0 * 8.0 / mbit);
            assert!((srtt - expected).abs() < 100.0, "{behind}, {second} s: {srtt} for {expected}");
        }
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

/// Whether each packet that arrived at a stage was lost; at most one may arrive between two samples.
fn fates(trace: &Recording, name: &str) -> Vec<bool> {
    let stage = trace.stages.iter().find(|stage| stage.name == name).expect("a stage").index;
    let counts = trace.stage_samples.iter().filter(|sample| sample.stage == stage);
    let counts: Vec<[u64; 2]> = counts.map(|sample| [sample.entered, sample.dropped]).collect();
    let mut fates = Vec::new();
    for pair in counts.windows(2) {
        let [passed, lost] = [0, 1].map(|n| pair[1][n] - pair[0][n]);
        assert!(passed + lost <= 1, "{passed} and {lost} packets in one sample");
        fates.extend((passed + lost == 1).then_some(lost == 1));
    }
    fates
}

/// Two states, seen in ACKs, one each millisecond; TCP misses none of them. In the bad one 70 % are lost. It ends with
/// each packet at 20 %, so that a loss follows a loss at 0.8 * 0.7.
#[test]
#[ignore = "a study: make studies"]
fn study_losses_of_two_states_come_in_runs_of_their_length() {
    const BAD: f64 = 0.7;
    const P: f64 = 0.02;
    const R: f64 = 0.2;
    let element = format!(
        "{{ kind = \"gilbert-elliott\", name = \"two\", p = {P}, r = {R}, loss_bad = {BAD} }}"
    );
    let text =
        scenario("100Mbit", 1500, "1MB", 30.0).replace("back = [", &format!("back = [{element},"));
    let Some(desk) = desk(&text) else { return };
    let app = "flow.bulk.app={ kind = \"rate\", rate = \"23168kbit\" }";
    let sets = ["--set", app, "--set", "flow.bulk.write=2896B", "--set", "report.sample=0.1ms"];
    run(&desk, "out", &sets);
    let fates = fates(&trace(&desk, "out"), "two");
    let count = fates.len() as f64;
    assert!(count > 25_000.0, "{count} packets");
    // Of all packets. The state is correlated by 1 - p - r from one packet to the next.
    let bad = P / (P + R);
    let (share, expected) = (fates.iter().filter(|lost| **lost).count() as f64 / count, bad * BAD);
    let stays = 1.0 - P - R;
    let variance = bad * (1.0 - bad) * BAD * BAD * (1.0 + stays) / (1.0 - stays);
    let deviation = ((variance + bad * BAD * (1.0 - BAD)) / count).sqrt();
    assert!((share - expected).abs() < 4.0 * deviation, "{share} lost, {expected} expected");
    // The length of a run is geometric.
    let again = (1.0 - R) * BAD;
    let runs: Vec<f64> =
        fates.chunk_by(|a, b| a == b).filter(|run| run[0]).map(|run| run.len() as f64).collect();
    let (length, expected) = (runs.iter().sum::<f64>() / runs.len() as f64, 1.0 / (1.0 - again));
    let deviation = again.sqrt() / (1.0 - again) / (runs.len() as f64).sqrt();
    assert!((length - expected).abs() < 4.0 * deviation, "runs of {length}, {expected} expected");
    // Loss in the bad state: a packet after a loss and a packet that passed is lost if the state has lasted, or has
    // returned.
    let chances: Vec<bool> =
        fates.windows(3).filter(|w| w[0] && !w[1]).map(|window| window[2]).collect();
    let lost = chances.iter().filter(|lost| **lost).count() as f64 / chances.len() as f64;
    let lasts = (1.0 - R) * (1.0 - BAD) * (1.0 - R) * BAD + R * P * BAD;
    let expected = lasts / (1.0 - again);
    let deviation = (expected * (1.0 - expected) / chances.len() as f64).sqrt();
    assert!((lost - expected).abs() < 4.0 * deviation, "{lost} behind a gap, {expected} expected");
}
