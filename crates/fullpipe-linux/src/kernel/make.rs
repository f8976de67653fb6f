//! `make` in the unpacked source: configures and compiles.

use super::process::Children;
use super::watch::{Step, Watch};
use super::{Error, Wanted, config};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;

/// Values that replace the time, place and user of the build in the kernel.
const ANONYMOUS: [(&str, &str); 3] = [
    ("KBUILD_BUILD_TIMESTAMP", "1970-01-01"),
    ("KBUILD_BUILD_USER", "fullpipe"),
    ("KBUILD_BUILD_HOST", "fullpipe"),
];
/// Variables of the environment that `make` may see: any other one could change the kernel.
const PASSED: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// `make` for user-mode Linux.
fn make(source: &Path) -> Command {
    let mut command = Command::new("make");
    let passed = PASSED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(passed).env("LC_ALL", "C").envs(ANONYMOUS);
    command.arg("ARCH=um").current_dir(source);
    command
}

/// Configures the kernel, and checks that `make` has granted each option.
///
/// # Errors
/// `make` fails, or an option is not granted.
pub fn configure<W: Watch + ?Sized>(
    source: &Path,
    wanted: &Wanted,
    log: &File,
    watch: &mut W,
) -> Result<(), Error> {
    let asked = source.join("fullpipe.config");
    fs::write(&asked, config::asked(wanted)).map_err(|e| Error::at(&asked, e))?;
    let mut children = Children::new(log)?;
    let mut command = make(source);
    children.start(command.arg("KCONFIG_ALLCONFIG=fullpipe.config").arg("allnoconfig"))?;
    children.finish(watch, |_| {})?;
    let path = source.join(".config");
    let granted = fs::read_to_string(&path).map_err(|e| Error::at(&path, e))?;
    config::check(&config::wanted(wanted), &granted, &path)
}

/// Compiles on all cores; `log_file` is the file of `log`. Returns how many lines `make` printed.
///
/// # Errors
/// `make` fails.
pub fn compile<W: Watch + ?Sized>(
    wanted: &Wanted,
    source: &Path,
    log: &File,
    log_file: &Path,
    watch: &mut W,
) -> Result<u64, Error> {
    watch.step(&Step::Compiling);

    // Progress is the number of lines that make has written into the log from here on.
    let mut reader = File::open(log_file).map_err(|e| Error::at(log_file, e))?;
    new_lines(&mut reader);
    let jobs = available_parallelism().map_or(1, usize::from);
    let mut children = Children::new(log)?;
    let mut command = make(source);
    children.start(command.arg(format!("-j{jobs}")).arg("linux"))?;
    let mut lines = 0;
    children.finish(watch, |watch| {
        lines += new_lines(&mut reader);
        watch.compiled(lines, wanted.lines());
    })?;
    Ok(lines)
}

/// Lines since the last call.
fn new_lines(log: &mut File) -> u64 {
    let mut text = Vec::new();
    // Unreadable text is not counted.
    let _ = log.read_to_end(&mut text);
    text.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}
