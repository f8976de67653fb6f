//! The method: the whole arithmetic cure at once, a loop on the first limit where the cure does not fill the path, and
//! then the removal of every change that is not needed.
//!
//! A study on 60 paths found this order better than curing one limit after the other: fewer runs, no wrong first limit,
//! and steadier results. A larger buffer exposes the next limit, and only the whole cure shows it.

mod chance;
mod search;
mod withdrawals;

use super::Case;
use super::candidates;
use super::change::{Change, Rank};
pub use super::goal::{Allowance, EVEN, Goal, PRICE};
use super::trial::{Bench, Outcome, Stopped};
use crate::gain::in_time;
use schemars::JsonSchema;
use search::Search;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// From this share of the path on it is full today, and nothing is advised.
pub const FULL: f64 = 0.97;
/// From this share on in the worst run a path gets no pace, where its first run is full.
pub const ALMOST: f64 = 0.95;
/// From this share on the loop has no more to look for: a pace leaves [`PACED_SHARE`](crate::sizing::sizes::PACED_SHARE).
pub const ENOUGH: f64 = 0.96;
/// Gain below which a change is not accepted, and loss below which it is withdrawn.
pub(super) const COUNTS: f64 = 0.02;
/// Rate that removals and smaller buffers together may cost.
const TOGETHER: f64 = 0.03;
/// Runs that differ by chance alone keep this part of the rate, or chance decides.
const STEADY: f64 = 0.97;
/// Mean share of the path below which a path that is full in the end is looked at again.
const LATE_MEAN: f64 = 0.7;
/// Rules on limits of a flow's growth.
const LATE: [&str; 2] = ["remembered-ssthresh", "initial-ssthresh"];
/// Beginning of the rules on the memory of all sockets of a host.
const MEMORY: &str = "tcp-mem";
/// Code of losses without SACK: the repair after slow start takes a round trip for each.
const SLOW_REPAIR: &str = "sack_off";
/// Changes that are advised on a path that loses packets, unless more of them gain more.
const MOST_ON_LOSS: usize = 2;

/// A trial in the order in which it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What was tried.
    pub what: String,
    /// Rate, Mb/s (10^6).
    pub mbit: f64,
    /// Queueing delay, ms.
    pub queue_ms: f64,
    /// What became of it.
    pub then: String,
}

/// Trial of a cure in the place of another one, where one is enough.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The tried change, with its value.
    pub what: String,
    /// Setting of the change that it replaced.
    pub of: String,
    /// Rate, Mb/s (10^6).
    pub mbit: f64,
    /// Judgement of the trial.
    pub then: &'static str,
}

/// Results of the method.
#[derive(Clone, Debug)]
pub struct Found {
    /// Goal of the search.
    pub goal: Goal,
    /// Whether settings that usually may change had to stay: those of one end, or of programs.
    pub is_bound: bool,
    /// Changes that are worth their while, in the order in which they act.
    pub changes: Vec<Kept>,
    /// Outcome with the settings of today.
    pub today: Outcome,
    /// Outcome with all changes.
    pub cured: Outcome,
    /// Everything that was tried.
    pub steps: Vec<Step>,
    /// Cures that were tried in the place of another one, in their order.
    pub(super) replacements: Vec<Replacement>,
    /// Lists of settings that were tried.
    pub tried: usize,
    /// Names of the settings that were tried, each once.
    pub settings: BTreeSet<String>,
    /// Runs of the last trials, of which the worst one counts; 1 where chance does not decide.
    pub seeds: u64,
    /// Number of the first of these runs.
    pub first_seed: u64,
    /// Whether the path is nearly full, so that no pace was tried.
    pub is_paceless: bool,
}

impl Found {
    /// The changes alone.
    fn list(&self) -> Vec<Change> {
        self.changes.iter().map(|own| own.change.clone()).collect()
    }
}

/// A change that stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Rate with all others and without this one, Mb/s.
    pub without_mbit: f64,
    /// Queueing delay with all others and without this one, ms.
    pub without_queue_ms: f64,
    /// Median time of messages with all others and without this one, ms; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub without_message_ms: Option<f64>,
    /// Least size that fills the path, bytes; none but of buffers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least: Option<u64>,
}

/// Looks for the changes that fill a case's path.
///
/// # Errors
/// A trial has no outcome.
pub fn find(case: &Case, allowance: &Allowance, bench: &Bench) -> Result<Found, Stopped> {
    let case = &Case { settles_queue: allowance.goal == Goal::Delay, ..case.clone() };
    let found = searched(case, allowance, bench)?;

    // Goals other than the rate have judged their changes already.
    let is_of_rate = allowance.goal == Goal::Rate && case.datagrams.is_none();
    if !is_of_rate {
        return Ok(found);
    }

    // A full path by chance comes first, then changes by chance, then a pace.
    let found = chance::doubted(found, case, allowance, bench)?;
    if found.changes.is_empty() {
        return Ok(found);
    }

    // One seed means that chance plays no part in the case.
    let found = match found.seeds {
        1 => found,
        _ => chance::confirmed(found, case, allowance, bench)?,
    };
    chance::steadier(found, case, allowance, bench)
}

fn searched(case: &Case, allowance: &Allowance, bench: &Bench) -> Result<Found, Stopped> {
    let found = Search::new(case, allowance, bench).run()?;

    // A result that changes nothing needs no second look.
    let is_in_doubt = !found.changes.is_empty() || is_full_late(&found.today);
    if case.is_chancy || !is_in_doubt || case.datagrams.is_some() {
        return Ok(found);
    }
    // Chance may decide although the case does not look like it.
    let chancy = Case { is_chancy: true, ..case.clone() };
    let mut search = Search::after(&found, &chancy, allowance, bench);
    if found.changes.is_empty() {
        return search.run();
    }

    // The worst of several seeds must come close to the first run.
    let worst = search.trial("the same with other seeds, starts and delays", &found.list())?;
    if worst.mbit >= STEADY * found.cured.mbit {
        return Ok(search.noted(found));
    }
    search.then("less: from here on three runs for each trial");
    search.run()
}

/// Whether a path is full at the end of a run with a mean far below: another run may not get there.
fn is_full_late(outcome: &Outcome) -> bool {
    let mean = outcome.headline.as_ref().and_then(|own| own.share);
    outcome.fills(FULL) && mean.is_some_and(|mean| mean < LATE_MEAN)
}

/// Rule of the verdict on an outcome; none without a verdict.
fn rule(outcome: &Outcome) -> Option<&str> {
    outcome.headline.as_ref()?.rule.as_deref()
}

/// Whether a setting keeps a flow from growing that is full in the end.
fn starts_late(outcome: &Outcome) -> bool {
    rule(outcome).is_some_and(|rule| LATE.contains(&rule)) || is_slow_repair(outcome)
}

/// Whether the verdict is that the memory of all sockets of a host is full.
fn lacks_memory(outcome: &Outcome) -> bool {
    rule(outcome).is_some_and(|rule| rule.starts_with(MEMORY))
}

/// Whether the verdict is that losses are repaired without SACK.
fn is_slow_repair(outcome: &Outcome) -> bool {
    let code = outcome.headline.as_ref().and_then(|own| own.code.as_deref());
    code == Some(SLOW_REPAIR)
}

/// Whether an outcome gains enough over another one to count.
pub(super) fn gains(new: &Outcome, old: &Outcome) -> bool {
    gain(new, old) >= COUNTS
}

/// Relative gain of an outcome over another one (0.02: 2 %): by the settled rate, or by the mean where the settled
/// rates are alike.
fn gain(new: &Outcome, old: &Outcome) -> f64 {
    let settled = more(new.mbit, old.mbit);

    // Programs that send by the clock keep their rate, however late their messages are.
    if let Some(sooner) = sooner(new, old) {
        return sooner;
    }
    let mean = more(new.mean_mbit, old.mean_mbit);
    // A mean depends on when a flow begins and on slow start, so that a little more of it says nothing.
    let counts_mean = [new, old].iter().any(|own| own.counts_mean || starts_late(own));
    if settled.abs() < COUNTS && counts_mean { mean } else { settled }
}

/// Relative gain in the time of messages (1: half the time), where it decides; none where the rates do.
pub(super) fn sooner(new: &Outcome, old: &Outcome) -> Option<f64> {
    let times = old.message_ms.zip(new.message_ms).map(|(old, new)| 1.0 + more(old, new));
    let rates = 1.0 + more(new.mbit, old.mbit);
    in_time(rates, times, new.by_the_clock).map(|gain| gain - 1.0)
}

/// Relative gain of a rate over another one (0.02: 2 %).
pub(super) fn more(new: f64, old: f64) -> f64 {
    match old > 0.0 {
        true => new / old - 1.0,
        false if new > 0.0 => f64::INFINITY,
        false => 0.0,
    }
}

/// Accepted changes and new ones; a new one replaces an old one of the same setting.
fn joined(old: &[Change], new: Vec<Change>) -> Vec<Change> {
    let mut all: Vec<Change> = old
        .iter()
        .filter(|own| new.iter().all(|new| !new.is_about(own) || own.rank == Rank::Cosmetic))
        .cloned()
        .collect();
    all.extend(new);
    // Threads come first: calls that wait for one are sent again, too. Copies of flows are last: edits name the flows as they
    // are today.
    all.sort_by_key(|own| (own.has_copies(), own.setting != candidates::THREADS));
    all
}
