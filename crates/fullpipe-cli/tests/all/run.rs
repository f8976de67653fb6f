//! `fullpipe run`: results, where they go, exit codes.

use crate::common;
use crate::common::{Desk, SHORT};
use fullpipe::scenario::reference::markdown;

#[test]
fn the_result_is_shown_kept_and_named() {
    let desk = Desk::with_short();
    let call =
        desk.call(&["run", "short.toml"]).ends_with(0).complains(&["fullpipe-results/short"]);
    let mut lines = call.stdout.lines();
    let answer = lines.next().expect("a first line");
    assert!(answer.contains(" Mb/s (") && answer.contains(" %)"), "{answer}");
    assert_eq!(lines.next(), Some("A short one (short, seed 1)"));
    assert!(call.stdout.contains("held back by") && !call.stdout.contains("the path (bar"));
    assert!(lines.all(|line| line.chars().count() <= 80));
    let document = desk.read("fullpipe-results/short/summary.json");
    let document: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["headline"]["text"], answer);
    assert_eq!(desk.names("fullpipe-results"), ["latest", "short"]);
    let files = desk.names("fullpipe-results/short");
    assert_eq!(files, ["base", "report.html", "run.json", "summary.json"]);
}

#[test]
fn results_are_never_overwritten() {
    let desk = Desk::with_short();
    for _ in 0..3 {
        desk.call(&["run", "short.toml", "--quiet"]).ends_with(0);
    }
    assert_eq!(desk.names("fullpipe-results"), ["latest", "short", "short-run-2", "short-run-3"]);
    let again = desk.call(&["run", "short.toml", "--out", "fullpipe-results/short"]);
    again.ends_with(2).complains(&["fullpipe-results/short", "not empty"]);
}

#[test]
fn json_is_one_document_on_standard_output() {
    let desk = Desk::with_short();
    let call = desk.call(&["run", "short.toml", "--json", "--out", "here"]).ends_with(0);
    let document = call.json();
    assert_eq!(document["format"], 2);
    assert_eq!(document["scenario"]["title"], "A short one");
    let run = &document["runs"][0];
    assert_eq!((&run["variant"], &run["set"]), (&"base".into(), &serde_json::json!({})));
    let flow = &run["flows"][0];
    assert_eq!((&flow["name"], &flow["congestion"]), (&"bulk".into(), &"reno".into()));
    let interval = &flow["intervals"][0];
    for name in [
        "start_s",
        "end_s",
        "bytes",
        "segments",
        "throughput_mbit",
        "retransmitted_segments",
        "cwnd",
        "in_flight",
        "queue",
    ] {
        assert!(interval[name].is_number(), "{name}: {interval}");
    }
    assert!(interval.get("ssthresh").is_some() && interval.get("srtt_us").is_some());
    let shares = flow["limits"].as_object().expect("limits").values();
    let sum: f64 = shares.map(|share| share.as_f64().expect("a share")).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert!(run["stages"][0]["name"].is_string() && run["expectations"].is_array());
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&desk.read("here/summary.json")).unwrap(),
        document
    );
}

#[test]
fn what_nothing_fixed_bounds_has_no_capacity() {
    let desk = Desk::with_short();
    let capacity = |name: &str, sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let arguments: Vec<&str> =
            ["run", "short.toml", "--json"].into_iter().chain(sets).collect();
        let document = desk.call(&arguments).ends_with(0).json();
        let stages = document["runs"][0]["stages"].as_array().expect("stages").clone();
        let stage = stages.iter().find(|stage| stage["name"] == name).expect("the stage");
        stage["capacity"].clone()
    };
    let null = serde_json::Value::Null;
    assert_eq!(capacity("delay", &[]), null);
    assert_eq!(capacity("sender.send_buffer", &[]), null);
    // Linux doubles the value of SO_SNDBUF
    assert_eq!(capacity("sender.send_buffer", &["flow.bulk.sndbuf=\"64KiB\""]), 131_072);
    assert_eq!(capacity("link", &["path.queue.limit=\"70 packets\""]), 70);
    let elements = "path={ forward = [{ kind = \"delay\", name = \"far\", delay = \"5ms\", limit = \"900 packets\" }] }";
    assert_eq!(capacity("far", &[elements]), 900);
}

#[test]
fn quiet_means_nothing_on_standard_error() {
    let desk = Desk::with_short();
    let call = desk.call(&["run", "short.toml", "--quiet"]).ends_with(0);
    assert_eq!(call.stderr, "");
    assert!(call.stdout.contains("held back by"));
}

#[test]
fn a_text_is_short_whole_or_one_line_a_run() {
    let desk = Desk::with_short();
    let variants = (0..4).map(|n| format!("\n[[variant]]\nname = \"v{n}\"\n"));
    desk.write("short.toml", &format!("{SHORT}{}", variants.collect::<String>()));
    let short = desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    // As a terminal of 80 columns shows it, with the lines of standard error.
    let rows = |text: &str| text.lines().map(|line| line.len().div_ceil(80).max(1)).sum::<usize>();
    assert!(rows(&short.stdout) + rows(&short.stderr) <= 60, "{}{}", short.stdout, short.stderr);
    let first = short.stdout.lines().next().expect("a line").to_string();

    let full = desk.call(&["report", "a", "--full"]).ends_with(0).stdout;
    assert!(full.starts_with(&first) && full.contains("the path (bar"), "{full}");
    let brief = desk.call(&["report", "a", "--brief"]).ends_with(0).stdout;
    let names: Vec<&str> = brief.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["v0", "v1", "v2", "v3"]);
    let both = desk.call(&["report", "a", "--brief", "--full"]).ends_with(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn no_run_at_a_time_is_refused() {
    let desk = Desk::with_short();
    for wrong in ["0", "-1", "x"] {
        let jobs = format!("--jobs={wrong}");
        desk.call(&["run", "short.toml", &jobs]).ends_with(2).complains(&["from 1 up"]);
    }
    assert_eq!(desk.names("."), ["short.toml"]);
}

#[test]
fn what_set_changes_is_in_the_result() {
    let desk = Desk::with_short();
    let arguments = ["run", "short.toml", "--set", "path.rate=50Mbit", "--json", "--quiet"];
    let document = desk.call(&arguments).ends_with(0).json();
    assert_eq!(document["runs"][0]["set"]["path.rate"], "50Mbit");
    let mean = document["runs"][0]["flows"][0]["mean_mbit"].as_f64().expect("a rate");
    assert!((25.0..50.0).contains(&mean), "{mean}");
}

#[test]
fn variants_are_chosen_and_run_on_several_cores_alike() {
    let variants = "\n[[variant]]\nname = \"slow\"\nset = { \"path.rate\" = \"10Mbit\" }\n\
        [[variant]]\nname = \"fast\"\nset = { \"path.rate\" = \"80Mbit\" }\n";
    let desk = Desk::new();
    desk.write("two.toml", &format!("{SHORT}{variants}"));
    let names = |call: &common::Call| -> Vec<String> {
        let document = call.json();
        let runs = document["runs"].as_array().expect("runs").iter();
        runs.map(|run| run["variant"].as_str().expect("a name").to_string()).collect()
    };
    let one = desk.call(&["run", "two.toml", "--json", "--jobs", "1"]).ends_with(0);
    let two = desk.call(&["run", "two.toml", "--json", "--jobs", "2"]).ends_with(0);
    assert_eq!(names(&one), ["slow", "fast"]);
    assert_eq!(one.stdout, two.stdout);
    let chosen = desk.call(&["run", "two.toml", "--json", "--variant", "fast"]).ends_with(0);
    assert_eq!(names(&chosen), ["fast"]);
    desk.call(&["run", "two.toml", "--variant", "fats"]).ends_with(2).complains(&["fats", "fast"]);
}

#[test]
fn a_failed_expectation_ends_with_1_and_the_result_is_kept() {
    let desk = Desk::new();
    let expect = "\n[[expect]]\nmetric = \"flow.bulk.mean_mbit\"\nof = 5000\nwithin = \"1 %\"\n";
    desk.write("wrong.toml", &format!("{SHORT}{expect}"));
    let failed = "FAILED flow.bulk.mean_mbit: ";
    let parts = [failed, " Mb/s instead of 5000 Mb/s, -", "; 1 % is allowed"];
    desk.call(&["run", "wrong.toml"]).ends_with(1).says(&parts);
    assert!(desk.path("fullpipe-results/wrong/summary.json").exists());
    desk.call(&["run", "wrong.toml", "--json"]).ends_with(1).json();
}

/// The bar of the first line: rate, share, sysctl and its value, whatever the width.
#[test]
fn the_first_line_names_the_sysctl_and_its_value() {
    let desk = Desk::new();
    let hosts = "[hosts]\nsender = { kernel = \"6.1\" }\nreceiver = { kernel = \"6.1\" }\n";
    let path = "[path]\nrate = \"10Gbit\"\ndelay = { forward = \"40ms\", back = \"40ms\" }\n";
    desk.write(
        "far.toml",
        &format!("{path}{hosts}[[flow]]\nname = \"bulk\"\nduration = \"10s\"\n"),
    );
    let text = desk.call(&["run", "far.toml"]).ends_with(0).stdout;
    let first = text.lines().next().expect("a line");
    for part in [" of 9,415 Mb/s (3 %). ", "net.ipv4.tcp_wmem allows 4 MiB", "(Linux 6.1)"] {
        assert!(first.contains(part), "no \"{part}\" in: {first}");
    }
}

#[test]
fn a_dry_run_prints_a_scenario_and_runs_nothing() {
    let desk = Desk::with_short();
    let call = desk.call(&["run", "short.toml", "--dry-run"]).ends_with(0);
    assert!(call.stdout.contains("# base\n") && call.stdout.contains("at most"), "{}", call.stdout);
    assert_eq!(desk.names("."), ["short.toml"]);
    desk.write("whole.toml", &call.stdout);
    let again = desk.call(&["run", "whole.toml", "--dry-run"]).ends_with(0);
    assert_eq!(again.stdout, call.stdout);
    let json = desk.call(&["run", "short.toml", "--dry-run", "--json"]).ends_with(0).json();
    assert_eq!(json["runs"][0]["variant"], "base");
    assert_eq!(json["runs"][0]["resolved"]["title"], "A short one");
    assert!(json["runs"][0]["estimate"]["segments_at_most"].as_f64() > Some(0.0));
}

/// Scenarios and options that an engine refuses: a dry run ends as the run does, with the same words.
#[test]
fn a_dry_run_refuses_what_the_run_refuses() {
    let desk = Desk::with_short();
    desk.write("new.toml", &SHORT.replace("2.6.20", "6.12"));
    desk.write("taken.pcapng", "");
    let set = |assignment: &'static str| ["--set", assignment];
    let refused: [(&str, &[&str], i32); 9] = [
        ("new.toml", &set("flow.bulk.congestion=dctcp"), 2),
        ("new.toml", &set("flow.bulk.receiver_sockopt={ TCP_WINDOW_CLAMP = 1 }"), 2),
        ("new.toml", &set("flow.bulk.receiver_sockopt={ SO_RCVLOWAT = 1 }"), 2),
        ("short.toml", &["--engine", "linux"], 2),
        ("short.toml", &["--engine", "sim,linux"], 2),
        ("short.toml", &["--engine", "linux", "--without", "hosts.*.kernel", "--pcap", "x"], 2),
        ("short.toml", &["--as-kernel", "6.12"], 2),
        ("short.toml", &["--pcap", "taken.pcapng"], 2),
        ("short.toml", &["--out", "short.toml"], 2),
    ];
    for (file, options, code) in refused {
        let run = desk.call(&[&["run", file], options].concat()).ends_with(code);
        let dry = desk.call(&[&["run", file, "--dry-run"], options].concat()).ends_with(code);
        assert_eq!(dry.stderr, run.stderr, "{options:?}");
        assert!(dry.stderr.contains("error: ") && dry.stdout.is_empty(), "{options:?}");
    }
    assert_eq!(desk.names("."), ["new.toml", "short.toml", "taken.pcapng"]);
}

/// The reference's own examples of socket options are accepted where it says that they are.
#[test]
fn the_example_of_socket_options_runs() {
    let reference = markdown();
    let row = |name: &str| {
        let begin = format!("| `{name}` | a table such as ");
        let row = reference.lines().find_map(|line| line.strip_prefix(&begin)).expect("a row");
        row.split_once(" | ").expect("columns")
    };
    let desk = Desk::new();
    desk.write("new.toml", &SHORT.replace("2.6.20", "6.12"));
    let call = |key: &str, example: &str| {
        let set = format!("flow.bulk.{key}={example}");
        desk.call(&["run", "new.toml", "--dry-run", "--set", &set])
    };
    call("sockopt", row("sockopt").0).ends_with(0);
    let (example, meaning) = row("receiver_sockopt");
    assert!(meaning.contains("engine linux has every one"), "{meaning}");
    call("receiver_sockopt", example).ends_with(2).complains(&["engine sim cannot do"]);
}

#[test]
fn a_wrong_scenario_ends_with_2_and_shows_its_place() {
    let desk = Desk::new();
    desk.write("bad.toml", &SHORT.replace("rate =", "rat ="));
    desk.call(&["run", "bad.toml"]).ends_with(2).complains(&[
        "bad.toml:5:1",
        "rat",
        "did you mean",
        "rate",
    ]);
    assert_eq!(desk.names("."), ["bad.toml"]);
    desk.call(&["run", "fink-2008"]).ends_with(2).complains(&["no recipe", "fink-2007"]);
    desk.call(&["run", "none.toml"]).ends_with(2).complains(&["none.toml", "cannot read"]);
    desk.write("bytes.toml", "title = \"\0\"");
    desk.call(&["run", "bytes.toml"]).ends_with(2).complains(&["bytes.toml:1:"]);
}

#[test]
fn an_impossible_directory_fails_before_the_run() {
    let desk = Desk::with_short();
    // 10 days would take longer than anyone waits for this test
    let long = ["run", "short.toml", "--set", "flow.bulk.duration=864000s", "--out"];
    for (directory, code) in [("/proc/none/here", 3), ("short.toml", 2), ("short.toml/below", 3)] {
        let arguments: Vec<&str> = long.iter().copied().chain([directory]).collect();
        let call = desk.call(&arguments).ends_with(code).complains(&["error: "]);
        assert!(!call.stderr.contains("simulated"), "{}", call.stderr);
        assert_eq!(call.stdout, "");
    }
    assert_eq!(desk.names("."), ["short.toml"]);
}

#[test]
fn a_socket_buffer_that_the_kernel_cuts_is_noted() {
    let desk = Desk::new();
    let cut = SHORT.replace("duration", "socket_buffer = \"4MiB\"\nduration");
    desk.write("cut.toml", &cut);
    let call = desk.call(&["run", "cut.toml", "--dry-run"]).ends_with(0);
    let notes: Vec<&str> = call.stderr.lines().filter(|l| l.starts_with("note:")).collect();
    assert_eq!(notes.len(), 2, "{}", call.stderr);
    assert!(notes[0].contains("SO_SNDBUF of 4194304 bytes is cut to 131071"), "{}", notes[0]);
    assert!(notes[1].contains("net.core.rmem_max"), "{}", notes[1]);
    let enough = ["net.core.rmem_max", "net.core.wmem_max"];
    let sets = [("sender", enough[1]), ("receiver", enough[0])]
        .map(|(host, key)| format!("hosts.{host}.sysctl.\"{key}\"=4194304"));
    let call = desk.call(&["run", "cut.toml", "--dry-run", "--set", &sets[0], "--set", &sets[1]]);
    assert!(!call.ends_with(0).stderr.contains("note:"));
}
