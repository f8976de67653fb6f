//! Drawn points, read back from the SVG, are the document's values.

use crate::expected::{Point, expected, gauge};
use crate::page::Page;
use crate::{browser, sample};
use fullpipe::report::html::render;
use serde_json::json;

/// Compares what is drawn with the document, to a hundredth of a pixel.
pub fn check_drawn(page: &Page, figure: &str, series: &str, expected: &[Point]) {
    let drawn = page.points(figure, series);
    assert_eq!(drawn.len(), expected.len(), "{figure} {series}");
    let highest = expected.iter().map(|point| point.1).fold(1e-9, f64::max);
    let (pixel_x, pixel_y) = page.resolution(figure, series, highest);
    for (one, other) in drawn.iter().zip(expected) {
        let near = |a: f64, b: f64, pixel: f64| (a - b).abs() <= pixel * 0.01;
        let high = match (one.2, other.2) {
            (Some(a), Some(b)) => near(a, b, pixel_y),
            (a, b) => a.is_none() && b.is_none(),
        };
        let same = near(one.0, other.0, pixel_x) && near(one.1, other.1, pixel_y) && high;
        assert!(same, "{figure} {series}: drawn {one:?}, in the document {other:?}");
    }
}

#[test]
fn every_drawn_point_is_a_value_of_the_document() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let mut points = 0;
    for run in 0..document.runs.len() {
        for (figure, series, expected) in expected(&document, run) {
            check_drawn(&page, figure, &series, &expected);
            points += expected.len();
        }
    }
    assert!(points > 5_000, "{points} points were compared");
    page.click("#figure-cwnd .log", 1);
    page.wait_for("document.querySelector('#figure-cwnd .log').ariaPressed === 'true'");
    for run in 0..document.runs.len() {
        let flow = &document.runs[run].flows[0];
        check_drawn(
            &page,
            "cwnd",
            &format!("r{run}.f0.cwnd"),
            &gauge(flow, &flow.series.cwnd, 1.0),
        );
    }
}

#[test]
fn a_sweep_draws_six_runs_until_asked_for_more() {
    let document = sample::sweep(50);
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    assert_eq!(
        page.run("return document.querySelectorAll('#legend [data-run]').length", &[]),
        json!(50)
    );
    assert_eq!(
        page.run("return document.querySelectorAll('#figure-windows .panel').length", &[]),
        json!(6)
    );
    page.click("#legend [data-run='49']", 1);
    page.wait_for("fullpipe.series('cwnd').includes('r49.f0.cwnd')");
    for (figure, series, expected) in expected(&document, 49) {
        check_drawn(&page, figure, &series, &expected);
    }
    let scrolls = "const list = document.querySelector('#legend .list'); return list.scrollHeight > list.clientHeight";
    assert_eq!(page.run(scrolls, &[]), json!(true));
}
