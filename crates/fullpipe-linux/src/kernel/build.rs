//! From a source package to a cached kernel.

use super::cache::{KERNEL, LOG, Place};
use super::process::{ask, cpu_of_children};
use super::record::{FORMAT, Record};
use super::watch::{Step, Watch};
use super::{Cache, Entry, Error, Wanted, change, make, needs, source};
use fullpipe_trace::rfc3339::rfc3339;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Instant, SystemTime};

/// Lines of the log that a failure shows.
const SHOWN: usize = 15;

/// The kernel, and whether it was there already.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The kernel.
    pub entry: Entry,
    /// Whether nothing had to be built.
    pub found: bool,
}

/// Finds the kernel that is wanted, or builds it; with `again` builds it in any case.
///
/// # Errors
/// A program is missing or fails; the error names the packages to install, or shows the end of the log.
pub fn build<W: Watch + ?Sized>(
    cache: &Cache,
    wanted: &Wanted,
    again: bool,
    watch: &mut W,
) -> Result<Built, Error> {
    let there = || cache.find(wanted).filter(|_| !again);
    if let Some(entry) = there() {
        return Ok(Built { entry, found: true });
    }
    needs::check()?;
    check_name(cache.directory())?;
    let _lock = cache.lock(watch)?;
    // The build that held the lock may have made it.
    if let Some(entry) = there() {
        return Ok(Built { entry, found: true });
    }
    needs::check_space(cache.directory())?;
    let place = cache.begin(wanted)?;
    let made = in_place(&place, wanted, watch);

    // A failed build keeps its log; a build that was stopped leaves nothing.
    let entry = match made {
        Ok(()) => place.finish(&place.directory().join("ready"))?,
        Err(Error::Stopped) => return Err(Error::Stopped),
        Err(failed) => return Err(explained(failed, &place)),
    };
    watch.step(&Step::Removing);
    Ok(Built { entry, found: false })
}

/// `make` takes no such name.
fn check_name(directory: &Path) -> Result<(), Error> {
    match directory.to_str() {
        Some(name) if !name.contains([' ', '\t', ':', '#', '$', '%']) => Ok(()),
        _ => Err(Error::at(directory, "a kernel cannot be built in a directory of this name")
            .hint("name a directory of plain letters in FULLPIPE_CACHE")),
    }
}

/// Builds into the directory `ready` of `place`.
fn in_place<W: Watch + ?Sized>(place: &Place, wanted: &Wanted, watch: &mut W) -> Result<(), Error> {
    let directory = place.directory();
    let log_file = directory.join(LOG);
    let log = File::options().create_new(true).append(true).open(&log_file);
    let log = log.map_err(|e| Error::at(&log_file, e))?;
    let found = source::obtain(wanted.family, directory, &log, watch)?;

    // The build is measured from here on, without the download.
    let (clock, cpu) = (Instant::now(), cpu_of_children());
    let tree = directory.join("source");
    watch.step(&Step::Unpacking);
    found.unpack(wanted.family, &tree, &log, watch)?;
    watch.step(&Step::Configuring);
    change::change(&tree, wanted.hz)?;
    make::configure(&tree, wanted, &log, watch)?;
    let lines = make::compile(wanted, &tree, &log, &log_file, watch)?;
    let record = Record {
        format: FORMAT,
        source_version: source::version(&tree)?,
        package_version: found.version(wanted.family),
        hz: wanted.hz.get(),
        configuration: wanted.hash(),
        built: rfc3339(SystemTime::now()),
        compiler: compiler(),
        bytes: 0,
        cpu_s: (cpu_of_children() - cpu).as_secs_f64(),
        wall_s: clock.elapsed().as_secs_f64(),
        lines,
        fullpipe: env!("CARGO_PKG_VERSION").into(),
    };
    collect(directory, &tree, record)
}

fn compiler() -> String {
    let version = ask("gcc", &[OsStr::new("--version")]).unwrap_or_default();
    version.lines().next().unwrap_or_default().to_owned()
}

/// Moves the files to keep into `ready`.
fn collect(directory: &Path, tree: &Path, mut record: Record) -> Result<(), Error> {
    let ready = directory.join("ready");
    let kernel = ready.join(KERNEL);
    fs::create_dir(&ready).map_err(|e| Error::at(&ready, e))?;
    let built = tree.join("linux");
    fs::rename(&built, &kernel).map_err(|e| Error::at(&built, format!("was not built: {e}")))?;
    record.bytes = kernel.metadata().map_err(|e| Error::at(&kernel, e))?.len();
    let log = directory.join(LOG);
    fs::rename(&log, ready.join(LOG)).map_err(|e| Error::at(&log, e))?;
    record.write(&ready)
}

/// The failure with the end of the log, and where all of it is.
fn explained(failed: Error, place: &Place) -> Error {
    let log = fs::read(place.directory().join(LOG)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let kept = place.keep_log();
    match failed {
        Error::Failed { what, hint } if !log.trim().is_empty() => Error::Failed {
            what: format!("{what}\n{}", tail(&log)),
            hint: match hint.is_empty() {
                true => format!("\nthe whole log: {}", kept.display()),
                false => format!("\n{hint}\nthe whole log: {}", kept.display()),
            },
        },
        other => other,
    }
}

/// The last lines, indented.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN)..];
    shown.iter().map(|line| format!("    {line}\n")).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines() {
        let log: String = (1..=40).map(|n| format!("line {n}\n\n")).collect();
        let tail = tail(&log);
        assert_eq!(tail.lines().count(), SHOWN);
        assert!(tail.starts_with("    line 26\n") && tail.ends_with("    line 40"));
    }

    #[test]
    fn names_that_make_cannot_take_are_refused() {
        assert_eq!(check_name(Path::new("/home/x/.cache/fullpipe")), Ok(()));
        for name in ["/home/a b", "/home/a:b"] {
            let error = check_name(Path::new(name)).expect_err("refused").to_string();
            assert!(error.contains(name) && error.contains("FULLPIPE_CACHE"), "{error}");
        }
    }
}
