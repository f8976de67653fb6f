//! Whether a distance is chance: twins of a run, and how far real Linux is from itself.
//!
//! Where flows share a full queue, or a writer waits for room, the outcome is chaotic. Two packets that arrive a
//! nanosecond earlier or later decide who loses, and two runs part from then on. A twin is the same scenario on a path
//! that is some hundred nanoseconds longer, twenty metres of fibre each. No rule of TCP reacts to so little. So the
//! distances of real Linux's twins show how far apart runs are by chance alone.
//!
//! A missed bar is chance where both hold:
//! - the simulator is not further from Linux's run than Linux's own twins are: a permutation test over the twins at 5 %;
//! - over the twins the simulator's results are distributed as Linux's are ([`spread`]).
//!
//! Where random numbers decide ([`draws`]), each engine draws its own, and all twins of an engine draw the same: they
//! do not show the distances that chance causes. Other seeds do.

use super::bars::{self, Bar, Miss};
use super::both::{JUDGE, JUDGED};
use super::case::{Case, quoted};
use super::distance::{self, Unit};
use super::draws::draws;
use super::spread::{self, Spread};
use super::table::Table;
use crate::scenario::Element;
use fullpipe_base::units::Time;
use serde::Serialize;

/// Delay that each twin adds to the forward path of the previous one.
pub const STEP: Time = Time::ns(100);
/// Twins without which nothing can be said at 5 %.
pub const FEWEST: i64 = 20;
/// Share of runs that are as far apart by chance, below which chance is not believed.
const SIGNIFICANT: f64 = 0.05;

/// A run that misses a bar, compared with its twins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// Name of the case.
    pub run: String,
    /// The congestion control.
    pub congestion: String,
    /// Twins, [`FEWEST`] at least.
    pub twins: usize,
    /// Each bar that is missed, the worst first.
    pub ranks: Vec<Rank>,
    /// Distributions of results over the twins.
    pub spreads: Vec<Spread>,
    /// Whether it may be chance, by both tests.
    pub by_chance: bool,
    /// Elements that draw random numbers in the run; twins do not show how much chance these add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<String>,
}

/// Distance of the simulator from Linux, ranked among Linux's twins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// Which bar.
    pub bar: Bar,
    /// The simulator's distance as a multiple of the allowed one, above 1.
    pub sim: f64,
    /// Median of the distances of Linux's twins from Linux, as a multiple of the allowed one.
    pub itself: f64,
    /// Twins that are at least as far as the simulator.
    pub as_far: usize,
}

/// The twin of this number, from 1; none without a delay on the way forward.
pub fn of(case: &Case, number: u32) -> Option<Case> {
    let mut twin = case.clone();
    let mut ways = twin.plan.resolved.path.forward.iter_mut();

    // The first delay forward is the path's length.
    let delay = ways.find_map(|element| match element {
        Element::Delay(delay) => Some(delay),
        _ => None,
    })?;
    let longer = Time::ns(STEP.as_ns() * u64::from(number));
    delay.delay += longer;

    // The command names the changed key, so that the twin can be repeated.
    let set = format!("path.forward.{}.delay={}", delay.name, delay.delay);
    twin.name = format!("{}, {longer} longer", case.name);
    twin.of = case.name.clone();
    twin.command = format!("{} --set {}", case.command, quoted(&set));
    twin.text = twin.plan.resolved.to_toml();
    Some(twin)
}

/// The twins of a run that are to be run.
pub struct Twins {
    cases: Vec<Case>,
    /// Whether the simulator runs them, too.
    both: bool,
}

/// Results of a twin.
pub struct Ran {
    case: Case,
    linux: Table,
    sim: Option<Table>,
}

impl Twins {
    /// Twins of a run: `count` on both engines if it misses a bar, else the first one on Linux alone. None where
    /// `count` is 0.
    pub fn of(case: &Case, units: &[Unit], count: u32) -> Twins {
        let both = !bars::misses(units).is_empty();
        let count = if both { count } else { count.min(1) };
        Twins { cases: (1..=count).filter_map(|number| of(case, number)).collect(), both }
    }

    /// Runs that they take.
    pub fn runs(&self) -> usize {
        self.cases.len() * if self.both { 2 } else { 1 }
    }

    /// Runs them; `on` runs a case on an engine. None: it was stopped.
    ///
    /// # Errors
    /// The error of `on`.
    pub fn run<E>(
        self,
        mut on: impl FnMut(&str, &Case) -> Result<Option<Table>, E>,
    ) -> Result<Option<Vec<Ran>>, E> {
        let mut ran = Vec::new();
        for case in self.cases {
            let Some(linux) = on(JUDGE, &case)? else { return Ok(None) };
            let sim = if self.both { on(JUDGED, &case)? } else { None };
            if self.both && sim.is_none() {
                return Ok(None);
            }
            ran.push(Ran { case, linux, sim });
        }
        Ok(Some(ran))
    }
}

impl Ran {
    /// Distances of the simulator from Linux; none where it did not run.
    fn units(&self) -> Result<Vec<Unit>, String> {
        self.sim
            .as_ref()
            .map_or(Ok(Vec::new()), |sim| distance::units(&self.case, &self.linux, sim))
    }
}

/// Results of a run's twins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Twinned {
    /// Distances of Linux's first twin from Linux. In these units the twin has the place of the simulator.
    pub itself: Vec<Unit>,
    /// Whether each miss may be chance.
    pub chances: Vec<Chance>,
}

/// Results of a run's twins. `units` are the run's distances and `linux` its table of real Linux.
///
/// # Errors
/// A table is not of this case.
pub fn found(case: &Case, units: &[Unit], linux: &Table, twins: &[Ran]) -> Result<Twinned, String> {
    let itself = |ran: &Ran| distance::units(case, linux, &ran.linux);
    let itself = twins.iter().map(itself).collect::<Result<Vec<_>, _>>()?;
    let beside = twins.iter().map(Ran::units).collect::<Result<Vec<_>, _>>()?;
    let misses = if twins.is_empty() { Vec::new() } else { bars::misses(units) };
    let draws = draws(&case.plan.resolved);
    let chances = misses
        .into_iter()
        .map(|miss| Chance { draws: draws.clone(), ..chance(miss, units, &itself, &beside) })
        .collect();
    Ok(Twinned { chances, itself: itself.into_iter().next().unwrap_or_default() })
}

/// Verdict on a miss. `itself` are the distances of Linux's twins from Linux, `beside` those of the simulator's twins
/// from Linux's.
fn chance(miss: Miss, units: &[Unit], itself: &[Vec<Unit>], beside: &[Vec<Unit>]) -> Chance {
    let own = |unit: &&Unit| unit.congestion == miss.congestion;
    let linux: Vec<&Unit> = itself.iter().flatten().filter(own).collect();
    let all: Vec<Unit> = units.iter().chain(beside.iter().flatten()).filter(own).cloned().collect();
    let ranks: Vec<Rank> = miss.misses.iter().map(|(bar, sim)| rank(*bar, *sim, &linux)).collect();
    let spreads = spread::spreads(&all);
    let by_chance =
        ranks.iter().all(|rank| rank.by_chance(itself.len())) && spreads.iter().all(|s| s.met);
    let (run, congestion) = (miss.run, miss.congestion);
    Chance { run, congestion, twins: itself.len(), ranks, spreads, by_chance, draws: Vec::new() }
}

fn rank(bar: Bar, sim: f64, linux: &[&Unit]) -> Rank {
    let mut far: Vec<f64> = linux.iter().map(|unit| bars::excess(bar, unit)).collect();
    far.sort_by(f64::total_cmp);
    let as_far = far.iter().filter(|distance| **distance >= sim).count();
    Rank { bar, sim, itself: far.get(far.len() / 2).copied().unwrap_or(0.0), as_far }
}

impl Rank {
    /// Whether as large a distance is no rarer than [`SIGNIFICANT`] among `twins` and the simulator's run.
    fn by_chance(&self, twins: usize) -> bool {
        (self.as_far + 1) as f64 / (twins + 1) as f64 >= SIGNIFICANT
    }
}

#[cfg(test)]
mod tests {
    use super::super::distance::Throughput;
    use super::*;

    fn unit(mean: f64, acked: [u64; 2]) -> Unit {
        let throughput =
            Throughput { mean, median: mean, worst: mean, worst_at_s: 1.0, intervals: 10 };
        let congestion = "reno".to_string();
        Unit { congestion, throughput: Some(throughput), acked, ..Unit::default() }
    }

    /// The chance of a run that is 0.2 apart, of Linux's twins `far` are 0.3 from it, and the simulator's have `more`
    /// bytes acknowledged.
    fn chance_of(far: usize, more: u64) -> Chance {
        let units = [unit(0.2, [100_000_000, 100_000_000 + more])];
        let mean = |n: usize| if n < far { 0.3 } else { 0.01 };
        let itself: Vec<Vec<Unit>> = (0..20).map(|n| vec![unit(mean(n), [0, 0])]).collect();
        let beside: Vec<Vec<Unit>> =
            (0..20).map(|n| vec![unit(0.2, [100_000_000 + n, 100_000_000 + n + more])]).collect();
        chance(bars::misses(&units).remove(0), &units, &itself, &beside)
    }

    #[test]
    fn chance_is_where_linux_is_as_far_from_itself_and_both_are_spread_alike() {
        let rounded = |chance: &Chance| {
            let rank = chance.ranks[0];
            (rank.bar, (rank.sim * 10.0).round(), (rank.itself * 10.0).round(), rank.as_far)
        };
        let chaos = chance_of(12, 3);
        assert_eq!(rounded(&chaos), (Bar::Near, 20.0, 30.0, 12));
        assert!(chaos.by_chance, "{chaos:?}");
        assert!(chance_of(1, 3).by_chance, "one of twenty is enough at 5 %");
        assert!(!chance_of(0, 3).by_chance, "Linux is never so far from itself");
        let shifted = chance_of(12, 15);
        assert!(!shifted.by_chance && !shifted.spreads[0].met, "{shifted:?}");
    }
}
