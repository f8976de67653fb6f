//! Standard output: pipes that close, colour, width.

use crate::common::{Call, Desk};
use std::process::Stdio;

#[test]
fn a_closed_pipe_is_no_panic() {
    let desk = Desk::with_short();
    for arguments in [&["list"][..], &["--help"], &["run", "short.toml", "--json", "--quiet"]] {
        let mut command = desk.command(arguments);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command.stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_full_disk_is_an_error_and_ends_with_3() {
    let desk = Desk::new();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let child =
        desk.command(&["list"]).stdout(full).stderr(Stdio::piped()).spawn().expect("it starts");
    Call::wait(child).ends_with(3).complains(&["cannot write to standard output"]);
}

#[test]
fn a_wide_terminal_shows_more() {
    let desk = Desk::with_short();
    let mut command = desk.command(&["run", "short.toml", "--quiet", "--full"]);
    let output = command.env("COLUMNS", "120").output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("in flight") && text.lines().any(|line| line.chars().count() > 80));
}

#[test]
fn a_terminal_gets_colour_unless_it_asks_for_none() {
    let desk = Desk::with_short();
    let run = |variables: &str| {
        // script gives the program a terminal; its output is the terminal's
        let inner = format!("{} run short.toml", env!("CARGO_BIN_EXE_fullpipe"));
        let inner = format!("env TERM=xterm {variables} {inner}");
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &inner, "/dev/null"]).current_dir(desk.path("."));
        command.env_remove("NO_COLOR").stdin(Stdio::null());
        String::from_utf8_lossy(&command.output().expect("script of util-linux").stdout)
            .into_owned()
    };
    // The first line, the answer, is bold.
    assert!(run("").contains("\u{1b}[1m"));
    let plain = run("NO_COLOR=1");
    assert!(plain.contains("held back by") && !plain.contains("\u{1b}[1m"), "{plain}");
}
