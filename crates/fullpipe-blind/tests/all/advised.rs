//! Records of measurements of advice.

use crate::page::Page;
use fullpipe_blind::advised::{Cure, Listed, Measured, Path, Sized, page, path, record};

const PATHS: &str = include_str!("../../recorded/paths.jsonl");

/// Seed of the recorded paths.
const SEED: u64 = 419;

/// Sums of a record of so many paths or cases.
fn sums<T: Measured>(text: &str, count: usize) -> String {
    let all = record::read::<T>(text).expect("a record");
    assert_eq!(all.len(), count, "{}", T::HEAD);
    T::sums(&all)
}

#[test]
fn records_make_the_page() {
    let mut page = Page::read("advice.md");
    page.put("paths", &sums::<Path>(PATHS, 60));
    page.put("lists", &sums::<Listed>(include_str!("../../recorded/lists.jsonl"), 50));
    page.put("sizes", &sums::<Sized>(include_str!("../../recorded/sizes.jsonl"), 32));
    page.put("cures", &sums::<Cure>(include_str!("../../recorded/cures.jsonl"), 285));
    page.check();
}

/// The quickest rows of the record with a change and without one, again: what was recorded is what the method does.
#[test]
fn recorded_rows_are_what_advice_does() {
    let all: Vec<Path> = record::read(PATHS).expect("a record");
    for has_changes in [false, true] {
        let rows = all.iter().enumerate().filter(|(_, own)| own.changes.is_empty() != has_changes);
        let quickest = rows.min_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds));
        let (number, own) = quickest.expect("a row");
        let again = path(SEED, number).expect("advice");
        assert_eq!(Path { seconds: own.seconds, ..again }, *own);
    }
}

#[test]
fn a_record_makes_the_same_page() {
    let all = [
        Sized { path: "a".into(), setting: "rmem".into(), arithmetic: 115, bisected: 100 },
        Sized { path: "b".into(), setting: "wmem".into(), arithmetic: 80, bisected: 100 },
    ];
    let read: Vec<Sized> = record::read(&record::written(&all)).expect("a record");
    assert_eq!(page("", &read), page("", &all));
    let sums = Sized::sums(&read);
    assert!(sums.contains("| 0.500 (1 of 2) |\n| too small by more | 0.500 (1 of 2) |"), "{sums}");
}

#[test]
fn healthy_cases_and_short_ones_are_counted_apart() {
    let case = |cause: &str, changes: &[&str]| Cure {
        name: "x".into(),
        cause: cause.into(),
        setting: false,
        shares: [1.0, 1.0],
        regained: 1.0,
        changes: changes.iter().map(|own| own.to_string()).collect(),
    };
    let all = [case("none", &[]), case("none", &["a pace"]), case("too_short", &["initcwnd"])];
    let sums = Cure::sums(&all);
    assert!(sums.contains("healthy, and nothing is advised | 0.500 (1 of 2)"), "{sums}");
    assert!(sums.contains("too short to tell, and nothing is advised | 0.000 (0 of 1)"), "{sums}");
}

#[test]
fn wrong_lines_are_named() {
    let wrong = record::read::<Sized>("{}\n").expect_err("no size");
    assert!(wrong.starts_with("line 1: missing field"), "{wrong}");
}
