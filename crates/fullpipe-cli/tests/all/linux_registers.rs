//! Engine `linux` on a CPU with registers that take more room than the kernel keeps (AMX). A library between kernel and
//! host plays that host, as tests do not choose their CPU. Without a kernel these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{arguments, desk, scenario};
use crate::common::{Call, Desk};
use fullpipe::engine::linux::kernel::{Cache, Wanted};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const HOST: &str = include_str!("common/amx_host.c");
/// Bytes of the register area of CPUs with AMX.
const AMX: u32 = 11_008;
/// More than the kernel pads to.
const TOO_MANY: u32 = 100_000;

/// Compiles the library that plays the host.
fn host_library(desk: &Desk) {
    desk.write("host.c", HOST);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(desk.path("host.so"));
    let status = compiler.arg(desk.path("host.c")).arg("-ldl").status().expect("a C compiler");
    assert!(status.success());
}

/// Makes a cache for a host with such an area; its kernel is the built one.
fn cache_on_host(desk: &Desk, area: u32) -> String {
    let built = Cache::of_user().expect("a cache").find(&Wanted::default()).expect("a kernel");
    let cache = format!("cache-{area}");
    let directory = desk.path(&cache).join("kernels").join(Wanted::default().name());
    fs::create_dir_all(&directory).expect("directories");
    fs::copy(built.directory.join("kernel.json"), directory.join("kernel.json")).expect("copied");
    let (library, kernel) = (desk.path("host.so"), built.kernel());
    let script = format!(
        "#!/bin/sh\nFULLPIPE_AREA={area} LD_PRELOAD={} exec {} \"$@\"\n",
        library.display(),
        kernel.display()
    );
    write_program(&directory.join("linux"), &script);
    cache
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

fn call(desk: &Desk, cache: &str, arguments: &[&str]) -> Call {
    let mut command = desk.command(arguments);
    command.env("FULLPIPE_CACHE", desk.path(cache));
    Call::of(command.output().expect("it starts"))
}

/// The run equals that of a host without AMX, byte for byte.
#[test]
fn a_cpu_with_amx_runs_the_kernel() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 0.2)) else { return };
    host_library(&desk);
    let cache = cache_on_host(&desk, AMX);
    desk.call(&arguments(&["-q", "--out", "usual"])).ends_with(0);
    call(&desk, &cache, &arguments(&["-q", "--out", "amx"])).ends_with(0);
    let table = |run: &str| fs::read(desk.path(run).join("base/flows.parquet")).expect("a table");
    assert!(table("usual") == table("amx"), "the runs differ");
    let doctor = call(&desk, &cache, &["doctor"]);
    assert!(doctor.stdout.contains("ok       boot: 6.12 HZ 1000 in "), "{}", doctor.stdout);
}

#[test]
fn registers_that_do_not_fit_are_named_as_the_cause() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 0.2)) else { return };
    host_library(&desk);
    let cache = cache_on_host(&desk, TOO_MANY);
    let cause = "bytes of registers (XSAVE), more than this kernel can set; build it again";
    let run = call(&desk, &cache, &arguments(&["-q", "--out", "out"])).ends_with(3);
    run.complains(&["this CPU has ", cause]);
    let doctor = call(&desk, &cache, &["doctor"]).ends_with(3);
    assert!(doctor.stdout.contains("missing  boot: 6.12 HZ 1000 does not boot: this CPU has "));
    assert!(doctor.stdout.contains(cause), "{}", doctor.stdout);
}
