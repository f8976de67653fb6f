//! README's example: the first line of a run on a long path, and its picture before and after the settings that
//! `fullpipe plan` advises (`UPDATE_EXPECT=1` rewrites both).

use crate::common::Desk;
use crate::readme::marked;
use expect_test::expect_file;
use fullpipe::analysis::document::{Document, Run};
use std::fmt::Write;
use std::path::Path;

const PATH: [&str; 6] = ["--rate", "10Gbit", "--rtt", "80ms", "--kernel", "6.1"];
const PICTURE: &str = "docs/before-after.svg";
/// Width and height of the picture, and the edges of the drawing in it, pixels.
const SIZE: (f64, f64) = (760.0, 260.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 222.0;
/// Ends of the axes: seconds and Mb/s.
const SECONDS: f64 = 8.0;
const MOST: f64 = 10_000.0;

#[test]
fn the_example_and_its_picture_come_from_runs() {
    let desk = Desk::new();
    let run = |more: &[&str]| desk.call(&[&["run", "-q"], more].concat()).ends_with(0).stdout;
    let answer = run(&[&PATH[..], &["--out", "first"]].concat());
    let first = answer.lines().next().expect("a line");
    marked::committed("README.md", "my-path", &format!("> {first}\n"));

    let plan = [&["plan"], &PATH[..], &["--scenario", "path.toml"]].concat();
    desk.call(&plan).ends_with(0);
    let json = run(&["path.toml", "--out", "both", "--json"]);
    let document: Document = serde_json::from_str(&json).expect("a document");
    let [today, planned] = &document.runs[..] else { panic!("{} runs", document.runs.len()) };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PICTURE);
    expect_file![path].assert_eq(&picture(&[rates(today), rates(planned)]));
}

/// Middle of each interval, s, and the rate in it, Mb/s.
fn rates(run: &Run) -> Vec<(f64, f64)> {
    let intervals = &run.flows[0].intervals;
    let middle = |start: f64, end: f64| f64::midpoint(start, end);
    intervals.iter().map(|own| (middle(own.start_s, own.end_s), own.throughput_mbit)).collect()
}

fn x(second: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * second / SECONDS
}

fn y(mbit: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * mbit / MOST
}

fn picture([before, after]: &[Vec<(f64, f64)>; 2]) -> String {
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fffefa\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">One flow over 10 Gb/s x 80 ms (Linux 6.1), Gb/s</text>\n"
    );
    for gbit in [0.0, 2.5, 5.0, 7.5, 10.0] {
        let at = y(gbit * 1e3);
        writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{RIGHT:.1}\" stroke=\"#ddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{gbit}</text>",
            LEFT - 8.0,
            at + 4.0
        )
        .expect("text");
    }
    for second in (0..=SECONDS as u32).step_by(2) {
        let at = x(second.into());
        writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{second} s</text>",
            BOTTOM + 20.0
        )
        .expect("text");
    }
    svg += &line(before, "#c44e24", "Linux defaults");
    svg += &line(after, "#1f6f9c", "as planned");
    svg + "</svg>\n"
}

/// A line through the rates within the axes, with its name at its end.
fn line(rates: &[(f64, f64)], colour: &str, name: &str) -> String {
    let shown: Vec<&(f64, f64)> = rates.iter().filter(|(at, _)| *at <= SECONDS).collect();
    let points = shown.iter().map(|(at, mbit)| format!("{:.1},{:.1}", x(*at), y(*mbit)));
    let points: Vec<String> = points.collect();
    let last = shown.last().expect("intervals");
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>\n",
        points.join(" "),
        x(last.0) + 8.0,
        y(last.1) + 4.0
    )
}
