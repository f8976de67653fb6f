//! Confirmation with other seeds.
//!
//! It looks at paths that are full by chance, at small gains and cheap removals, and at changes without a pace.

use super::super::Case;
use super::super::candidates;
use super::super::change::Rank;
use super::super::trial::{Bench, Outcome, Stopped};
use super::search::{Search, State};
use super::withdrawals::without;
use super::{ALMOST, Allowance, COUNTS, FULL, Found, TOGETHER, gain, joined, more};

/// Gain below which a change has to gain with other seeds, too, because the gain may be chance. It is more than twice
/// [`COUNTS`].
const SMALL: f64 = 0.05;
/// Distance of other seeds from the seeds of a search.
const OTHERS: u64 = 100;

/// Search with other seeds, where a path may be full by chance alone.
///
/// The path is full in the worst run, but the verdict on the scenario's own run names a limit.
pub fn doubted(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    // One run, losses, and a healthy verdict leave no doubt.
    let is_sure = found.today.is_healthy || found.seeds == 1 || case.is_lossy;
    if !found.changes.is_empty() || !found.today.fills(FULL) || is_sure {
        return Ok(found);
    }

    // New seeds: with the old ones the path is full.
    let case = &others(&found, case);
    let mut search = Search::after(&found, case, allowance, bench);
    let today = search.trial("today with other seeds, starts and delays", &[])?;
    if today.share().is_none_or(|share| share >= ALMOST) {
        search.then("nearly full: set nothing");
        return Ok(search.noted(found));
    }
    search.then("less: from here on with these");

    // The verdict on the scenario's own run stays.
    let is_healthy = found.today.is_healthy;
    let found = search.run()?;
    Ok(Found { today: Outcome { is_healthy, ..found.today.clone() }, ..found })
}

/// The case with other seeds than a search used.
fn others(found: &Found, case: &Case) -> Case {
    Case { is_chancy: true, first_seed: found.first_seed + OTHERS, ..case.clone() }
}

/// Changes together with a pace, where they do not fill the path with other seeds and the pace does more.
pub fn steadier(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let has_pace = found.changes.iter().any(|own| own.change.rank == Rank::Pace);

    // A pace is there already, is not wanted, or cannot help.
    let is_settled = found.changes.is_empty() || has_pace || case.is_lossy || found.is_paceless;
    if is_settled || found.seeds == 1 && found.cured.fills(FULL) {
        return Ok(found);
    }

    let changes = found.list();
    let case = &others(&found, case);
    let mut search = Search::after(&found, case, allowance, bench);

    // Programs may not be allowed to set a pace.
    let paced = joined(&changes, search.allowed(candidates::paces(case)));
    if paced == changes {
        return Ok(found);
    }
    let outcome = search.trial("the changes with other seeds, starts and delays", &changes)?;
    if outcome.share().is_none_or(|share| share >= FULL) {
        search.then("full");
        return Ok(search.noted(found));
    }

    // The pace must gain under the same seeds.
    let steady = search.trial("also a pace with these", &paced)?;
    if gain(&steady, &outcome) < COUNTS {
        search.then("gains less than 2 %");
        return Ok(search.noted(found));
    }

    // Today's rate must come from these seeds, too.
    let today = search.trial("today with these", &[])?;
    let best = search.prune(State { changes: paced, outcome: steady })?;
    search.finished(best, today)
}

/// Changes that gain with other seeds, too, without changes that cost little, and then nothing, when they are removed.
pub fn confirmed(
    found: Found,
    case: &Case,
    allowance: &Allowance,
    bench: &Bench,
) -> Result<Found, Stopped> {
    let cost = |at: &usize| more(found.cured.mbit, found.changes[*at].without_mbit);
    // The sizes of several flows are for equal ones: the pace that makes them equal stays.
    let mut doubtful: Vec<usize> = (0..found.changes.len())
        .filter(|at| {
            cost(at) < SMALL
                && !(case.flows.len() > 1 && found.changes[*at].change.rank == Rank::Pace)
        })
        .collect();
    doubtful.sort_by(|a, b| cost(a).total_cmp(&cost(b)));

    // A small gain may be chance as a whole, unless it is a flow that gets nothing today.
    let saves_a_flow = allowance.goal.is_closer(&found.cured, &found.today);
    let is_small = gain(&found.cured, &found.today) < SMALL && !saves_a_flow;
    if doubtful.is_empty() && !is_small {
        return Ok(found);
    }

    // Seeds that did not choose the changes judge them.
    let other = &others(&found, case);
    let mut search = Search::after(&found, other, allowance, bench);
    let outcome = search.trial("the changes with other seeds, starts and delays", &found.list())?;
    let all = State { changes: found.list(), outcome };
    let (_, needless) = search.needless(&all, &doubtful)?;
    let left = without(&all.changes, &needless);

    // If hardly anything is left, the gain itself is in doubt.
    if is_small || left.is_empty() {
        let today = search.trial("today with these", &[])?;
        if gain(&all.outcome, &today) < COUNTS {
            search.then("the changes gain less than 2 %: set nothing");
            let cured = today.clone();
            return Ok(search.noted(Found { changes: Vec::new(), today, cured, ..found }));
        }
    }
    let found = search.noted(found);
    if left.is_empty() || needless.is_empty() {
        return Ok(found);
    }

    // The changes that are left must do as well with the first seeds.
    let case = &Case { is_chancy: true, first_seed: found.first_seed, ..case.clone() };
    let mut search = Search::after(&found, case, allowance, bench);
    let outcome = search.trial("the others with the first seeds", &left)?;
    if gain(&found.cured, &outcome) >= TOGETHER {
        search.then("less: all of them stay");
        return Ok(search.noted(found));
    }
    search.finished(State { changes: left, outcome }, found.today)
}
