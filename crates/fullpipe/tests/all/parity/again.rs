//! Some cases on their kernels again: the same as their tables, number by number.

use crate::parity::{kept, record, runs, suite};
use fullpipe::parity::both::JUDGE;
use fullpipe::parity::case::Case;

/// From all over the suite, and cheap. On 6.1 flows at one instant need the guest's help to begin in their order.
const AGAIN: [&str; 7] = [
    "buffers/receive-buffer-500kB",
    "drops/cubic-acks",
    "queue/bic-0.5bdp",
    "same-instant/requests",
    "same-instant/three-of-3-MB",
    "short/1.5MB-1Gbit-80ms",
    "two-flows/cubic-and-reno",
];

#[test]
fn the_kernel_does_the_same_again() {
    let cases: Vec<Case> =
        suite::all().into_iter().filter(|case| AGAIN.contains(&&*case.name)).collect();
    assert_eq!(cases.len(), AGAIN.len(), "these are no names of cases");
    let required = std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_some();
    record::parallel(&cases, |case: &Case| {
        let Some(kernel) = runs::kernel(case) else { return };
        let (kept, version) = (kept::table(case), kernel.source_version);
        if !is_of(&kept.origin.kernel, &version, required) {
            return;
        }
        let now = runs::table(JUDGE, case).body();
        let (name, of) = (&case.name, &kept.origin.kernel);
        if let Some((was, is)) = first_difference(&kept.body(), &now) {
            panic!(
                "{name}: the table, of {of}, has\n{was}\nand Linux {version} now\n{is}\n\
                 `make parity-record` records all tables"
            );
        }
    });
}

/// Whether a table of the kernel `recorded` is one of Linux `version`. A `required` table fails otherwise: the
/// distribution has another point release, and no run would be repeated.
fn is_of(recorded: &str, version: &str, required: bool) -> bool {
    let same = recorded.starts_with(&format!("Linux {version} "));
    if !same {
        let why = format!("the tables are of {recorded}, this kernel is Linux {version}");
        assert!(!required, "{why}: `make parity-record` records all tables");
        println!("skipped: {why}");
    }
    same
}

/// The first line that two texts do not have in common.
fn first_difference<'a>(a: &'a str, b: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut one, mut other) = (a.lines(), b.lines());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => return Some((a.unwrap_or("no more"), b.unwrap_or("no more"))),
        }
    }
}

#[test]
fn differences_are_found_wherever_they_are() {
    assert_eq!(first_difference("a\nb", "a\nb"), None);
    assert_eq!(first_difference("a\nb", "a\nc"), Some(("b", "c")));
    assert_eq!(first_difference("a", "a\nc"), Some(("no more", "c")));
}

#[test]
fn tables_of_another_point_release_are_no_reason_to_run_nothing() {
    let recorded = "Linux 6.12.117 (6.12.117-1), HZ 1000, configuration 0";
    assert!(is_of(recorded, "6.12.117", true) && is_of(recorded, "6.12.117", false));
    assert!(!is_of(recorded, "6.12.11", false));
    let failed = std::panic::catch_unwind(|| is_of(recorded, "6.12.118", true));
    let why = failed.expect_err("it fails where a kernel is required");
    let why = why.downcast::<String>().expect("a text");
    assert!(why.contains("6.12.118: `make parity-record`"), "{why}");
}
