//! Confirmation with other seeds: of small gains, of removals that cost little, and of changes without a pace.

use super::super::Case;
use super::super::candidates;
use super::super::change::Rank;
use super::super::trial::{Bench, Stopped};
use super::withdrawals::without;
use super::{Allowance, COUNTS, FULL, Found, Search, State, TOGETHER, gain, joined, more};

/// A gain below this one may be chance, and has to be there with other seeds, too. It is more than twice [`COUNTS`].
const SMALL: f64 = 0.05;
/// Number of the first run with other seeds.
const OTHERS: u64 = 100;

/// Changes with a pace beside them, where they do not fill the path with other seeds and the pace does more.
pub fn steadier(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let has_pace = found.changes.iter().any(|own| own.change.rank == Rank::Pace);
    let is_full = found.cured.share().is_some_and(|share| share >= FULL);
    let is_settled = found.changes.is_empty() || has_pace || case.is_lossy;
    if is_settled || is_full && found.seeds == 1 {
        return Ok(found);
    }

    let changes = found.list();
    let case = &Case { is_chancy: true, first_seed: OTHERS, ..case.clone() };
    let mut search = Search::after(&found, case, allowance, bench);
    let paced = joined(&changes, search.allowed(candidates::paces(case)));
    if paced == changes {
        return Ok(found);
    }
    let outcome = search.trial("the changes with other seeds, starts and delays", &changes)?;
    if outcome.share().is_none_or(|share| share >= FULL) {
        search.then("full");
        return Ok(Found { tried: search.count(), steps: search.steps, ..found });
    }
    let steady = search.trial("also a pace with these", &paced)?;
    if gain(&steady, &outcome) < COUNTS {
        search.then("gains less than 2 %");
        return Ok(Found { tried: search.count(), steps: search.steps, ..found });
    }
    let today = search.trial("today with these", &[])?;
    let best = search.prune(State { changes: paced, outcome: steady })?;
    search.finished(best, today)
}

/// Changes that gain with other seeds, too, without those whose removal costs little and then nothing.
pub fn confirmed(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let cost = |at: &usize| more(found.cured.mbit, found.changes[*at].without_mbit);
    let mut doubtful: Vec<usize> = (0..found.changes.len()).filter(|at| cost(at) < SMALL).collect();
    doubtful.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let is_small = gain(&found.cured, &found.today) < SMALL;
    if doubtful.is_empty() && !is_small {
        return Ok(found);
    }

    let other = &Case { is_chancy: true, first_seed: OTHERS, ..case.clone() };
    let mut search = Search::after(&found, other, allowance, bench);
    let outcome = search.trial("the changes with other seeds, starts and delays", &found.list())?;
    let all = State { changes: found.list(), outcome };
    let (_, needless) = search.needless(&all, &doubtful)?;
    let left = without(&all.changes, &needless);
    if is_small || left.is_empty() {
        let today = search.trial("today with these", &[])?;
        if gain(&all.outcome, &today) < COUNTS {
            search.then("the changes gain less than 2 %: set nothing");
            let (tried, steps, cured) = (search.count(), search.steps, today.clone());
            return Ok(Found { changes: Vec::new(), today, cured, steps, tried, ..found });
        }
    }
    let found = Found { tried: search.count(), steps: search.steps, ..found };
    if left.is_empty() || needless.is_empty() {
        return Ok(found);
    }

    let case = &Case { is_chancy: true, ..case.clone() };
    let mut search = Search::after(&found, case, allowance, bench);
    let outcome = search.trial("the others with the first seeds", &left)?;
    if gain(&found.cured, &outcome) >= TOGETHER {
        search.then("less: all of them stay");
        return Ok(Found { tried: search.count(), steps: search.steps, ..found });
    }
    search.finished(State { changes: left, outcome }, found.today)
}
