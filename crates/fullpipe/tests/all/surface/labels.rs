//! Labels of axes have room.

use super::{SCENARIO, flow, manifest_of, values_at};
use crate::report_chromium::browser;
use crate::report_chromium::page::Page;
use fullpipe::sweep::cells::Cell;
use fullpipe::sweep::estimate::Estimate;
use fullpipe::sweep::surface::{Failures, Surfaces, page};
use serde_json::json;

/// A sweep over tables and long names.
fn opened(axes: &str) -> Option<Page> {
    let (rest, _) = SCENARIO.split_once("[sweep]").expect("axes");
    let (space, manifest) = manifest_of(&format!("{rest}[sweep]\n{axes}"));
    let cell = |run: u64| {
        let point = space.point(run);
        let rate = Estimate::of(&[1.0 + run as f64, 2.0 + run as f64]).expect("rates");
        Cell {
            variant: space.variants().nth(point.variant).expect("a variant").into(),
            at: space.coordinates(&point),
            runs: 2,
            flows: vec![flow("bulk", rate)],
            ..Cell::default()
        }
    };
    let cells: Vec<Cell> = (0..space.runs()).map(cell).collect();
    browser::open(&page(&Surfaces::new(&manifest, &cells, Failures::default()), "Some runs."))
}

/// Texts that overlap a field or each other, or leave the figure, by more than a pixel.
const WRONG: &str = "const wrong = [];\
    for (const svg of document.querySelectorAll('#surfaces svg, #differences svg, #slices svg, #matrices svg')) {\
      const box = (one) => one.getBoundingClientRect();\
      const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;\
      const texts = [...svg.querySelectorAll('text:not(.number):not(.contour-label)')].filter(text => text.textContent);\
      const fields = [...svg.querySelectorAll('rect.field')].map(box);\
      const frame = box(svg);\
      texts.forEach((text, n) => {\
        const own = box(text);\
        const leans = (one) => /rotate\\(-40/.test(one.getAttribute('transform') ?? '');\
        if (own.left < frame.left - 1 || own.right > frame.right + 20 || own.bottom > frame.bottom + 1) wrong.push(`leaves: ${text.textContent}`);\
        if (fields.some(field => meet(own, field)) && !leans(text)) wrong.push(`over a field: ${text.textContent}`);\
        texts.slice(0, n).forEach(other => { if (meet(own, box(other)) && !(leans(text) && leans(other))) wrong.push(`${other.textContent} meets ${text.textContent}`); });\
      });\
    }\
    return wrong";

#[test]
fn long_labels_are_cut_and_shown_whole() {
    let controls = r#""flow.bulk.congestion" = ["reno", { name = "cubic", initial_ssthresh = 100, hystart = false }, { name = "cubic", initial_ssthresh = 200, hystart = true }]
"hosts.sender.sysctl" = [{ "net.core.wmem_max" = 1000000, "net.ipv4.tcp_wmem" = "4096 66560 1000000" }, { "net.core.wmem_max" = 2000000, "net.ipv4.tcp_wmem" = "4096 66560 2000000" }]
"#;
    let Some(page) = opened(controls) else { return };
    assert_eq!(page.run(WRONG, &[]), json!([]));
    let cut = "return [...document.querySelectorAll('#surfaces svg:first-of-type text.cut')].map(text => text.textContent)";
    let cut: Vec<String> = serde_json::from_value(page.run(cut, &[])).expect("texts");
    // Two tables across and two up, in each of two surfaces, each from where it parts from the other.
    assert_eq!(cut.len(), 8, "{cut:?}");
    let begins = |start: &str| cut.iter().filter(|text| text.starts_with(start)).count();
    assert_eq!(
        [begins("…100,"), begins("…200,"), begins("…1000000,"), begins("…2000000,")],
        [2; 4]
    );
    assert!(cut.iter().all(|text| text.chars().count() < 30), "{cut:?}");
    let whole = values_at(&page, "#surfaces text.cut");
    assert!(whole.contains("\"initial_ssthresh\":100") && whole.ends_with('}'), "{whole}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn many_names_lean_and_numbers_are_left_out() {
    let loss: Vec<String> = (1..=40).map(|n| format!("{}e-5", 1000 + n)).collect();
    let versions =
        ["2.6.20", "2.6.32", "3.14", "6.1", "6.12"].map(|v| format!("\"{v}\"")).join(", ");
    let axes =
        format!("\"path.loss\" = [{}]\n\"hosts.sender.kernel\" = [{versions}]\n", loss.join(", "));
    let Some(page) = opened(&axes) else { return };
    assert_eq!(page.run(WRONG, &[]), json!([]));
    // Names across, numbers up: all names are there.
    let swap = "const select = document.getElementById('x'); select.value = 1; select.onchange();\
                return [...document.querySelectorAll('#surfaces div:first-child text')].map(text => text.textContent)";
    let texts: Vec<String> = serde_json::from_value(page.run(swap, &[])).expect("texts");
    assert!(
        ["2.6.20", "6.1", "6.12"].iter().all(|name| texts.iter().any(|text| text == name)),
        "{texts:?}"
    );
    assert_eq!(page.run(WRONG, &[]), json!([]));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
