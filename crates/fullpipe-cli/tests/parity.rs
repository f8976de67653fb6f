//! `fullpipe parity`: what is asked, what is shown, how it ends.

mod common;
use common::{Call, Desk};
use serde_json::Value;
use std::path::Path;

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/parity");

/// A desk with a suite of one file of the real one.
fn desk(file: &str) -> Desk {
    let desk = Desk::new();
    let (from, to) = (Path::new(SUITE), desk.path("suite"));
    std::fs::create_dir_all(to.join(format!("golden/{file}"))).expect("folders");
    let name = format!("{file}.toml");
    std::fs::copy(from.join(&name), to.join(&name)).expect("a scenario");
    for table in std::fs::read_dir(from.join(format!("golden/{file}"))).expect("tables") {
        let table = table.expect("a table").path();
        let name = table.file_name().expect("a name");
        std::fs::copy(&table, to.join(format!("golden/{file}")).join(name)).expect("a table");
    }
    desk
}

/// Of a call that compares: bars are met or missed.
fn judged(call: Call) -> Call {
    let code = call.code;
    assert!(code == Some(0) || code == Some(1), "{code:?}: {}", call.stderr);
    call
}

#[test]
fn the_suite_needs_no_kernel() {
    let desk = desk("short");
    let json = judged(desk.call(&["parity", "--suite", "suite", "--json", "-q"])).json();
    assert_eq!((json["runs"].as_u64(), json["partial"].as_bool()), (Some(6), Some(false)));
    let units = json["units"].as_array().expect("units");
    assert_eq!(units.len(), 6);
    let fine = |unit: &Value| unit["completions"][0]["seconds"][0].is_number();
    assert!(units.iter().all(fine), "{units:?}");
    let text = judged(desk.call(&["parity", "--suite", "suite"]));
    assert!(text.stdout.contains("short/15kB-10Gbit-1ms"), "{}", text.stdout);
    assert!(text.stdout.contains("flows complete within a round trip"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    assert!(text.stderr.contains("short/15kB-10Gbit-1ms: throughput"), "{}", text.stderr);
}

/// The table of one run with another last row.
fn change(desk: &Desk, name: &str, change: impl Fn(&str) -> String) {
    let path = format!("suite/golden/{name}.csv");
    let text = desk.read(&path);
    desk.write(&path, &change(&text));
}

#[test]
fn the_exit_code_follows_from_the_bars_and_misses_are_named() {
    let desk = desk("short");
    let json = judged(desk.call(&["parity", "--suite", "suite", "--json", "-q"])).json();
    let met = json["met"].as_bool().expect("a verdict");
    desk.call(&["parity", "--suite", "suite", "-q"]).ends_with(if met { 0 } else { 1 });
    change(&desk, "short/1.5MB-10Mbit-100ms", |text| {
        let complete = text.lines().find(|line| line.starts_with("# complete")).expect("a line");
        text.replace(complete, "# complete bulk: 0.9")
    });
    let call = desk.call(&["parity", "--suite", "suite", "-q"]).ends_with(1);
    let told = "short/1.5MB-10Mbit-100ms, bic: completion";
    assert!(call.stdout.contains(told), "{}", call.stdout);
    let command = "fullpipe run suite/short.toml --variant 1.5MB-10Mbit-100ms --engine sim,linux";
    assert!(call.stdout.contains(command), "{}", call.stdout);
}

#[test]
fn tables_that_are_none_or_of_other_scenarios_are_bad_input() {
    let suite = ["parity", "--suite", "suite", "-q", "--jobs", "1"];
    let desk = desk("short");
    change(&desk, "short/15kB-10Gbit-1ms", |text| text.replace("# scenario ", "# scenario 0"));
    desk.call(&suite).ends_with(2).complains(&["15kB-10Gbit-1ms.csv", "another scenario"]);
    change(&desk, "short/15kB-10Gbit-1ms", |text| text.replace("\n0.01,0", "\n0.01;0"));
    desk.call(&suite).ends_with(2).complains(&["15kB-10Gbit-1ms.csv", "line 1"]);
    std::fs::remove_file(desk.path("suite/golden/short/15kB-10Gbit-1ms.csv")).expect("removed");
    desk.call(&suite).ends_with(2).complains(&["15kB-10Gbit-1ms.csv"]);
}

#[test]
fn what_makes_no_sense_is_bad_input() {
    let desk = Desk::with_short();
    desk.call(&["parity"]).ends_with(2).complains(&["scenarios/parity", "--suite"]);
    desk.call(&["parity", "none.toml"]).ends_with(2).complains(&["none.toml"]);
    desk.call(&["parity", "short.toml", "--random", "2"]).ends_with(2).complains(&["--random"]);
    desk.call(&["parity", "--seed", "2"]).ends_with(2).complains(&["--random"]);
    desk.call(&["parity", "--kernel", "6.12"]).ends_with(2).complains(&["--kernel"]);
    desk.call(&["parity", "--random", "0"]).ends_with(2).complains(&["--random"]);
    let old = desk.call(&["parity", "short.toml"]).ends_with(2);
    old.complains(&["engine linux does not do hosts.sender.kernel"]);
}

#[test]
fn without_a_kernel_it_says_how_to_build_one() {
    let desk = Desk::new();
    let mut command = desk.command(&["parity", "--random", "1"]);
    command.env("XDG_CACHE_HOME", desk.path("cache")).env_remove("FULLPIPE_TEST_KERNEL");
    let call = Call::of(command.output().expect("the program starts")).ends_with(3);
    call.complains(&["fullpipe kernel build"]);
}
