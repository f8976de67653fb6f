//! Drawn points, read back from the SVG, are the document's values.

use crate::report_chromium::browser;
use crate::report_chromium::expected::{Point, expected, gauge};
use crate::report_chromium::page::Page;
use crate::report_sample as sample;
use fullpipe::report::html::render;
use serde_json::{Value, json};

/// Compares the drawing with the document, to a hundredth of a pixel.
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
fn where_values_outnumber_pixels_extremes_are_still_drawn() {
    let document = sample::dense();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let flow = &document.runs[2].flows[0];
    let all = gauge(flow, &flow.series.in_flight, 1.0);
    let drawn = page.points("windows", "r2.f0.in_flight");
    assert!(drawn.len() > 200 && drawn.len() < all.len() / 4, "{} of {}", drawn.len(), all.len());
    let (pixel_x, pixel_y) = page.resolution("windows", "r2.f0.in_flight", 5000.0);
    for one in &drawn {
        let near = |other: &&Point| {
            (one.0 - other.0).abs() <= pixel_x * 0.01 && (one.1 - other.1).abs() <= pixel_y * 0.01
        };
        assert!(all.iter().any(|other| near(&other)), "{one:?} is no value of the document");
    }
    let highest = |points: &[Point]| points.iter().map(|point| point.1).fold(0.0, f64::max);
    assert!((highest(&drawn) - highest(&all)).abs() <= pixel_y * 0.01);
}

/// A linear axis as a reader sees it: places and labels of its first and last tick.
fn read_axis(ticks: &Value) -> impl Fn(f64) -> f64 + use<> {
    let tick = |place: usize| {
        let text = ticks[place][1].as_str().expect("a label").replace(',', "");
        let number = text.trim_end_matches(" s").parse::<f64>().expect("a number");
        (ticks[place][0].as_f64().expect("pixels"), number)
    };
    let (first, last) = (tick(0), tick(ticks.as_array().expect("ticks").len() - 1));
    move |px| first.1 + (px - first.0) * (last.1 - first.1) / (last.0 - first.0)
}

#[test]
fn circles_stand_where_the_written_axes_say() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let script = "const svg = document.querySelector('#figure-throughput svg'); \
        const value = (node, name) => Number(node.getAttribute(name)); \
        const ticks = (selector, name, keep) => [...svg.querySelectorAll(selector)].filter(keep) \
            .map(line => [value(line, name), line.nextSibling.textContent]); \
        return {y: ticks('.grid', 'y1', () => true), \
                x: ticks('.axis', 'x1', line => value(line, 'x1') === value(line, 'x2')), \
                circles: [...svg.querySelectorAll('circle.published')].map(one => \
                    [one.dataset.series, value(one, 'cx'), value(one, 'cy')])}";
    let seen = page.run(script, &[]);
    let (x, y) = (read_axis(&seen["x"]), read_axis(&seen["y"]));
    for run in 0..document.runs.len() {
        let rows = &document.runs[run].published.as_ref().expect("published").rows;
        let id = json!(format!("r{run}.published"));
        let circles =
            seen["circles"].as_array().expect("circles").iter().filter(|one| one[0] == id);
        let places: Vec<_> =
            circles.map(|one| (x(one[1].as_f64().unwrap()), y(one[2].as_f64().unwrap()))).collect();
        assert_eq!(places.len(), rows.len());
        for (place, row) in places.iter().zip(rows) {
            let near = (place.0 - row.start_s - 0.5).abs() < 0.01
                && (place.1 - row.throughput_mbit).abs() < 1.0;
            assert!(near, "{place:?} is not {} s, {} Mb/s", row.start_s + 0.5, row.throughput_mbit);
        }
    }
}

#[test]
fn the_moment_of_parting_is_drawn_through_both_curves() {
    let document = sample::compared();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let script = "const [figure] = arguments; \
        const svg = document.querySelector(`#figure-${figure} svg`); \
        const ticks = [...svg.querySelectorAll('.axis')].filter(l => l.getAttribute('x1') === l.getAttribute('x2')) \
            .map(l => [Number(l.getAttribute('x1')), l.nextSibling.textContent]); \
        return {ticks, lines: [...svg.querySelectorAll('.moment')].map(l => Number(l.getAttribute('x1')))}";
    for figure in ["throughput", "cwnd"] {
        let seen = page.run(script, &[json!(figure)]);
        let x = read_axis(&seen["ticks"]);
        let lines = seen["lines"].as_array().expect("lines");
        assert_eq!(lines.len(), 2, "{figure}");
        for (line, flow) in lines.iter().zip(&document.comparisons[0].flows) {
            let at = flow.distance.diverged.as_ref().expect("they part").at_s;
            let drawn = x(line.as_f64().expect("pixels"));
            assert!((drawn - at).abs() < 0.01, "{figure}: {drawn} s for {at} s");
        }
    }
    page.click("#legend [data-run='1']", 1);
    page.wait_for("document.querySelectorAll('.moment').length === 0");
}
