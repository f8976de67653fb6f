//! Where repetitions do not show that two panels differ, the map of differences says so.

use super::{SCENARIO, count, flow, manifest_of, values_at};
use crate::report_chromium::browser;
use fullpipe::scenario::Space;
use fullpipe::sweep::cells::Cell;
use fullpipe::sweep::estimate::Estimate;
use fullpipe::sweep::surface::{Failures, Surfaces, page};
use serde_json::json;

/// The rates of Reno and CUBIC at the four losses of the first delay, and the conclusions.
const RATES: [[&[f64]; 2]; 4] = [
    [&[10.0, 11.0, 12.0], &[10.5, 11.5, 12.5]],
    [&[10.0, 10.1, 9.9], &[19.0, 19.1, 18.9]],
    [&[5.0, 5.0], &[5.0, 5.0]],
    [&[5.0], &[6.0, 6.5]],
];

fn cells(space: &Space) -> Vec<Cell> {
    let cell = |run: u64| {
        let point = space.point(run);
        let rate = Estimate::of(RATES[point.at[0]][point.variant]).expect("rates");
        Cell {
            variant: space.variants().nth(point.variant).expect("a variant").into(),
            at: space.coordinates(&point),
            runs: rate.n,
            flows: vec![flow("bulk", rate)],
            ..Cell::default()
        }
    };
    let first = |run: &u64| space.point(*run).at[1] == 0;
    (0..space.runs()).filter(first).map(cell).collect()
}

#[test]
fn a_letter_for_each_place() {
    let (space, manifest) = manifest_of(SCENARIO);
    let surfaces = Surfaces::new(&manifest, &cells(&space), Failures::default());
    let of = |quantity: &str| {
        let mut found = surfaces.differences.iter().filter(|one| one.quantity == quantity);
        found.next().map(|one| (one.a, one.b, one.shown.clone()))
    };
    // Three delays at each loss; only the first one was measured.
    assert_eq!(of("rate"), Some((0, 1, "n  h  e  u  ".into())));
    assert_eq!(of("srtt"), Some((0, 1, " ".repeat(12))));
}

#[test]
fn a_browser_marks_what_is_not_shown() {
    let (space, manifest) = manifest_of(SCENARIO);
    let surfaces = Surfaces::new(&manifest, &cells(&space), Failures::default());
    let Some(page) = browser::open(&page(&surfaces, "Some runs.")) else { return };
    let over = |name: &str| {
        let script = format!(
            "return [...document.querySelectorAll('#differences rect.{name}')].map(rect => rect.dataset.over)"
        );
        page.run(&script, &[])
    };
    assert_eq!([over("hatched"), over("dotted")], [json!(["0,0", "2,0"]), json!(["3,0"])]);
    assert_eq!(count(&page, "#marks li"), json!(3));
    for (at, part) in [
        ("0,0", "no difference is shown"),
        ("1,0", "the difference is shown"),
        ("2,0", "all runs of both gave the same"),
        ("3,0", "a single run: whether they differ is not known"),
    ] {
        let text = values_at(&page, &format!("#differences rect[data-at=\"{at}\"]"));
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(part)), "{at}: {text}");
    }
    // The other way round it is the same; a surface and itself have nothing to be tested.
    let choose = |id: &str, n: u32| {
        let script = format!(
            "const select = document.getElementById('{id}'); select.value = {n}; select.onchange();"
        );
        page.run(&script, &[]);
    };
    choose("b", 1);
    assert_eq!([over("hatched"), over("dotted")], [json!([]), json!([])]);
    choose("a", 0);
    assert_eq!([over("hatched"), over("dotted")], [json!(["0,0", "2,0"]), json!(["3,0"])]);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
