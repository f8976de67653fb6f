//! Controls of a reader: runs, time, theme, by mouse and by keys.

use crate::report_chromium::browser;
use crate::report_chromium::drawing::check_drawn;
use crate::report_chromium::expected::{Point, expected, gauge};
use crate::report_chromium::page::Page;
use crate::report_sample as sample;
use fullpipe::report::html::render;
use serde_json::json;

#[test]
fn runs_can_be_hidden_shown_and_shown_alone() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let shown = |run: usize| page.series("cwnd").contains(&format!("r{run}.f0.cwnd"));
    page.click("#legend [data-run='1']", 1);
    page.wait_for("document.querySelector(`#legend [data-run='1']`).ariaPressed === 'false'");
    assert!(!shown(1) && shown(0) && shown(2) && shown(3));
    assert_eq!(
        page.run("return document.querySelectorAll('[data-series^=\"r1.\"]').length", &[]),
        json!(0)
    );
    assert_eq!(page.hover("throughput", 0, 2.5).rows.len(), 3);
    let alone = "fullpipe.series('throughput').every(id => id.startsWith('r2.'))";
    page.double_click("#legend [data-run='2']", alone);
    assert_eq!(
        page.run("return document.querySelectorAll('#figure-limits .panel').length", &[]),
        json!(1)
    );
    page.run("document.querySelector(`#legend [data-run='2']`).focus()", &[]);
    page.key('s');
    page.wait_for("document.querySelectorAll('#figure-limits .panel').length === 4");
    for (figure, series, expected) in expected(&document, 1) {
        check_drawn(&page, figure, &series, &expected);
    }
}

#[test]
fn dragging_zooms_all_figures_and_keys_move_the_cursor() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    page.drag("throughput", 4.0, 9.0);
    page.wait_for("!document.getElementById('reset').disabled");
    let flow = &document.runs[2].flows[0];
    let inside: Vec<Point> = gauge(flow, &flow.series.cwnd, 1.0)
        .into_iter()
        .filter(|point| point.0 > 4.1 && point.0 < 8.9)
        .collect();
    let drawn = page.points("cwnd", "r2.f0.cwnd");
    assert!(
        (inside.len()..=inside.len() + 4).contains(&drawn.len()),
        "{} of {}",
        drawn.len(),
        inside.len()
    );
    assert!(drawn.iter().all(|point| point.0 > 3.9 && point.0 < 9.1));
    page.run("document.querySelector('#figure-throughput svg').focus()", &[]);
    page.key('\u{e011}'); // Home
    page.key('\u{e014}'); // right arrow
    page.wait_for("document.querySelector('#values th').innerText === '5.0 to 6.0 s'");
    page.key('\u{e00c}'); // Escape
    page.wait_for("document.getElementById('reset').disabled");
    assert_eq!(page.points("cwnd", "r2.f0.cwnd").len(), flow.series.cwnd.len());
    page.run("document.querySelector('#figure-cwnd svg').focus()", &[]);
    page.key('l');
    page.wait_for("document.querySelector('#figure-cwnd .log').ariaPressed === 'true'");
}

/// Whether the page's ground is light.
fn is_light(page: &Page) -> bool {
    let colour = page.run("return getComputedStyle(document.body).backgroundColor", &[]);
    let colour = colour.as_str().expect("a colour");
    let numbers = colour.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
    numbers.expect("red").parse::<u32>().expect("0 to 255") > 128
}

#[test]
fn the_theme_changes_and_paper_stays_white() {
    let Some(page) = browser::open(&render(&sample::fink())) else {
        return;
    };
    assert!(is_light(&page));
    page.click("#theme", 1);
    page.wait_for("document.documentElement.dataset.theme === 'dark'");
    assert!(!is_light(&page));
    page.print(true);
    assert!(is_light(&page));
    page.print(false);
    assert!(!is_light(&page));
    page.click("#theme", 1);
    page.wait_for("document.documentElement.dataset.theme === 'light'");
    assert!(is_light(&page));
}

#[test]
fn paper_has_no_controls_whole_figures_and_open_tables() {
    let Some(page) = browser::open(&render(&sample::fink())) else {
        return;
    };
    let count =
        |script: &str| page.run(&format!("return {script}"), &[]).as_u64().expect("a count");
    let buttons = "[...document.querySelectorAll('button')].filter(button => button.offsetParent !== null).length";
    let folded = "document.querySelectorAll('details:not([open])').length";
    // Of four runs the tables of stages, and of two the pictures of the path.
    assert!(count(buttons) > 4 && count(folded) == 6);
    page.print(true);
    assert_eq!((count(buttons), count(folded)), (0, 0));
    let wide = "[...document.querySelectorAll('.panel')].filter(panel => \
                panel.getBoundingClientRect().width > 700 || panel.querySelector('svg').viewBox.baseVal.width > 700).length";
    assert_eq!(count(wide), 0, "figures are drawn for the width of paper");
    page.print(false);
    assert!(count(buttons) > 4 && count(folded) == 6);
}
