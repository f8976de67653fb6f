//! `fullpipe report` and `fullpipe compare`: results of earlier runs.

use crate::common::{Call, Desk};

#[test]
fn a_report_shows_what_the_run_showed() {
    let desk = Desk::with_short();
    let shown = desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0).stdout;
    let page = desk.read("a/report.html");
    std::fs::remove_file(desk.path("a/report.html")).expect("it was there");
    let again = desk.call(&["report", "a"]).ends_with(0).complains(&["a/report.html"]);
    assert_eq!(again.stdout, shown);
    assert_eq!(desk.read("a/report.html"), page);
    desk.call(&["report", "a", "--out", "elsewhere.html"]).ends_with(0);
    assert_eq!(desk.read("elsewhere.html"), page);
}

#[test]
fn latest_is_the_newest_result() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml"]).ends_with(0);
    desk.call(&["run", "short.toml", "--set", "path.rate=50Mbit"]).ends_with(0);
    let latest = desk.call(&["report", "fullpipe-results/latest"]).ends_with(0).stdout;
    assert_eq!(latest, desk.call(&["report", "fullpipe-results/short-run-2"]).ends_with(0).stdout);
}

#[test]
fn what_is_no_result_ends_with_2() {
    let desk = Desk::with_short();
    desk.call(&["report", "none"]).ends_with(2).complains(&["none"]);
    desk.call(&["report", "."]).ends_with(2).complains(&["summary.json"]);
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    desk.call(&["compare", "a", "none"]).ends_with(2).complains(&["none"]);
    desk.write("a/summary.json", "{\"format\": 99}");
    desk.call(&["report", "a"]).ends_with(2).complains(&["99"]);
    desk.write("a/summary.json", "{\"for");
    desk.call(&["report", "a"]).ends_with(2).complains(&["damaged"]);
}

#[test]
fn a_report_that_cannot_be_written_ends_with_3() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    let call = desk.call(&["report", "a", "--out", "none/report.html"]);
    call.ends_with(3).complains(&["none/report.html"]);
}

#[test]
fn a_comparison_names_what_differs() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    desk.call(&["run", "short.toml", "--out", "b", "--set", "path.rate=50Mbit"]).ends_with(0);
    let text = desk.call(&["compare", "a", "b"]).ends_with(0).stdout;
    assert!(text.starts_with("a: a\nb: b\n"));
    for part in ["100Mbit", "50Mbit", "mean_mbit"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = desk.call(&["compare", "a", "b", "--json"]).ends_with(0).json();
    assert!(json.to_string().contains("50Mbit"));
    let same = desk.call(&["compare", "a", "a"]).ends_with(0).stdout;
    assert!(!same.contains("Mbit"), "{same}");
}

#[test]
fn a_comparison_is_drawn_on_demand() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml", "--out", "a"]).ends_with(0);
    desk.call(&["run", "short.toml", "--out", "b", "--set", "path.rate=50Mbit"]).ends_with(0);
    let call = desk.call(&["compare", "a", "b", "--out", "both.html"]).ends_with(0);
    assert!(call.stderr.contains("report: both.html") && call.stdout.contains("they part at"));
    let page = desk.read("both.html");
    for part in ["a: base", "b: base", "data-table=\"distances\"", "they part"] {
        assert!(page.contains(part), "no {part}");
    }
    let there = desk.call(&["compare", "a", "b", "--out", "none/both.html"]);
    there.ends_with(3).complains(&["none/both.html"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_are_no_panic() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::with_short();
    let odd = std::ffi::OsStr::from_bytes(b"r\xffsult");
    let call = |before: &[&str], after: &[&str]| {
        let mut command = desk.command(before);
        Call::of(command.arg(odd).args(after).output().expect("it starts"))
    };
    call(&["run", "short.toml", "--quiet", "--out"], &[]).ends_with(0);
    call(&["report"], &[]).ends_with(0);
    call(&["compare"], &["--json", "."]).ends_with(2);
    call(&["compare", "short.toml"], &[]).ends_with(2);
    call(&["run"], &[]).ends_with(2);
    call(&["run", "short.toml", "--set"], &[]).ends_with(2);
}
