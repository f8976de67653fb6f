//! Records the golden tables on a real kernel.

use crate::parity::{runs, suite};
use fullpipe::engine::linux::kernel::Record;
use fullpipe::parity::both::JUDGE;
use fullpipe::parity::case::Case;
use fullpipe::parity::table::Origin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Does `work` for each item, as many at a time as there are cores.
pub fn parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let one = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item);
        }
    };
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(one))));
}

fn origin(case: &Case, kernel: &Record) -> Origin {
    let package = kernel.package_version.as_deref().unwrap_or("no package");
    let (version, hz, configuration) = (&kernel.source_version, kernel.hz, &kernel.configuration);
    Origin {
        kernel: format!("Linux {version} ({package}), HZ {hz}, configuration {configuration}"),
        command: suite::command(case),
        seed: case.plan.resolved.seed.to_string(),
        scenario: case.hash(),
    }
}

/// Records all tables, or those of the file that `FULLPIPE_PARITY` names (without `.toml`).
#[test]
#[ignore = "records all golden tables anew, which takes minutes and a kernel"]
fn record() {
    let only = std::env::var("FULLPIPE_PARITY").ok();
    let is_asked = |file: &str| only.as_ref().is_none_or(|only| only == file);
    let of_file = |case: &Case| is_asked(case.name.split('/').next().unwrap_or_default());
    let cases: Vec<Case> = suite::all().into_iter().filter(of_file).collect();
    let Some(kernels) = cases.iter().map(runs::kernel).collect::<Option<Vec<_>>>() else { return };
    let cases: Vec<(Case, Record)> = cases.into_iter().zip(kernels).collect();
    if let Ok(old) = std::fs::read_dir(suite::folder().join("golden")) {
        let old = old.map(|entry| entry.expect("a folder"));
        let old = old.filter(|entry| entry.file_name().to_str().is_some_and(is_asked));
        old.for_each(|entry| std::fs::remove_dir_all(entry.path()).expect("removed"));
    }
    let done = AtomicUsize::new(0);
    parallel(&cases, |(case, kernel)| {
        let begun = Instant::now();
        let mut table = runs::table(JUDGE, case);
        table.origin = origin(case, kernel);
        let path = suite::table(case);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, table.text()).expect("written");
        let number = done.fetch_add(1, Ordering::Relaxed) + 1;
        let (name, all) = (&case.name, cases.len());
        println!("{number}/{all} {name}: {:.1} s", begun.elapsed().as_secs_f64());
    });
}
