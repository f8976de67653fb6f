//! A sweep as a page: drawings and texts under the pointer are the cells' values.

mod differences;
mod failures;
mod labels;
mod pairs;
mod tables;
mod thinned;

use crate::report_chromium::browser;
use crate::report_chromium::page::Page;
use fullpipe::scenario::{Source, Space};
use fullpipe::sweep::cells::{Cell, CellFlow};
use fullpipe::sweep::estimate::Estimate;
use fullpipe::sweep::manifest::Manifest;
use fullpipe::sweep::surface::{Failures, Surfaces, page};
use serde_json::{Value, json};

const SCENARIO: &str = r#"
title = "Two <axes>"
[path]
rate = "10Mbit"
delay = { forward = "5ms", back = "5ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "bulk"
duration = "1s"
[[variant]]
name = "reno"
set = { "flow.bulk.congestion" = "reno" }
[[variant]]
name = "cubic"
[sweep]
"path.loss" = [1e-5, 1e-4, 1e-3, 1e-2]
"path.delay.forward, path.delay.back" = [["5ms", "5ms"], ["20ms", "20ms"], ["50ms", "50ms"]]
"#;

fn manifest() -> (Space, Manifest) {
    manifest_of(SCENARIO)
}

/// The space of a scenario, and the manifest of its sweep.
fn manifest_of(scenario: &str) -> (Space, Manifest) {
    let source = Source::text("two.toml", scenario);
    let space = Space::parse(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let manifest = Manifest::new(&space, &source, "Two <axes>", &[], "sim", &[]);
    (space, manifest)
}

/// The rate of a cell, by its numbers: no two are equal.
fn rate(variant: usize, x: usize, y: usize) -> f64 {
    (900.0 - 7.0 * y as f64) / 3_f64.powi(x as i32) - 11.0 * variant as f64 / (x + 1) as f64
}

/// A flow with that rate.
fn flow(name: &str, settled_mbit: Estimate) -> CellFlow {
    CellFlow {
        share: None,
        variation: None,
        name: name.into(),
        congestion: "cubic".into(),
        settled_mbit,
        steady: settled_mbit.n,
        retransmitted: settled_mbit,
        srtt_ms: None,
        law_mbit: None,
        law_holds: false,
        limit: "cwnd_avoidance".into(),
    }
}

/// Number of elements.
fn count(page: &Page, selector: &str) -> Value {
    let script = format!("return document.querySelectorAll('{selector}').length");
    page.run(&script, &[])
}

/// Text that appears when the pointer is over an element.
fn values_at(page: &Page, selector: &str) -> String {
    let script = format!(
        "const target = document.querySelector('{selector}');\
         target.dispatchEvent(new PointerEvent('pointermove', {{ clientX: 9, clientY: 9 }}));\
         return document.getElementById('values').textContent"
    );
    page.run(&script, &[]).as_str().expect("text").to_string()
}

/// All cells but the last one, which is missing.
fn cells(space: &Space) -> Vec<Cell> {
    let cell = |run: u64| {
        let point = space.point(run);
        let mean = rate(point.variant, point.at[0], point.at[1]);
        let estimate =
            |mean: f64| Estimate { n: 3, mean, within: Some(mean / 10.0), min: mean, max: mean };
        let flow = CellFlow {
            steady: if point.at[0] == 0 { 1 } else { 3 },
            retransmitted: estimate(mean * 2.0),
            law_mbit: Some(mean * 1.01),
            law_holds: point.at[0] > 1,
            ..flow("bulk", estimate(mean))
        };
        Cell {
            variant: space.variants().nth(point.variant).expect("a variant").into(),
            at: space.coordinates(&point),
            runs: 3,
            flows: vec![flow],
            ..Cell::default()
        }
    };
    (0..space.runs() - 1).map(cell).collect()
}

#[test]
fn surfaces_have_every_cell_at_its_place() {
    let (space, manifest) = manifest();
    let surfaces = Surfaces::new(&manifest, &cells(&space), Failures::default());
    assert_eq!(surfaces.panels, ["reno", "cubic"]);
    assert_eq!(surfaces.points.len(), 23);
    for point in &surfaces.points {
        assert_eq!(point.rate.mean, rate(point.panel, point.at[0], point.at[1]));
    }
    assert_eq!(surfaces.axes[1].shown, ["5ms, 5ms", "20ms, 20ms", "50ms, 50ms"]);
}

#[test]
fn a_browser_draws_the_cells_and_shows_their_values() {
    let (space, manifest) = manifest();
    let html = page(&Surfaces::new(&manifest, &cells(&space), Failures::default()), "23 runs.");
    let Some(page) = browser::open(&html) else { return };
    let count = |selector: &str| count(&page, selector);
    // Twelve fields in each of two surfaces, one of them without a value; as many in the difference.
    assert_eq!(count("#surfaces rect"), json!(24));
    assert_eq!(count("#surfaces rect.none"), json!(1));
    assert_eq!(count("#differences rect.field"), json!(12));
    assert_eq!(count("#surfaces circle.dot"), json!(6));
    assert!(count("#surfaces path.contour").as_u64() > Some(4));
    // The first slice has both lines, and the rule's where it holds.
    assert_eq!([count("#slices circle.mean"), count("#slices path.law")], [json!(8), json!(2)]);
    let values_at = |selector: &str| values_at(&page, selector);
    let text = values_at("#surfaces > div:nth-child(2) rect[data-at=\"1,2\"]");
    let mean = rate(1, 1, 2);
    for part in [
        "cubic".to_string(),
        "path.loss 1e-4".into(),
        "50ms, 50ms".into(),
        format!("rate {mean:.0} ± {:.1} Mb/s (3 runs)", mean / 10.0),
        "steady in 3 of 3".into(),
        "held back by cwnd_avoidance".into(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    let times = values_at("#differences rect[data-at=\"0,0\"]");
    let ratio = rate(1, 0, 0) / rate(0, 0, 0);
    assert!(times.starts_with(&format!("cubic over reno: {ratio:.3} times")), "{times}");
    // Another quantity draws its own values.
    let choose =
        "const select = document.getElementById('quantity'); select.value = 1; select.onchange();";
    page.run(choose, &[]);
    let shown = page
        .run("return document.querySelector('#slices svg > text:last-of-type').textContent", &[]);
    assert_eq!(shown, json!("segments sent again, segments"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
