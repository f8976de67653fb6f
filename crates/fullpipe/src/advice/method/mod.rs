//! The method: the whole arithmetic cure at once, a loop on the first limit where that does not fill the path, and then
//! the removal of every change that is not needed.
//!
//! A study on 60 paths found this order better than curing one limit after the other: fewer runs, no wrong first limit,
//! and steadier results. Raising a buffer makes the next limit, and only the whole cure shows it.

mod chance;
mod withdrawals;

use super::Case;
use super::candidates::{self, Offers, cure, remedies};
use super::change::{Change, Rank};
use super::edit::{Edit, edited};
pub use super::goal::{Allowance, EVEN, Goal, PRICE};
use super::trial::{Bench, Outcome, Stopped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From this share of the path on it is full today, and nothing is advised.
pub const FULL: f64 = 0.97;
/// From this share on in the worst run a path is left alone that is full with the seed of the scenario.
const ALMOST: f64 = 0.95;
/// From this share on the loop has no more to look for: a pace leaves [`PACED_SHARE`](crate::sizing::sizes::PACED_SHARE).
pub const ENOUGH: f64 = 0.96;
/// What gains less is not accepted, and what costs less to take away is withdrawn.
pub(super) const COUNTS: f64 = 0.02;
/// Parallel streams in the place of a flow have to gain this much: others on the path pay for them.
const STREAMS_COUNT: f64 = 0.1;
/// Removals and smaller buffers together may cost so much.
const TOGETHER: f64 = 0.03;
/// Runs that differ by chance alone keep this part of the rate, or chance decides.
const STEADY: f64 = 0.97;
/// Most steps of the loop.
const STEPS: usize = 6;
/// Mean share of the path below which a path that is full in the end is looked at again.
const LATE_MEAN: f64 = 0.7;
/// Rules on what keeps a flow from growing.
const LATE: [&str; 2] = ["remembered-ssthresh", "initial-ssthresh"];
/// Code of losses without SACK: the repair after slow start takes a round trip for each.
const SLOW_REPAIR: &str = "sack_off";
/// The setting that cures them.
const SACK: &str = "net.ipv4.tcp_sack";
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

/// What the method found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Goal of the search.
    pub goal: Goal,
    /// Changes that are worth their while, in the order in which they act.
    pub changes: Vec<Kept>,
    /// Today.
    pub today: Outcome,
    /// With all changes.
    pub cured: Outcome,
    /// Everything that was tried.
    pub steps: Vec<Step>,
    /// Lists of settings that were tried.
    pub tried: usize,
    /// Runs of the last trials, of which the worst one counts; one where chance does not decide.
    pub seeds: u64,
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
    let is_of_rate = allowance.goal == Goal::Rate && case.datagrams.is_none();
    if found.changes.is_empty() || !is_of_rate {
        return Ok(found);
    }
    let found = match found.seeds {
        1 => found,
        _ => chance::confirmed(found, case, allowance, bench)?,
    };
    chance::steadier(found, case, allowance, bench)
}

fn searched(case: &Case, allowance: &Allowance, bench: &Bench) -> Result<Found, Stopped> {
    let search = Search { case, allowance, bench, steps: Vec::new(), tried: Vec::new(), before: 0 };
    let found = search.run()?;
    let is_in_doubt = !found.changes.is_empty() || is_full_late(&found.today);
    if case.is_chancy || !is_in_doubt || case.datagrams.is_some() {
        return Ok(found);
    }
    // Chance may decide where nothing told so.
    let chancy = Case { is_chancy: true, ..case.clone() };
    let mut search = Search::after(&found, &chancy, allowance, bench);
    if found.changes.is_empty() {
        return search.run();
    }
    let worst = search.trial("the same with other seeds, starts and delays", &found.list())?;
    if worst.mbit >= STEADY * found.cured.mbit {
        return Ok(Found { tried: search.count(), steps: search.steps, ..found });
    }
    search.then("less: from here on three runs for each trial");
    search.run()
}

struct Search<'a> {
    case: &'a Case,
    allowance: &'a Allowance,
    bench: &'a Bench<'a>,
    steps: Vec<Step>,
    /// Lists that were tried, each with its outcome.
    tried: Vec<State>,
    /// Lists that were tried in a search before.
    before: usize,
}

/// Changes with what came of them.
#[derive(Clone)]
struct State {
    changes: Vec<Change>,
    outcome: Outcome,
}

impl<'a> Search<'a> {
    /// A search that goes on from another one, with other runs.
    fn after(
        found: &Found,
        case: &'a Case,
        allowance: &'a Allowance,
        bench: &'a Bench<'a>,
    ) -> Search<'a> {
        let Found { steps, tried: before, .. } = found.clone();
        Search { case, allowance, bench, steps, tried: Vec::new(), before }
    }

    /// Number of lists that were tried.
    fn count(&self) -> usize {
        self.before + self.tried.len()
    }
}

impl Search<'_> {
    fn run(mut self) -> Result<Found, Stopped> {
        let today = self.trial("today", &[])?;
        if today.share().is_some_and(|share| share >= FULL) && !starts_late(&today) {
            let is_met = self.allowance.goal.is_met(&today);
            self.then(if is_met { "full: set nothing" } else { "full, but not the goal" });
            return self.without_gain(today);
        }
        let is_almost = today.share().is_some_and(|share| share >= ALMOST);
        let is_healthy = today.is_healthy && is_almost && !is_full_late(&today);
        if is_healthy && self.allowance.goal == Goal::Rate {
            self.then("the link is full with the seed of the scenario: set nothing");
            return self.without_gain(today);
        }
        self.then("not full");
        if self.case.crowd.is_some() {
            return self.without_gain(today);
        }

        let nothing = State { changes: Vec::new(), outcome: today.clone() };
        let mut whole = self.allowed(cure(self.case));
        // What avoids losses would hide the fault that the verdict names; the loop adds what else is needed.
        let is_repair = |own: &Change| own.setting == SACK;
        if is_slow_repair(&today) && whole.iter().any(is_repair) {
            whole.retain(is_repair);
        }
        let mut best = nothing.clone();
        if !whole.is_empty() {
            let outcome = self.trial("all that arithmetic advises", &whole)?;
            let cured = State { changes: whole, outcome };
            // A cure that gains nothing may still show the next limit.
            let next = self.climb(cured.clone())?;
            best = better(best, next);
        }
        if best.changes.is_empty() {
            best = self.climb(nothing)?;
        }
        if gain(&best.outcome, &today) < COUNTS {
            return self.without_gain(today);
        }

        let most = best.outcome.clone();
        let mut best = self.prune(best)?;
        // What was in the way of the loop may be gone.
        if gain(&best.outcome, &most) >= COUNTS {
            let next = self.climb(best.clone())?;
            if gain(&next.outcome, &best.outcome) >= COUNTS {
                best = self.prune(next)?;
            }
        }
        if self.case.is_lossy {
            best = self.fewest(best)?;
        }
        let best = self.shrink(best, &most)?;
        let best = self.refined(best)?;
        self.finished(best, today)
    }

    /// The answer: what each change gives, and the least sizes of buffers.
    fn finished(mut self, best: State, today: Outcome) -> Result<Found, Stopped> {
        let kept = self.kept(&best)?;
        let kept = self.sizes(&best, kept)?;
        Ok(self.found(kept, today, best.outcome))
    }

    /// Changes that the goal asks for where no change gains rate.
    fn without_gain(mut self, today: Outcome) -> Result<Found, Stopped> {
        let start = State { changes: Vec::new(), outcome: today.clone() };
        let best = self.refined(start)?;
        let kept = self.kept(&best)?;
        Ok(self.found(kept, today, best.outcome))
    }

    /// The state that comes closest to the goal for [`PRICE`] of the rate.
    fn refined(&mut self, start: State) -> Result<State, Stopped> {
        let goal = self.allowance.goal;
        if goal.is_met(&start.outcome) {
            return Ok(start);
        }
        let offers = match goal {
            Goal::Rate => Vec::new(),
            Goal::Delay => candidates::shorter(self.case),
            Goal::Fair => candidates::fairer(self.case),
        };
        let mut lists = self.offered(&start.changes, offers);
        lists.retain(|list| *list != start.changes);
        let states = self.states(&start.changes, lists)?.into_iter();
        let is_worth = |own: &State| own.outcome.mbit >= (1.0 - PRICE) * start.outcome.mbit;
        let closest = states
            .filter(is_worth)
            .min_by(|a, b| goal.distance(&a.outcome).total_cmp(&goal.distance(&b.outcome)));
        match closest.filter(|own| goal.is_closer(&own.outcome, &start.outcome)) {
            None => Ok(start),
            Some(best) => self.prune(best),
        }
    }

    /// Tries remedies for the first limit, again and again.
    fn climb(&mut self, mut best: State) -> Result<State, Stopped> {
        let mut seen: Vec<Vec<Change>> = vec![best.changes.clone()];
        for _ in 0..STEPS {
            let is_full = best.outcome.share().is_some_and(|share| share >= ENOUGH);
            if is_full && !starts_late(&best.outcome) {
                break;
            }
            // The simulator has no bbr; a real kernel has it.
            let has = Offers { bbr: !self.bench.engine.kernels().is_empty() };
            let offers = remedies(self.case, &best.changes, &best.outcome, &has);
            let mut lists = self.offered(&best.changes, offers);
            lists.retain(|list| !seen.contains(list));
            if lists.is_empty() {
                break;
            }
            seen.extend(lists.iter().cloned());
            let states = self.states(&best.changes, lists)?.into_iter();
            let most = states.max_by(|a, b| {
                gain(&a.outcome, &best.outcome).total_cmp(&gain(&b.outcome, &best.outcome))
            });
            match most {
                Some(most) if gain(&most.outcome, &best.outcome) >= self.due(&best, &most) => {
                    best = most
                }
                _ => break,
            }
        }
        Ok(best)
    }

    /// Gain from which on a state is worth what it adds to another one.
    fn due(&self, best: &State, next: &State) -> f64 {
        let is_streams = |own: &&Change| own.setting == "nconnect" || own.has_copies();
        // Beyond TCP's largest window streams take nothing from others.
        let mut flows = self.case.flows.iter().filter_map(|flow| flow.needs);
        let is_beyond = flows.any(|needs| needs.connections.is_some());
        let mut new = next.changes.iter().filter(|own| !best.changes.contains(own));
        if new.any(|own| is_streams(&own)) && !is_beyond { STREAMS_COUNT } else { COUNTS }
    }

    /// Whether an outcome is no worse than another, in rate and in what else the goal asks for.
    fn is_as_good(&self, own: &Outcome, best: &Outcome) -> bool {
        gain(best, own) < COUNTS && self.allowance.goal.keeps(own, best)
    }

    /// Offers that may be made, each beside the changes that are accepted.
    fn offered(&self, accepted: &[Change], offers: Vec<Vec<Change>>) -> Vec<Vec<Change>> {
        let offers = offers.into_iter().map(|offer| self.allowed(offer));
        let offers = offers.filter(|offer| !offer.is_empty());
        offers.map(|offer| joined(accepted, offer)).collect()
    }

    /// Lists of changes with what came of each; `old` changes are not named again.
    fn states(&mut self, old: &[Change], lists: Vec<Vec<Change>>) -> Result<Vec<State>, Stopped> {
        let outcomes = self.trials(old, &lists)?;
        let states = lists.into_iter().zip(outcomes);
        Ok(states.map(|(changes, outcome)| State { changes, outcome }).collect())
    }

    /// Changes that somebody may make, and that the scenario takes.
    fn allowed(&self, changes: Vec<Change>) -> Vec<Change> {
        // The parts of a flow's streams are no fair parts.
        let is_fair = |change: &Change| self.allowance.goal != Goal::Fair || !change.has_copies();
        let may =
            |change: &Change| self.allowance.scopes.contains(&change.scope) && is_fair(change);
        let is_taken = |change: &Change| edited(&self.case.today, &change.edits).is_ok();
        candidates::together(changes.into_iter().filter(may).filter(is_taken))
    }

    fn trial(&mut self, what: &str, changes: &[Change]) -> Result<Outcome, Stopped> {
        let tried = self.outcomes(what, &[changes.to_vec()])?;
        let (outcome, _) = tried.into_iter().next().expect("one list has one outcome");
        self.note(what.into(), &outcome, "");
        Ok(outcome)
    }

    fn trials(&mut self, old: &[Change], lists: &[Vec<Change>]) -> Result<Vec<Outcome>, Stopped> {
        let tried = self.outcomes("remedies for the first limit", lists)?;
        for (list, (outcome, _)) in lists.iter().zip(&tried) {
            let new = list.iter().filter(|change| !old.contains(change));
            let new: Vec<String> =
                new.map(|own| format!("{} {}", own.setting, own.advised)).collect();
            self.note(format!("also {}", new.join(", ")), outcome, "");
        }
        Ok(tried.into_iter().map(|(outcome, _)| outcome).collect())
    }

    /// Outcomes of lists of changes, and whether each is new: a list that was tried is not tried again.
    fn outcomes(
        &mut self,
        what: &str,
        lists: &[Vec<Change>],
    ) -> Result<Vec<(Outcome, bool)>, Stopped> {
        let old = self.tried.len();
        let new: Vec<&Vec<Change>> =
            lists.iter().filter(|list| self.tried(list).is_none()).collect();
        if !new.is_empty() {
            self.step(what, new.len());
            let all: Vec<Vec<&Edit>> = new.iter().map(|list| edits(list)).collect();
            let outcomes = self.bench.trials(self.case, &all)?;
            let states = new.into_iter().cloned().zip(outcomes);
            self.tried.extend(states.map(|(changes, outcome)| State { changes, outcome }));
        }
        let known = lists.iter().filter_map(|list| self.tried(list));
        Ok(known.map(|at| (self.tried[at].outcome.clone(), at >= old)).collect())
    }

    /// Place of a list among those that were tried.
    fn tried(&self, list: &[Change]) -> Option<usize> {
        self.tried.iter().position(|own| own.changes == list)
    }

    fn step(&self, what: &str, runs: usize) {
        self.bench.watch.step(what, runs, self.case.least());
    }

    fn note(&mut self, what: String, outcome: &Outcome, then: &str) {
        let (mbit, queue_ms) = (outcome.mbit, outcome.queue_ms);
        self.steps.push(Step { what, mbit, queue_ms, then: then.into() });
    }

    fn then(&mut self, then: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.then = then.into();
        }
    }

    fn found(self, changes: Vec<Kept>, today: Outcome, cured: Outcome) -> Found {
        let goal = self.allowance.goal;
        let seeds = self.case.seeds();
        let tried = self.count();
        Found { goal, changes, today, cured, steps: self.steps, tried, seeds }
    }
}

/// The state with more; the old one where the new one gains too little to count.
fn better(old: State, new: State) -> State {
    if gain(&new.outcome, &old.outcome) >= COUNTS { new } else { old }
}

/// Whether a path is full at the end of a run whose mean is far below: another run may not get there.
fn is_full_late(outcome: &Outcome) -> bool {
    let mean = outcome.headline.as_ref().and_then(|own| own.share);
    outcome.share().is_some_and(|share| share >= FULL) && mean.is_some_and(|mean| mean < LATE_MEAN)
}

/// Whether a setting keeps a flow from growing that is full in the end.
fn starts_late(outcome: &Outcome) -> bool {
    let rule = outcome.headline.as_ref().and_then(|own| own.rule.as_deref());
    rule.is_some_and(|rule| LATE.contains(&rule)) || is_slow_repair(outcome)
}

/// Whether the verdict is that losses are repaired without SACK.
fn is_slow_repair(outcome: &Outcome) -> bool {
    let code = outcome.headline.as_ref().and_then(|own| own.code.as_deref());
    code == Some(SLOW_REPAIR)
}

/// How much more an outcome has than another (0.02: 2 %): of the settled rate, or of the mean where the settled rates
/// are alike.
fn gain(new: &Outcome, old: &Outcome) -> f64 {
    let settled = more(new.mbit, old.mbit);
    let mean = more(new.mean_mbit, old.mean_mbit);
    // A mean depends on when a flow begins and on slow start, so that a little more of it says nothing.
    if settled.abs() < COUNTS && (starts_late(new) || starts_late(old)) { mean } else { settled }
}

/// How much more a rate is than another (0.02: 2 %).
pub(super) fn more(new: f64, old: f64) -> f64 {
    match old > 0.0 {
        true => new / old - 1.0,
        false if new > 0.0 => f64::INFINITY,
        false => 0.0,
    }
}

/// The edits of changes, in their order.
fn edits(changes: &[Change]) -> Vec<&Edit> {
    changes.iter().flat_map(|change| &change.edits).collect()
}

/// Accepted changes and new ones; a new one takes the place of an old one of the same setting.
fn joined(old: &[Change], new: Vec<Change>) -> Vec<Change> {
    let stays =
        |own: &&Change| new.iter().all(|new| !new.is_about(own) || own.rank == Rank::Cosmetic);
    let mut all: Vec<Change> = old.iter().filter(stays).cloned().collect();
    all.extend(new);
    // Copies of flows come last: edits name the flows as they are today.
    all.sort_by_key(Change::has_copies);
    all
}
