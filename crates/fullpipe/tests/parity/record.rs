//! Records all tables anew (`make parity-record`).

use crate::suite::{self, Case};
use crate::{golden, runs};
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

#[test]
#[ignore = "records all golden tables anew, which takes minutes and a kernel"]
fn record() {
    let cases = suite::all();
    let Some(kernel) = runs::kernel(&cases[0]) else { return };
    if let Ok(old) = std::fs::read_dir(suite::folder().join("golden")) {
        old.for_each(|entry| {
            std::fs::remove_dir_all(entry.expect("a folder").path()).expect("removed")
        });
    }
    let done = AtomicUsize::new(0);
    parallel(&cases, |case: &Case| {
        let begun = Instant::now();
        let recording = runs::trace("linux", &case.plan().resolved);
        let path = case.table();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, golden::write(case, &kernel, &recording)).expect("written");
        let number = done.fetch_add(1, Ordering::Relaxed) + 1;
        let (name, all) = (case.name(), cases.len());
        println!("{number}/{all} {name}: {:.1} s", begun.elapsed().as_secs_f64());
    });
}
