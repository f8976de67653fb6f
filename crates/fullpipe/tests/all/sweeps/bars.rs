//! Which control comes before which, small enough for each commit: scenarios/sweeps/competition.toml.

use super::Asked;
use fullpipe::report::finished::Finished;
use fullpipe::scenario::Source;

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
    assert_eq!((finished.judgement.all, finished.versus.len()), (1, 4));
    assert_eq!(finished.unjudged.count(), 0);
}

/// It is CUBIC that makes the flows converge, not the path.
#[test]
fn with_scalable_in_cubics_place_flows_do_not_converge() {
    let text = SCENARIO.replace("congestion = \"cubic\"", "congestion = \"scalable\"");
    let finished = finished(&text, &["cubic, 20 s apart"]);
    assert_eq!((finished.judgement.all, finished.judgement.missed), (1, 1));
}
