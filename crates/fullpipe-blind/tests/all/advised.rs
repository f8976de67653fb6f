//! Records of measurements of advice.

use crate::page::Page;
use fullpipe::advice::method::Goal;
use fullpipe_blind::advised::{
    Cure, Listed, Measured, Path, Sized, cure, drawn, judged, listed, page, path, record, sizes,
};
use fullpipe_blind::generate::{self, Hosts};

const PATHS: &str = include_str!("../../recorded/paths.jsonl");
const LISTS: &str = include_str!("../../recorded/lists.jsonl");
const SIZES: &str = include_str!("../../recorded/sizes.jsonl");
const CURES: &str = include_str!("../../recorded/cures.jsonl");

/// Seeds of the recorded paths, of the paths for lists, of the paths for sizes, and of the blind cases.
const PATHS_SEED: u64 = 441;
const LISTS_SEED: u64 = 442;
const SIZES_SEED: u64 = 443;
const CURES_SEED: u64 = 505;
/// Blind cases of that set.
const CASES: usize = 500;

/// Sums of a record of `count` paths or cases.
fn sums<T: Measured>(text: &str, count: usize) -> String {
    let all = record::read::<T>(text).expect("a record");
    assert_eq!(all.len(), count, "{}", T::HEAD);
    T::sums(&all)
}

#[test]
fn records_make_the_page() {
    let mut page = Page::read("advice.md");
    page.put("paths", &sums::<Path>(PATHS, 60));
    page.put("lists", &sums::<Listed>(LISTS, 50));
    page.put("sizes", &sums::<Sized>(SIZES, 18));
    page.put("cures", &sums::<Cure>(CURES, 284));
    page.check();
}

/// The quickest rows of the record with a change and without one, again: the method still gives the recorded results.
#[test]
fn recorded_rows_are_what_advice_does() {
    let all: Vec<Path> = record::read(PATHS).expect("a record");
    for has_changes in [false, true] {
        let rows = all.iter().enumerate().filter(|(_, own)| own.changes.is_empty() != has_changes);
        let quickest = rows.min_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds));
        let (number, own) = quickest.expect("a row");
        let again = path(PATHS_SEED, number).expect("advice");
        assert_eq!(Path { seconds: own.seconds, ..again }, *own);
    }
}

/// Path 35 of seed 422: eight flows on a short queue. With three seeds a pace gains 2.8 %, with three others nothing.
#[test]
fn a_small_gain_has_to_be_there_with_other_seeds() {
    let (name, text) = drawn(422, 35);
    let own = judged(&name, &text, Goal::Rate).expect("advice").advice;
    assert!(own.changes.is_empty(), "{:?}", own.list());
    let then: Vec<&str> = own.steps.iter().map(|step| &step.then[..]).collect();
    assert!(then.contains(&"the changes gain less than 2 %: set nothing"), "{then:?}");
}

/// Number of a path or a case, which its name has.
fn number(name: &str) -> usize {
    let digits = name.trim_start_matches("case-").split('-').next();
    digits.and_then(|own| own.parse().ok()).expect("a number")
}

/// The path with the least memory that advice changes, with each list.
#[test]
#[ignore = "a study: make studies"]
fn study_a_recorded_row_of_lists_is_what_they_do() {
    let all: Vec<Listed> = record::read(LISTS).expect("a record");
    let changed = all.iter().filter(|own| own.advised.memory_mb != own.today.memory_mb);
    let own = changed.min_by(|a, b| a.advised.memory_mb.total_cmp(&b.advised.memory_mb));
    let own = own.expect("a row");
    assert_eq!(listed(LISTS_SEED, number(&own.name)).expect("figures"), *own);
}

/// The smallest buffer, with the others of its path.
#[test]
#[ignore = "a study: make studies"]
fn study_recorded_sizes_are_what_bisection_finds() {
    let all: Vec<Sized> = record::read(SIZES).expect("a record");
    let least = all.iter().min_by_key(|own| own.bisected).expect("a row");
    let of_path: Vec<Sized> = all.iter().filter(|own| own.path == least.path).cloned().collect();
    assert_eq!(sizes(SIZES_SEED, number(&least.path)).expect("sizes"), of_path);
}

/// The first case with a change, drawn and labelled again.
#[test]
fn a_recorded_cure_is_what_advice_does() {
    let all: Vec<Cure> = record::read(CURES).expect("a record");
    let own = all.iter().find(|own| !own.changes.is_empty()).expect("a row");
    let at = number(&own.name);
    let cause = generate::causes(CURES_SEED, CASES, Hosts::Full)[at];
    let drawn = generate::draw(CURES_SEED, at, cause, Hosts::Full).expect("a draft");
    assert_eq!(cure(&drawn.case.expect("a case")).expect("advice"), *own);
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
    let of = |cause: &str, worst_share, gains: Option<[f64; 2]>, changes: &[&str]| Cure {
        name: "x".into(),
        cause: cause.into(),
        setting: false,
        shares: [1.0, 1.0],
        regained: 1.0,
        worst_share,
        gains,
        changes: changes.iter().map(|own| own.to_string()).collect(),
    };
    let all = [
        of("none", Some(0.99), None, &[]),
        of("none", Some(0.96), Some([1.03, 1.0]), &["a pace"]),
        of("none", Some(0.95), Some([1.0, 1.05]), &["SACK"]),
        of("none", Some(0.95), Some([1.01, 1.0]), &["a pace"]),
        of("too_short", None, None, &["initcwnd"]),
    ];
    let sums = Cure::sums(&all);
    assert!(sums.contains("healthy, and nothing is advised | 0.250 (1 of 4)"), "{sums}");
    assert!(sums.contains("median of nine other runs | 0.750 (3 of 4)"), "{sums}");
    assert!(sums.contains("too, and nothing is advised | 1.000 (1 of 1)"), "{sums}");
    assert!(sums.contains("too short to tell, and nothing is advised | 0.000 (0 of 1)"), "{sums}");
}

#[test]
fn wrong_lines_are_named() {
    let wrong = record::read::<Sized>("{}\n").expect_err("no size");
    assert!(wrong.starts_with("line 1: missing field"), "{wrong}");
}
