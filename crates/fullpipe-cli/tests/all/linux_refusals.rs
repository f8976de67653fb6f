//! Settings that the engine `linux` or its kernel refuses: exit code 2, the key of the scenario, and the remedy. Tests
//! that need a kernel are skipped without one, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{arguments, desk, scenario};
use crate::common::{Call, Desk};
use fullpipe::engine::linux::kernel::{Cache, Wanted};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

#[test]
fn what_the_kernel_refuses_is_named_by_its_key_with_its_value() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    let invalid = "Linux 6.12 refuses it: Invalid argument (os error 22)";
    let cases = [
        (
            "hosts.receiver.sysctl.net.core.rmem_max=1000",
            "hosts.receiver.sysctl.net.core.rmem_max = 1000",
            invalid,
        ),
        (
            // A socket that is not closed needs a window (tcp_set_window_clamp): it is refused when the receiver has
            // accepted.
            "flow.bulk.receiver_sockopt.TCP_WINDOW_CLAMP=0",
            "flow.bulk.receiver_sockopt.TCP_WINDOW_CLAMP = 0",
            invalid,
        ),
        (
            "flow.bulk.congestion={ name = \"cdg\", window = 7 }",
            "flow.bulk.congestion.window = 7",
            "its module does not register: No such file or directory (os error 2); window (RTTs, 1 to 256): over which \
             gradients are averaged; a power of 2",
        ),
        (
            "flow.bulk.congestion={ name = \"cdg\", window = 7, use_shadow = 0 }",
            "flow.bulk.congestion = { name = \"cdg\", use_shadow = 0, window = 7 }",
            "its module does not register",
        ),
    ];
    for (set, key, why) in cases {
        let call = desk.call(&arguments(&["--set", set, "--out", "no", "-q"])).ends_with(2);
        let text = format!("error: base: engine linux cannot do {key}: Linux 6.12 refuses it: ");
        call.complains(&[&text, why]);
    }
    assert!(!desk.path("no").exists());
}

/// Known bounds are checked before anything runs, at the value's place.
#[test]
fn a_sysctl_beyond_its_bounds_is_found_in_the_scenario() {
    let desk = Desk::new();
    desk.write("my.toml", &scenario("100Mbit", 1500, "1MB", 1.0));
    let set = ["--set", "hosts.sender.sysctl.net.ipv4.tcp_ecn=77"];
    let call = desk.call(&arguments(&set)).ends_with(2);
    call.complains(&["--set #1:1:38", "`net.ipv4.tcp_ecn` is 77", "an integer from 0 to 2"]);
}

#[test]
fn a_scenario_of_today_runs_on_both_engines_as_it_is() {
    let text = scenario("100Mbit", 1500, "1MB", 1.0);
    let Some(desk) = desk(&text) else { return };
    desk.write("new.toml", &text.replace("3.14", "6.12"));
    let call = ["run", "new.toml", "--engine", "sim,linux", "-q", "--json", "--out", "both"];
    let document = desk.call(&call).ends_with(0).json();
    let run = |n: usize, key: &str| document["runs"][n][key].as_str().expect("a text").to_owned();
    assert_eq!([run(0, "engine"), run(1, "engine")], ["sim", "linux"]);
    assert_eq!(document["runs"][1]["flows"][0]["kernel"], "6.12");
}

/// A cache of the desk's own that has the usual kernel alone.
fn usual_kernel_alone(desk: &Desk) -> PathBuf {
    let wanted = Wanted::default();
    let found = Cache::of_user().expect("a cache").find(&wanted).expect("it is built").kernel();
    let cache = desk.path("cache");
    std::fs::create_dir_all(cache.join("kernels")).expect("a directory");
    let entry = found.parent().expect("an entry of the cache");
    symlink(entry, cache.join("kernels").join(wanted.name())).expect("a link");
    cache
}

/// A beginner's case: a scenario of an old kernel, and the options that the messages name.
#[test]
fn the_messages_lead_to_a_run_of_the_smallest_scenario() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    let smallest = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
                    [hosts]\nsender = { kernel = \"2.6.20\" }\nreceiver = { kernel = \"2.6.20\" }\n\
                    [[flow]]\nname = \"bulk\"\nduration = \"0.5s\"\n";
    desk.write("small.toml", smallest);
    let cache = usual_kernel_alone(&desk);
    let call = |words: &[&str]| {
        let mut command =
            desk.command(&[&["run", "small.toml", "--engine", "linux"], words].concat());
        Call::of(command.env("FULLPIPE_CACHE", &cache).output().expect("it starts"))
    };
    let hz = ["--set", "hosts.sender.hz=1000", "--set", "hosts.receiver.hz=1000"];
    call(&[]).ends_with(2).complains(&[
        "to allow it: --as-kernel 6.12\n",
        "to build it: fullpipe kernel build --version 6.12 --hz 250",
        &format!("there is one with HZ 1000, to run that: {}", hz.join(" ")),
    ]);
    call(&[&["-q", "--as-kernel", "6.12"], &hz[..]].concat()).ends_with(0);
}

#[test]
fn a_key_that_there_is_not_cannot_be_left_out() {
    let desk = Desk::new();
    desk.write("my.toml", &scenario("100Mbit", 1500, "1MB", 1.0));
    let call = |without: &str| desk.call(&["run", "my.toml", "--dry-run", "--without", without]);
    call("hosts.sender.cpus").ends_with(2).complains(&[
        "error: --without hosts.sender.cpus: the scenario has no such key; did you mean: hosts.sender.cpu, ",
    ]);
    call("path.*.fra.timer")
        .ends_with(2)
        .complains(&["did you mean: ", ", path.forward.far.timer"]);
    for known in ["hosts.*.cpu", "path.*.timer", "flow.bulk.sockopt.IP_TOS", "*.kernel"] {
        let said = call(known).stderr;
        assert!(!said.contains("no such key"), "{said}");
    }
}

/// A wrong directory is not the kernel's fault.
#[test]
fn directories_that_are_not_there_are_named_by_their_variable() {
    let desk = Desk::new();
    desk.write("my.toml", &scenario("100Mbit", 1500, "1MB", 1.0));
    for variable in ["TMPDIR", "FULLPIPE_MEMORY_DIR"] {
        let mut command = desk.command(&arguments(&[]));
        let call = Call::of(command.env(variable, "/nonesuch").output().expect("it starts"));
        let text = format!("error: {variable} names /nonesuch, which is no directory; the guest's");
        call.ends_with(3).complains(&[&text]);
    }
}
