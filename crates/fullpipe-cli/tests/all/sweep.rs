//! `fullpipe sweep` and `fullpipe merge`.

use crate::common::guests::{signal, wait_for};
use crate::common::{Call, Desk};
use serde_json::Value;
use std::collections::BTreeSet;

/// Twelve runs: two variants, three points, two seeds.
const GRID: &str = r#"
title = "A grid"
duration = "1s"

[path]
rate = "10Mbit"
delay = { forward = "5ms", back = "5ms" }

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "1s"

[[variant]]
name = "reno"
set = { "flow.bulk.congestion" = "reno" }

[[variant]]
name = "cubic"

[sweep]
"path.loss" = { from = 1e-4, to = 1e-2, points = 3, scale = "log" }

[repeat]
seeds = 2
start_jitter = "10ms"
delay_jitter = "10us"
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("grid.toml", GRID);
    desk
}

/// The records of a directory by run; none may be there twice.
fn records(desk: &Desk, directory: &str) -> Vec<Value> {
    let names = desk.names(directory);
    let files = names.iter().filter(|n| n.starts_with("results") && n.ends_with(".jsonl"));
    let text = |name: &String| {
        std::fs::read_to_string(desk.path(&format!("{directory}/{name}"))).expect("records")
    };
    let text: String = files.map(text).collect();
    let line = |line: &str| serde_json::from_str::<Value>(line).expect("a record");
    let mut records: Vec<Value> = text.lines().map(line).collect();
    records.sort_by_key(|record| record["run"].as_u64());
    let runs: BTreeSet<_> = records.iter().map(|record| record["run"].as_u64()).collect();
    assert_eq!(runs.len(), records.len(), "a run is there twice");
    records
}

fn sweep(desk: &Desk, more: &[&str]) -> Call {
    desk.call(&[&["sweep", "grid.toml", "-q"], more].concat())
}

#[test]
fn all_points_are_run_and_put_together() {
    let desk = desk();
    let cells = sweep(&desk, &["--out", "out", "--json"]).ends_with(0).json();
    assert_eq!(
        (&cells["runs"], &cells["failed"], &cells["missing"]),
        (&12.into(), &0.into(), &0.into())
    );
    let cells = cells["cells"].as_array().expect("cells");
    let names = cells.iter().map(|cell| format!("{} {}", cell["variant"], cell["at"]["path.loss"]));
    let names: Vec<String> = names.collect();
    let variant = |name| ["0.0001", "0.001", "0.01"].map(|loss| format!("\"{name}\" {loss}"));
    assert_eq!(names, [variant("reno"), variant("cubic")].concat());
    assert!(
        cells.iter().all(|cell| cell["runs"] == 2 && cell["flows"][0]["settled_mbit"]["n"] == 2)
    );
    let table = std::fs::read_to_string(desk.path("out/results.csv")).expect("a table");
    assert_eq!(table.lines().count(), 13);
    assert!(table.starts_with("run,id,variant,path.loss,repetition,seed,failed,flow,"));
}

#[test]
fn a_run_of_a_sweep_is_that_of_fullpipe_run() {
    let desk = desk();
    sweep(&desk, &["--out", "out"]).ends_with(0);
    let record = &records(&desk, "out")[5]["facts"]["flows"][0];
    let options = ["--variant", "reno", "--set", "path.loss=0.01", "--set", "seed=2"];
    let run = [&["run", "grid.toml", "-q", "--json", "--out", "one"], &options[..]].concat();
    let flow = &desk.call(&run).ends_with(0).json()["runs"][0]["flows"][0];
    for key in ["bytes", "mean_mbit", "retransmitted_segments"] {
        assert_eq!(record[key], flow[key], "{key}");
    }
    assert_eq!(record["settled_mbit"], flow["settled"]["mbit"]);
}

#[test]
fn what_is_there_is_not_run_again_and_a_torn_line_is() {
    let desk = desk();
    sweep(&desk, &["--out", "out"]).ends_with(0);
    let whole = records(&desk, "out");
    let file = desk.path("out/results-1-of-1.jsonl");
    let text = std::fs::read_to_string(&file).expect("records");
    // Killed while it wrote the ninth record.
    let eight: usize = text.lines().take(8).map(|line| line.len() + 1).sum();
    std::fs::write(&file, &text[..eight + 40]).expect("a torn file");
    let call = desk.call(&["sweep", "grid.toml", "--out", "out"]).ends_with(0);
    assert!(call.stderr.contains("8 of 12 runs are there already"), "{}", call.stderr);
    assert_eq!(records(&desk, "out"), whole);
    // Earlier records keep their places.
    let again = std::fs::read_to_string(&file).expect("records");
    assert_eq!(again[..eight], text[..eight]);
}

#[test]
fn a_killed_sweep_goes_on() {
    let desk = desk();
    let long = ["--set", "flow.bulk.duration=200s", "--set", "duration=200s", "--out", "out"];
    let arguments = [&["sweep", "grid.toml", "-q", "--jobs", "2"], &long[..]].concat();
    for name in ["KILL", "INT"] {
        let child = desk.start(&arguments);
        let before = || desk.path("out").exists().then(|| records(&desk, "out").len());
        let seen = before().unwrap_or(0);
        wait_for("record", || (before().unwrap_or(0) > seen).then_some(()));
        signal(child.id(), name);
        let call = Call::wait(child);
        assert_eq!(call.code, if name == "KILL" { None } else { Some(130) });
        assert!(records(&desk, "out").len() < 12, "it was not long enough");
    }
    desk.call(&arguments).ends_with(0);
    let kept = records(&desk, "out");
    desk.call(&[&["sweep", "grid.toml", "-q"], &long[..4], &["--out", "fresh"]].concat())
        .ends_with(0);
    assert_eq!(kept, records(&desk, "fresh"));
}

#[test]
fn parts_together_are_the_whole() {
    let desk = desk();
    sweep(&desk, &["--out", "whole"]).ends_with(0);
    // Two parts as two processes at once in one directory, a third in its own.
    let part = |number: &str, out: &str| {
        desk.start(&["sweep", "grid.toml", "-q", "--shard", number, "--out", out])
    };
    let parts = [part("1/3", "shared"), part("2/3", "shared"), part("3/3", "alone")];
    parts.into_iter().for_each(|part| {
        Call::wait(part).ends_with(0);
    });
    let both = ["merge", "shared", "alone", "--json"];
    let refused = desk.call(&both).ends_with(2);
    assert!(refused.stderr.contains("--out"), "{}", refused.stderr);
    let merged = desk.call(&[&both[..], &["--out", "all"]].concat()).ends_with(0).json();
    assert_eq!(records(&desk, "all"), records(&desk, "whole"));
    let cells = std::fs::read_to_string(desk.path("whole/cells.json")).expect("cells");
    assert_eq!(merged, serde_json::from_str::<Value>(&cells).expect("cells"));
    // One part alone names the missing runs.
    let some = desk.call(&["merge", "shared", "--json"]).ends_with(3);
    assert_eq!(some.json()["missing"], 4);
}

#[test]
fn the_page_of_a_sweep_is_written_again() {
    let desk = desk();
    sweep(&desk, &["--out", "out"]).ends_with(0);
    let read = |name: &str| desk.read(name);
    let page = read("out/report.html");
    for name in ["report.html", "cells.json", "results.csv"] {
        std::fs::remove_file(desk.path(&format!("out/{name}"))).expect("it was there");
    }
    let call = desk.call(&["report", "out"]).ends_with(0);
    assert!(
        call.stdout.is_empty() && call.stderr.contains("report: out/report.html"),
        "{}",
        call.stderr
    );
    assert_eq!(read("out/report.html"), page);
    assert!(!desk.path("out/cells.json").exists() && !desk.path("out/results.csv").exists());
    desk.call(&["report", "out", "--out", "other.html"]).ends_with(0);
    assert_eq!(read("other.html"), page);
    // A part has a page, too, which names the missing runs.
    sweep(&desk, &["--out", "part", "--shard", "1/4"]).ends_with(0);
    desk.call(&["report", "part"]).ends_with(0);
    assert!(read("part/report.html").contains("0 runs failed, 9 are missing."));
    std::fs::create_dir(desk.path("broken")).expect("a directory");
    desk.write("broken/sweep.json", "{}");
    let call = desk.call(&["report", "broken"]).ends_with(2);
    assert!(call.stderr.contains("is no manifest of a sweep"), "{}", call.stderr);
}

#[test]
fn a_run_that_fails_stops_nothing() {
    let desk = desk();
    // Only the last point of both axes has a lower threshold above the upper one.
    let axes = "[sweep]\n\"path.queue.min\" = [\"10kB\", \"50kB\"]\n\"path.queue.max\" = [\"100kB\", \"30kB\"]\n";
    let lossy =
        "[sweep]\n\"path.loss\" = { from = 1e-4, to = 1e-2, points = 3, scale = \"log\" }\n";
    let red = "rate = \"10Mbit\"\nqueue = { discipline = \"red\", limit = \"400kB\", min = \"10kB\", max = \"100kB\" }";
    desk.write("grid.toml", &GRID.replace(lossy, axes).replace("rate = \"10Mbit\"", red));
    let call = sweep(&desk, &["--out", "out"]).ends_with(3);
    let failed = "4 runs failed; `fullpipe sweep` with --retry makes them again";
    assert!(
        call.stderr.contains(failed) && call.stderr.contains("path.queue.max=30kB"),
        "{}",
        call.stderr
    );
    let records = records(&desk, "out");
    assert_eq!(records.len(), 16);
    let why: Vec<&str> = records.iter().filter_map(|record| record["failed"].as_str()).collect();
    assert!(why.len() == 4 && why.iter().all(|why| why.contains("grid.toml:")), "{why:?}");
    // The page says why.
    let page = desk.read("out/report.html");
    assert_eq!(page.matches("<td class=\"why\">").count(), 4);
    assert!(page.contains("path.queue.min=50kB, path.queue.max=30kB"), "the point");
    // They are not tried again unless one asks for it.
    let again = sweep(&desk, &["--out", "out"]).ends_with(3);
    assert!(!again.stderr.contains("path.queue.max=30kB"), "{}", again.stderr);
}

/// A run that failed for a reason of the machine (a kernel that died) is there, and is made again where that is asked for.
#[test]
fn runs_that_failed_are_made_again_where_one_asks() {
    let desk = desk();
    sweep(&desk, &["--out", "out"]).ends_with(0);
    let whole = records(&desk, "out");
    let file = "out/results-1-of-1.jsonl";
    let text = desk.read(file);
    let line = text.lines().find(|line| line.starts_with("{\"run\":4,")).expect("the fifth run");
    let mut failed: Value = serde_json::from_str(line).expect("a record");
    let of = failed.as_object_mut().expect("a record");
    of.remove("facts");
    of.insert("failed".into(), "the kernel died".into());
    desk.write(file, &text.replace(line, &failed.to_string()));
    let again = sweep(&desk, &["--out", "out"]).ends_with(3);
    assert!(
        again.stderr.contains("1 runs failed; `fullpipe sweep` with --retry makes them again"),
        "{}",
        again.stderr
    );
    assert_eq!(desk.read(file).lines().count(), 12, "it was made again without being asked");
    sweep(&desk, &["--out", "out", "--retry"]).ends_with(0);
    // Its failure stays in the file, and its results count.
    let lines = desk.read(file);
    assert_eq!(lines.lines().count(), 13);
    assert_eq!(
        serde_json::from_str::<Value>(lines.lines().last().expect("a line")).ok(),
        Some(whole[4].clone())
    );
    let cells: Value = serde_json::from_str(&desk.read("out/cells.json")).expect("cells");
    assert_eq!((&cells["runs"], &cells["failed"]), (&12.into(), &0.into()));
    // Nothing is left to be made again.
    sweep(&desk, &["--out", "out", "--retry"]).ends_with(0);
    assert_eq!(desk.read(file), lines);
}

#[test]
fn another_sweep_is_not_mixed_in() {
    let desk = desk();
    sweep(&desk, &["--out", "out", "--variant", "reno"]).ends_with(0);
    let other = sweep(&desk, &["--out", "out"]).ends_with(2);
    assert!(
        other.stderr.contains("other variants") && other.stderr.contains("--out"),
        "{}",
        other.stderr
    );
    std::fs::create_dir(desk.path("full")).expect("a directory");
    desk.write("full/notes.txt", "mine");
    let foreign = sweep(&desk, &["--out", "full"]).ends_with(2);
    assert!(foreign.stderr.contains("has no sweep"), "{}", foreign.stderr);
    assert_eq!(desk.names("full"), ["notes.txt"]);
    let nothing = desk.call(&["merge", "nowhere"]).ends_with(2);
    assert!(nothing.stderr.contains("nowhere"), "{}", nothing.stderr);
}

#[test]
fn two_processes_do_not_make_the_same_part() {
    let desk = desk();
    let long = ["--set", "flow.bulk.duration=86400s", "--set", "duration=86400s", "--out", "out"];
    let arguments = [&["sweep", "grid.toml", "-q", "--jobs", "1"], &long[..]].concat();
    let first = desk.start(&arguments);
    wait_for("file of records", || desk.path("out/results-1-of-1.jsonl").exists().then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(200));
    let second = desk.call(&arguments).ends_with(2);
    assert!(second.stderr.contains("another process works at this part"), "{}", second.stderr);
    signal(first.id(), "INT");
    Call::wait(first).ends_with(130);
}

#[test]
fn a_dry_run_says_what_it_would_do() {
    let desk = desk();
    let call = sweep(&desk, &["--dry-run", "--shard", "2/5", "--out", "out"]).ends_with(0);
    for part in
        ["12 runs", "reno; cubic", "path.loss  3 points, 0.0001 to 0.01", "part 2 of 5  3 runs"]
    {
        assert!(call.stdout.contains(part), "{part}: {}", call.stdout);
    }
    assert_eq!(desk.names("."), ["grid.toml"]);
    for wrong in ["0/2", "3/2", "x", "1/0"] {
        sweep(&desk, &["--shard", wrong]).ends_with(2);
    }
}

#[test]
fn what_is_expected_of_a_point_is_judged_by_its_mean() {
    let desk = desk();
    sweep(&desk, &["--out", "out"]).ends_with(0);
    let cells: Value = serde_json::from_str(&desk.read("out/cells.json")).expect("cells");
    let mean = cells["cells"][2]["flows"][0]["settled_mbit"]["mean"].as_f64().expect("a mean");
    let [low, high] = ["min", "max"].map(|end| &cells["cells"][2]["flows"][0]["settled_mbit"][end]);
    assert_ne!(low, high, "the repetitions are one run");
    let expect = |of: f64| {
        let grid = GRID.replace(
            "name = \"cubic\"\n",
            "name = \"cubic\"\nset = { \"path.rate\" = \"20Mbit\" }\n",
        );
        format!(
            "{grid}\n[[expect]]\nvariant = \"reno\"\nat = {{ \"path.loss\" = 0.01 }}\n\
             metric = \"flow.bulk.settled_mbit\"\nof = {of}\nwithin = \"0.001Mbit\"\n"
        )
    };
    // No single run is that near.
    desk.write("grid.toml", &expect(mean));
    sweep(&desk, &["--out", "holds"]).ends_with(0);
    desk.write("grid.toml", &expect(mean + 0.01));
    let call = sweep(&desk, &["--out", "fails"]).ends_with(1);
    let expected = "FAILED reno, path.loss=0.01: flow.bulk.settled_mbit is ";
    assert!(call.stderr.contains(expected), "{}", call.stderr);
    assert_eq!(call.stderr.matches("FAILED").count(), 1);
}

#[test]
fn two_sweeps_are_compared_point_by_point() {
    let desk = desk();
    let seeds = |out: &str, more: &[&str]| {
        sweep(&desk, &[&["--variant", "reno", "--out", out], more].concat()).ends_with(0);
    };
    seeds("a", &[]);
    seeds("same", &[]);
    seeds("faster", &["--set", "path.rate=50Mbit"]);
    let compare = |b: &str| desk.call(&["compare", "a", b, "--json"]).ends_with(0).json();
    let shown = |of: &Value| -> Vec<String> {
        let pairs = of["sweeps"]["pairs"].as_array().expect("pairs");
        pairs.iter().map(|pair| pair["shown"].as_str().expect("a word").to_string()).collect()
    };
    assert!(shown(&compare("same")).iter().all(|word| word == "nothing" || word == "equal"));
    // Without many losses a faster link is a higher rate.
    assert_eq!(shown(&compare("faster"))[0], "higher");
    let text = desk.call(&["compare", "a", "same"]).ends_with(0).stdout;
    assert!(text.contains("no difference"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let mixed = desk.call(&["compare", "a", "grid.toml"]).ends_with(2);
    assert!(mixed.stderr.contains("sweep.json"), "{}", mixed.stderr);
}

#[test]
fn two_results_of_one_run_are_not_put_together() {
    let desk = desk();
    sweep(&desk, &["--out", "a", "--variant", "reno"]).ends_with(0);
    sweep(&desk, &["--out", "b", "--variant", "reno"]).ends_with(0);
    desk.call(&["merge", "a", "b", "--out", "equal"]).ends_with(0);
    let file = "b/results-1-of-1.jsonl";
    desk.write(file, &desk.read(file).replacen("\"bytes\":", "\"bytes\":1", 1));
    let call = desk.call(&["merge", "a", "b", "--out", "other"]).ends_with(2);
    assert!(call.stderr.contains("has another result of run"), "{}", call.stderr);
    assert!(!desk.path("other").exists());
}

#[test]
fn parts_that_end_together_leave_one_result() {
    let desk = desk();
    let part = |number: &str| {
        desk.start(&["sweep", "grid.toml", "-q", "--shard", number, "--out", "shared"])
    };
    let parts = ["1/4", "2/4", "3/4", "4/4"].map(part);
    parts.into_iter().for_each(|part| {
        Call::wait(part).ends_with(0);
    });
    let merged = desk.call(&["merge", "shared", "--json"]).ends_with(0).json();
    assert_eq!(merged["runs"], 12);
    let names = desk.names("shared");
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
}

#[test]
fn expectations_of_no_point_are_named() {
    let desk = desk();
    let expect = "\n[[expect]]\nat = { \"path.loss\" = 0.01 }\nmetric = \"flow.bulk.bytes\"\nof = 1\nwithin = \"1 %\"\n";
    desk.write("grid.toml", &format!("{GRID}{expect}"));
    let call = sweep(&desk, &["--set", "path.loss=0.001", "--out", "out"]).ends_with(0);
    let expected = "2 of 2 expectations not judged: 2 about no point of this sweep (--set)";
    assert!(call.stderr.contains(expected), "{}", call.stderr);
}

#[test]
fn points_are_drawn_and_drawn_on() {
    let desk = desk();
    let dry = sweep(&desk, &["--dry-run", "--points", "2"]).ends_with(0);
    assert!(dry.stdout.contains("points drawn  8 runs"), "{}", dry.stdout);
    let few = sweep(&desk, &["--out", "out", "--points", "1", "--json"]).ends_with(0);
    assert!(
        few.stderr.contains("4 of 12 runs are there: all of the points drawn"),
        "{}",
        few.stderr
    );
    let points = |call: &Call| {
        let cells = call.json()["cells"].as_array().expect("cells").clone();
        cells.iter().map(|cell| cell["at"].to_string()).collect::<Vec<_>>()
    };
    let first = points(&few);
    assert_eq!(first.len(), 2, "one point of two variants");
    assert_eq!(first[0], first[1]);
    let more = sweep(&desk, &["--out", "out", "--points", "2", "--json"]).ends_with(0);
    assert_eq!(points(&more).len(), 4, "two points of two variants");
    assert!(points(&more).contains(&first[0]));
    // Recorded runs are not made again.
    assert_eq!(records(&desk, "out").len(), 8);
    sweep(&desk, &["--out", "out"]).ends_with(0);
    for wrong in ["0", "x", "-1"] {
        sweep(&desk, &["--points", wrong]).ends_with(2);
    }
}

/// Points drawn are shared among processes as a whole sweep is.
#[test]
fn points_that_are_drawn_are_shared() {
    let desk = desk();
    let drawn = ["--points", "2", "--out"];
    sweep(&desk, &[&drawn[..], &["whole"]].concat()).ends_with(0);
    for (part, out) in [("1/2", "shared"), ("2/2", "alone")] {
        let call = sweep(&desk, &[&drawn[..], &[out, "--shard", part]].concat()).ends_with(0);
        let expected = format!(
            "4 of the sweep are not there yet; when all parts are done: fullpipe merge {out} --points 2"
        );
        assert!(call.stderr.contains(&expected), "{}", call.stderr);
    }
    let merge = ["merge", "shared", "alone", "--json", "--points", "2", "--out", "all"];
    let merged = desk.call(&merge).ends_with(0);
    assert!(
        merged.stderr.contains("8 of 12 runs are there: all of the points drawn"),
        "{}",
        merged.stderr
    );
    assert_eq!(records(&desk, "all"), records(&desk, "whole"));
    // More points, or all of them, are not there.
    for (points, missing) in [(&["--points", "3"][..], 4), (&[], 4)] {
        let call = desk.call(&[&["merge", "all"], points].concat()).ends_with(3);
        assert!(call.stderr.contains(&format!("{missing} runs are missing")), "{}", call.stderr);
    }
    // A part alone lacks the runs of the other one.
    let call = desk.call(&["merge", "shared", "--points", "2"]).ends_with(3);
    assert!(call.stderr.contains("4 runs are missing"), "{}", call.stderr);
}

#[test]
fn two_variants_are_judged_beside_each_other() {
    let desk = desk();
    let faster = "name = \"cubic\"\nset = { \"path.rate\" = \"20Mbit\" }\n";
    let grid = GRID.replace("name = \"cubic\"\n", faster);
    let expect = |side: &str| {
        format!(
            "{grid}\n[[expect]]\nvariant = \"cubic\"\nat = {{ \"path.loss\" = 1e-4 }}\nmetric = \"flow.bulk.bytes\"\n{side} = \"reno\"\n"
        )
    };
    desk.write("above.toml", &expect("above"));
    desk.write("below.toml", &expect("below"));
    let run = |name: &str| desk.call(&["sweep", name, "--json", "--out", &format!("{name}.out")]);
    let above = run("above.toml");
    let found = &above.json()["versus"][0];
    assert_eq!(found["point"]["path.loss"], 0.0001);
    assert_eq!(found["difference"]["n"], 2);
    // Twice the rate delivers more: one holds, the other does not, and that decides the exit code.
    assert!(found["difference"]["mean"].as_f64().is_some_and(|mean| mean > 3e5), "{found}");
    assert_eq!(found["passed"], true);
    let below = run("below.toml");
    assert_eq!(below.json()["versus"][0]["passed"], false);
    above.ends_with(0);
    below.ends_with(1);
    desk.write("wrong.toml", &expect("above").replace("above = \"reno\"", "above = \"rino\""));
    let wrong = run("wrong.toml").ends_with(2);
    assert!(wrong.stderr.contains("rino"), "{}", wrong.stderr);
}
