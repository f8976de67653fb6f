//! Names the commit of a release build for `fullpipe --version`.
//!
//! Other builds name none, so that a commit alone recompiles nothing. A packager without a checkout sets
//! FULLPIPE_COMMIT.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=FULLPIPE_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let given = env::var("FULLPIPE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| if is_release { of_checkout() } else { None });
    println!("cargo:rustc-env=FULLPIPE_COMMIT={}", commit.unwrap_or_default());
}

/// The commit of the checkout that this package belongs to; none in a package without one, or without git.
fn of_checkout() -> Option<String> {
    // In another project's repository this file is not known to git.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for name in ["HEAD", "packed-refs", &git(&["symbolic-ref", "-q", "HEAD"]).unwrap_or_default()] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", name]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// The answer of git, one line; none where it fails or says nothing.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !line.is_empty()).then_some(line)
}
