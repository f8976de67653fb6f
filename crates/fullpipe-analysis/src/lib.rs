//! Facts from a trace, computed once, and the document they end in.
//!
//! [`run`] turns the request ([`RunMeta`]) and the recording into a [`document::Run`]. It hides clocks, intervals and
//! the attribution of time. Nothing here knows which engine made the trace, opens a file or reads a clock.

mod acks;
mod attribution;
mod bins;
pub mod compare;
mod counters;
mod datagrams;
pub mod distance;
pub mod document;
pub mod expect;
pub mod fairness;
mod flow;
mod from_plan;
pub mod headline;
mod held_parts;
mod intervals;
mod lookup;
mod loops;
pub mod losses;
mod main_way;
pub mod meta;
mod moments;
mod nfs;
pub mod numbers;
mod occupancy;
pub mod pasted;
mod pauses;
pub mod phases;
pub mod picture;
pub mod plateau;
mod published;
mod reductions;
mod rounds;
pub mod rules;
mod seen;
mod series;
pub mod settings;
mod settled;
pub mod sizing;
mod slow_start;
pub mod sockets;
mod stages;
pub mod theory;
pub mod view;
pub mod words;

use fullpipe_scenario::{Plan, Scenario};
use fullpipe_trace::recording::Recording;
use lookup::{Lives, Traces};
use view::View;

/// Names of limits, points, kernels and tables, for programs that show a document.
pub use fullpipe_base::limits;
pub use fullpipe_scenario as scenario;
pub use fullpipe_trace as trace;
pub use main_way::{main_datagrams, main_way};
pub use meta::{
    DatagramsMeta, Earlier, Figures, FlowMeta, LoopMeta, Made, NfsMeta, RunMeta, WayMeta,
};
pub use nfs::are_unanswered;
pub use rules::busy_cpu::{LARGE_WRITE, SMALL_WRITE};
pub use rules::stuck_window::TUNING_RCVBUF;
pub use settled::EPOCHS;
pub use sockets::facts::{quantile, spread};

/// Everything the report says about a run.
pub fn run(meta: &RunMeta, recording: &Recording) -> document::Run {
    run_in(View::Model, meta, recording)
}

/// Everything the report says about a run, with the headline, its grade and the findings from one view.
pub fn run_in(view: View, meta: &RunMeta, recording: &Recording) -> document::Run {
    let traces = Traces::new(meta, recording);
    let lives = Lives::new(meta, recording, &traces);
    let mut flows: Vec<document::Flow> =
        (0..meta.flows.len()).map(|index| flow::flow(meta, &traces, &lives, index)).collect();

    // Mounts correct the rates of their connections, so all that follows sees useful data.
    let nfs = nfs::nfs(meta, recording, &lives);
    nfs::leave_out_repetitions(meta, &nfs, &lives, &mut flows);
    let stages = stages::stages(meta, &traces);
    let mut run = document::Run {
        variant: meta.variant.clone(),
        set: meta.set.clone(),
        view: (view != View::Model).then(|| view.name().into()),
        headline: None,
        findings: Vec::new(),
        notes: [
            meta.notes.clone(),
            loops::ended_by_count(meta, &lives),
            loops::not_begun(meta, &lives),
        ]
        .concat(),
        engine: meta.engine.clone(),
        substituted: meta.substituted.clone(),
        unvalidated: meta.unvalidated.clone(),
        idle_qdiscs: stages::idle_qdiscs(&meta.chosen_qdiscs, &stages),
        partial: meta.partial,
        duration_s: lives.end.as_secs_f64(),
        picture: picture::picture(meta, &traces, &flows),
        flows,
        bins: bins::bins(meta, recording, &traces),
        datagrams: datagrams::datagrams(meta, recording, &traces),
        nfs,
        stages,
        counters: counters::counters(recording),
        expectations: Vec::new(),
        fairness: fairness::fairness(meta, &traces, &lives),
        published: published::compare(meta, &traces, &lives),
        packets: None,
    };

    // A run that was cut short neither fulfils nor breaks expectations.
    if !meta.partial {
        run.expectations = meta.expectations.iter().map(|e| expect::judge(e, &run)).collect();
    }

    // The headline reads the finished run, and the view bounds what it may see.
    let (headline, findings) = match view {
        View::Model => headline::run(meta, &traces, &lives, &run),
        View::SenderSockets | View::SenderCapture | View::ReceiverCapture | View::MiddleCapture => {
            let sight = view::sender::Sight::new(meta, recording);
            sight.map_or_else(no_traffic, |sight| sockets::of_sender(&sight))
        }
        View::ReceiverSockets => {
            let sight = view::receiver::Sight::new(meta, recording);
            sight.map_or_else(no_traffic, |sight| sockets::of_receiver(&sight))
        }
    };

    // Expectations of the run are judged as in all views.
    let headline = match view {
        View::Model => headline,
        _ => headline::with_judgement(headline, meta, &run),
    };
    (run.headline, run.findings) = (Some(headline), findings);
    leave_out_what_did_not_begin(&mut run, &lives);
    run
}

/// Leaves out the connections of loops that ended before their turn.
fn leave_out_what_did_not_begin(run: &mut document::Run, lives: &Lives) {
    run.bins.flows = begun(&mut run.bins.flows, lives).map(|(_, bins)| bins).collect();
    let flows = begun(&mut run.flows, lives).enumerate();
    let numbered = flows.map(|(place, (at, flow))| document::Flow {
        index: Some(at).filter(|_| at != place),
        ..flow
    });
    run.flows = numbered.collect();
}

/// Takes the entry of each flow that begins, with its index in the trace.
fn begun<T>(all: &mut Vec<T>, lives: &Lives) -> impl Iterator<Item = (usize, T)> {
    let all = core::mem::take(all).into_iter().enumerate().zip(&lives.flows);
    all.filter(|(_, life)| life.begins).map(|(own, _)| own)
}

/// Headline and findings of a view of sockets that has seen no traffic.
fn no_traffic() -> (document::Headline, Vec<document::Finding>) {
    (headline::no_traffic(), Vec::new())
}

/// Names of a plan's runs, one per engine; the plan's own name where there is only one.
pub fn run_names(plan: &Plan, engines: &[&str]) -> Vec<String> {
    match engines {
        [_] => vec![plan.name()],
        several => several.iter().map(|engine| format!("{} on {engine}", plan.name())).collect(),
    }
}

/// The document of a scenario's runs on these engines, named by [`run_names`]. It is partial if a run or a band is
/// partial, or if runs are missing.
pub fn document(
    scenario: &Scenario,
    engines: &[&str],
    runs: Vec<document::Run>,
) -> document::Document {
    let names: Vec<Vec<String>> =
        scenario.plans().iter().map(|plan| run_names(plan, engines)).collect();
    let made = |name: &String| runs.iter().find(|run| run.variant == *name);
    let missing: Vec<String> =
        names.iter().flatten().filter(|name| made(name).is_none()).cloned().collect();

    // The first engine's run of a plan compares with each of the others.
    let comparisons = names.iter().flat_map(|names| {
        let mut runs = names.iter().filter_map(made);
        let first = runs.next();
        first.into_iter().flat_map(move |a| {
            runs.clone().map(|b| compare::of_one_scenario(a, b)).collect::<Vec<_>>()
        })
    });
    let mut made = document::Document {
        format: document::FORMAT,
        headline: None,
        scenario: document::ScenarioInfo {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            seed: scenario.seed,
        },
        partial: !missing.is_empty()
            || runs.iter().any(|run| {
                run.partial || run.published.as_ref().is_some_and(|published| !published.band_whole)
            }),
        comparisons: comparisons.collect(),
        missing,
        runs,
    };
    made.headline = Some(headline::of_document(&made));
    made
}

/// Two experiments as one document, so that a report shows both: the first one's runs as "a: ...", the second
/// one's as "b: ...", compared pair by pair.
pub fn merged(
    a: &document::Document,
    b: &document::Document,
    comparison: &compare::Comparison,
) -> document::Document {
    let renamed = |side: &str, document: &document::Document| -> Vec<document::Run> {
        document
            .runs
            .iter()
            .map(|run| document::Run { variant: format!("{side}: {}", run.variant), ..run.clone() })
            .collect()
    };

    // Pairs follow the new names, or the report would not find their runs.
    let mut comparisons = comparison.runs.clone();
    for pair in &mut comparisons {
        (pair.a, pair.b) = (format!("a: {}", pair.a), format!("b: {}", pair.b));
    }
    document::Document {
        partial: a.partial || b.partial,
        missing: Vec::new(),
        headline: headline::merged(a, b, comparison),
        runs: [renamed("a", a), renamed("b", b)].concat(),
        comparisons,
        scenario: both_scenarios(&a.scenario, &b.scenario),
        ..a.clone()
    }
}

/// The name and the title of both scenarios where they differ.
fn both_scenarios(
    a: &document::ScenarioInfo,
    b: &document::ScenarioInfo,
) -> document::ScenarioInfo {
    let both = |a: &str, b: &str| match a == b {
        true => a.to_string(),
        false => format!("a: {a}; b: {b}"),
    };
    document::ScenarioInfo {
        name: both(&a.name, &b.name),
        title: both(&a.title, &b.title),
        ..a.clone()
    }
}
