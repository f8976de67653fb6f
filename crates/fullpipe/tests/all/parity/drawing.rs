//! Two curves over each other, as SVG: real Linux as a broad pale line, the simulator as a thin dark one upon it. Where
//! they agree one line is seen in the other.

use std::fmt::Write;

const SIZE: (f64, f64) = (760.0, 250.0);
/// Margins of a panel: left, right, top, bottom.
const MARGINS: (f64, f64, f64, f64) = (58.0, 14.0, 34.0, 34.0);
const LINUX: &str = "stroke=\"#f2a33a\" stroke-width=\"4\"";
const SIMULATOR: &str = "stroke=\"#1f3b73\" stroke-width=\"1.3\"";

/// A panel: its label, and the points of Linux and of the simulator.
pub struct Panel {
    pub label: &'static str,
    pub sides: [Vec<(f64, f64)>; 2],
}

/// The panels in a row, with a legend.
pub fn svg(panels: &[Panel]) -> String {
    let (width, height) = SIZE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let each = width / panels.len() as f64;
    for (n, panel) in panels.iter().enumerate() {
        self::panel(&mut text, panel, n as f64 * each, each);
    }
    for (x, line, name) in
        [(width - 210.0, LINUX, "Linux"), (width - 120.0, SIMULATOR, "simulator")]
    {
        let _ = writeln!(
            text,
            "<path d=\"M{x} 11h24\" fill=\"none\" {line}/><text x=\"{}\" y=\"15\">{name}</text>",
            x + 30.0
        );
    }
    text + "</svg>\n"
}

fn panel(text: &mut String, panel: &Panel, left: f64, width: f64) {
    let (before, behind, above, below) = MARGINS;
    let points = || panel.sides.iter().flatten();
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let (end, top) = (round(most(|p| p.0)), round(most(|p| p.1)));
    let place = |(x, y): (f64, f64)| {
        let across = (width - before - behind) * x / end;
        let up = (SIZE.1 - above - below) * y / top;
        (left + before + across, SIZE.1 - below - up)
    };
    let _ = writeln!(text, "<text x=\"{:.1}\" y=\"26\">{}</text>", left + before, panel.label);
    for part in [0.0, 0.5, 1.0] {
        let (x, y) = place((0.0, top * part));
        let _ = writeln!(
            text,
            "<path d=\"M{x:.1} {y:.1}h{:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            width - before - behind,
            x - 6.0,
            y + 4.0,
            top * part
        );
        let (x, y) = place((end * part, 0.0));
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} s</text>",
            y + 16.0,
            end * part
        );
    }
    for (side, line) in panel.sides.iter().zip([LINUX, SIMULATOR]) {
        let path: Vec<String> = side
            .iter()
            .map(|point| {
                let (x, y) = place(*point);
                format!("{x:.1} {y:.1}")
            })
            .collect();
        let _ = writeln!(
            text,
            "<path d=\"M{}\" fill=\"none\" stroke-linejoin=\"round\" {line}/>",
            path.join("L")
        );
    }
}

/// The least of 1, 2, 4, 5, 6 or 8 x 10^n that is no less.
fn round(value: f64) -> f64 {
    let mut power = 1e-6;
    while power < 1e12 {
        for digit in [1.0, 2.0, 4.0, 5.0, 6.0, 8.0] {
            let candidate: f64 = format!("{:.6}", digit * power).parse().unwrap_or(1.0);
            if candidate >= value {
                return candidate;
            }
        }
        power *= 10.0;
    }
    value.max(1.0)
}

#[test]
fn axes_end_at_round_values() {
    assert_eq!([0.0, 0.3, 1.0, 7.2, 4100.0].map(round), [1e-6, 0.4, 1.0, 8.0, 5000.0]);
}

#[test]
fn curves_lie_where_their_values_are() {
    let sides = [vec![(0.0, 0.0), (2.0, 10.0)], vec![(0.0, 5.0), (2.0, 5.0)]];
    let text = svg(&[Panel { label: "cwnd, packets", sides }]);
    assert!(text.contains("<path d=\"M58.0 216.0L746.0 34.0\""), "{text}");
    assert!(text.contains("<path d=\"M58.0 125.0L746.0 125.0\""), "{text}");
}
