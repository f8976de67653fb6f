//! `fullpipe parity`: its arguments, its output, its exit codes.

use crate::common::{Call, Desk};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

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

/// Checks the exit code of a call that compares: bars are met or missed.
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
    assert!(text.stdout.starts_with("Against Linux 6.12."), "{}", text.stdout);
    assert!(json["against"][0]["kernel"].as_str().is_some_and(|k| k.starts_with("6.12.")));
    assert_eq!(json["against"][0]["hz"], 1000);
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
    let expected = "short/1.5MB-10Mbit-100ms, bic: completion";
    assert!(call.stdout.contains(expected), "{}", call.stdout);
    let command = "fullpipe run suite/short.toml --variant 1.5MB-10Mbit-100ms --engine sim,linux";
    assert!(call.stdout.contains(command), "{}", call.stdout);
}

/// The simulator's distances are as `distances.txt` of the suite has them, or the program ends with 1 and names the cells.
#[test]
fn a_kept_distance_that_has_changed_is_a_failure() {
    let desk = desk("short");
    let suite = ["parity", "--suite", "suite", "-q"];
    let kept = std::fs::read_to_string(Path::new(SUITE).join("distances.txt")).expect("rows");
    desk.write("suite/distances.txt", &kept);
    desk.call(&suite).ends_with(0);

    let row = kept.lines().find(|row| row.contains("short/1.5MB-1Gbit-80ms")).expect("a row");
    let cells: Vec<&str> = row.split(" | ").collect();
    let (before, resent) = (&cells[..7], cells[7].trim());
    let other = [&before.join(" | "), " | 777 | ", &cells[8..].join(" | ")].concat();
    desk.write("suite/distances.txt", &kept.replace(row, &other));
    let call = desk.call(&suite).ends_with(1);
    assert!(call.stdout.contains("The simulator has changed: 1 cells differ"), "{}", call.stdout);
    assert!(call.stdout.contains(&format!("simulator: 777 kept, {resent} now")), "{}", call.stdout);
    let json = desk.call(&[&suite[..], &["--json"]].concat()).ends_with(1).json();
    assert_eq!((&json["met"], &json["changed"][0]["kept"]), (&false.into(), &"777".into()));
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
    desk.call(&["parity", "--seeds", "9"]).ends_with(2).complains(&["--seeds"]);
    desk.call(&["parity", "--twins", "20"]).ends_with(2).complains(&["--twins"]);
    desk.call(&["parity", "short.toml", "--twins", "19"]).ends_with(2).complains(&["20"]);
    desk.call(&["parity", "--kernel", "6.12"]).ends_with(2).complains(&["--kernel"]);
    desk.call(&["parity", "--random", "0"]).ends_with(2).complains(&["--random"]);
    let old = desk.call(&["parity", "short.toml"]).ends_with(2);
    old.complains(&["engine linux does not do hosts.sender.kernel", "--kernel 6.12"]);
}

/// Options of drawn scenarios are refused for others, where they would mean nothing.
#[test]
fn what_draws_scenarios_is_for_random_ones() {
    let desk = Desk::with_short();
    for option in ["--seed", "--first"] {
        let call = desk.call(&["parity", "short.toml", option, "2"]).ends_with(2);
        call.complains(&[&format!("{option} is for --random"), "--seeds N"]);
    }
    let call = desk.call(&["parity", "--random", "1", "--seed", "-1"]).ends_with(2);
    assert!(!call.stderr.contains("-- -1"), "no way to write it: {}", call.stderr);
    call.complains(&["-1", "--seed <N>"]);
}

/// A file is not taken for a folder, nor is a path below it; the file stays as it was.
#[test]
fn a_file_is_no_folder_to_keep_runs_in() {
    let desk = desk("short");
    desk.write("file", "mine");
    for keep in ["file", "file/below"] {
        let call = desk.call(&["parity", "--suite", "suite", "-q", "--keep", keep]).ends_with(2);
        assert!(!call.stderr.contains("os error"), "{}", call.stderr);
        call.complains(&[&format!("--keep {keep}: file is not a directory"), "new or empty"]);
    }
    assert_eq!(desk.read("file"), "mine");
}

/// Each line of the usage is a call that the program takes.
#[test]
fn the_usage_shows_what_can_be_called() {
    let desk = Desk::with_short();
    let help = desk.call(&["parity", "--help"]).ends_with(0).stdout;
    let (_, usage) = help.split_once("Usage: ").expect("a usage");
    let usage = usage.split("\n\n").next().expect("lines");
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    let named = "fullpipe parity [OPTIONS] [SCENARIO|RECIPE]...";
    assert_eq!(usage, [named, "fullpipe parity [OPTIONS] --random <COUNT>"]);
    let wrong = desk.call(&["parity", "short.toml", "--random", "2"]).ends_with(2).stderr;
    let (_, usage) = wrong.split_once("Usage: ").expect("a usage");
    assert!(!usage.contains("--random"), "{wrong}");
}

/// Requests and answers over a path that has no link back.
const ASKS: &str = r#"
title = "Requests"
duration = "1s"
hosts = { sender = { kernel = "6.12", hz = 1000 }, receiver = { kernel = "6.12", hz = 1000 } }
[path]
forward = [
  { kind = "link", name = "link", rate = "100Mbit", queue = { limit = "1MB" } },
  { kind = "delay", name = "out", delay = "5ms" },
]
back = [{ kind = "delay", name = "home", delay = "5ms" }]
[[flow]]
name = "asks"
bytes = "4kB"
write = "400B"
[[flow]]
name = "answers"
reply_to = "asks"
write = "1200B"
"#;

/// Messages on substituted keys name the option that allows them; keys that no run substitutes are not allowed.
#[test]
fn what_linux_does_otherwise_has_to_be_allowed() {
    let desk = Desk::new();
    desk.write("card.toml", &SCENARIO.replace("sender = {", "sender = { nic_rate = \"10Mbit\","));
    let call = desk.call(&["parity", "card.toml"]).ends_with(2);
    let expected = "card/base: engine linux does hosts.sender.tx_ring otherwise";
    let place = "--> card.toml:";
    call.complains(&[expected, "to allow it: --without hosts.sender.tx_ring", place]);
    let wrong = ["parity", "card.toml", "--without", "hosts.sender.tx_rings"];
    desk.call(&wrong).ends_with(2).complains(&["no such key", "hosts.sender.tx_ring"]);
    let allowed = ["parity", "card.toml", "--without", "hosts.*.tx_ring", "--json", "-q"];
    // Substitutes that no option asked for need no permission; they are reported.
    desk.write("asks.toml", ASKS);
    let ways = [
        (&allowed[..], "--engine sim,linux --without hosts.sender.tx_ring"),
        (&["parity", "asks.toml", "--json", "-q"], "--engine sim,linux"),
    ];
    for (call, again) in ways {
        let Some(call) = on_kernel(&desk, call) else { return };
        let json = call.json();
        let substituted = json["substituted"][0].as_str().expect("what is done otherwise");
        assert!(substituted.contains("er.tx_ring: all that waits"), "{substituted}");
        let command = json["units"][0]["command"].as_str().expect("a command");
        assert!(command.ends_with(again), "{command}");
    }
}

/// The suite's own file is judged as the suite judges it.
#[test]
fn a_file_of_the_suite_is_judged_on_a_kernel() {
    let desk = Desk::new();
    let file = Path::new(SUITE).join("host-queues.toml");
    let text = std::fs::read_to_string(file).expect("a scenario");
    let one = text.split("[[variant]]").take(2).collect::<Vec<_>>().join("[[variant]]");
    desk.write("host-queues.toml", &one);
    let Some(call) = on_kernel(&desk, &["parity", "host-queues.toml", "--json", "-q"]) else {
        return;
    };
    let json = call.json();
    assert_eq!(json["runs"], 1);
    assert!(json["substituted"].is_null(), "{json}");
}

/// A recipe has no file; its kernel is none that runs.
#[test]
fn recipes_are_taken_by_their_names() {
    let call = Desk::new().call(&["parity", "slow-start", "--kernel", "6.1"]).ends_with(2);
    call.complains(&["slow-start/1 Gb/s, 0.1 BDP", "slow_start"]);
    Desk::new().call(&["parity", "slow-stat"]).ends_with(2).complains(&["slow-start"]);
}

/// Half a second of one flow of Linux 6.12.
const SCENARIO: &str = r#"
[path]
rate = "20Mbit"
delay = { forward = "5ms", back = "5ms" }

[hosts]
sender = { kernel = "6.12", hz = 1000 }
receiver = { kernel = "6.12", hz = 1000 }

[[flow]]
name = "bulk"
congestion = "reno"
duration = "500ms"
"#;

/// A call that needs a kernel; none without one.
fn on_kernel(desk: &Desk, arguments: &[&str]) -> Option<Call> {
    let call = desk.call(arguments);
    let required = std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_some();
    if call.code == Some(3) && call.stderr.contains("fullpipe kernel build") && !required {
        println!("skipped: no kernel has been built (fullpipe kernel build)");
        return None;
    }
    Some(judged(call))
}

#[test]
fn what_is_kept_runs_again_on_both_engines() {
    let desk = Desk::new();
    let drawn = ["parity", "--random", "1", "--seed", "7", "--first", "3", "--keep", "kept"];
    let Some(call) = on_kernel(&desk, &[&drawn[..], &["--json", "-q"]].concat()) else { return };
    let names = ["random-7-3.linux.csv", "random-7-3.sim.csv", "random-7-3.toml"];
    assert_eq!(desk.names("kept"), names);
    let json = call.json();
    let command = json["units"][0]["command"].as_str().expect("a command").to_string();
    assert_eq!(command, "fullpipe run kept/random-7-3.toml --engine sim,linux");
    assert_eq!((&json["drawn"]["seed"], &json["drawn"]["first"]), (&7.into(), &3.into()));
    assert!(json["against"][0]["kernel"].as_str().is_some_and(|k| k.starts_with("6.12.")));
    let words: Vec<&str> = command.split(' ').skip(1).chain(["-q", "--json"]).collect();
    let run = desk.call(&words).ends_with(0).json();
    let resent = run["comparisons"][0]["flows"][0]["distance"]["retransmissions"]["b"].as_f64();
    let sides = json["units"][0]["retransmitted"].as_array().expect("both sides");
    assert_eq!(resent, sides[0].as_f64(), "Linux does the same again");
    desk.call(&drawn).ends_with(2).complains(&["kept is not empty"]);
}

#[test]
fn where_chance_decides_distributions_are_compared() {
    let desk = Desk::new();
    desk.write("lossy.toml", &SCENARIO.replace("delay =", "loss = 0.01\ndelay ="));
    let arguments = ["parity", "lossy.toml", "--seeds", "6"];
    let Some(call) = on_kernel(&desk, &[&arguments[..], &["--json", "-q"]].concat()) else {
        return;
    };
    let json = call.json();
    let spreads = json["spreads"].as_array().expect("spreads");
    assert_eq!((json["runs"].as_u64(), spreads.len()), (Some(6), 2));
    assert_eq!(json["seeds"], 6);
    assert_eq!(
        (spreads[0]["run"].as_str(), spreads[0]["seeds"].as_u64()),
        (Some("lossy/base"), Some(6))
    );
    let apart: Vec<&Value> = spreads[0]["low"].as_array().expect("a pair").iter().collect();
    assert_ne!(spreads[0]["low"], spreads[0]["high"], "{apart:?}: seeds make no difference");
    let text = judged(desk.call(&arguments)).stdout;
    assert!(text.contains("lossy/base, reno, 6 seeds\n  acknowledged, MB"), "{text}");
    assert!(text.contains("HZ 1000; each scenario with the seeds 1 to 6"), "{text}");
}

#[test]
fn a_signal_ends_it_and_what_was_compared_is_shown() {
    let desk = Desk::new();
    let long = "set = { \"flow.bulk.duration\" = \"864000s\" }\n";
    let variants = format!("[[variant]]\nname = \"quick\"\n[[variant]]\nname = \"slow\"\n{long}");
    desk.write("my.toml", &format!("{SCENARIO}{variants}"));
    desk.write("probe.toml", SCENARIO);
    if on_kernel(&desk, &["parity", "probe.toml", "-q"]).is_none() {
        return;
    }
    let mut child = desk.start(&["parity", "my.toml", "--jobs", "1"]);
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let done = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("my/quick: ")));
    assert!(done.is_some(), "the first run is printed");
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &id]).status().expect("kill");
    assert!(sent.success());
    let lines: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    let call = Call::wait(child).ends_with(130);
    assert!(lines.iter().any(|line| line.contains("1 of 2 runs were compared")), "{lines:?}");
    assert!(
        call.stdout.contains("my/quick") && !call.stdout.contains("my/slow"),
        "{}",
        call.stdout
    );
}

#[test]
fn without_a_kernel_it_says_how_to_build_one() {
    let desk = Desk::new();
    let mut command = desk.command(&["parity", "--random", "1"]);
    command.env("XDG_CACHE_HOME", desk.path("cache")).env_remove("FULLPIPE_TEST_KERNEL");
    let call = Call::of(command.output().expect("the program starts")).ends_with(3);
    call.complains(&["fullpipe kernel build"]);
}

/// A run that misses nothing has one twin, on Linux alone.
#[test]
fn linux_is_put_beside_itself() {
    let desk = Desk::new();
    desk.write("own.toml", SCENARIO);
    let asked = ["parity", "own.toml", "--twins", "20", "-q"];
    let Some(call) = on_kernel(&desk, &asked) else { return };
    let text = judged(call).stdout;
    let (before, twins) = text.split_once("Linux beside itself").expect("twins");
    assert!(before.contains("runs whose throughput"), "{before}");
    assert!(twins.contains("100ns") && twins.contains("1 of 1"), "{twins}");
    assert!(!twins.contains("chance"), "{twins}");
}

/// Commands of several runs can be called one after the other: each keeps in a folder of its own.
#[test]
fn each_drawn_run_has_a_folder_of_its_own() {
    let desk = Desk::new();
    let drawn = ["parity", "--random", "2", "--seed", "7", "--first", "3", "--json", "-q"];
    let Some(call) = on_kernel(&desk, &drawn) else { return };
    let json = call.json();
    let units = json["units"].as_array().expect("units");
    for number in [3, 4] {
        let folder = format!("random-7-{number}");
        let command = format!(
            "fullpipe parity --random 1 --seed 7 --first {number} --keep {folder}; \
             fullpipe run {folder}/{folder}.toml --engine sim,linux"
        );
        assert!(units.iter().any(|unit| unit["command"] == command.as_str()), "{units:?}");
    }
}

/// The remedy is one that this command takes.
#[test]
fn another_hz_is_named_by_an_option_of_parity() {
    let desk = Desk::new();
    desk.write("probe.toml", SCENARIO);
    if on_kernel(&desk, &["parity", "probe.toml", "-q"]).is_none() {
        return;
    }
    let call = desk.call(&["parity", "--random", "1", "--hz", "100", "-q"]);
    if call.code == Some(3) {
        assert!(!call.stderr.contains("--set"), "{}", call.stderr);
        call.complains(&["fullpipe kernel build --version 6.12 --hz 100", "--hz 1000"]);
    }
}
