//! Scores of a set made by hand, with known right verdicts.

use fullpipe::analysis::view::View;
use fullpipe::engine::sim::Simulator;
use fullpipe::experiment::Allowed;
use fullpipe_blind::causes::group;
use fullpipe_blind::generate::{Case, Hosts, draw};
use fullpipe_blind::label::Label;
use fullpipe_blind::score::{Scored, judged, markdown, score, summary};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn case(number: u64, cause: &str) -> Case {
    let label = Label {
        cause: cause.into(),
        group: group(cause).into(),
        setting: cause == "sndbuf",
        gain: 2.0,
        cured_mbit: 200.0,
        base_mbit: 100.0,
        seed: 1,
        number,
        attempt: 0,
        reliefs: BTreeMap::new(),
        worst_share: None,
    };
    Case { name: format!("case-{number:04}"), text: String::new(), label }
}

/// Eight verdicts: three right ones, one right twin of two, one wrong twin of the right group, one wrong, and "cannot tell" twice.
fn set() -> Vec<Scored> {
    let table: [(&str, Value); 8] = [
        ("sndbuf", json!({ "code": "sndbuf", "confidence": "sure" })),
        ("none", json!({ "grade": "full", "rule": "short-queue" })),
        ("loss", json!({ "grade": "below", "rule": "random-loss" })),
        (
            "cpu_sender",
            json!({ "code": "app_write", "twins": ["cpu_sender"], "confidence": "likely" }),
        ),
        ("rwnd_auto", json!({ "code": "rwnd_fixed", "twins": ["sndbuf"], "confidence": "likely" })),
        ("sndbuf", json!({ "code": "nic", "twins": [], "confidence": "sure" })),
        ("too_short", json!({ "code": "slow-start", "confidence": "cannot_tell" })),
        ("policer", json!({ "grade": "cannot_tell" })),
    ];
    let scored =
        table.iter().zip(0..).map(|((cause, headline), n)| judged(&case(n, cause), headline));
    scored.collect()
}

#[test]
fn twins_count_in_parts_and_cannot_tell_is_right_of_short_cases() {
    let set = set();
    let points: Vec<f64> = set.iter().map(|own| own.points).collect();
    assert_eq!(points, [1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 1.0, 0.0]);
    let groups: Vec<f64> = set.iter().map(|own| own.group_points).collect();
    assert_eq!(groups, [1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 1.0, 0.0]);
}

#[test]
fn sums_are_those_of_the_set() {
    let own = summary(&set());
    assert_eq!((own.exact.points, own.exact.of), (4.5, 8));
    assert_eq!((own.group.points, own.group.of), (5.5, 8));
    assert_eq!((own.sure.points, own.sure_exact.points, own.sure_exact.of), (2.0, 1.0, 2));
    assert_eq!((own.setting.points, own.setting.of), (1.0, 2));
    assert_eq!((own.with_none.points, own.cannot_tell.points), (1.0, 2.0));
    assert_eq!((own.healthy_called_broken.points, own.healthy_called_broken.of), (0.0, 1));
    assert_eq!(own.confusion["sndbuf"], BTreeMap::from([("nic".into(), 1), ("sndbuf".into(), 1)]));
    let row = own.rows.iter().find(|row| row.cause == "sndbuf").expect("a row");
    assert_eq!((row.of, row.right, &row.instead[..]), (2, 1.0, &[("nic".to_string(), 1)][..]));
    // Wilson's interval of 4.5 of 8, by hand.
    assert!((own.exact.from - 0.2589).abs() < 1e-3 && (own.exact.to - 0.8255).abs() < 1e-3);
}

#[test]
fn the_page_lists_rows_and_errors() {
    let page = markdown("Eight cases.", &set());
    for part in [
        "| right cause | 0.56 (0.26 to 0.83), 4.5 of 8 |",
        "| sndbuf | 2 | 1 | 1 | nic 1 |",
        "| case-0005 | sndbuf | 2.00 | nic |",
        "| case-0007 | policer | 2.00 | cannot_tell |",
    ] {
        assert!(page.contains(part), "no {part:?} in:\n{page}");
    }
    assert!(!page.contains("| case-0000 |"), "{page}");
}

/// A window without scale shows in packets at either end, whatever the capture's place is said to be.
#[test]
fn views_of_captures_are_scored_from_packets() {
    let drawn = draw(3, 1, "wscale_off", Hosts::Full).expect("a draft");
    let case = drawn.case.expect("a case");
    let allowed = Allowed { as_kernel: None, without: &[] };
    for view in View::OF_CAPTURES {
        let own = score(&case, &Simulator, allowed, view).expect("a score");
        assert_eq!((&own.says[..], own.points), (&["wscale_off".to_string()][..], 1.0), "{own:?}");
    }
}
