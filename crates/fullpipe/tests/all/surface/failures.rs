//! The page says why runs failed.

use super::{count, manifest};
use crate::report_chromium::browser;
use fullpipe::sweep::surface::{Failures, Surfaces, page};
use fullpipe::sweep::{Place, Record};
use serde_json::json;

fn failures(total: u64) -> Failures {
    let (space, _) = manifest();
    let record = |run: u64| {
        let point = space.point(run % space.runs());
        let why = format!("run {run} is <wrong>\nsecond line");
        let variant = space.variants().nth(point.variant).expect("a variant");
        let place = Place { at: space.coordinates(&point), seed: 0 };
        Record { seed: 7 + run, ..Record::without_plan(run, variant, &point, place, why) }
    };
    Failures { total, first: (0..total.min(20)).map(record).collect() }
}

#[test]
fn the_first_twenty_are_listed_and_the_rest_counted() {
    let (_, manifest) = manifest();
    let of = |total| page(&Surfaces::new(&manifest, &[], failures(total)), "Runs.");
    assert!(!of(0).contains("Runs that failed"));
    assert!(!of(20).contains(" more: "));
    let Some(page) = browser::open(&of(1023)) else { return };
    assert_eq!(count(&page, "#failed tbody tr"), json!(20));
    let row = "return [...document.querySelectorAll('#failed tbody tr')[13].cells].map(cell => cell.textContent)";
    let at = "path.loss=0.00001, path.delay.forward=20ms, path.delay.back=20ms";
    let why = "run 13 is <wrong>\nsecond line";
    assert_eq!(page.run(row, &[]), json!(["13", "cubic", at, "20", why]));
    let more = page.run("return document.querySelector('#failed p').textContent", &[]);
    assert_eq!(more, json!("1,003 more: failed in results.csv"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}
