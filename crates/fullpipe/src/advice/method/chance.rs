//! Chance: what gains little, or costs little to take away, is tried again with other seeds.

use super::super::Case;
use super::super::change::Change;
use super::super::trial::{Bench, Stopped};
use super::withdrawals::without;
use super::{Allowance, COUNTS, Found, Search, State, TOGETHER, gain, more};

/// A gain below this one may be chance, and has to be there with other seeds, too. It is more than twice [`COUNTS`].
const SMALL: f64 = 0.05;
/// Number of the first run with other seeds.
const OTHERS: u64 = 100;

/// Whether all changes together gain so little that it may be chance.
pub fn is_small(found: &Found) -> bool {
    gain(&found.cured, &found.today) < SMALL
}

/// Changes of a small gain, where they gain with other seeds, too; else none.
pub fn confirmed(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let case = &Case { is_chancy: true, first_seed: OTHERS, ..case.clone() };
    let mut search = Search::after(&found, case, allowance, bench);
    let today = search.trial("today with other seeds, starts and delays", &[])?;
    let changes: Vec<Change> = found.changes.iter().map(|own| own.change.clone()).collect();
    let cured = search.trial("the changes with these", &changes)?;
    let tried = search.count();
    if gain(&cured, &today) >= COUNTS {
        return Ok(Found { steps: search.steps, tried, ..found });
    }
    search.then("gains less than 2 %: set nothing");
    let (steps, cured) = (search.steps, today.clone());
    Ok(Found { changes: Vec::new(), today, cured, steps, tried, ..found })
}

/// Changes without those whose removal costs little under chance, and nothing with other seeds.
pub fn without_needless(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let cost = |at: &usize| more(found.cured.mbit, found.changes[*at].without_mbit);
    let mut doubtful: Vec<usize> = (0..found.changes.len()).filter(|at| cost(at) < SMALL).collect();
    if doubtful.is_empty() {
        return Ok(found);
    }
    doubtful.sort_by(|a, b| cost(a).total_cmp(&cost(b)));

    let changes: Vec<Change> = found.changes.iter().map(|own| own.change.clone()).collect();
    let other = &Case { is_chancy: true, first_seed: OTHERS, ..case.clone() };
    let mut search = Search::after(&found, other, allowance, bench);
    let needless = search.needless(&changes, &doubtful)?;
    let left = without(&changes, &needless);
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
    let best = State { changes: left, outcome };
    let kept = search.kept(&best)?;
    let kept = search.sizes(&best, kept)?;
    Ok(search.found(kept, found.today, best.outcome))
}
