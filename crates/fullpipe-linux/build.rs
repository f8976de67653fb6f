//! Builds the guest of the engine `linux`: a static program that the library carries with it.
//!
//! It is built by a cargo of its own, because it alone is linked statically. Where that cannot be done the
//! library is built all the same, and the engine says why it cannot run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let package = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../fullpipe-guest");
    for part in [".", "../fullpipe-base", "../fullpipe-observe"] {
        for file in ["src", "Cargo.toml"] {
            println!("cargo:rerun-if-changed={}", package.join(part).join(file).display());
        }
    }
    let carried = Path::new(&variable("OUT_DIR")).join("fullpipe-init");
    let built = match variable("CARGO_CFG_TARGET_OS").as_str() {
        "linux" => {
            build(&package).and_then(|guest| std::fs::read(guest).map_err(|e| e.to_string()))
        }
        other => Err(format!("it runs on Linux, not on {other}")),
    };
    if let Err(why) = &built {
        println!("cargo:warning=the engine linux will not run: no guest was built: {why}");
    }
    std::fs::write(carried, built.unwrap_or_default()).expect("OUT_DIR can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// All profiles share one build: OUT_DIR is `target/<profile>/build/<package>/out`.
fn shared_target() -> Result<PathBuf, String> {
    let out = PathBuf::from(variable("OUT_DIR"));
    let target = out.ancestors().nth(4).ok_or("OUT_DIR is not below a target directory")?;
    Ok(target.join("guest"))
}

fn build(package: &Path) -> Result<PathBuf, String> {
    let (triple, target) = (variable("TARGET"), shared_target()?);
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--bin", "fullpipe-init", "--target", &triple]);
    cargo.arg("--manifest-path").arg(package.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(&target);
    // Settings of the outer build (a wrapper such as clippy's, flags, features) are not for this one.
    let inherited = |name: &str| {
        name.starts_with("CARGO_FEATURE")
            || name.starts_with("CARGO_CFG")
            || name.starts_with("CARGO_PKG")
    };
    for (name, _) in env::vars().filter(|(name, _)| inherited(name)) {
        cargo.env_remove(name);
    }
    for name in
        ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CLIPPY_ARGS"]
    {
        cargo.env_remove(name);
    }
    cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    let output = cargo.output().map_err(|e| format!("{}: {e}", variable("CARGO")))?;
    match output.status.success() {
        true => Ok(target.join(triple).join("release/fullpipe-init")),
        false => Err(last_line(&output.stderr)),
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().rfind(|line| line.contains("error")).unwrap_or("cargo failed").into()
}
