//! Trials that judge a case.
//!
//! They are advice's own trials, but always three runs, with seeds, starts and delays that advice does not try.

use fullpipe::advice::trial::{Bench, Outcome, Stopped, Watch};
use fullpipe::advice::{Case, Edit};
use fullpipe::base::units::Time;
use fullpipe::engine::Failed;
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{Source, load};

/// No progress; an end by a signal.
pub struct Quiet;

impl Watch for Quiet {
    fn step(&self, _what: &str, _runs: usize, _lasts: Time) {}

    fn advance(&self, _span: Time) -> bool {
        !crate::work::stopped()
    }
}

/// A bench for one thread.
pub fn bench() -> Bench<'static> {
    Bench { engine: &Simulator, jobs: 1, watch: &Quiet }
}

/// The case of a scenario's first run.
///
/// # Errors
/// The text is no scenario, or has no flow.
pub fn case(name: &str, text: &str) -> Result<Case, String> {
    let source = Source::text(&format!("{name}.toml"), text);
    let scenario = load(&source, &[], &[]).map_err(|wrong| format!("{name}: {wrong}"))?;
    let case = Case::new(&scenario, &scenario.plans()[0]);
    case.ok_or_else(|| format!("{name}: no TCP flow sends data"))
}

/// Number of the first run that judges advice. Advice has tried the runs below it, and those from 100 on.
pub const UNSEEN: u64 = 3;

/// An outcome for each list of edits, the worst of three runs from the number `first_seed` on.
///
/// # Errors
/// A trial has no outcome.
pub fn worst_of_three(
    name: &str,
    case: &Case,
    first_seed: u64,
    lists: &[Vec<&Edit>],
) -> Result<Vec<Outcome>, String> {
    let case = Case { is_chancy: true, first_seed, ..case.clone() };
    bench().trials(&case, lists).map_err(|why| stopped(name, &why))
}

/// Single runs that separate a gain from chance.
const RUNS: u64 = 9;
/// Number of the first of them: neither advice nor the trials above have these seeds.
const FIRST: u64 = 2000;

/// Gain of one list of edits over another in the median of nine runs: by the settled rate, and by the mean (1.02: 2 %).
///
/// Both lists have the same seeds, starts and delays, so that runs are compared one by one.
///
/// # Errors
/// A trial has no outcome.
pub fn median_gains(
    name: &str,
    case: &Case,
    new: &[&Edit],
    old: &[&Edit],
) -> Result<[f64; 2], String> {
    let mut gains = [Vec::new(), Vec::new()];
    for first_seed in FIRST..FIRST + RUNS {
        let case = Case { is_chancy: false, first_seed, ..case.clone() };
        let lists = [new.to_vec(), old.to_vec()];
        let own = bench().trials(&case, &lists).map_err(|why| stopped(name, &why))?;
        gains[0].push(own[0].mbit / own[1].mbit.max(1e-9));
        gains[1].push(own[0].mean_mbit / own[1].mean_mbit.max(1e-9));
    }
    Ok(gains.map(|own| median(own.into_iter())))
}

/// Median; 0 of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Why a trial has no outcome, in words.
pub fn stopped(name: &str, why: &Stopped) -> String {
    match why {
        Stopped::Interrupted => crate::work::STOPPED.into(),
        Stopped::Failed(Failed::Scenario(why) | Failed::Machine(why)) => format!("{name}: {why}"),
    }
}
