//! The engine `host` on the kernel that runs the tests. It needs namespaces and NFQUEUE; where these are not to be had the
//! tests print why they are skipped.

use crate::common::{Call, Desk};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A path that a busy machine can emulate, too.
const SLOW: &str = r#"
title = "A slow path"

[path]
forward = [
    { kind = "drop", name = "lost", flow = "bulk", segments = [100, 101, 300] },
    { kind = "link", name = "link", rate = "20Mbit", queue = { limit = "1000 packets" } },
    { kind = "delay", name = "there", delay = "10ms" },
]
back = [{ kind = "delay", name = "back", delay = "10ms" }]

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "2s"
"#;

/// A desk with that scenario; none, and says why, where the engine cannot run.
fn desk(text: &str) -> Option<Desk> {
    let desk = Desk::new();
    desk.write("slow.toml", text);
    desk.write("probe.toml", &text.replace("2s", "20ms"));
    let probe = run(&desk, "probe", &[]);
    if probe.code == Some(3) {
        eprintln!("skipped: engine host: {}", probe.stderr.trim());
        return None;
    }
    probe.ends_with(0);
    Some(desk)
}

/// Runs the scenario of that name. Its guest lies in the desk: a run sweeps what killed runs of other tests left beside it.
fn run(desk: &Desk, name: &str, more: &[&str]) -> Call {
    let file = format!("{name}.toml");
    let call = ["run", &file, "--engine", "host", "--json", "-q", "--out", name];
    let mut command = desk.command(&[&call[..], more].concat());
    Call::of(command.env("TMPDIR", desk.path("")).output().expect("the program starts"))
}

fn counter(run: &Value, name: &str) -> u64 {
    let counters = run["counters"].as_array().expect("counters");
    let found = counters.iter().find(|own| own["name"] == name).expect("the counter");
    found["value"].as_u64().expect("a number")
}

#[test]
fn a_link_carries_its_rate_and_a_list_loses_exactly_its_segments() {
    let Some(desk) = desk(SLOW) else { return };
    let document = run(&desk, "slow", &["--set", "report.interval=1s"]).ends_with(0).json();
    let run = &document["runs"][0];

    // The link is full in the second interval: 1448 of 1514 + 24 bytes are payload.
    let flow = &run["flows"][0];
    let rate = flow["intervals"][1]["throughput_mbit"].as_f64().expect("a rate");
    let expected = 20.0 * 1448.0 / 1538.0;
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} for {expected} Mb/s");

    let stages = run["stages"].as_array().expect("stages");
    let lost = stages.iter().find(|own| own["name"] == "lost").expect("the list");
    assert_eq!(lost["dropped"], 3);
    assert_eq!(counter(run, "emulator.dropped_segments"), 3);
    assert!(flow["retransmitted_segments"].as_u64() >= Some(3), "{flow}");
    assert!(counter(run, "emulator.packets") > 100);
}

#[test]
fn a_guest_ends_with_the_program_however_that_ends() {
    let Some(desk) = desk(SLOW) else { return };
    let temporary = desk.path("tmp");
    std::fs::create_dir(&temporary).expect("a directory");
    let call = ["run", "slow.toml", "--engine", "host", "-q", "--out", "killed"];
    for wait in [50, 200, 700] {
        let mut command = desk.command(&call);
        let command = command.env("TMPDIR", &temporary).stdout(Stdio::null());
        let mut program = command.stderr(Stdio::null()).spawn().expect("the program");
        std::thread::sleep(Duration::from_millis(wait));
        program.kill().expect("a signal");
        program.wait().expect("its end");
        let begun = Instant::now();
        while is_in_use(&temporary) {
            assert!(begun.elapsed() < Duration::from_secs(10), "a guest is left after {wait} ms");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    // The next run removes the directories of the killed ones, and its own.
    desk.write("next.toml", &SLOW.replace("2s", "20ms"));
    let mut command =
        desk.command(&["run", "next.toml", "--engine", "host", "-q", "--out", "next"]);
    assert!(command.env("TMPDIR", &temporary).status().expect("a run").success());
    assert_eq!(desk.names("tmp"), Vec::<String>::new());
}

/// Whether a process has its root or its working directory below `place`.
fn is_in_use(place: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let links = processes.flat_map(|own| ["root", "cwd"].map(|name| own.path().join(name)));
    let mut targets = links.filter_map(|link| std::fs::read_link(link).ok());
    // The program itself stands in the directory above.
    targets.any(|target| target.starts_with(place))
}

#[test]
fn an_ordinary_user_can_run_it() {
    const NOBODY: u32 = 65_534;
    // SAFETY: it takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: the other tests of engine host are an ordinary user's already");
        return;
    }
    let Some(desk) = desk(SLOW) else { return };

    // The user may neither read the directory of the build nor write to this one.
    let place = desk.path("user");
    std::fs::create_dir(&place).expect("a directory");
    let program = place.join("fullpipe");
    std::fs::copy(env!("CARGO_BIN_EXE_fullpipe"), &program).expect("the program");
    std::fs::write(place.join("short.toml"), SLOW.replace("2s", "100ms")).expect("a file");
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))
            .expect("permissions");
    };
    open(&place);
    open(&desk.path("."));
    let mut command = std::process::Command::new(&program);
    command.args(["run", "short.toml", "--engine", "host", "-q", "--out", "out"]);
    let command = command.current_dir(&place).env("TMPDIR", &place).env("HOME", &place);
    let ended = command.uid(NOBODY).gid(NOBODY).output().expect("a run");
    let said = String::from_utf8_lossy(&ended.stderr);
    if said.contains("a container: Operation not permitted") {
        eprintln!("skipped: engine host as an ordinary user: {}", said.trim());
        return;
    }
    assert!(ended.status.success(), "{said}");
}

#[test]
fn an_element_that_it_lacks_is_named() {
    let copies = r#"{ kind = "duplicate", name = "twice", p = 0.01 },
    { kind = "link""#;
    let desk = Desk::new();
    desk.write("slow.toml", &SLOW.replacen("{ kind = \"link\"", copies, 1));
    let call = run(&desk, "slow", &[]).ends_with(2);
    assert!(call.stderr.contains("twice"), "{}", call.stderr);
}
