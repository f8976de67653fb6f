//! Five cases on the kernel again: the same as their tables, number by number.

use crate::suite::{self, Case};
use crate::{golden, kept, record, runs};

/// From all over the suite, and cheap.
const AGAIN: [&str; 5] = [
    "buffers/receive-buffer-500kB",
    "drops/cubic-acks",
    "queue/bic-0.5bdp",
    "short/1.5MB-1Gbit-80ms",
    "two-flows/cubic-and-reno",
];

#[test]
fn the_kernel_does_the_same_again() {
    let cases: Vec<Case> =
        suite::all().into_iter().filter(|case| AGAIN.contains(&&*case.name())).collect();
    assert_eq!(cases.len(), AGAIN.len(), "these are no names of cases");
    let Some(kernel) = runs::kernel(&cases[0]) else { return };
    record::parallel(&cases, |case: &Case| {
        let kept = std::fs::read_to_string(case.table()).expect("a table");
        let now = golden::body(case, &runs::trace("linux", &case.plan().resolved));
        let (name, of) = (case.name(), kept::table(case).kernel);
        let version = &kernel.source_version;
        assert_eq!(
            golden::body_of(&kept),
            now,
            "{name}: its table is of {of}, this kernel is {version}; `make parity-record` records all"
        );
    });
}
