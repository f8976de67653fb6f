//! Labels in figures: long names can be distinguished, and no label covers another one.

use crate::report_chromium::browser;
use crate::report_chromium::page::Page;
use crate::report_sample as sample;
use fullpipe::report::html::render;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Texts of the elements that a selector finds in a figure, each with its box in pixels: left, top, right, bottom.
fn texts(page: &Page, figure: &str, selector: &str) -> Vec<(String, [f64; 4])> {
    let script = "const [figure, selector] = arguments; \
        return [...document.querySelectorAll(`#figure-${figure} ${selector}`)].filter(one => one.textContent) \
            .map(one => { const b = one.getBoundingClientRect(); \
                return [one.textContent, b.left, b.top, b.right, b.bottom]; })";
    let found = page.run(script, &[json!(figure), json!(selector)]);
    let side = |one: &Value, place: usize| one[place].as_f64().expect("pixels");
    let text = |one: &Value| {
        let sides = [1, 2, 3, 4].map(|place| side(one, place));
        (one[0].as_str().expect("a text").to_string(), sides)
    };
    found.as_array().expect("texts").iter().map(text).collect()
}

/// Whether two boxes have more than a pixel in common, both ways.
fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] + 1.0 < b[2] && b[0] + 1.0 < a[2] && a[1] + 1.0 < b[3] && b[1] + 1.0 < a[3]
}

fn apart(texts: &[(String, [f64; 4])]) {
    for (place, (one, here)) in texts.iter().enumerate() {
        let covered = texts[..place].iter().find(|(_, there)| overlap(here, there));
        assert_eq!(covered, None, "{one} stands on it");
    }
}

#[test]
fn long_names_are_cut_where_they_are_alike() {
    let mut document = sample::fink();
    for (number, run) in document.runs.iter_mut().enumerate() {
        run.variant = format!("what-the-names-of-all-these-runs-begin-with-{number}");
    }
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let labels = texts(&page, "throughput", "text.direct");
    let names: BTreeSet<&String> = labels.iter().map(|(text, _)| text).collect();
    assert!(labels.len() > 1 && names.len() == labels.len(), "{labels:?}");
    let ends = |text: &String| text.starts_with("…") && text.contains("-begin-with-");
    assert!(names.iter().all(|text| ends(text)), "{names:?}");
    apart(&labels);
}

#[test]
fn what_lies_above_a_plot_is_said_below_its_name() {
    let mut document = sample::fink();
    for run in &mut document.runs {
        run.variant = format!("{} with a name that takes all the width of a plot", run.variant);
        for flow in &mut run.flows {
            flow.series.snd_wnd_packets.fill(10_000_000);
        }
    }
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    for panel in 1..=document.runs.len().min(6) {
        let found = texts(&page, "windows", &format!(".panel:nth-child({panel}) text"));
        let above = found.iter().filter(|(text, _)| text.contains("advertised window up to"));
        assert_eq!(above.count(), 1, "{found:?}");
        apart(&found);
    }
}

#[test]
fn moments_that_are_close_have_their_labels_below_each_other() {
    let mut document = sample::compared();
    for flow in &mut document.comparisons[0].flows {
        flow.distance.diverged.as_mut().expect("they part").at_s = 1.0;
    }
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let labels = texts(&page, "throughput", ".moment-label");
    assert_eq!(labels.len(), 2, "{labels:?}");
    apart(&labels);
}
