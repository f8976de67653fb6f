//! Congestion controls against each other, as one matrix.

use super::{count, flow, manifest_of, values_at};
use crate::report_chromium::browser;
use fullpipe::scenario::{Point, Space};
use fullpipe::sweep::cells::{Cell, CellFlow, CellShared};
use fullpipe::sweep::estimate::Estimate;
use fullpipe::sweep::manifest::Manifest;
use fullpipe::sweep::surface::{Failures, Surfaces, page};
use serde_json::json;

/// Three controls against two, on two lengths of the way.
const SCENARIO: &str = r#"
[path]
rate = "10Gbit"
delay = { forward = "5ms", back = "5ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "one"
duration = "1s"
[[flow]]
name = "other"
duration = "1s"
[sweep]
"flow.other.congestion" = ["reno", "cubic"]
"path.delay.forward" = ["5ms", "20ms"]
"flow.one.congestion" = ["reno", "bic", "scalable"]
"#;

/// The first flow's share at a point: no two are equal, and they grow from 0.05 to 0.93.
fn share(point: &Point) -> f64 {
    let number = point.at[1] * 6 + point.at[2] * 2 + point.at[0];
    0.05 + 0.08 * number as f64
}

fn estimate(mean: f64, within: f64) -> Estimate {
    Estimate { n: 3, mean, within: Some(within), min: mean - within, max: mean + within }
}

/// All cells but that of Scalable against CUBIC on the short way, which has no run.
fn cells(space: &Space) -> Vec<Cell> {
    let cell = |run: u64| {
        let point = space.point(run);
        let share = share(&point);
        let one = |name: &str, share: f64| CellFlow {
            share: Some(estimate(share, if share < 0.1 { 0.002 } else { 0.02 })),
            ..flow(name, estimate(9000.0 * share, 90.0))
        };
        let fairness = CellShared {
            jain: estimate(0.5, 0.1),
            jain_settled: Some(estimate(0.5 + share / 3.0, 0.01)),
            converged: 0,
            converged_s: None,
            too_short: 0,
            rtt_exponent: None,
            dropped: estimate(0.0, 0.0),
            queue: None,
        };
        Cell {
            variant: "base".into(),
            at: space.coordinates(&point),
            runs: 3,
            flows: vec![one("one", share), one("other", 1.0 - share)],
            fairness: Some(fairness),
            ..Cell::default()
        }
    };
    let there = |run: &u64| space.point(*run).at != [1, 0, 2];
    (0..space.runs()).filter(there).map(cell).collect()
}

fn surfaces(space: &Space, manifest: &Manifest) -> Surfaces {
    Surfaces::new(manifest, &cells(space), Failures::default())
}

#[test]
fn rows_are_the_first_flow_wherever_its_axis_stands() {
    let (space, manifest) = manifest_of(SCENARIO);
    let surfaces = surfaces(&space, &manifest);
    let pairs = surfaces.pairs.expect("two flows' controls");
    assert_eq!((pairs.rows, pairs.columns), (2, 0));
    assert_eq!((pairs.first.as_str(), pairs.second.as_str()), ("one", "other"));
    assert_eq!(pairs.fields.len(), 11);
    for field in &pairs.fields {
        let at = Point { variant: 0, at: field.at.clone(), repetition: 0 };
        assert_eq!(field.share.mean, share(&at));
        assert_eq!(field.first.mean, 9000.0 * share(&at));
    }
    assert_eq!(
        surfaces.axes.iter().map(|axis| axis.names).collect::<Vec<_>>(),
        [true, false, true]
    );
}

#[test]
fn other_axes_and_other_flows_make_no_matrix() {
    let (space, manifest) = manifest_of(SCENARIO);
    let none =
        |cells: &[Cell]| Surfaces::new(&manifest, cells, Failures::default()).pairs.is_none();
    assert!(!none(&cells(&space)));
    let mut three = cells(&space);
    three.iter_mut().for_each(|cell| cell.flows.push(cell.flows[1].clone()));
    assert!(none(&three), "three flows");
    let mut apart = cells(&space);
    apart.iter_mut().flat_map(|cell| &mut cell.flows).for_each(|flow| flow.share = None);
    assert!(none(&apart), "they do not share the path");
    let (space, manifest) = manifest_of(&SCENARIO.replace(
        "\"flow.one.congestion\" = [\"reno\", \"bic\", \"scalable\"]",
        "\"path.mtu\" = [1500, 4000, 9000]",
    ));
    assert!(surfaces(&space, &manifest).pairs.is_none(), "one control");
}

/// Red less blue of a field's colour.
const WARMTH: &str = "return [...document.querySelectorAll('#matrices rect.field:not(.none)')].map(rect => {\
    const [r, , b] = rect.getAttribute('fill').match(/\\d+/g).map(Number); return r - b })";

#[test]
fn a_browser_draws_the_matrix_and_shows_its_values() {
    let (space, manifest) = manifest_of(SCENARIO);
    let Some(page) = browser::open(&page(&surfaces(&space, &manifest), "66 runs.")) else { return };
    assert_eq!(count(&page, "#matrices rect.field"), json!(6));
    assert_eq!(count(&page, "#matrices rect.none"), json!(1));
    // Of the short way, in rows: reno, bic, scalable against reno and CUBIC.
    let texts = "return [...document.querySelectorAll('#matrices text.share')].map(text => text.textContent)";
    let shares = ["0.050 ± 0.002", "0.13 ± 0.02", "0.21 ± 0.02", "0.29 ± 0.02", "0.37 ± 0.02"];
    assert_eq!(page.run(texts, &[]), json!(shares));
    let numbers = "return [...document.querySelectorAll('#matrices text.number:not(.share)')].slice(0, 2).map(text => text.textContent)";
    assert_eq!(page.run(numbers, &[]), json!(["0.45 and 8.55", "Jain 0.52"]));
    let warmth = page.run(WARMTH, &[]);
    let warmth: Vec<i64> = serde_json::from_value(warmth).expect("colours");
    assert!(warmth.is_sorted() && warmth[0] < -50 && warmth[4] < -10, "{warmth:?}");
    let text = values_at(&page, "#matrices rect[data-at=\"1,1\"]");
    for part in [
        "one: bic",
        "other: cubic",
        "path.delay.forward 5ms",
        "share of one 0.290 ± 0.020 (3 runs, 0.27 to 0.31)",
        "one 2,610 ± 90.0 Mb/s",
        "other 6,390 ± 90.0 Mb/s",
        "Jain's index, settled 0.597 ± 0.010",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(values_at(&page, "#matrices rect[data-at=\"2,1\"]").ends_with("nothing was measured"));
    // The long way: around one half colours pass from blue to orange.
    let far = "const select = document.querySelector('#places select'); select.value = 1; select.onchange();";
    page.run(far, &[]);
    let warmth: Vec<i64> = serde_json::from_value(page.run(WARMTH, &[])).expect("colours");
    assert!(warmth.len() == 6 && warmth.is_sorted() && warmth[5] > 50, "{warmth:?}");
    assert_eq!(page.run(texts, &[])[0], json!("0.53 ± 0.02"));
    // Nothing lies between two names: no contours, no lines.
    assert_eq!(
        [count(&page, "path.contour"), count(&page, "#slices path.line")],
        [json!(0), json!(0)]
    );
    assert_eq!(page.complaints(), Vec::<String>::new());
}
