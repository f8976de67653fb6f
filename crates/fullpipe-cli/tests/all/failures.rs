//! Runs that fail among others: finished results are kept. On the simulator.

use crate::common::guests::{behind, signal, wait_for};
use crate::common::{Call, Desk, SHORT};

/// With a capture.
const CAPTURED: [&str; 2] = ["--pcap", "x.pcapng"];

/// A file that becomes larger than 1 MB cannot be written.
fn call(desk: &Desk, more: &[&str]) -> Call {
    let arguments = ["run", "my.toml", "-q", "--json", "--jobs", "1", "--out", "out"];
    let call = desk.command(&[&arguments[..], more].concat());
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""];
    Call::of(behind(&limited, &call, desk).output().expect("it starts"))
}

/// Keys that an engine cannot honour are reported as the parser reports errors: with file, line and column of the key.
#[test]
fn what_an_engine_cannot_do_has_a_place() {
    let desk = Desk::new();
    let ecn = "sysctl = { \"net.ipv4.tcp_ecn\" = 1 }\n";
    let text = format!(
        "duration = \"1s\"\n[path]\nrate = \"1Gbit\"\ndelay = {{ forward = \"1ms\", back = \"1ms\" }}\n\
         [hosts.sender]\nkernel = \"3.14\"\n{ecn}[hosts.receiver]\nkernel = \"6.12\"\n{ecn}\
         [[flow]]\nname = \"bulk\"\nduration = \"1s\"\n"
    );
    desk.write("my.toml", &text);
    let call = desk.call(&["run", "my.toml"]).ends_with(2);
    assert_eq!(call.stderr.matches("hosts.sender").count(), 1, "{}", call.stderr);
    let why = "ECN is modelled of 6.1 and later, not of Linux 3.14, which the sender has\n";
    call.complains(&["hosts.sender.sysctl.net.ipv4.tcp_ecn: ", why, "--> my.toml:7:12"]);
}

fn desk() -> Desk {
    let desk = Desk::new();
    let variant = |name: &str, seconds: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\nset = {{ \"flow.bulk.duration\" = \"{seconds}\" }}\n"
        )
    };
    let all = [("short", "0.1s"), ("too long", "20s"), ("never", "0.1s")];
    let variants: String = all.map(|(name, seconds)| variant(name, seconds)).concat();
    desk.write("my.toml", &format!("{SHORT}\n{variants}"));
    desk
}

#[test]
fn a_failing_run_leaves_those_that_are_done() {
    let desk = desk();
    let call = call(&desk, &CAPTURED).ends_with(3).complains(&[
        "error: too long: ",
        "File too large",
        "1 of 3 runs failed, 1 were not begun; what was done is kept: out\n",
    ]);
    let document = call.json();
    assert_eq!(document["partial"], true);
    assert_eq!(document["missing"], serde_json::json!(["too long", "never"]));
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!((runs.len(), &runs[0]["variant"]), (1, &"short".into()));
    assert_eq!(desk.names("."), ["my.toml", "out", "x-short.pcapng"]);
    assert!(desk.path("out/short/flows.parquet").exists());
    let again = desk.call(&["report", "out"]).ends_with(0).stdout;
    assert!(again.contains("missing: too long; never"), "{again}");
}

/// A finished run with tables that cannot be written has no folder, and its result is in the summary.
#[test]
fn tables_that_do_not_fit_cost_no_result() {
    let desk = desk();
    let text = desk.read("my.toml").replace("\"20s\"", "\"20s\", \"report.sample\" = \"50us\"");
    desk.write("my.toml", &text);
    let call = call(&desk, &[]).ends_with(3).complains(&[
        "error: too long: ",
        "File too large",
        "1 of 3 runs were not begun; what was done is kept: out\n",
    ]);
    let document = call.json();
    assert_eq!(document["missing"], serde_json::json!(["never"]));
    assert_eq!(document["runs"][1]["variant"], "too long");
    assert!(document["runs"][1]["flows"][0]["mean_mbit"].as_f64() > Some(90.0));
    assert_eq!(desk.names("out"), ["report.html", "run.json", "short", "summary.json"]);
    assert!(desk.call(&["report", "out"]).ends_with(0).stdout.contains("too long"));
}

/// A disk without any room: the verdict is printed, and the written files are named.
#[test]
fn a_full_disk_costs_no_verdict() {
    let desk = Desk::with_short();
    let full = |more: &[&str]| {
        let call = desk.command(&[&["run", "short.toml", "-q"], more].concat());
        let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""];
        Call::of(behind(&limited, &call, &desk).output().expect("it starts"))
    };
    let call = full(&["--out", "out"]).ends_with(3).complains(&[
        "scenario.resolved.toml: cannot be written: File too large",
        "summary.json: cannot be written: File too large",
        "; no file of the result is left\n",
        "the result of what was done is printed above\n",
    ]);
    assert!(call.stdout.contains("Mb/s") && call.stdout.contains("held back by"));
    let json = full(&["--json"]).ends_with(3).json();
    assert!(json["runs"][0]["flows"][0]["mean_mbit"].as_f64() > Some(80.0));
    assert_eq!(desk.names("."), ["short.toml"]);
}

/// A reader of standard output that cannot take it: the result is on disk, and the message says where.
#[test]
fn a_verdict_that_cannot_be_printed_is_on_disk() {
    let desk = Desk::with_short();
    for json in [&[][..], &["--json"]] {
        let mut call = desk.command(&[&["run", "short.toml", "-q"], json].concat());
        call.stdout(std::fs::File::options().write(true).open("/dev/full").expect("/dev/full"));
        let call = Call::of(call.output().expect("it starts")).ends_with(3);
        call.complains(&[
            "cannot write to standard output: No space left on device",
            "what was done is kept: fullpipe-results/short",
        ]);
    }
    assert_eq!(desk.names("fullpipe-results"), ["latest", "short", "short-run-2"]);
}

/// Pages that do not fit: the comparison is printed, an older report stays, and no part of a page is left.
#[test]
fn a_page_that_does_not_fit_costs_nothing_else() {
    let desk = Desk::with_short();
    desk.call(&["run", "short.toml", "-q", "--out", "a"]).ends_with(0);
    let (report, names) = (desk.read("a/report.html"), desk.names("a"));
    let full = |arguments: &[&str]| {
        let call = desk.command(arguments);
        let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""];
        Call::of(behind(&limited, &call, &desk).output().expect("it starts"))
    };
    let compared = full(&["compare", "a", "a", "--out", "both.html"]).ends_with(3);
    let compared = compared.complains(&["cannot write both.html: File too large"]);
    assert!(compared.stdout.contains("no difference"), "{}", compared.stdout);
    full(&["report", "a"]).ends_with(3).complains(&["a/report.html: cannot be written"]);
    assert_eq!((desk.read("a/report.html"), desk.names("a")), (report, names));
    assert_eq!(desk.names("."), ["a", "short.toml"]);
}

/// Two runs into one directory: the second one prints its verdict, and names the directory of its results.
#[test]
fn the_loser_of_two_runs_keeps_its_result() {
    let desk = Desk::with_short();
    let long = ["run", "short.toml", "-q", "--out", "out", "--set", "flow.bulk.duration=864000s"];
    let second = desk.start(&long);
    wait_for("hidden directory", || {
        desk.names(".").into_iter().find(|name| name.starts_with(".out."))
    });
    desk.call(&["run", "short.toml", "-q", "--out", "out"]).ends_with(0);
    let first = desk.read("out/summary.json");

    signal(second.id(), "INT");
    let call = Call::wait(second).ends_with(3).complains(&[
        "error: out: was taken by another program meanwhile; these results are in out-run-2\n",
        "the result of what was done is printed above\n",
    ]);
    assert!(call.stdout.contains("held back by"), "{}", call.stdout);
    assert_eq!(desk.names("."), ["out", "out-run-2", "short.toml"]);
    assert_eq!(desk.read("out/summary.json"), first);
    assert_eq!(desk.call(&["report", "out-run-2"]).ends_with(0).stdout, call.stdout);
}

/// Neither the run nor its packets are lost when the capture's name is taken during the run.
#[test]
fn a_taken_capture_costs_no_run() {
    let desk = Desk::with_short();
    let more = ["--pcap", "x.pcap", "--out", "out", "--set", "flow.bulk.duration=864000s"];
    let running = desk.start(&[&["run", "short.toml", "-q"], &more[..]].concat());
    // The run has begun once the capture has packets.
    wait_for("hidden capture with packets", || {
        let mut names = desk.names(".").into_iter().filter(|name| name.starts_with(".x.pcap."));
        let has_packets =
            |name: &String| std::fs::metadata(desk.path(name)).is_ok_and(|file| file.len() > 1000);
        names.find(has_packets)
    });
    desk.write("x.pcap", "somebody's");
    signal(running.id(), "INT");
    let call = Call::wait(running).ends_with(3).complains(&[
        "x.pcap: was taken by another program meanwhile; this capture is x-2.pcap\n",
        "what was done is kept: out\n",
    ]);
    assert!(call.stdout.contains("held back by"), "{}", call.stdout);
    assert_eq!(desk.names("."), ["out", "short.toml", "x-2.pcap", "x.pcap"]);
    assert_eq!(desk.read("x.pcap"), "somebody's");
}

#[test]
fn a_single_run_that_fails_leaves_no_result() {
    let desk = desk();
    let call = call(&desk, &[&CAPTURED[..], &["--variant", "too long"]].concat()).ends_with(3);
    let call = call.complains(&["error: too long: "]);
    assert!(!call.stderr.contains("kept") && call.stdout.is_empty(), "{}", call.stderr);
    assert_eq!(desk.names("."), ["my.toml"]);
}

#[test]
fn an_engine_is_named_once() {
    let desk = Desk::with_short();
    for engines in [&["--engine", "sim,sim"][..], &["--engine", "sim", "--engine", "sim"]] {
        let call = desk.call(&[&["run", "short.toml", "--out", "out"], engines].concat());
        call.ends_with(2).complains(&["error: --engine names sim twice"]);
    }
    assert_eq!(desk.names("."), ["short.toml"]);
}
