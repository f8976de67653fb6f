//! RED draws random numbers, which the engines cannot share: over several seeds both drop as often.

use crate::runs;
use crate::suite::Case;
use fullpipe::scenario::{SetOption, Source, load};

const SEEDS: u64 = 10;
/// A flow that RED alone makes yield.
const SCENARIO: &str = r#"
title = "RED"
[path]
rate = "100Mbit"
framing = "ethernet"
delay = { forward = "10ms", back = "10ms" }
queue = { discipline = "red", limit = "1MB", min = "30kB", max = "90kB", probability = 0.05 }
[hosts.sender]
kernel = "6.12"
hz = 1000
nic_rate = "1000Gbit"
sysctl = { "net.core.wmem_max" = "16MB" }
[hosts.receiver]
kernel = "6.12"
hz = 1000
sysctl = { "net.core.rmem_max" = "16MB" }
[[flow]]
name = "bulk"
congestion = "reno"
socket_buffer = "16MB"
duration = "8s"
"#;

fn case(seed: u64) -> Case {
    let source = Source::text("red.toml", SCENARIO);
    let sets = [SetOption(format!("seed={seed}"))];
    let scenario = load(&source, &sets, &[]).unwrap_or_else(|e| panic!("{e}"));
    Case { file: "red".into(), variant: seed.to_string(), scenario }
}

/// What the link drops and what is delivered, with all seeds together.
fn sums(engine: &str) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for case in (1..=SEEDS).map(case) {
        let recording = runs::trace(engine, &case.plan().resolved);
        let run = runs::analysed(&case, &recording);
        let link = run.stages.iter().find(|stage| stage.name == "link").expect("a link");
        sums.0 += link.dropped as f64;
        sums.1 += run.flows[0].bytes as f64;
    }
    sums
}

#[test]
fn red_drops_as_often_on_both_engines() {
    if runs::kernel(&case(1)).is_none() {
        return;
    }
    let ((ours, bytes), (theirs, their_bytes)) = (sums("sim"), sums("linux"));
    assert!(theirs > 100.0 * SEEDS as f64, "{theirs} dropped");
    assert!((ours / theirs - 1.0).abs() < 0.1, "{ours} and {theirs} dropped");
    assert!((bytes / their_bytes - 1.0).abs() < 0.02, "{bytes} and {their_bytes} bytes");
}
