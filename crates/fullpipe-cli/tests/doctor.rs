//! `fullpipe doctor`.

mod common;
use common::{Call, Desk};
use fullpipe::engine::linux::kernel::Wanted;
use serde_json::Value;

const NAMES: [&str; 7] =
    ["build tools", "kernel source", "disk", "kernel", "ptrace", "executable tmpfs", "memory"];

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
