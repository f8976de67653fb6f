//! Removal of needless changes: one by one, all but two on a path that loses packets, and smaller sizes of buffers.

use super::super::Case;
use super::super::candidates::{self, Least};
use super::super::change::{Change, Rank};
use super::super::goal::PRICE;
use super::super::trial::{Outcome, Stopped};
use super::search::{Search, State};
use super::{COUNTS, Kept, MOST_ON_LOSS, TOGETHER, gain};

/// Name of a trial, and the least sizes that it takes.
type Part = (&'static str, fn(Least) -> u64);

impl Search<'_> {
    /// Smaller buffers where a pace gives several flows equal rates.
    pub(super) fn shrink(&mut self, best: State, most: &Outcome) -> Result<State, Stopped> {
        let has_pace = |state: &State| state.changes.iter().any(|change| change.rank == Rank::Pace);
        let is_paced = has_pace(&best);

        // Equal flows need no room for one of them to grow beyond its part.
        let smaller = candidates::for_equal_flows(self.case, &best.changes);
        let Some(changes) = smaller.filter(|_| is_paced) else { return Ok(best) };
        let outcome = self.trial("buffers for flows of equal rates", &changes)?;
        if !self.is_as_good(&outcome, &best.outcome) {
            self.then("less: not enough");
            return Ok(best);
        }
        self.then("as good");
        let pruned = self.prune(State { changes, outcome })?;
        // Without the pace flows are unequal, though the seeds of these trials may not show it.
        let suffices = has_pace(&pruned) && gain(most, &pruned.outcome) < TOGETHER;
        Ok(if suffices { pruned } else { best })
    }

    /// Removes needless changes, the cosmetic first and the pace last.
    pub(super) fn prune(&mut self, best: State) -> Result<State, Stopped> {
        // Each change is removed alone first.
        let alone = self.removals(&best)?;
        // The rest is judged by the most that these changes give.
        let most = (0..alone.len())
            .filter(|at| {
                // A short queue may cost a little of the rate, not most of it.
                self.allowance.goal.keeps(&alone[*at], &best.outcome)
                    || gain(&alone[*at], &best.outcome) > PRICE
            })
            .max_by(|a, b| {
                gain(&alone[*a], &best.outcome).total_cmp(&gain(&alone[*b], &best.outcome))
            });

        // A change that costs rate goes before all others.
        if let Some(at) = most.filter(|at| gain(&alone[*at], &best.outcome) >= COUNTS) {
            let changes = without(&best.changes, &[at]);
            return self.prune(State { changes, outcome: alone[at].clone() });
        }

        // All needless changes go at once, if the rest is still as good.
        let mut order: Vec<usize> = (0..best.changes.len()).collect();
        order.sort_by_key(|at| best.changes[*at].rank);
        let needless: Vec<usize> =
            order.into_iter().filter(|at| self.is_as_good(&alone[*at], &best.outcome)).collect();

        let mut state = best.clone();
        if !needless.is_empty() {
            let left = without(&best.changes, &needless);
            let outcome = match (left.is_empty(), &needless[..]) {
                (_, [one]) => alone[*one].clone(),
                _ => self.trial("without all that seems needless", &left)?,
            };

            // If it is not, they go one after another.
            state = match self.is_as_good(&outcome, &best.outcome) {
                true => State { changes: left, outcome },
                false => self.needless(&best, &needless)?.0,
            };
        }
        // A change that was needed together with a removed one may be needless without it, and the other way round.
        if state.changes.len() < best.changes.len() && state.changes.len() > 1 {
            let again = self.prune(state.clone())?;
            if gain(&best.outcome, &again.outcome) < TOGETHER {
                return Ok(again);
            }
        }
        Ok(state)
    }

    /// The changes of a state, each with the outcome of the others without it.
    pub(super) fn kept(&mut self, state: &State) -> Result<Vec<Kept>, Stopped> {
        let without = self.removals(state)?;
        let kept = state.changes.iter().zip(without).map(|(change, without)| Kept {
            change: change.clone(),
            without_mbit: without.mbit,
            without_queue_ms: without.queue_ms,
            without_message_ms: without.message_ms,
            least: None,
        });
        Ok(kept.collect())
    }

    /// State without the changes that the others do not need, each judged after the earlier ones are gone, and their
    /// places.
    pub(super) fn needless(
        &mut self,
        best: &State,
        doubtful: &[usize],
    ) -> Result<(State, Vec<usize>), Stopped> {
        let (mut gone, mut state) = (Vec::new(), best.clone());
        for at in doubtful {
            let more: Vec<usize> = gone.iter().copied().chain([*at]).collect();
            let changes = without(&best.changes, &more);
            let what = format!("without {}", best.changes[*at].setting);
            let outcome = self.trial(&what, &changes)?;
            let is_needless = self.is_as_good(&outcome, &best.outcome);
            self.then(if is_needless { "needless" } else { "needed" });
            if is_needless {
                (gone, state) = (more, State { changes, outcome });
            }
        }
        Ok((state, gone))
    }

    /// Two changes on a path that loses packets, where these do as much as all.
    ///
    /// The size of a buffer that a program asks for and the sysctl of that buffer are one change.
    pub(super) fn fewest(&mut self, best: State) -> Result<State, Stopped> {
        let groups: Vec<Vec<Change>> = grouped(&best.changes);
        if groups.len() <= MOST_ON_LOSS {
            return Ok(best);
        }

        // All pairs of subjects are tried, which few subjects allow.
        let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| [a, b]));
        let lists: Vec<Vec<Change>> = pairs
            .map(|[a, b]| {
                best.changes
                    .iter()
                    .filter(|own| groups[a].contains(own) || groups[b].contains(own))
                    .cloned()
                    .collect()
            })
            .collect();
        let states = self.states(&[], lists)?.into_iter();
        let most = states.max_by(|a, b| a.outcome.mbit.total_cmp(&b.outcome.mbit));

        // A pair that falls short leaves all changes.
        let enough = most.filter(|own| gain(&best.outcome, &own.outcome) < COUNTS);
        match enough {
            Some(pair) => self.prune(pair),
            None => Ok(best),
        }
    }

    /// The least size of each buffer that is raised, proved by one trial.
    pub(super) fn sizes(
        &mut self,
        best: &State,
        mut kept: Vec<Kept>,
    ) -> Result<Vec<Kept>, Stopped> {
        // Buffers of parallel streams have the size of a stream's part, not of a flow's.
        if best.changes.iter().any(Change::has_copies) {
            return Ok(kept);
        }

        // The smallest sizes are tried first.
        let parts: [Part; 2] = [
            ("the least sizes by arithmetic", |own| own.equal),
            ("the least sizes for unequal flows", |own| own.unequal),
        ];
        for (what, part) in parts {
            let least = |change: &Change| {
                // Only sizes below the advised ones are of interest.
                let size = part(candidates::least(self.case, change)?);
                candidates::most(change).filter(|most| size < *most).map(|_| size)
            };
            let sized = with_sizes(self.case, &best.changes, &least);

            // Nothing smaller exists: the advised sizes are the least.
            if sized == best.changes {
                break;
            }

            let outcome = self.trial(what, &sized)?;
            let suffice = self.is_as_good(&outcome, &best.outcome);
            self.then(if suffice { "as good: these are the least" } else { "less: not enough" });
            if suffice {
                kept.iter_mut().for_each(|own| own.least = least(&own.change));
                break;
            }
        }
        Ok(kept)
    }

    /// Outcomes of a state without each of its changes.
    fn removals(&mut self, best: &State) -> Result<Vec<Outcome>, Stopped> {
        let lists: Vec<Vec<Change>> =
            (0..best.changes.len()).map(|at| without(&best.changes, &[at])).collect();
        let tried = self.outcomes("without each change", &lists)?;
        for (change, (outcome, _)) in best.changes.iter().zip(&tried).filter(|(_, own)| own.1) {
            let then = match self.is_as_good(outcome, &best.outcome) {
                true => "needless",
                false => "needed",
            };
            self.note(format!("without {} of {}", change.setting, change.whose), outcome, then);
        }
        Ok(tried.into_iter().map(|(outcome, _)| outcome).collect())
    }
}

/// Changes with buffers of other sizes. A change without such a size stays.
fn with_sizes(
    case: &Case,
    changes: &[Change],
    size: &impl Fn(&Change) -> Option<u64>,
) -> Vec<Change> {
    let sized = |change: &Change| {
        let factor = size(change)? as f64 / candidates::most(change)? as f64;
        candidates::scaled(case, change, factor)
    };
    changes.iter().map(|own| sized(own).unwrap_or_else(|| own.clone())).collect()
}

/// Changes by their subjects: the two buffers are one subject each, whoever sets them.
fn grouped(changes: &[Change]) -> Vec<Vec<Change>> {
    // A program's request and its sysctl are useless alone.
    let about = |own: &Change| match &own.setting[..] {
        "SO_SNDBUF" | "net.core.wmem_max" => "net.ipv4.tcp_wmem".to_string(),
        "SO_RCVBUF" | "net.core.rmem_max" => "net.ipv4.tcp_rmem".to_string(),
        other => other.to_string(),
    };
    let mut groups: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        match groups.iter_mut().find(|own| about(&own[0]) == about(change)) {
            Some(group) => group.push(change.clone()),
            None => groups.push(vec![change.clone()]),
        }
    }
    groups
}

/// The changes that stay when some are removed, by their indices.
pub(super) fn without(changes: &[Change], gone: &[usize]) -> Vec<Change> {
    (0..changes.len()).filter(|at| !gone.contains(at)).map(|at| changes[at].clone()).collect()
}
