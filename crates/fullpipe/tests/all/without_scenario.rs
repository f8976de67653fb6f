//! Rules do not read the scenario: without what only a scenario knows, the findings of a run are the same.

use crate::made::{made, scenario_files};
use fullpipe::analysis::document::Run;
use fullpipe::analysis::settings::FlowSettings;
use fullpipe::analysis::sizing::Question;
use fullpipe::analysis::{self, DatagramsMeta, FlowMeta, Made, RunMeta};
use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::units::Time;

/// Settings of a run that an audit of its hosts and devices shows, and what any observer knows: names, times, directions.
///
/// Each field stands here by name, so that a new one asks whether an observer can know it.
fn observed(meta: &RunMeta) -> RunMeta {
    RunMeta {
        variant: String::new(),
        set: serde_json::Map::new(),
        engine: String::new(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        chosen_qdiscs: Vec::new(),
        tuned: meta.tuned.clone(),
        notes: Vec::new(),
        places: meta.places.clone(),
        partial: meta.partial,
        or_settled: meta.or_settled,
        flows: meta.flows.iter().map(flow).collect(),
        datagrams: meta.datagrams.iter().map(datagrams).collect(),
        nfs: meta.nfs.clone(),
        mss: meta.mss,
        interval: meta.interval,
        first_interval: meta.first_interval,
        clock_offset: meta.clock_offset,
        sample: meta.sample,
        bin: meta.bin,
        ways: meta.ways.clone(),
        published: None,
        expectations: Vec::new(),
    }
}

fn flow(own: &FlowMeta) -> FlowMeta {
    FlowMeta {
        name: own.name.clone(),
        direction: own.direction,
        hosts: own.hosts.clone(),
        congestion: own.congestion.clone(),
        kernel: own.kernel.clone(),
        start: own.start,
        // A socket that closes tells when its program has stopped.
        stop: own.stop,
        base_rtt: None,
        shaper: own.shaper.clone(),
        settings: settings(&own.settings),
    }
}

fn settings(own: &FlowSettings) -> FlowSettings {
    let wrong = |end: Question| Question { rtt: Time::us(1), ..end };
    FlowSettings {
        kernels: own.kernels.clone(),
        send: own.send.clone(),
        receive: own.receive.clone(),
        ends: own.ends.map(|ends| ends.map(wrong)),
        loss: 0.0,
        without_scaling: own.without_scaling.clone(),
        without_sack: own.without_sack.clone(),
        pace: own.pace.clone(),
        first_ssthresh: own.first_ssthresh,
    }
}

fn datagrams(own: &DatagramsMeta) -> DatagramsMeta {
    DatagramsMeta { rate: None, ..own.clone() }
}

/// Codes and rules of a run's headline and findings.
fn verdict(run: &Run) -> Vec<(String, String)> {
    let headline = run.headline.as_ref().expect("a run has a headline");
    let first = (headline.code.clone(), headline.rule.clone());
    let first = (first.0.unwrap_or_default(), first.1.unwrap_or_default());
    let others = run.findings.iter().map(|own| (own.code.clone(), own.rule.clone()));
    std::iter::once(first).chain(others).collect()
}

/// Fails where the findings of a run depend on what only its scenario knows.
pub fn has_the_same_findings(scenario: &Scenario, plan: &Plan, run: &Run, recording: &Recording) {
    let meta = RunMeta::from_plan(scenario, plan, Made::default());
    let blind = analysis::run(&observed(&meta), recording);
    let text = |run: &Run| run.headline.as_ref().map(|own| own.text.clone()).unwrap_or_default();
    let name = format!("{}, {}", scenario.name, run.variant);
    assert_eq!(verdict(run), verdict(&blind), "{name}: {}\n{}", text(run), text(&blind));
}

#[test]
fn rules_do_not_read_the_scenario() {
    let files = scenario_files();
    let limits = files.iter().filter(|path| path.parent().is_some_and(|p| p.ends_with("limits")));
    for path in limits {
        let text = std::fs::read_to_string(path).expect("a scenario");
        let source = Source::text(&path.display().to_string(), &text);
        let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        for plan in scenario.plans() {
            let (run, recording) = made(&scenario, plan);
            has_the_same_findings(&scenario, plan, &run, &recording);
        }
    }
}
