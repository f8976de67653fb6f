//! Many runs: a matrix from which the reader chooses, and nothing about runs that are not drawn.

use crate::report_chromium::browser;
use crate::report_chromium::drawing::check_drawn;
use crate::report_chromium::expected::expected;
use crate::report_chromium::page::Page;
use crate::report_sample as sample;
use fullpipe::analysis::document::Document;
use fullpipe::report::figures;
use fullpipe::report::html::render;
use serde_json::{Value, json};

/// Twelve variants at six points of an axis, the later ones faster.
fn seventy_two() -> Document {
    let mut document = sample::sweep(72);
    for (n, run) in document.runs.iter_mut().enumerate() {
        let (variant, start) = (n / 6, ["a", "b", "c", "d", "e", "f"][n % 6]);
        run.variant = format!("variant {variant}, flow.bulk.slow_start={start}");
        run.set.insert("flow.bulk.slow_start".into(), start.into());
        run.flows[0].mean_mbit = 100.0 + n as f64;
    }
    document
}

/// Indices of the runs with visible elements of a kind.
fn visible(page: &Page, selector: &str) -> Value {
    let script = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()) \
                  .map((one) => Number(one.dataset.run))";
    page.run(script, &[json!(selector)])
}

/// Checks that all visible elements are about these runs.
fn check_shown(page: &Page, runs: &[usize]) {
    for selector in [".card", ".path", "#legend [data-run]", ".table[data-table=stages]"] {
        assert_eq!(visible(page, selector), json!(runs), "{selector}");
    }
    let panels = "return document.querySelectorAll('#figure-windows .panel').length";
    assert_eq!(page.run(panels, &[]), json!(runs.len()));
}

fn title(page: &Page, figure: &str) -> String {
    let script = "return document.querySelector(`#figure-${arguments[0]} h3`).textContent";
    let title = page.run(script, &[json!(figure)]);
    title.as_str().expect("a title").replace('\u{a0}', " ")
}

#[test]
fn a_cell_of_the_matrix_shows_its_run_alone() {
    let document = seventy_two();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    page.wait_for("window.fullpipe");
    assert_eq!(
        page.run("return document.querySelectorAll('.matrix .cell').length", &[]),
        json!(72)
    );
    // The slowest and the fastest.
    check_shown(&page, &[0, 71]);
    assert_eq!(
        page.series("cwnd"),
        ["r0.f0.cwnd", "r0.f0.ssthresh", "r71.f0.cwnd", "r71.f0.ssthresh"]
    );

    page.click(".matrix [data-run='49']", 1);
    page.wait_for("document.querySelector(`.matrix [data-run='49']`).ariaPressed === 'true'");
    check_shown(&page, &[49]);
    for (figure, series, expected) in expected(&document, 49) {
        check_drawn(&page, figure, &series, &expected);
    }
    let alone = Document { runs: vec![document.runs[49].clone()], ..document.clone() };
    for figure in figures::all(&alone) {
        assert_eq!(title(&page, figure.name), figure.title);
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn keys_move_through_the_matrix_and_choose() {
    let document = seventy_two();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    page.wait_for("window.fullpipe");
    page.run("document.querySelector(`.matrix [data-run='7']`).focus()", &[]);
    let focused = "return Number(document.activeElement.dataset.run)";
    // Right, down, left, up.
    for (key, run) in [('\u{e014}', 8), ('\u{e015}', 14), ('\u{e012}', 13), ('\u{e013}', 7)] {
        page.key(key);
        assert_eq!(page.run(focused, &[]), json!(run));
    }
    page.key('\u{e007}');
    page.wait_for("document.querySelector(`.matrix [data-run='7']`).ariaPressed === 'true'");
    check_shown(&page, &[7]);
    // The only run that is drawn stays when it is clicked in the legend.
    page.click("#legend [data-run='7']", 1);
    check_shown(&page, &[7]);
}

#[test]
fn seventy_two_runs_fit_three_megabytes_and_six_thousand_pixels() {
    let html = render(&seventy_two());
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    let Some(page) = browser::open(&html) else {
        return;
    };
    page.wait_for("window.fullpipe");
    let height = page.run("return document.documentElement.scrollHeight", &[]);
    assert!(height.as_u64().expect("pixels") < 6000, "{height} pixels");
}

#[test]
fn a_title_is_about_the_runs_that_are_drawn() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let all = figures::all(&document);
    assert_eq!(title(&page, "throughput"), all[0].title);
    page.click("#legend [data-run='0']", 1);
    page.wait_for("document.querySelector(`#legend [data-run='0']`).ariaPressed === 'false'");
    assert_eq!(title(&page, "throughput"), "Throughput per interval");
    page.run("document.querySelector(`#legend [data-run='2']`).focus()", &[]);
    page.key('s');
    page.wait_for("document.querySelector(`#legend [data-run='1']`).ariaPressed === 'false'");
    let alone = Document { runs: vec![document.runs[2].clone()], ..document.clone() };
    assert_eq!(title(&page, "throughput"), figures::all(&alone)[0].title);
}
