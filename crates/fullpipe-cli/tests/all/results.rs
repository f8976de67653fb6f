//! `fullpipe report` and `fullpipe compare`: results of earlier runs.

use crate::common::{Call, Desk, SHORT};

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

    // A file that is there stays as it is.
    let scenario = desk.read("short.toml");
    let taken = desk.call(&["report", "a", "--out", "short.toml"]).ends_with(2);
    taken.complains(&["short.toml is there already", "name a new file"]);
    assert_eq!(desk.read("short.toml"), scenario);
}

#[test]
fn a_run_may_have_no_page() {
    let desk = Desk::with_short();
    let call = desk.call(&["run", "short.toml", "--out", "a", "--no-report"]).ends_with(0);
    assert!(!call.stderr.contains("report.html"), "{}", call.stderr);
    assert!(!desk.path("a/report.html").exists());

    // The page can be drawn later, and the text is the same.
    let again = desk.call(&["report", "a"]).ends_with(0);
    assert_eq!(again.stdout, call.stdout);
    assert!(desk.path("a/report.html").exists());
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
    let (headline, rest) = text.split_once('\n').expect("a first line");
    assert!(
        headline.starts_with("a is ") && headline.contains(" times as fast as b"),
        "{headline}"
    );
    assert!(rest.starts_with("\na: a: 80"), "{rest}");
    assert!(rest.contains("\nb: b: 43"), "{rest}");
    for part in ["100Mbit", "50Mbit", "mean_mbit"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = desk.call(&["compare", "a", "b", "--json"]).ends_with(0).json();
    assert!(json.to_string().contains("50Mbit"));
    assert_eq!(json["comparison"]["headline"], headline);
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

/// Two variants with rates a factor of ten apart.
fn two_variants(desk: &Desk) {
    let variant = |name: &str, rate: &str| {
        let delay = if rate == "10Mbit" { "10ms" } else { "60ms" };
        format!(
            "[[variant]]\nname = \"{name}\"\n\
             set = {{ \"path.rate\" = \"{rate}\", \"path.delay.forward\" = \"{delay}\" }}\n"
        )
    };
    let variants = variant("narrow", "10Mbit") + &variant("wide #2", "100Mbit");
    let longer = SHORT.replace("\"2s\"", "\"10s\"");
    desk.write("two.toml", &format!("{longer}\n[report]\ninterval = \"100ms\"\n{variants}"));
    desk.call(&["run", "two.toml", "--out", "two", "-q"]).ends_with(0);
}

#[test]
fn two_variants_of_one_run_are_compared() {
    let desk = Desk::new();
    two_variants(&desk);
    let call = desk.call(&["compare", "two#wide #2", "two#narrow", "--out", "x.html"]).ends_with(0);
    let text = call.stdout;
    assert!(text.contains("\na: two#wide #2: ") && text.contains("\nb: two#narrow: "), "{text}");
    assert!(text.contains("\n\na: wide #2; b: narrow\n"), "{text}");
    assert!(text.contains("path.forward.link.rate") && text.contains("\"10Mbit\""), "{text}");

    // The headline is about the two runs that were named.
    assert!(text.starts_with("a is ") && text.contains(" times as fast as b"), "{text}");

    // The shorter time to a tenth of the rate is no difference that counts.
    let time = text.lines().find(|line| line.contains("time_to_plateau_s")).expect("a row");
    assert!(time.ends_with("  –"), "{time}");
    assert!(text.contains("the times to 90 % of them do not"), "{text}");
    let page = desk.read("x.html");
    assert!(page.contains("90 % of the highest plateau: 9"), "no rates in the first sentence");
    let json = desk.call(&["compare", "two#wide #2", "two#narrow", "--json"]).ends_with(0).json();
    let metrics = &json["comparison"]["runs"][0]["flows"][0]["metrics"];
    let named = |name: &str| {
        let rows = metrics.as_array().expect("rows").iter();
        rows.clone().find(|row| row["name"] == name).expect("a row")["relative"].clone()
    };
    assert!(named("plateau_mbit").as_f64() < Some(-0.8), "{metrics}");
    assert!(named("time_to_plateau_s").is_null(), "{metrics}");
}

#[test]
fn an_unknown_variant_lists_those_that_there_are() {
    let desk = Desk::new();
    two_variants(&desk);
    let there = ["'two#narrow'\n", "'two#wide #2'\n"];
    let unknown = desk.call(&["compare", "two#wide", "two#narrow"]).ends_with(2);
    unknown.complains(&["two has no run \"wide\"; it has:", there[0], there[1]]);
    desk.call(&["compare", "none#wide", "two"]).ends_with(2).complains(&["none: "]);

    // One run and several of other names: which of them is meant?
    desk.write("short.toml", SHORT);
    desk.call(&["run", "short.toml", "--out", "one", "-q"]).ends_with(0);
    let several = desk.call(&["compare", "one#base", "two"]).ends_with(2);
    several.complains(&["two has 2 runs and none is \"base\"", there[0], there[1]]);
    let one = desk.call(&["compare", "two#narrow", "one"]).ends_with(0).stdout;
    assert!(one.contains("\na: narrow; b: base\n"), "{one}");
}

#[test]
fn results_of_two_scenarios_are_shown_under_both_titles() {
    let desk = Desk::with_short();
    desk.write("other.toml", &SHORT.replace("A short one", "Another one"));
    for (file, out) in [("short.toml", "a"), ("other.toml", "b")] {
        desk.call(&["run", file, "--out", out, "-q"]).ends_with(0);
    }
    let call = desk.call(&["compare", "a", "b", "--out", "both.html"]).ends_with(0);
    for line in ["\na: a: A short one: 80", "\nb: b: Another one: 80"] {
        assert!(call.stdout.contains(line), "{}", call.stdout);
    }
    let title = "<title>a: A short one; b: Another one · fullpipe</title>";
    assert!(desk.read("both.html").contains(title));
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
