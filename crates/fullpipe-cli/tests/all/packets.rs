//! `fullpipe run --packets`: its files, its effects, and its messages on wrong points.

use crate::common::{Desk, SHORT};

const RUN: [&str; 5] = ["run", "short.toml", "--packets", "--out", "out"];

fn bytes(desk: &Desk, name: &str) -> Vec<u8> {
    std::fs::read(desk.path(name)).expect("a file")
}

#[test]
fn a_run_leaves_a_table_and_a_graph_that_the_report_links_to() {
    let desk = Desk::with_short();
    desk.call(&RUN).ends_with(0).complains(&["packets kept"]);
    let names = desk.names("out/base");
    assert!(names.contains(&"packets.parquet".into()), "{names:?}");
    assert!(names.contains(&"time-sequence.html".into()), "{names:?}");
    assert!(desk.read("out/report.html").contains("href=\"base/time-sequence.html\""));
    assert!(desk.read("out/summary.json").contains("\"at\": \"sender-qdisc\""));
    desk.call(&["run", "short.toml", "--out", "plain"]).ends_with(0);
    assert!(!desk.names("plain/base").contains(&"packets.parquet".into()));
    assert!(!desk.read("plain/report.html").contains("time-sequence.html"));
    for table in ["flows.parquet", "stages.parquet", "events.parquet", "intervals.csv"] {
        let of = |run: &str| bytes(&desk, &format!("{run}/base/{table}"));
        assert!(of("out") == of("plain"), "{table}");
    }
}

/// Two runs, with and without kept packets: the example's expectations of both hold.
#[test]
fn a_capture_that_costs_slows_its_flow() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/captures/cost.toml");
    let desk = Desk::with_short();
    desk.call(&["run", example, "--out", "out"]).ends_with(0);
}

#[test]
fn the_report_is_drawn_again_from_the_table() {
    let desk = Desk::with_short();
    desk.call(&RUN).ends_with(0);
    let [graph, report] = ["out/base/time-sequence.html", "out/report.html"];
    let before = [graph, report].map(|name| bytes(&desk, name));
    [graph, report].iter().for_each(|name| std::fs::remove_file(desk.path(name)).expect("it"));
    desk.call(&["report", "out"]).ends_with(0);
    assert!(before == [graph, report].map(|name| bytes(&desk, name)));
    // Elsewhere a link would lead nowhere.
    desk.call(&["report", "out", "--out", "else.html"]).ends_with(0);
    assert!(!desk.read("else.html").contains("time-sequence.html"));
    desk.write("out/base/packets.parquet", "not a table");
    desk.call(&["report", "out"]).ends_with(2).complains(&["packets.parquet", "damaged"]);
}

#[test]
fn equal_runs_keep_equal_packets_and_what_a_run_kept_can_be_run_again() {
    let desk = Desk::with_short();
    desk.call(&RUN).ends_with(0);
    let resolved = "out/base/scenario.resolved.toml";
    desk.call(&["run", resolved, "--out", "again"]).ends_with(0);
    let [first, second] =
        ["out", "again"].map(|run| bytes(&desk, &format!("{run}/base/packets.parquet")));
    assert!(first == second);
}

#[test]
fn points_are_those_of_captures_and_one_run_has_one() {
    let desk = Desk::with_short();
    let wrong = ["run", "--packets=lnik", "short.toml"];
    desk.call(&wrong).ends_with(2).complains(&[
        "--packets:1:19",
        "lnik",
        "sender-qdisc",
        "receiver",
    ]);
    let capture = ["--pcap", "a.pcap", "--at", "receiver"];
    let both = |packets: &[&'static str], out: &'static str| {
        desk.call(&[&["run", "short.toml", "--out", out], &capture[..], packets].concat())
    };
    both(&["--packets=sender"], "a").ends_with(2).complains(&["one point", "sender-qdisc"]);
    both(&["--packets"], "b").ends_with(0);
    // The word after it is the scenario.
    desk.call(&["run", "--packets", "short.toml", "--out", "c"]).ends_with(0);
    desk.call(&["run", "short.toml", "--pcap", "b.pcap", "--at", "sender", "--out", "d"])
        .ends_with(0);
    assert!(desk.read("b/summary.json").contains("\"at\": \"receiver\""));
}

#[test]
fn each_run_has_its_own_and_filters_are_keys_of_the_scenario() {
    let desk = Desk::new();
    let variants = "\n[[variant]]\nname = \"a b\"\n[[variant]]\nname = \"c\"\n";
    desk.write("short.toml", &format!("{SHORT}{variants}"));
    let some = ["--set", "report.packets.from=1s", "--set", "report.packets.to=1100ms"];
    desk.call(&[&RUN[..], &some].concat()).ends_with(0);
    assert_eq!(desk.names("out"), ["a-b", "c", "report.html", "run.json", "summary.json"]);
    let report = desk.read("out/report.html");
    for folder in ["a-b", "c"] {
        assert!(desk.path(&format!("out/{folder}/packets.parquet")).exists());
        assert!(report.contains(&format!("href=\"{folder}/time-sequence.html\"")));
    }
}

#[test]
fn an_engine_that_records_no_packets_says_so() {
    let desk = Desk::with_short();
    let linux = ["run", "short.toml", "--packets", "--engine", "linux", "--as-kernel", "6.12"];
    desk.call(&linux).ends_with(2).complains(&["report.packets", "linux"]);
}
