//! The tables of the page.

use super::{SCENARIO, cells, manifest, manifest_of};
use fullpipe::sweep::Unjudged;
use fullpipe::sweep::cells::{Cell, CellExpected, CellShared};
use fullpipe::sweep::competition::{Company, Harm};
use fullpipe::sweep::estimate::Estimate;
use fullpipe::sweep::output::Judgement;
use fullpipe::sweep::surface::{Failures, Surfaces, Tables, page};
use serde_json::Map;

fn shared() -> CellShared {
    let of = |values: &[f64]| Estimate::of(values).expect("values");
    CellShared {
        jain: of(&[0.9, 0.98]),
        jain_settled: None,
        converged: 0,
        converged_s: None,
        too_short: 2,
        rtt_exponent: Some(of(&[1.5, 1.5])),
        dropped: of(&[0.0]),
        queue: None,
    }
}

fn company() -> Company {
    let throughput = Estimate::of(&[0.25, 0.25]).expect("values");
    Company {
        variant: "reno".into(),
        at: Map::new(),
        flow: "bulk".into(),
        congestion: "reno".into(),
        against: vec!["cubic".into()],
        friendliness: Estimate::of(&[0.75, 0.75]),
        harm: Some(Harm { throughput, delay: None, loss: None }),
    }
}

#[test]
fn competition_and_expectations_are_in_the_page() {
    let (space, manifest) = manifest();
    let mut cells = cells(&space);
    cells[0].fairness = Some(shared());
    cells[0].runs = 2;
    let expected = |passed| CellExpected {
        metric: "flow.<bulk>.bytes".into(),
        of: 1.0,
        allowed: 0.5,
        measured: Estimate::of(&[7.0]),
        without: 0,
        passed,
    };
    cells[0].expected = vec![expected(true), expected(false)];
    let unjudged = Unjudged { all: 5, failed: 3, ..Unjudged::default() };
    let mut surfaces = Surfaces::new(&manifest, &cells, Failures::default());
    let mut points = Judgement::default();
    cells.iter().for_each(|cell| points.add(cell));
    surfaces.tables = Tables::new(&cells, true, &[company()], &[], &points, &unjudged);
    let page = page(&surfaces, "Runs.");
    for part in [
        "<td class=\"n\">0.940±0.508</td><td class=\"n\">–</td><td class=\"n\">–</td><td class=\"n\">1.50±0.00</td>",
        "too short to see it",
        "<td class=\"n\">0.75±0.00</td><td class=\"n\">0.25±0.00</td>",
        "docs/competition.md",
        "<p>1 of 2 of points hold</p>",
        "flow.&lt;bulk&gt;.bytes is 7 instead of 1",
        "3 of 5 expectations not judged: 3 at points whose runs failed",
        "<div id=\"figures\">",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("id=\"variants\""), "there are axes");
}

#[test]
fn without_axes_variants_are_a_table() {
    let (rest, _) = SCENARIO.split_once("[sweep]").expect("axes");
    let (space, manifest) = manifest_of(rest);
    let of_two = self::cells(&self::manifest().0);
    let cell = |run: u64| {
        let variant = space.variants().nth(run as usize).expect("a variant").to_string();
        Cell { variant, at: Map::new(), ..of_two[run as usize].clone() }
    };
    let cells = [cell(0), cell(1)];
    let mut surfaces = Surfaces::new(&manifest, &cells, Failures::default());
    let points = Judgement::default();
    surfaces.tables = Tables::new(&cells, false, &[], &[], &points, &Unjudged::default());
    let html = page(&surfaces, "Two runs.");
    assert!(html.contains("<div id=\"figures\" hidden>") && html.contains("id=\"variants\""));
    assert!(html.contains("<td>cubic</td><td>bulk</td>"));
    let Some(page) = crate::report_chromium::browser::open(&html) else { return };
    assert_eq!(super::count(&page, "#surfaces svg"), serde_json::json!(0));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
