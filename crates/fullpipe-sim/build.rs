//! Compiles the congestion controls of `cc/`: each `cc/*.c`, the slow starts of
//! `cc/slow_start/`, and the kernel helpers they call. Lists the first two for `src/cc/ffi.rs`.

use std::path::{Path, PathBuf};

fn main() {
    let cc = Path::new("../../cc");
    println!("cargo::rerun-if-changed={}", cc.display());
    let algorithms = sources(cc);
    let slow_starts = sources(&cc.join("slow_start"));
    let list = [
        registered("algorithms: Algorithm", "cc_", &algorithms),
        registered("slow_starts: SlowStart", "cc_slow_start_", &slow_starts),
    ];
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("registered.rs"), list.concat()).expect("a list in OUT_DIR");

    let mut files = algorithms;
    files.extend(slow_starts);
    files.extend(sources(&cc.join("native")));
    cc::Build::new()
        .files(files)
        .std("gnu11")
        .opt_level(2)
        .flag("-ffreestanding")
        .flag("-fno-strict-aliasing") // private state is bytes, as in a kernel
        .flag_if_supported("-fno-stack-protector")
        .extra_warnings(true)
        .compile("fullpipe_cc");
}

/// The call of `registered!` for the sources of one kind; names of their instances begin with `prefix`.
fn registered(kind: &str, prefix: &str, sources: &[PathBuf]) -> String {
    let names = sources.iter().filter_map(|path| path.file_stem());
    let symbols: Vec<String> =
        names.map(|name| format!("{prefix}{}", name.to_string_lossy())).collect();
    format!("registered! {{ {kind} = {} }}\n", symbols.join(" "))
}

/// The C files of a directory, in a fixed order.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}
