//! `fullpipe kernel`: the kernels of engine `linux`.

mod list;
mod progress;

use crate::args::{KernelBuildArguments, KernelCommand, KernelRemoveArguments, Which};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use fullpipe::engine::linux::kernel::build::build as make;
use fullpipe::engine::linux::kernel::{Cache, Entry, Error, Wanted};
use progress::Progress;

/// Text that the first signal prints.
const STOPPING: &str =
    "stopping and removing what there is (once more to leave that to the next build)";

/// Builds, lists or removes.
pub fn kernel(command: &KernelCommand, output: &Output) -> Result<(), Failure> {
    let cache = Cache::of_user().map_err(failure)?;
    match command {
        KernelCommand::Build(build) => self::build(build, &cache, output),
        KernelCommand::List(list) => list::list(list, &cache, output),
        KernelCommand::Remove(remove) => self::remove(remove, &cache),
    }
}

/// Prints where the kernel is.
fn build(arguments: &KernelBuildArguments, cache: &Cache, output: &Output) -> Result<(), Failure> {
    let KernelBuildArguments { family, hz, contents, .. } = *arguments;
    let wanted = Wanted { family, hz, contents };
    interrupt::listen(STOPPING)?;
    let mut progress = Progress::new(arguments.quiet);
    let built = make(cache, &wanted, arguments.force, &mut progress);
    progress.finish();
    let built = built.map_err(failure)?;
    if !arguments.quiet {
        note(&describe(&wanted, &built.entry, built.found));
    }
    output.print(&format!("{}\n", built.entry.kernel().display()))
}

fn describe(wanted: &Wanted, entry: &Entry, found: bool) -> String {
    let Ok(record) = &entry.record else { return format!("{wanted} is damaged") };
    let version = &record.source_version;
    match found {
        true => format!("{wanted} is there already: {version}, built {}", record.built),
        false => format!(
            "{wanted} is built: {version}, {:.1} MB, {:.0} s, {:.0} CPU s",
            record.bytes as f64 / 1e6,
            record.wall_s,
            record.cpu_s
        ),
    }
}

/// Whether the arguments of `kernel remove` name a kernel.
fn is_meant(entry: &Entry, arguments: &KernelRemoveArguments) -> bool {
    let version = match arguments.which {
        Which::All => true,
        Which::One(family) => family == entry.family,
    };
    let contents = arguments.contents.is_none_or(|contents| contents == entry.contents);
    version && contents && arguments.hz.is_none_or(|hz| hz == entry.hz)
}

/// Removes the named kernels; a named version without a kernel is an error.
fn remove(arguments: &KernelRemoveArguments, cache: &Cache) -> Result<(), Failure> {
    let entries = cache.list().into_iter();
    let entries: Vec<Entry> = entries.filter(|entry| is_meant(entry, arguments)).collect();
    let some = arguments.hz.map(drop).or(arguments.contents.map(drop));

    // `all` of an empty cache is no error: there is nothing left to do.
    if entries.is_empty() && (arguments.which != Which::All || some.is_some()) {
        let place = cache.directory().display();
        return Err(Failure::Input(format!(
            "there is no such kernel in {place}; `fullpipe kernel list` shows what there is"
        )));
    }
    for entry in entries {
        cache.remove(&entry).map_err(failure)?;
        if !arguments.quiet {
            note(&format!("removed {}", entry.directory.display()));
        }
    }
    Ok(())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Stopped => Failure::Interrupted,
        failed @ Error::Failed { .. } => Failure::Environment(failed.to_string()),
    }
}
