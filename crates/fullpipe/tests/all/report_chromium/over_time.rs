//! Columns of drops, values of lines, and rounds of slow start, as they are drawn.

use crate::report_chromium::browser;
use crate::report_sample as sample;
use fullpipe::analysis::document::Round;
use fullpipe::report::html::render;
use serde_json::json;

#[test]
fn columns_are_as_high_as_what_was_dropped() {
    let document = sample::two_flows();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let bins = &document.runs[0].bins;
    let drops =
        bins.places[0].dropped.iter().zip(&bins.start_s).filter(|(dropped, _)| **dropped > 0);
    let clock = document.runs[0].flows.iter().map(|f| f.clock_start_s).fold(f64::MAX, f64::min);
    let drawn = page.points("drops", "r0.places.0.dropped");
    assert_eq!(drawn.len(), drops.clone().count());
    let (pixel_x, pixel_y) = page.resolution("drops", "r0.places.0.dropped", 1.0);
    for ((dropped, start), (x, low, high)) in drops.zip(drawn) {
        assert!((x - (start + 0.125 - clock)).abs() < pixel_x, "{x} for {start}");
        let height = high.expect("a column") - low;
        assert!((height - *dropped as f64).abs() < pixel_y, "{height} for {dropped}");
    }
    let panels = |figure: &str| {
        let script = format!("return document.querySelectorAll('#figure-{figure} .panel').length");
        page.run(&script, &[])
    };
    // Nothing is dropped in the other run.
    assert_eq!(["bandwidth", "queues", "drops"].map(panels), [json!(2), json!(2), json!(1)]);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn values_of_lines_are_those_of_the_run_under_the_pointer() {
    let document = sample::two_flows();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let values = page.hover("bandwidth", 1, 3.3);
    assert_eq!(values.head[1..], ["delivered", "sent, with retransmissions"]);
    let names: Vec<&str> = values.rows.iter().map(|row| &row[0][..]).collect();
    assert_eq!(names, ["bulk", "background", "all flows"]);
    let shown = |row: usize, column: usize| -> f64 {
        let text = values.rows[row][column].replace(',', "");
        text.trim_end_matches(" Mb/s").parse().expect("a number")
    };
    let rates = &document.runs[1].bins;
    let clock = document.runs[1].flows.iter().map(|f| f.clock_start_s).fold(f64::MAX, f64::min);
    let bin = ((3.3 + clock) / 0.25) as usize;
    assert!((shown(2, 1) - rates.sum.delivered_mbit[bin]).abs() < 0.06, "{:?}", values.rows);
    assert!((shown(0, 2) - rates.flows[0].sent_mbit[bin]).abs() < 0.06, "{:?}", values.rows);
}

#[test]
fn rounds_stand_as_strokes_with_numbers() {
    let mut document = sample::fink();
    document.runs.truncate(2);
    let round = |at: u32| Round { start_s: f64::from(at) * 2.0, end_s: None, segments: 4 };
    document.runs[1].flows[0].slow_start_rounds = Some((1..=5).map(round).collect());
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let count = |class: &str| {
        page.run(
            &format!(
                "return [...document.querySelectorAll('.{class}')].map(one => one.textContent)"
            ),
            &[],
        )
    };
    assert_eq!(count("tick").as_array().expect("strokes").len(), 5);
    // The last one is drawn first.
    assert_eq!(count("tick-label"), json!(["5", "4", "3", "2", "1"]));
    page.click("#legend [data-run='1']", 1);
    page.wait_for("document.querySelectorAll('.tick').length === 0");
}
