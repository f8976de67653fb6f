//! Records of measurements of advice.

use fullpipe_blind::advised::{Cure, Measured, Sized, page, record};

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
