//! A path by options: `fullpipe run --rate ...` without a file, and `fullpipe new`, which keeps it.

use crate::common::Desk;

/// A small path, for runs in a blink.
const PATH: [&str; 8] =
    ["--rate", "20Mbit", "--rtt", "20ms", "--kernel", "5.15.0-91-generic", "--duration", "2s"];

#[test]
fn a_path_runs_without_a_file_and_says_what_it_is() {
    let desk = Desk::new();
    let call = desk.call(&[&["run"][..], &PATH].concat()).ends_with(0).complains(&[
        "20Mbit x 20ms",
        "keep it:  fullpipe new my.toml --rate 20Mbit --rtt 20ms",
        "5.15.0-91-generic has no profile of its own and runs as Linux 6.1",
    ]);
    assert!(call.stdout.contains("20Mbit x 20ms"), "{}", call.stdout);
    // The note is in the result, too, where no option hides it.
    let quiet = desk.call(&[&["run", "-q", "--json", "--out", "quiet"][..], &PATH].concat());
    assert!(quiet.ends_with(0).stdout.contains("runs as Linux 6.1, the nearest one"));
    assert_eq!(desk.names("fullpipe-results"), ["20Mbit-20ms", "latest"]);
}

/// The file that `new` writes is the run of the same options, byte for byte.
#[test]
fn what_is_kept_is_the_same_run() {
    let desk = Desk::new();
    let path = [&PATH[..], &["--flows", "3", "--loss", "1e-3"]].concat();
    let wrote = desk.call(&[&["new", "my.toml"], &path[..]].concat()).ends_with(0);
    assert_eq!(wrote.stdout, "fullpipe run my.toml\n");
    let text = desk.read("my.toml");
    for part in ["# Rate of the bottleneck", "rate = \"20Mbit\"", "count = 3", "start_jitter"] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    desk.call(&["run", "my.toml", "--out", "kept", "-q"]).ends_with(0);
    desk.call(&[&["run", "--out", "made", "-q"], &path[..]].concat()).ends_with(0);
    for file in ["flows.parquet", "stages.parquet", "events.parquet"] {
        let read = |place: &str| std::fs::read(desk.path(&format!("{place}/base/{file}"))).unwrap();
        assert!(read("kept") == read("made"), "{file}");
    }
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let desk = Desk::with_short();
    let before = desk.read("short.toml");
    let again = [&["new", "short.toml"], &PATH[..]].concat();
    desk.call(&again).ends_with(2).complains(&["short.toml is there already", "name a new file"]);
    assert_eq!(desk.read("short.toml"), before);
}

#[test]
fn a_scenario_and_a_path_exclude_each_other_with_a_way_out() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml", "--rate", "1Gbit", "--rtt", "10ms"]).ends_with(2).complains(
        &["--rate describes a path of its own", "fullpipe run short.toml --set path.rate=1Gbit"],
    );
    desk.call(&["run"]).ends_with(2).complains(&["--rate 10Gbit --rtt 80ms", "fullpipe list"]);
    desk.call(&["run", "--rate", "1Gbit"]).ends_with(2).complains(&["a path needs --rtt"]);
    desk.call(&["new", "my.toml"]).ends_with(2).complains(&["fullpipe new my.toml --rate"]);
    assert_eq!(desk.names("."), ["short.toml"]);
}

#[test]
fn wrong_quantities_are_refused_with_what_is_expected() {
    let desk = Desk::new();
    let table: [(&[&str], &str); 7] = [
        (&["--rate", "10Gbit", "--rtt", "-80ms"], "not negative"),
        (&["--rate", "0bit", "--rtt", "80ms"], "above 0"),
        (&["--rate", "10Gbit", "--rtt", "2h"], "1ns to 1000s"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--loss", "2"], "a probability of 0 to 0.5"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--flows", "0"], "1 to 10000"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--mtu", "20"], "88 to 65535"),
        (&["--rate", "10Gbit", "--rtt", "80ms", "--kernel", "new"], "not a Linux version"),
    ];
    for (rest, message) in table {
        desk.call(&[&["run"], rest].concat()).ends_with(2).complains(&[message]);
    }
    let congestion =
        ["run", "--rate", "10Gbit", "--rtt", "80ms", "--congestion", "cubik", "--dry-run"];
    desk.call(&congestion).ends_with(2).complains(&["cubik", "did you mean: cubic"]);
}
