//! The engine `linux` as a program: its processes and files, its end, its refusals. Without a kernel these tests are
//! skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::guests::{guest_of, guests_of, parent, processes, signal};
use crate::common::linux::{arguments, desk, run, scenario};
use crate::common::{Call, Desk};
use fullpipe::engine::linux::kernel::{Cache, Wanted};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A run that would take very long; returns when the run is in progress.
fn long_run(desk: &Desk) -> Child {
    let long = ["--set", "duration=864000s", "--set", "flow.bulk.duration=864000s", "--out", "out"];
    let child = desk.start(&arguments(&long));
    guest_of(&child);
    std::thread::sleep(Duration::from_secs(2));
    child
}

/// All that a guest has of the machine.
struct Guest {
    /// Its directory, in which all its processes are.
    rootfs: PathBuf,
    /// The files without a name that are its memory, as `/proc/*/maps` has device and inode.
    memory: BTreeSet<String>,
    kernels: Vec<u32>,
}

impl Guest {
    /// Guest of a run in progress.
    fn of(child: &Child) -> Guest {
        let kernels = guests_of(child);
        let rootfs = std::fs::read_link(format!("/proc/{}/cwd", kernels[0])).expect("a directory");
        let memory = memory_of(kernels[0]);
        let guest = Guest { rootfs, memory, kernels };
        assert!(!guest.memory.is_empty(), "a guest has memory");
        let processes = guest.processes();
        let own = processes.iter().filter(|id| parent(**id) == Some(guest.kernels[0]));
        assert!(own.count() > 0, "a guest has processes of its own: {processes:?}");
        guest
    }

    /// Living processes of the guest: those in its directory, which may have been removed, and those that have its
    /// memory.
    fn processes(&self) -> Vec<u32> {
        let (rootfs, removed) =
            (self.rootfs.clone(), format!("{} (deleted)", self.rootfs.display()));
        let inside = |id: &u32| {
            let cwd = std::fs::read_link(format!("/proc/{id}/cwd"));
            let inside = cwd.is_ok_and(|cwd| cwd == rootfs || cwd == Path::new(&removed));
            inside || !memory_of(*id).is_disjoint(&self.memory)
        };
        processes().into_iter().filter(inside).collect()
    }

    /// Waits until nothing of it is left.
    fn is_gone(&self) {
        let begun = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "processes {left:?} live on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Files without a name in the directory of guests' memory that a process has mapped.
fn memory_of(process: u32) -> BTreeSet<String> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let place = fullpipe::engine::linux::memory_directory();
    let of_memory = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, device, inode, path, "(deleted)"] = fields[..] else { return None };
        Path::new(path).starts_with(&place).then(|| format!("{device} {inode}"))
    };
    maps.lines().filter_map(of_memory).collect()
}

fn jails(of: u32) -> Vec<String> {
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("temporary files").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!(".fullpipe-linux.{of}."))).collect()
}

#[test]
fn a_signal_keeps_what_there_is_and_leaves_no_kernel() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    let child = long_run(&desk);
    let (id, guest) = (child.id(), Guest::of(&child));
    signal(id, "INT");
    Call::wait(child).ends_with(130).complains(&["stopping", "results: out"]);
    guest.is_gone();
    assert!(jails(id).is_empty(), "{:?}", jails(id));
    assert!(desk.path("out/base/flows.parquet").exists());
}

#[test]
fn a_killed_program_leaves_no_kernel_and_the_next_one_sweeps() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    let mut child = long_run(&desk);
    let (id, guest) = (child.id(), Guest::of(&child));
    signal(id, "KILL");
    child.wait().expect("it ends");
    guest.is_gone();
    assert_eq!(jails(id).len(), 1);
    run(&desk, "next", &[]);
    assert!(jails(id).is_empty(), "{:?}", jails(id));
}

/// In a namespace of mounts of its own, which needs root: a file system too small for the guest's memory.
#[test]
fn a_guest_without_room_for_its_memory_is_ended_and_the_place_named() {
    let Some(desk) = desk(&scenario("10Gbit", 9000, "100MB", 20.0)) else { return };
    if std::fs::read_to_string("/proc/self/status").is_ok_and(|s| !s.contains("Uid:\t0")) {
        println!("skipped: mounting a file system needs root");
        return;
    }
    let mut call = desk.command(&arguments(&["-q", "--out", "out"]));
    let small = "mkdir small && mount -t tmpfs -o size=64m,exec none small && FULLPIPE_MEMORY_DIR=small exec \"$0\" \"$@\"";
    let mut inner = Command::new("unshare");
    inner.args(["--mount", "sh", "-c", small]).arg(call.get_program()).args(call.get_args());
    inner.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
    inner.current_dir(call.get_current_dir().expect("a directory"));
    call = inner;
    let output = call.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("small has no room for the guest's memory"), "{said}");
}

#[test]
fn a_dead_guest_is_an_error_of_the_machine() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.0)) else { return };
    let child = long_run(&desk);
    let guest = Guest::of(&child);
    signal(guest.kernels[0], "KILL");
    Call::wait(child).ends_with(3).complains(&["the guest ended killed"]);
    guest.is_gone();
}

#[test]
fn two_engines_make_one_result_with_its_comparison() {
    let list = "[{ kind = \"drop\", name = \"list\", flow = \"bulk\", segments = [400] },";
    let text = scenario("100Mbit", 1500, "1MB", 2.0);
    let Some(desk) = desk(&text.replace("forward = [", &format!("forward = {list}"))) else {
        return;
    };
    let both = ["run", "my.toml", "--engine", "sim,linux", "--as-kernel", "6.12", "--out", "both"];
    let call = desk.call(&both).ends_with(0);
    for part in ["a: base on sim; b: base on linux", "base on linux: 2.0 s simulated"] {
        let all = format!("{}{}", call.stdout, call.stderr);
        assert!(all.contains(part), "no {part:?} in {all}");
    }
    let document: Value = serde_json::from_str(&desk.read("both/summary.json")).expect("JSON");
    let engines: Vec<_> =
        document["runs"].as_array().expect("runs").iter().map(|run| &run["engine"]).collect();
    assert_eq!(engines, ["sim", "linux"]);
    let comparisons = document["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.len(), 1);
    let distance = &comparisons[0]["flows"][0]["distance"];
    assert_eq!(distance["retransmissions"]["b"], 1.0);
    assert_eq!((&distance["losses"]["a"], &distance["losses"]["b"]), (&1.into(), &1.into()));
    assert!(
        desk.read("both/report.html").contains("How far apart: base on sim (a), base on linux (b)")
    );
    let names = desk.names("both");
    assert!(["base-on-linux", "base-on-sim"].iter().all(|n| names.contains(&n.to_string())));
    let again = desk.call(&["report", "both"]).ends_with(0);
    assert_eq!(again.stdout, call.stdout);
}

#[test]
fn all_engines_object_at_once() {
    let desk = Desk::new();
    let text = scenario("100Mbit", 1500, "1MB", 1.0);
    let text = text.replace(
        "[hosts.receiver]\n",
        "behaviour = { initial_cwnd = \"ten\" }\n[hosts.receiver]\n",
    );
    desk.write("my.toml", &(text + "receiver_sockopt = { SO_RCVLOWAT = 1 }\n"));
    let arguments = ["run", "my.toml", "--engine", "sim,linux", "--as-kernel", "6.12"];
    let call = desk.call(&arguments).ends_with(2);
    let call = call.complains(&["engine linux cannot do hosts.sender.behaviour"]);
    let call = call.complains(&["engine sim cannot do flow.bulk.receiver_sockopt", "--> my.toml:"]);
    assert_eq!(call.stderr.matches("engine sim cannot do").count(), 1, "{}", call.stderr);
    assert_eq!(desk.names("."), ["my.toml"]);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_runs() {
    let desk = Desk::new();
    desk.write("my.toml", &scenario("100Mbit", 1500, "1MB", 1.0));
    let cases: [(&[&str], &str); 5] = [
        (
            &["--engine", "linux"],
            "does hosts.sender.kernel otherwise: Linux 6.12 for 3.14; to allow it: --as-kernel 6.12",
        ),
        (
            &["--engine", "linux", "--as-kernel", "5.4"],
            "engine linux runs Linux 6.12, 6.1, not 5.4, which --as-kernel names",
        ),
        (&["--as-kernel", "6.12"], "engine sim runs no genuine kernel"),
        (
            &[
                "--engine",
                "linux",
                "--as-kernel",
                "6.12",
                "--set",
                "hosts.sender.cpu.transmit=1us/packet",
            ],
            "does hosts.sender.cpu otherwise: its CPU takes no time; to allow it: --without hosts.sender.cpu",
        ),
        (
            &["--engine", "linux", "--as-kernel", "6.12", "--pcap", "x.pcap"],
            "engine linux tells no single packets",
        ),
    ];
    for (more, complaint) in cases {
        let arguments: Vec<&str> = ["run", "my.toml"].iter().chain(more).copied().collect();
        desk.call(&arguments).ends_with(2).complains(&[complaint]);
        assert_eq!(desk.names("."), ["my.toml"]);
    }
}

#[test]
fn without_a_kernel_the_error_says_how_to_build_one() {
    let desk = Desk::new();
    desk.write("my.toml", &scenario("100Mbit", 1500, "1MB", 1.0));
    let mut command = desk.command(&arguments(&[]));
    command.env("FULLPIPE_CACHE", desk.path("empty"));
    let call = Call::of(command.output().expect("the program starts"));
    call.ends_with(3).complains(&["fullpipe kernel build --version 6.12 --hz 1000"]);
    assert_eq!(desk.names("."), ["my.toml"]);
}

/// The tables of a run in a directory, as user nobody or as the user of the test.
fn tables_as(nobody: bool, binary: &Path, cache: &Path, directory: &Path) -> Vec<Vec<u8>> {
    let mut command = Command::new(if nobody { Path::new("setpriv") } else { binary });
    if nobody {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary);
    }
    command.args(arguments(&["-q", "--out", "out"])).current_dir(directory);
    let call = command.env("FULLPIPE_CACHE", cache).env_remove("FULLPIPE_MEMORY_DIR").output();
    Call::of(call.expect("it starts")).ends_with(0);
    let table = |name| std::fs::read(directory.join("out/base").join(name)).expect("a table");
    ["flows.parquet", "stages.parquet", "events.parquet", "counters.parquet"].map(table).into()
}

/// Nothing of a run depends on who begins it.
#[test]
fn an_ordinary_user_has_the_same_tables_as_root() {
    let noise = "[{ kind = \"loss\", name = \"noise\", probability = 0.001 },";
    let text = scenario("1Gbit", 1500, "5MB", 0.5);
    let Some(desk) = desk(&text.replace("forward = [", &format!("forward = {noise}"))) else {
        return;
    };
    if !std::fs::read_to_string("/proc/self/status").is_ok_and(|s| s.contains("Uid:\t0")) {
        println!("skipped: becoming another user needs root");
        return;
    }
    let entry = Cache::of_user().expect("a cache").find(&Wanted::default()).expect("a kernel");
    let kernel = entry.kernel();
    let from = kernel.parent().expect("a directory");
    let to = desk.path("cache/kernels").join(from.file_name().expect("a name"));
    std::fs::create_dir_all(&to).expect("directories");
    for file in files(from) {
        std::fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("copied");
    }
    // Copies, as the originals may lie where only their owner may look.
    let binary = desk.path("fullpipe");
    std::fs::copy(env!("CARGO_BIN_EXE_fullpipe"), &binary).expect("copied");
    let directories = ["roots", "nobodys"].map(|name| desk.path(name));
    for directory in &directories {
        std::fs::create_dir(directory).expect("a directory");
        std::fs::copy(desk.path("my.toml"), directory.join("my.toml")).expect("copied");
    }
    chown(&directories[1], Some(65534), Some(65534)).expect("given away");
    std::fs::set_permissions(desk.path(""), Permissions::from_mode(0o755)).expect("opened");
    let [root, nobody] =
        [0, 1].map(|n| tables_as(n == 1, &binary, &desk.path("cache"), &directories[n]));
    assert!(root == nobody, "the tables differ");
    let owner = std::fs::metadata(directories[1].join("out/base/flows.parquet")).expect("a table");
    assert_eq!(owner.uid(), 65534);
}

fn files(of: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(of)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect()
}
