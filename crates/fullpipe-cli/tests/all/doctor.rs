//! `fullpipe doctor`.

use crate::common::guests::is_root;
use crate::common::{Call, Desk};
use fullpipe::engine::linux::kernel::Wanted;
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

const NAMES: [&str; 8] = [
    "build tools",
    "kernel source",
    "disk",
    "kernel",
    "ptrace",
    "executable tmpfs",
    "memory",
    "boot",
];

fn doctor(desk: &Desk, path: Option<&str>, arguments: &[&str]) -> Call {
    let mut command = desk.command(&[&["doctor"], arguments].concat());
    command.env("FULLPIPE_CACHE", desk.path("cache"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    Call::of(command.output().expect("it starts"))
}

fn check<'a>(document: &'a Value, name: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).expect("a check of this name")
}

#[test]
fn the_document_has_every_check_and_agrees_with_the_exit_code() {
    let call = doctor(&Desk::new(), None, &["--json"]);
    let document = call.json();
    assert_eq!(document["format"], 1);
    let names: Vec<&str> = document["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| check["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, NAMES);
    for name in NAMES {
        let check = check(&document, name);
        let text = |key: &str| check[key].as_str().expect("a text").to_owned();
        assert!(!text("found").is_empty() && !text("why").is_empty(), "{check}");
        assert_eq!(check["ok"].as_bool().expect("a truth"), text("remedy").is_empty(), "{check}");
    }
    // There is no kernel in an empty cache.
    assert_eq!(document["ok"], false);
    assert_eq!(check(&document, "kernel")["remedy"], "fullpipe kernel build");
    call.ends_with(3);
}

#[test]
fn missing_tools_come_with_the_line_that_installs_them() {
    let call = doctor(&Desk::new(), Some("/nonexistent"), &[]).ends_with(3);
    let line = "sudo apt-get install gcc binutils make flex bison bc xz-utils tar\n";
    assert!(call.stdout.contains(line) && call.stdout.contains("missing  build tools: no gcc"));
    assert!(call.stdout.contains("they compile the kernel"), "{}", call.stdout);
    call.complains(&["missing for genuine Linux runs"]);
}

#[test]
fn a_cached_kernel_is_found() {
    let desk = Desk::new();
    let directory = desk.path("cache/kernels").join(Wanted::default().name());
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("linux"), "ELF").expect("a file");
    let record = serde_json::json!({ "format": 1, "source_version": "6.12.1",
        "package_version": null, "hz": 1000, "configuration": "x", "built": "2026-01-01T00:00:00Z",
        "compiler": "gcc", "bytes": 3, "cpu_s": 1.0, "wall_s": 1.0, "lines": 1, "fullpipe": "0.1.0" });
    std::fs::write(directory.join("kernel.json"), record.to_string()).expect("a file");
    let document = doctor(&desk, None, &["--json"]).json();
    let kernel = check(&document, "kernel");
    let path = directory.join("linux").display().to_string();
    assert_eq!((&kernel["ok"], &kernel["found"]), (&true.into(), &path.into()));
}

/// Where ptrace is refused as a container's filter does it, doctor says so: it has tried.
#[test]
fn a_filter_that_refuses_ptrace_is_found_out() {
    let desk = Desk::new();
    let mut command = desk.command(&["doctor", "--json"]);
    command.env("FULLPIPE_CACHE", desk.path("cache"));
    // SAFETY: the closure makes two system calls and takes no lock.
    unsafe { command.pre_exec(refuse_ptrace) };
    let document = Call::of(command.output().expect("it starts")).ends_with(3).json();
    let ptrace = check(&document, "ptrace");
    assert_eq!(
        (&ptrace["ok"], &ptrace["found"]),
        (&false.into(), &"a child may not be traced".into())
    );
    let yama = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if !["2", "3"].contains(&yama.trim()) {
        assert!(ptrace["remedy"].as_str().expect("a text").contains("seccomp"), "{ptrace}");
    }
}

/// Has ptrace fail with EPERM from here on.
fn refuse_ptrace() -> std::io::Result<()> {
    // Where the number differs, one step is left out.
    let step = |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let number = libc::SYS_ptrace as u32;
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, 1),
        step(libc::BPF_RET | libc::BPF_K, refused, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the filter during the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn disk(document: &Value) -> [&str; 2] {
    let disk = check(document, "disk");
    assert_eq!(disk["ok"], false, "{disk}");
    ["found", "remedy"].map(|key| disk[key].as_str().expect("a text"))
}

/// A build would fail there, so doctor does not send anybody to it without a word.
#[test]
fn a_cache_that_cannot_be_written_is_found_out() {
    let mut command = Desk::new().command(&["doctor", "--json"]);
    command.env("FULLPIPE_CACHE", "/dev/null/cache").current_dir("/");
    let document = Call::of(command.output().expect("it starts")).ends_with(3).json();
    let [found, remedy] = disk(&document);
    assert_eq!(
        found,
        "/dev/null/cache/kernels cannot be written: /dev/null: Not a directory (os error 20)"
    );
    assert!(remedy.contains("export FULLPIPE_CACHE="), "{remedy}");
}

/// The home of such a user is /nonexistent, which nobody but root may make.
#[test]
fn a_user_without_a_home_is_asked_to_name_a_cache() {
    if !is_root("becoming another user") {
        return;
    }
    // Copied, as the original may lie where only its owner may look.
    let desk = Desk::new();
    let binary = desk.path("fullpipe");
    std::fs::copy(env!("CARGO_BIN_EXE_fullpipe"), &binary).expect("copied");
    std::fs::set_permissions(desk.path(""), Permissions::from_mode(0o755)).expect("opened");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
    command.args(["doctor", "--json"]).current_dir("/").env("HOME", "/nonexistent");
    command.env_remove("FULLPIPE_CACHE").env_remove("XDG_CACHE_HOME");
    let document = Call::of(command.output().expect("it starts")).ends_with(3).json();
    let [found, remedy] = disk(&document);
    let place = "/nonexistent/.cache/fullpipe/kernels cannot be written: /: Permission denied";
    assert!(found.starts_with(place), "{found}");
    assert!(remedy.contains("export FULLPIPE_CACHE="), "{remedy}");
}
