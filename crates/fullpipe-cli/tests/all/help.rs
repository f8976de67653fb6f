//! Help, versions, and messages on wrong arguments.

use crate::common::Desk;
use fullpipe::results::formats;
use fullpipe::scenario::reference;

const COMMANDS: [&str; 19] = [
    "run",
    "new",
    "list",
    "report",
    "compare",
    "relieve",
    "sweep",
    "merge",
    "parity",
    "plan",
    "diagnose",
    "packets",
    "watch",
    "measure",
    "kernel",
    "doctor",
    "schema",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_that_begins_with_examples() {
    let desk = Desk::new();
    for command in COMMANDS {
        let call = desk.call(&[command, "--help"]).ends_with(0);
        let example = call.stdout.find(&format!("fullpipe {command} ")).expect("an example");
        let usage = call.stdout.find("Usage:").expect("usage");
        assert!(call.stdout.find("Examples:").expect("examples") < example && example < usage);
    }
}

#[test]
fn every_command_about_kernels_has_help_that_begins_with_examples() {
    for command in ["build", "list", "remove"] {
        let call = Desk::new().call(&["kernel", command, "--help"]).ends_with(0);
        let example = call.stdout.find(&format!("fullpipe kernel {command}")).expect("an example");
        assert!(example < call.stdout.find("Usage:").expect("usage"), "{}", call.stdout);
    }
}

#[test]
fn the_programs_help_names_every_command_and_exit_code() {
    let call = Desk::new().call(&["--help"]).ends_with(0);
    for word in COMMANDS.iter().chain(&["0 fine", "1 an expectation", "2 bad", "3 the", "130"]) {
        assert!(call.stdout.contains(word), "{word}");
    }
    assert_eq!(call.stderr, "");
}

/// A release build names its commit besides; crates/fullpipe-py/test.sh looks at that.
#[test]
fn the_version_has_the_kernels() {
    let desk = Desk::new();
    let (version, debug) = (env!("CARGO_PKG_VERSION"), cfg!(debug_assertions));
    let first = desk.call(&["-V"]).ends_with(0).stdout;
    assert!(first.starts_with(&format!("fullpipe {version}")), "{first}");
    assert_eq!(first.trim_end().ends_with(" (debug build)"), debug, "{first}");

    let long = desk.call(&["--version"]).ends_with(0).stdout;
    let rest = long.strip_prefix(&first).expect("the short version first");
    let lines: Vec<&str> = rest.lines().collect();
    assert_eq!(lines.len(), 2, "{long}");
    assert!(lines[0].starts_with("kernels of the simulator: 2.6.20, "), "{long}");
    assert_eq!(lines[1], "validated against the real kernel: 6.12, 6.1");
}

#[test]
fn wrong_arguments_end_with_2_and_near_names() {
    let desk = Desk::new();
    desk.call(&[]).ends_with(2).complains(&["Usage:"]);
    desk.call(&["run", "x", "--vairant", "y"]).ends_with(2).complains(&["--variant"]);
    desk.call(&["run", "x", "--jobs", "0"]).ends_with(2).complains(&["--jobs"]);
    desk.call(&["run", "x", "--engine", "ns3"]).ends_with(2).complains(&["sim"]);
}

#[test]
fn unknown_words_get_a_way_out() {
    let desk = Desk::new();
    desk.write("my.toml", "");
    let cases: [(&[&str], &str); 11] = [
        (&["rum"], "exists: 'run'\n"),
        (&["rnu"], "tip: a similar subcommand exists: 'run'\n"),
        (&["my.toml"], "tip: to run it: fullpipe run my.toml\n"),
        (&["fink-2007"], "tip: to run it: fullpipe run fink-2007\n"),
        (&["xyzzy"], "tip: the commands are run, new, list, report, "),
        (&["kernel", "xyzzy"], "tip: the commands are build, list, remove"),
        (&["run", "--bogus"], "tip: `fullpipe run --help` lists what it takes\n"),
        (
            &["kernel", "build", "--bogus"],
            "tip: `fullpipe kernel build --help` lists what it takes\n",
        ),
        (
            &["sweep", "x", "--shard", "-1/4"],
            "tip: -1/4 is negative; write the value without a sign: 1/4\n",
        ),
        (&["plan", "--rate", "1Gbit", "--rtt", "-80ms"], "'--rtt <RTT>': a time is not negative\n"),
        (
            &["run", "."],
            "it is a directory\n --> .\n  = expected: a readable file, or the name of a recipe\n  = did you mean: my.toml\n",
        ),
    ];
    for (words, way_out) in cases {
        let call = desk.call(words).ends_with(2).complains(&[way_out]);
        assert!(!call.stderr.contains("-- --"), "{}", call.stderr);
    }
}

#[test]
fn shells_and_man_get_every_command() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.call(&["completions", shell]).ends_with(0).stdout;
        for word in COMMANDS.iter().chain(&["as-kernel", "every-flow"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    desk.call(&["completions", "csh"]).ends_with(2).complains(&["bash", "fish"]);

    desk.call(&["man", "deep/man1"]).ends_with(0).complains(&["man pages: deep/man1\n"]);
    let pages = desk.names("deep/man1");
    let command = |command: &&str| pages.contains(&format!("fullpipe-{command}.1"));
    assert!(COMMANDS.iter().all(command), "{pages:?}");
    assert!(pages.contains(&"fullpipe-kernel-build.1".to_string()), "{pages:?}");
    let run = desk.read("deep/man1/fullpipe-run.1");
    for part in [".SH EXAMPLES\n.nf\n  fullpipe run ", "\\-\\-dry\\-run", "Exit codes: 0 fine"] {
        assert!(run.contains(part), "{part}");
    }
    // Again, over the old ones; and where a file is in the way.
    desk.call(&["man", "deep/man1"]).ends_with(0);
    desk.write("file", "");
    desk.call(&["man", "file"]).ends_with(3).complains(&["cannot write file"]);
}

/// The schemas and pages are the library's, to the byte.
#[test]
fn schemas_and_reference_pages_are_printed() {
    let desk = Desk::new();
    let printed = |arguments: &[&str]| desk.call(arguments).ends_with(0).stdout;

    // Megabytes stay out of the message.
    assert!(printed(&["schema"]) == formats::json_schema());
    assert!(printed(&["schema", "summary"]) == formats::json_schema());
    assert!(printed(&["schema", "scenario"]) == reference::json_schema());
    assert!(printed(&["schema", "--markdown"]) == formats::markdown());
    assert!(printed(&["schema", "scenario", "--markdown"]) == reference::markdown());
}
