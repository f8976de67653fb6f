//! Compiles the congestion controls of `cc/`: each `cc/*.c`, the slow starts of
//! `cc/slow_start/`, and the kernel helpers they call.

use std::path::{Path, PathBuf};

fn main() {
    let cc = Path::new("../../cc");
    println!("cargo::rerun-if-changed={}", cc.display());
    let mut files = sources(cc);
    files.extend(sources(&cc.join("slow_start")));
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
