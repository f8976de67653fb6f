//! A search: the arithmetic cure, the loop on the first limit, and every list of changes that was tried.

use super::super::Case;
use super::super::candidates::{self, cure, remedies};
use super::super::change::{Change, Rank, Scope};
use super::super::edit::{Edit, edited};
use super::super::trial::{Bench, Outcome, Stopped};
use super::{
    ALMOST, Allowance, COUNTS, ENOUGH, FULL, Found, Goal, Kept, PRICE, Replacement, Step, gain,
    is_full_late, is_slow_repair, joined, lacks_memory, starts_late,
};
use crate::engine::Support;
use crate::scenario::Resolved;
use std::collections::BTreeSet;

/// Most steps of the loop.
const STEPS: usize = 6;
/// Parallel streams in the place of a flow have to gain this much: others on the path pay for them.
const STREAMS_COUNT: f64 = 0.1;
/// The setting that cures losses without SACK.
const SACK: &str = "net.ipv4.tcp_sack";

/// Trials of lists of changes with the same runs.
pub(super) struct Search<'a> {
    pub case: &'a Case,
    pub allowance: &'a Allowance,
    bench: &'a Bench<'a>,
    steps: Vec<Step>,
    replacements: Vec<Replacement>,
    /// Lists that were tried, each with its outcome.
    tried: Vec<State>,
    /// Lists that were tried in a search before.
    before: usize,
    /// Names of the settings that were tried.
    settings: BTreeSet<String>,
    /// Whether means count, for a setting keeps the flows of today from growing.
    counts_mean: bool,
    /// Whether the path is nearly full: faults and buffers are tried, no pace, and no loop.
    is_paceless: bool,
}

/// Changes with the result of their trial.
#[derive(Clone)]
pub(super) struct State {
    pub changes: Vec<Change>,
    pub outcome: Outcome,
}

impl<'a> Search<'a> {
    /// A search that has tried nothing.
    pub fn new(case: &'a Case, allowance: &'a Allowance, bench: &'a Bench<'a>) -> Search<'a> {
        Search {
            case,
            allowance,
            bench,
            steps: Vec::new(),
            replacements: Vec::new(),
            tried: Vec::new(),
            before: 0,
            settings: BTreeSet::new(),
            counts_mean: false,
            is_paceless: false,
        }
    }

    /// A search that continues another one, with other runs.
    pub fn after(
        found: &Found,
        case: &'a Case,
        allowance: &'a Allowance,
        bench: &'a Bench<'a>,
    ) -> Search<'a> {
        let Found { steps, replacements, tried: before, settings, is_paceless, .. } = found.clone();
        let counts_mean = found.today.counts_mean;
        let new = Search::new(case, allowance, bench);
        Search { steps, replacements, before, settings, counts_mean, is_paceless, ..new }
    }

    /// Answer of another search, with the trials of this one.
    pub fn noted(self, found: Found) -> Found {
        Found { tried: self.count(), steps: self.steps, replacements: self.replacements, ..found }
    }

    /// Number of lists that were tried.
    fn count(&self) -> usize {
        self.before + self.tried.len()
    }
}

impl Search<'_> {
    pub fn run(mut self) -> Result<Found, Stopped> {
        // The first trial is today's: it may end the search at once.
        let mut today = self.trial("today", &[])?;
        self.counts_mean = starts_late(&today);
        today.counts_mean = self.counts_mean;
        if today.fills(FULL) && !self.counts_mean {
            let is_met = self.allowance.goal.is_met(&today);
            self.then(if is_met { "full: set nothing" } else { "full, but not the goal" });
            return self.without_gain(today);
        }
        let is_healthy = today.is_healthy && today.fills(ALMOST) && !is_full_late(&today);
        // A pace in each program is too much for the last percent.
        self.is_paceless = is_healthy && self.allowance.goal == Goal::Rate;
        self.then(match self.is_paceless {
            true => "the link is full in the first of these runs: no pace is tried",
            false => "not full",
        });

        // Datagrams crowd the path: no setting of TCP gives their part back.
        if self.case.crowd.is_some() {
            return self.without_gain(today);
        }

        // The most comes first, then whatever is needless goes again.
        let best = self.most(&today)?;
        if gain(&best.outcome, &today) < COUNTS {
            return self.without_gain(today);
        }

        let most = best.outcome.clone();
        let mut best = self.prune(best)?;
        // The obstacle of the loop may be gone.
        if gain(&best.outcome, &most) >= COUNTS {
            let next = self.climb(best.clone())?;
            if gain(&next.outcome, &best.outcome) >= COUNTS {
                best = self.prune(next)?;
            }
        }

        // Losses invite many small gains: two subjects are enough there.
        if self.case.is_lossy {
            best = self.fewest(best)?;
        }

        // Sizes shrink last, when it is clear which changes stay.
        let best = self.shrink(best, &most)?;
        let best = self.refined(best)?;
        let best = self.alternative(best)?;
        self.finished(best, today)
    }

    /// The state that gains most: the arithmetic cure, and the loop's additions.
    fn most(&mut self, today: &Outcome) -> Result<State, Stopped> {
        let nothing = State { changes: Vec::new(), outcome: today.clone() };
        let all = self.possible(candidates::alternatives(self.case));
        let one = all.into_iter().find(|own| self.may_make(own));
        let mut whole = one.unwrap_or_default();
        whole.extend(self.allowed(cure(self.case)));
        // A change that avoids losses would hide the fault that the verdict names; the loop adds the other changes.
        let is_repair = |own: &Change| own.setting == SACK;
        if is_slow_repair(today) && whole.iter().any(is_repair) {
            whole.retain(is_repair);
        }
        // A path that is full in the end has no use for a pace. A pace would hide that the sockets lack memory.
        if self.is_paceless || today.fills(FULL) || lacks_memory(today) {
            whole.retain(|own| own.rank != Rank::Pace);
        }
        let mut best = nothing.clone();
        if !whole.is_empty() {
            let outcome = self.trial("all that arithmetic advises", &whole)?;
            let cured = State { changes: whole, outcome };
            // A cure that costs rate may hold the flow as long as its limit stays.
            if gain(&cured.outcome, today) <= -COUNTS {
                best = self.climb(nothing.clone())?;
            }
            // A cure that gains nothing may still show the next limit.
            let next = self.climb(cured)?;
            best = better(best, next);
        }

        // Arithmetic may advise nothing, or something that does not help.
        if best.changes.is_empty() {
            best = self.climb(nothing)?;
        }
        Ok(best)
    }

    /// Cures that scenario and engine take: also those that nobody here may make.
    fn possible(&self, cures: Vec<Vec<Change>>) -> Vec<Vec<Change>> {
        let all = cures.into_iter().map(|own| self.taken(own));
        all.filter(|own| !own.is_empty()).collect()
    }

    /// Whether all changes are in the scopes of the allowance.
    fn may_make(&self, changes: &[Change]) -> bool {
        changes.iter().all(|change| self.allowance.scopes.contains(&change.scope))
    }

    /// The state with the best of its cures of which one is enough: each is tried in the place of the first one.
    fn alternative(&mut self, best: State) -> Result<State, Stopped> {
        let all = self.possible(candidates::in_place(self.case));
        let is_in = |own: &&Vec<Change>| own.iter().all(|change| best.changes.contains(change));
        let Some(first) = all.iter().find(is_in) else { return Ok(best) };
        let rest = best.changes.iter().filter(|own| !first.contains(own));
        let rest: Vec<Change> = rest.cloned().collect();

        let mut chosen = best.clone();
        for other in all.iter().filter(|own| *own != first) {
            let changes = joined(other, rest.clone());
            let Change { setting, advised, .. } = &other[0];
            let (what, of) = (format!("{setting} {advised}"), first[0].setting.clone());
            let outcome = self.trial(&format!("{what} in the place of {of}"), &changes)?;

            let state = State { changes, outcome };
            let is_more = gain(&state.outcome, &chosen.outcome) >= self.due(&chosen, &state);
            let keeps = self.allowance.goal.keeps(&state.outcome, &chosen.outcome);
            let may_make = self.may_make(other);
            let then = match (is_more, may_make) {
                (true, _) if !keeps => "more, with a longer queue",
                (true, true) => "more: it stays",
                (true, false) => "more, but nobody here may change it",
                _ if self.is_as_good(&state.outcome, &best.outcome) => "as good",
                _ if gain(&state.outcome, &best.outcome) > -COUNTS => {
                    "as much, with a longer queue"
                }
                _ => "less",
            };
            self.then(then);
            let mbit = state.outcome.mbit;
            self.replacements.push(Replacement { what, of, mbit, then });
            if is_more && keeps && may_make {
                chosen = state;
            }
        }
        // Another way out may have no need of what the first one needed.
        if chosen.changes == best.changes { Ok(chosen) } else { self.prune(chosen) }
    }

    /// The answer: the gain of each change, and the least sizes of buffers.
    pub fn finished(mut self, best: State, today: Outcome) -> Result<Found, Stopped> {
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

    /// The state that is closest to the goal for [`PRICE`] of the rate.
    fn refined(&mut self, start: State) -> Result<State, Stopped> {
        let goal = self.allowance.goal;

        // The rate is the first goal; delay and fairness may cost a little of it.
        if goal.is_met(&start.outcome) {
            return Ok(start);
        }
        let offers = match goal {
            // A flow whose packets the path swallows has its own remedies.
            Goal::Rate => candidates::alternatives(self.case),
            Goal::Delay => candidates::shorter(self.case),
            Goal::Fair => candidates::fairer(self.case),
        };
        let mut lists = self.offered(&start.changes, offers);
        lists.retain(|list| *list != start.changes);
        let states = self.states(&start.changes, lists)?.into_iter();
        let closest = states
            // A state that costs more than the price is no choice.
            .filter(|own| own.outcome.mbit >= (1.0 - PRICE) * start.outcome.mbit)
            .min_by(|a, b| {
                let [far, farther] = [a, b].map(|own| goal.distance(&own.outcome));
                far.total_cmp(&farther).then(b.outcome.mbit.total_cmp(&a.outcome.mbit))
            });
        match closest.filter(|own| goal.is_closer(&own.outcome, &start.outcome)) {
            None => Ok(start),
            Some(best) => self.prune(best),
        }
    }

    /// Tries remedies for the first limit repeatedly.
    fn climb(&mut self, mut best: State) -> Result<State, Stopped> {
        if self.is_paceless {
            return Ok(best);
        }

        // A list that was tried leads to the same limit again.
        let mut seen: Vec<Vec<Change>> = vec![best.changes.clone()];
        for _ in 0..STEPS {
            // A full path ends the loop, unless its start is still slow.
            if best.outcome.fills(ENOUGH) && !starts_late(&best.outcome) {
                break;
            }
            let paces = self.allowance.scopes.contains(&Scope::Application);
            let offers = remedies(self.case, &best.changes, &best.outcome, paces);
            let mut lists = self.offered(&best.changes, offers);
            lists.retain(|list| !seen.contains(list));
            if lists.is_empty() {
                break;
            }
            seen.extend(lists.iter().cloned());
            let mut states = self.states(&best.changes, lists)?;
            let with_memory = self.with_memory(&best, &states);
            states.extend(self.states(&best.changes, with_memory)?);

            // The list that gains most is the step; the others are dropped.
            let most = states.into_iter().max_by(|a, b| {
                gain(&a.outcome, &best.outcome).total_cmp(&gain(&b.outcome, &best.outcome))
            });

            // A list must gain what its changes are worth.
            match most {
                Some(most) if gain(&most.outcome, &best.outcome) >= self.due(&best, &most) => {
                    best = most
                }
                _ => break,
            }
        }
        Ok(best)
    }

    /// Lists that gain nothing because the memory of a host's sockets is full with them, together with more of it.
    fn with_memory(&self, best: &State, states: &[State]) -> Vec<Vec<Change>> {
        let fills =
            |own: &&State| lacks_memory(&own.outcome) && gain(&own.outcome, &best.outcome) < COUNTS;
        let with = |own: &State| {
            let headline = own.outcome.headline.as_ref();
            let offers = headline.map_or(Vec::new(), |own| candidates::memory(self.case, own));
            self.offered(&own.changes, offers)
        };
        states.iter().filter(fills).flat_map(with).collect()
    }

    /// Gain from which on a state is worth its additions to another one.
    fn due(&self, best: &State, next: &State) -> f64 {
        let is_streams = |own: &&Change| own.setting == "nconnect" || own.has_copies();
        // Beyond TCP's largest window streams take nothing from others.
        let mut flows = self.case.flows.iter().filter_map(|flow| flow.needs);
        let is_beyond = flows.any(|needs| needs.connections.is_some());
        let mut new = next.changes.iter().filter(|own| !best.changes.contains(own));
        if new.any(|own| is_streams(&own)) && !is_beyond { STREAMS_COUNT } else { COUNTS }
    }

    /// Whether an outcome is no worse than another one, in rate and in further demands of the goal.
    pub fn is_as_good(&self, own: &Outcome, best: &Outcome) -> bool {
        gain(best, own) < COUNTS && self.allowance.goal.keeps(own, best)
    }

    /// Offers that may be made, each together with the changes that are accepted.
    fn offered(&self, accepted: &[Change], offers: Vec<Vec<Change>>) -> Vec<Vec<Change>> {
        let offers = offers.into_iter().map(|offer| self.allowed(offer));
        let offers = offers.filter(|offer| !offer.is_empty());
        offers.map(|offer| joined(accepted, offer)).collect()
    }

    /// Lists of changes with the result of each; `old` changes are not named again.
    pub fn states(
        &mut self,
        old: &[Change],
        lists: Vec<Vec<Change>>,
    ) -> Result<Vec<State>, Stopped> {
        let outcomes = self.trials(old, &lists)?;
        let states = lists.into_iter().zip(outcomes);
        Ok(states.map(|(changes, outcome)| State { changes, outcome }).collect())
    }

    /// Changes that are allowed, and that scenario and engine take.
    pub fn allowed(&self, changes: Vec<Change>) -> Vec<Change> {
        // The parts of a flow's streams are no fair parts.
        let own = changes
            .into_iter()
            .filter(|change| {
                self.allowance.scopes.contains(&change.scope)
                    && (self.allowance.goal != Goal::Fair || !change.has_copies())
            })
            .collect();
        self.taken(own)
    }

    /// Changes that scenario and engine take.
    fn taken(&self, changes: Vec<Change>) -> Vec<Change> {
        let today = self.refused(&self.case.today);
        let all = changes
            .into_iter()
            .filter_map(|change| candidates::fitted(self.case, change))
            .filter(|change| self.is_taken(change, &today));
        candidates::together(self.case, all)
    }

    /// True where the scenario takes a change, and the engine can run it: it refuses no more than the keys that it refuses
    /// `today`.
    fn is_taken(&self, change: &Change, today: &BTreeSet<String>) -> bool {
        let Ok(scenario) = edited(&self.case.today, &change.edits) else { return false };
        let run = &scenario.plans()[0].resolved;
        self.refused(run).is_subset(today) && self.bench.engine.check(run).is_ok()
    }

    /// Keys of a run that the engine refuses.
    fn refused(&self, run: &Resolved) -> BTreeSet<String> {
        let keys = self.bench.engine.support(run).into_iter();
        let refused = keys.filter(|(_, support)| matches!(support, Support::Refused(_)));
        refused.map(|(key, _)| key).collect()
    }

    pub fn trial(&mut self, what: &str, changes: &[Change]) -> Result<Outcome, Stopped> {
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
    pub fn outcomes(
        &mut self,
        what: &str,
        lists: &[Vec<Change>],
    ) -> Result<Vec<(Outcome, bool)>, Stopped> {
        let old = self.tried.len();

        // Lists that several steps offer are tried once.
        let new: Vec<&Vec<Change>> =
            lists.iter().filter(|list| self.tried(list).is_none()).collect();
        if !new.is_empty() {
            self.step(what, new.len());
            let all: Vec<Vec<&Edit>> = new.iter().map(|list| edits(list)).collect();
            let mut outcomes = self.bench.trials(self.case, &all)?;
            outcomes.iter_mut().for_each(|own| own.counts_mean = self.counts_mean);
            let watch = self.bench.watch;
            new.iter().zip(&outcomes).for_each(|(list, own)| watch.tried(list, own));
            let states = new.into_iter().cloned().zip(outcomes);
            self.tried.extend(states.map(|(changes, outcome)| State { changes, outcome }));
        }

        // All lists are known now, in their own order.
        let known = lists.iter().filter_map(|list| self.tried(list));
        Ok(known.map(|at| (self.tried[at].outcome.clone(), at >= old)).collect())
    }

    /// Index of a list among the tried ones.
    fn tried(&self, list: &[Change]) -> Option<usize> {
        self.tried.iter().position(|own| own.changes == list)
    }

    fn step(&self, what: &str, runs: usize) {
        self.bench.watch.step(what, runs, self.case.least());
    }

    pub fn note(&mut self, what: String, outcome: &Outcome, then: &str) {
        let (mbit, queue_ms) = (outcome.mbit, outcome.queue_ms);
        self.steps.push(Step { what, mbit, queue_ms, then: then.into() });
    }

    pub fn then(&mut self, then: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.then = then.into();
        }
    }

    fn found(self, changes: Vec<Kept>, today: Outcome, cured: Outcome) -> Found {
        let new = self.tried.iter().flat_map(|own| &own.changes).map(|own| &own.setting);
        Found {
            goal: self.allowance.goal,
            is_bound: self.allowance.is_bound(),
            changes,
            today,
            cured,
            tried: self.count(),
            settings: self.settings.iter().chain(new).cloned().collect(),
            steps: self.steps,
            replacements: self.replacements,
            seeds: self.case.seeds(),
            first_seed: self.case.first_seed,
            is_paceless: self.is_paceless,
        }
    }
}

/// The state with more; the old one where the new one gains too little to count.
fn better(old: State, new: State) -> State {
    if gain(&new.outcome, &old.outcome) >= COUNTS { new } else { old }
}

/// The edits of changes, in their order.
fn edits(changes: &[Change]) -> Vec<&Edit> {
    changes.iter().flat_map(|change| &change.edits).collect()
}
