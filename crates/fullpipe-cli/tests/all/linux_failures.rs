//! The engine `linux` where something fails: a run among others, a guest that stands still, a directory that is full or
//! taken. Without a kernel these tests are skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::guests::{behind, gone, guest_of, is_root, signal, wait_for};
use crate::common::linux::{arguments, desk, scenario};
use crate::common::{Call, Desk};
use serde_json::{Value, json};
use std::fs::File;
use std::process::Child;
use std::time::{Duration, Instant};

/// Name of each variant, with its settings.
fn with_variants(variants: &[(&str, &str)]) -> String {
    let variant =
        |(name, set): &(&str, &str)| format!("[[variant]]\nname = \"{name}\"\nset = {{ {set} }}\n");
    scenario("100Mbit", 1500, "1MB", 0.2) + &variants.iter().map(variant).collect::<String>()
}

/// Remains of variants a, b and c where b fails.
fn only_a_is_kept(desk: &Desk, call: &Call) {
    let kept = "1 of 3 runs failed, 1 were not begun; what was done is kept: out\n";
    assert!(call.stderr.contains(kept), "{}", call.stderr);
    let document: Value = serde_json::from_str(&desk.read("out/summary.json")).expect("JSON");
    assert_eq!((&document["partial"], &document["missing"]), (&json!(true), &json!(["b", "c"])));
    assert_eq!(document["runs"].as_array().expect("runs").len(), 1);
    assert!(desk.path("out/a/flows.parquet").exists());
    assert!(!desk.path("out/b").exists());
}

#[test]
fn a_run_that_the_kernel_refuses_leaves_those_that_are_done() {
    let cdg =
        |window: u32| format!("\"flow.bulk.congestion\" = {{ name = \"cdg\", window = {window} }}");
    let (good, bad) = (cdg(8), cdg(7));
    let Some(desk) = desk(&with_variants(&[("a", &good), ("b", &good), ("c", &good)])) else {
        return;
    };
    desk.write("my.toml", &with_variants(&[("a", &good), ("b", &bad), ("c", &good)]));
    let call = desk.call(&arguments(&["-q", "--jobs", "1", "--out", "out"])).ends_with(2);
    let call = call.complains(&["error: b: engine linux cannot do ", "congestion.window = 7"]);
    only_a_is_kept(&desk, &call);
}

#[test]
fn a_guest_that_dies_leaves_the_runs_that_are_done() {
    let long = "duration = \"864000s\", \"flow.bulk.duration\" = \"864000s\"";
    let short = "seed = 6";
    let Some(desk) = desk(&with_variants(&[("a", short), ("b", short), ("c", short)])) else {
        return;
    };
    desk.write("my.toml", &with_variants(&[("a", short), ("b", long), ("c", short)]));
    let child = desk.start(&arguments(&["-q", "--jobs", "1", "--out", "out"]));
    wait_for("first run", || {
        let hidden = desk.names(".").into_iter().find(|name| name.starts_with(".out."))?;
        desk.path(&format!("{hidden}/.0/intervals.csv")).exists().then_some(())
    });
    signal(guest_of(&child), "KILL");
    let call = Call::wait(child).ends_with(3).complains(&["error: b: ", "the guest ended killed"]);
    only_a_is_kept(&desk, &call);
}

/// Freezes the guest of a long run after `delay`, and interrupts it.
fn interrupted_while_frozen(desk: &Desk, delay: Duration, out: &str) -> Call {
    let long = ["--set", "duration=864000s", "--set", "flow.bulk.duration=864000s", "--out", out];
    let child: Child = desk.start(&arguments(&long));
    let guest = guest_of(&child);
    std::thread::sleep(delay);
    signal(guest, "STOP");
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    signal(child.id(), "INT");
    let call = Call::wait(child);
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(30), "it took {took:?}");
    gone(guest);
    call
}

#[test]
fn a_signal_is_obeyed_while_the_guest_stands_still() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    for (delay, out) in [(0, "early"), (2000, "late")] {
        let call = interrupted_while_frozen(&desk, Duration::from_millis(delay), out);
        call.ends_with(130).complains(&["stopping", &format!("results: {out}")]);
        let document: Value =
            serde_json::from_str(&desk.read(&format!("{out}/summary.json"))).expect("JSON");
        assert_eq!(document["runs"][0]["partial"], true);
    }
}

/// In a file system of its own, which needs root.
#[test]
fn a_full_directory_for_the_guests_files_is_named_with_its_variable() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    if !is_root("mounting a file system") {
        return;
    }
    let small = |size: u32, inodes: u32| {
        format!(
            "mkdir -p small && mount -t tmpfs -o size={size}k,nr_inodes={inodes} none small && \
             TMPDIR=\"$PWD/small\" exec \"$0\" \"$@\""
        )
    };
    // No room for the guest's program; then for all files but the console (6 directories and 2 files before it).
    for script in [small(64, 100), small(64000, 9)] {
        let call = desk.command(&arguments(&["-q", "--out", "out"]));
        let wrapper = ["unshare", "--mount", "sh", "-c", &script];
        let call = Call::of(behind(&wrapper, &call, &desk).output().expect("it starts"));
        let directory = desk.path("small").display().to_string();
        call.ends_with(3).complains(&[
            &format!("cannot write the guest's files to {directory}: No space left on device"),
            "name another directory in TMPDIR",
        ]);
    }
}

/// Containers reuse process numbers: the program is process 1 each time.
#[test]
fn a_leftover_of_the_same_process_number_is_no_obstacle() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 0.1)) else { return };
    if !is_root("a namespace of processes") {
        return;
    }
    let (left, held) = (".fullpipe-linux.1.tmp-3", ".fullpipe-linux.1.tmp-2");
    for name in [left, held] {
        std::fs::create_dir_all(desk.path(&format!("files/{name}"))).expect("a directory");
    }
    let lock = File::open(desk.path(&format!("files/{held}"))).expect("it opens");
    lock.lock().expect("another container's");
    let call = desk.command(&arguments(&["-q", "--out", "out"]));
    let wrapper = ["unshare", "--pid", "--fork", "--mount-proc"];
    let mut call = behind(&wrapper, &call, &desk);
    Call::of(call.env("TMPDIR", desk.path("files")).output().expect("it starts")).ends_with(0);
    assert_eq!(desk.names("files"), [held]);
}
