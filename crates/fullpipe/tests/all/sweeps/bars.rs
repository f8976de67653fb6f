//! Which control comes before which, small enough for each commit: scenarios/sweeps/competition.toml.

use super::Asked;
use super::kept::records;
use fullpipe::report::finished::Finished;
use fullpipe::scenario::Source;
use fullpipe::sweep::Record;
use std::collections::BTreeMap;

fn finished(text: &str, variants: &[&str]) -> Finished {
    let source = Source::text("competition", text);
    let variants: Vec<String> = variants.iter().map(|name| (*name).into()).collect();
    let asked =
        Asked { source: &source, sets: &[], variants: &variants, engine: "sim", points: None };
    let directory = tempfile::tempdir().expect("a directory");
    let merged = asked.made(directory.path());
    Finished::write(&merged, directory.path()).expect("written")
}

const SCENARIO: &str = include_str!("../../../../../scenarios/sweeps/competition.toml");

/// CUBIC leaves Reno more than BIC does and has the better RTT fairness; two CUBIC flows converge, two Scalable flows do not.
#[test]
fn competition_is_as_published() {
    let finished = finished(SCENARIO, &[]);
    let versus: Vec<String> = finished.versus.iter().map(|judged| format!("{judged:?}")).collect();
    assert!(finished.passed(), "{:?} {}", finished.judgement, versus.join("\n"));
    assert_eq!((finished.judgement.all, finished.versus.len()), (3, 4));
    assert_eq!(finished.unjudged.count(), 0);
}

/// It is CUBIC that makes the flows converge, not the path.
#[test]
fn with_scalable_in_cubics_place_flows_do_not_converge() {
    let text = SCENARIO.replace("congestion = \"cubic\"", "congestion = \"scalable\"");
    let finished = finished(&text, &["cubic, 20 s apart"]);
    assert_eq!((finished.judgement.all, finished.judgement.missed), (2, 2));
}

/// The same at 10 Gb/s, from the records that are kept, on each engine: all pairs of CUBIC flows converge, no pair of Scalable flows does.
#[test]
fn two_cubic_flows_converge_and_two_scalable_flows_do_not() {
    for merged in ["cern-today", "cern-today-linux"].into_iter().filter_map(records) {
        let mut seen = BTreeMap::<String, Vec<bool>>::new();
        let all = |record: Record| {
            let shared = record.facts.and_then(|facts| facts.fairness).expect("two flows");
            assert!(!shared.too_short, "{}", record.run);
            seen.entry(record.variant).or_default().push(shared.converged_s.is_some());
            Ok(())
        };
        merged.each(all).expect("records");
        assert_eq!(seen["cubic, 30 s apart"], [true; 3], "{}", merged.manifest.engine);
        assert_eq!(seen["scalable, 30 s apart"], [false; 3], "{}", merged.manifest.engine);
    }
}
