//! Order of the controls, small enough for each commit: scenarios/sweeps/competition.toml.

use super::Asked;
use super::kept::records;
use fullpipe::scenario::Source;
use fullpipe::sweep::Record;
use fullpipe::sweep::output::Finished;
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
    assert_eq!((finished.judgement.all, finished.versus.len()), (2, 4));
    assert_eq!(finished.unjudged.count(), 0);
}

/// CUBIC makes the flows converge, not the path.
#[test]
fn with_scalable_in_cubics_place_flows_do_not_converge() {
    let text = SCENARIO.replace("congestion = \"cubic\"", "congestion = \"scalable\"");
    let finished = finished(&text, &["cubic, 20 s apart"]);
    assert_eq!((finished.judgement.all, finished.judgement.missed), (1, 1));
}

/// Pairs of flows at 10 Gb/s, from the records that are kept, on each engine: all pairs of CUBIC flows converge, no
/// pair of Scalable flows does.
#[test]
fn two_cubic_flows_converge_and_two_scalable_flows_do_not() {
    for merged in ["cern-today", "cern-today-linux"].map(records) {
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

/// One flow against one and against three of another control, in runs of 60 s: three take more of it, and are one group
/// in the output.
#[test]
fn three_flows_take_more_of_one_than_one_does() {
    let competing = "
[[variant]]
name = \"alone\"
set = { \"flow.second.count\" = 0 }

[[variant]]
name = \"1:1\"
set = { \"flow.second.congestion\" = \"reno\" }
competes = { flow = \"first\", solo = \"alone\" }

[[variant]]
name = \"1:3\"
set = { \"flow.second.congestion\" = \"reno\", \"flow.second.count\" = 3 }
competes = { flow = \"first\", solo = \"alone\", like = \"1:1\" }

[[variant]]
name = \"3:1\"
set = { \"flow.first.count\" = 3, \"flow.second.congestion\" = \"reno\" }
competes = { flow = \"first\", solo = \"alone\" }
";
    let flows = SCENARIO.split("[[variant]]").next().expect("the flows").replace("120s", "60s");
    let far = "[[path.forward]]\nkind = \"flow-delay\"\nname = \"far\"\nflow = \"second\"\ndelay = \"0ms\"\n";
    assert!(flows.contains(far));
    let text = flows.replace(far, "") + competing;
    let finished = finished(&text, &["alone", "1:1", "1:3", "3:1"]);
    let harm = |variant: &str| {
        let found = finished.competition.iter().find(|own| own.variant == variant);
        let found = found.unwrap_or_else(|| panic!("no {variant}"));
        assert_eq!(found.against, ["reno"], "{variant}");
        (found.harm.expect("a flow alone").throughput.mean, found.friendliness)
    };
    let [(one, _), (three, friendliness), (mean_of_three, _)] = ["1:1", "1:3", "3:1"].map(harm);
    // Of two flows one has a half or so; against three a flow has a quarter, and so has each of three against one.
    assert!(
        one < 0.6 && three > one + 0.1 && mean_of_three > one + 0.1,
        "{one} {three} {mean_of_three}"
    );
    assert!(friendliness.expect("a like").mean < 0.9, "{friendliness:?}");
}
