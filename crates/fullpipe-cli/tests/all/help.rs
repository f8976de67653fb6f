//! Help, versions, and what is said about wrong arguments.

use crate::common::Desk;

const COMMANDS: [&str; 9] =
    ["run", "new", "list", "report", "compare", "parity", "plan", "kernel", "doctor"];

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

#[test]
fn the_version_is_the_packages() {
    let call = Desk::new().call(&["--version"]).ends_with(0);
    assert_eq!(call.stdout, format!("fullpipe {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_arguments_end_with_2_and_near_names() {
    let desk = Desk::new();
    desk.call(&[]).ends_with(2).complains(&["Usage:"]);
    desk.call(&["rum"]).ends_with(2).complains(&["rum", "run"]);
    desk.call(&["run", "x", "--vairant", "y"]).ends_with(2).complains(&["--variant"]);
    desk.call(&["run", "x", "--jobs", "0"]).ends_with(2).complains(&["--jobs"]);
    desk.call(&["run", "x", "--engine", "ns3"]).ends_with(2).complains(&["sim"]);
}
