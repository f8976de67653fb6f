//! `fullpipe advise`: the answer, the document, files and proof, refusals, and a signal.

use crate::common::guests::signal;
use crate::common::{Call, Desk};
use std::fs;
use std::time::Duration;

/// Arguments for a small path with default buffers that are too small for it.
const PATH: [&str; 7] = ["advise", "--rate", "200Mbit", "--rtt", "200ms", "--kernel", "6.12"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PATH.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn the_first_line_is_the_answer() {
    let desk = Desk::with_short();
    let call = desk.call(&with(&["--no-report"])).ends_with(0);
    let first = call.stdout.lines().next().expect("a line");
    assert!(first.starts_with("Set tcp_wmem of sender to "), "{first}");
    assert!(first.contains(" (simulated). Today the "), "{first}");
    for line in ["/etc/sysctl.d/90-fullpipe.conf", "undo:", "sysctl -p"] {
        assert!(call.stdout.contains(line), "{}", call.stdout);
    }
    // Progress is shown in a pipe, too.
    assert!(call.stderr.contains("trying: today"), "{}", call.stderr);
}

#[test]
fn the_document_has_changes_with_their_proof() {
    let desk = Desk::with_short();
    let call = desk.call(&with(&["--no-report", "--json", "--quiet"])).ends_with(0);
    assert_eq!(call.stderr, "");
    let own = call.json();
    let changes = own["changes"].as_array().expect("changes");
    let settings: Vec<&str> =
        changes.iter().map(|own| own["setting"].as_str().expect("a name")).collect();
    assert_eq!(settings[..2], ["net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"]);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let advised = number(&own["advised"]["mbit"]);
    // A pace may stay for the delay alone.
    for change in changes.iter().filter(|own| own["rank"] == "size") {
        assert!(number(&change["without_mbit"]) < 0.98 * advised, "{change}");
    }
    assert!(advised > 1.5 * number(&own["today"]["mbit"]), "{}", own["answer"]);
}

#[test]
fn a_full_path_needs_nothing() {
    let desk = Desk::with_short();
    let call = desk.call(&["advise", "--rate", "100Mbit", "--rtt", "10ms", "--quiet"]).ends_with(0);
    assert!(call.stdout.starts_with("Set nothing: "), "{}", call.stdout);
}

#[test]
fn a_run_may_end_with_advice() {
    let desk = Desk::with_short();
    let path = ["run", "--rate", "200Mbit", "--rtt", "200ms", "--advise", "--quiet"];
    let call = desk.call(&path).ends_with(0);
    assert!(call.stdout.contains("\nSet tcp_wmem of sender to "), "{}", call.stdout);
}

/// Report, both variants and the files of both hosts are in one new directory.
#[test]
fn the_proof_is_kept() {
    let desk = Desk::with_short();
    desk.call(&with(&["--out", "kept", "--quiet"])).ends_with(0);
    for name in [
        "report.html",
        "summary.json",
        "advice.json",
        "advised.toml",
        "today/flows.parquet",
        "advised/flows.parquet",
        "files/sender/etc/sysctl.d/90-fullpipe.conf",
        "files/receiver/etc/sysctl.d/90-fullpipe.conf",
    ] {
        assert!(desk.path("kept").join(name).exists(), "{name}");
    }
    // The report names the settings, and does so again when it is written again.
    let shows = |what: &str| {
        let page = fs::read_to_string(desk.path("kept/report.html")).expect("a page");
        assert!(page.contains("<h2 id=\"advice\">Advice</h2>"), "{what}");
        assert!(page.contains("/etc/sysctl.d/90-fullpipe.conf"), "{what}");
    };
    shows("at first");
    desk.call(&["report", "kept"]).ends_with(0);
    shows("again");
    // Nothing is overwritten, and nothing is tried before that is known.
    let again = desk.call(&with(&["--out", "kept"])).ends_with(2);
    assert!(!again.stderr.contains("trying"), "{}", again.stderr);
    // The scenario runs by itself.
    desk.call(&["run", "kept/advised.toml", "--quiet", "--out", "again"]).ends_with(0);
}

#[test]
fn only_what_may_change_is_advised() {
    let desk = Desk::with_short();
    let call =
        desk.call(&with(&["--no-report", "--json", "-q", "--change", "sender"])).ends_with(0);
    let own = call.json();
    for change in own["changes"].as_array().expect("changes") {
        assert_eq!(change["scope"], "sender", "{change}");
    }
}

#[test]
fn wrong_input_is_named() {
    let desk = Desk::with_short();
    desk.call(&["advise"]).ends_with(2).complains(&["--rate"]);
    desk.call(&["advise", "nothing.toml"]).ends_with(2).complains(&["nothing.toml"]);
    desk.call(&["advise", "short.toml", "--variant", "none"]).ends_with(2);
    desk.call(&["advise", "short.toml", "--change", "network"]).ends_with(2);
}

#[test]
fn a_signal_ends_the_trials() {
    let desk = Desk::with_short();
    let child = desk.start(&["advise", "--rate", "100Gbit", "--rtt", "300ms", "--out", "cut"]);
    std::thread::sleep(Duration::from_millis(1500));
    signal(child.id(), "INT");
    Call::wait(child).ends_with(130).complains(&["stopping"]);
    assert!(!desk.path("cut").exists());
}

#[test]
fn a_signal_leaves_a_document_that_says_so() {
    let desk = Desk::with_short();
    let path = ["advise", "--rate", "100Gbit", "--rtt", "300ms", "--json", "--no-report"];
    let child = desk.start(&path);
    std::thread::sleep(Duration::from_millis(1500));
    signal(child.id(), "INT");
    let own = Call::wait(child).ends_with(130).json();
    assert_eq!(own["partial"], true);
    assert!(own["answer"].as_str().is_some_and(|own| own.starts_with("Stopped ")), "{own}");
    assert!(own["changes"].is_array() && own["tried"].is_u64(), "{own}");
}
