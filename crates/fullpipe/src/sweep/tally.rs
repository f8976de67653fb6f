//! Counts of a sweep's cells while they pass.

use crate::numbers;
use crate::sweep::cells::{Cell, CellExpected};
use crate::sweep::terminal;
use crate::sweep::versus::Judged;
use crate::sweep::{Merged, Unjudged};

/// The most expectations that are listed one by one.
const MOST_LISTED: usize = 20;

/// The cells that a terminal shows: the first ones, and the first ones with flows that share a path.
#[derive(Debug, Default)]
pub struct Few {
    /// These, in the sweep's order.
    pub cells: Vec<Cell>,
    /// Lines of all cells in a text.
    pub lines: usize,
    shared: usize,
}

impl Few {
    fn add(&mut self, cell: &Cell) {
        let shares = cell.fairness.is_some();
        if self.lines < terminal::MOST_LINES || shares && self.shared < terminal::MOST_LINES {
            self.cells.push(cell.clone());
        }
        self.lines += terminal::lines_of(cell);
        self.shared += usize::from(shares);
    }
}

/// Results of the expectations of points.
#[derive(Debug, Default)]
pub struct Judgement {
    /// Expectations.
    pub all: u64,
    /// Expectations that do not hold.
    pub missed: u64,
    /// The first of these, as sentences.
    pub first_missed: Vec<String>,
}

impl Judgement {
    /// Takes a cell.
    pub fn add(&mut self, cell: &Cell) {
        self.all += cell.expected.len() as u64;
        for expected in cell.expected.iter().filter(|expected| !expected.passed) {
            self.missed += 1;
            if self.first_missed.len() < MOST_LISTED {
                self.first_missed.push(missed(cell, expected));
            }
        }
    }
}

/// Counts of the cells that have passed.
#[derive(Debug, Default)]
pub(super) struct Tally {
    points: u64,
    /// Cells of these with rates; and cells with steady rates in all repetitions.
    known: u64,
    steady: u64,
    pub few: Few,
    pub judgement: Judgement,
}

impl Tally {
    pub fn add(&mut self, cell: &Cell) {
        let known = cell.runs > 0;
        let steady = known && cell.flows.iter().all(|flow| flow.steady == cell.runs);
        self.points += 1;
        self.known += u64::from(known);
        self.steady += u64::from(steady);
        self.few.add(cell);
        self.judgement.add(cell);
    }

    /// Numbers of runs, in a sentence or two.
    pub fn lead(&self, merged: &Merged, versus: &[Judged], unjudged: &Unjudged) -> String {
        let runs = merged.runs() - merged.failed();
        let Tally { points, known, steady, .. } = self;
        let mut text = format!(
            "{runs} runs at {points} points on engine {}; {known} points have rates, of which {steady} are steady in all repetitions.",
            merged.manifest.engine
        );
        let held = |held: u64, all: u64, of: &str| match all {
            0 => String::new(),
            all => format!(" {held} of {all} expectations of {of} hold."),
        };
        let Judgement { all, missed, .. } = self.judgement;
        text += &held(all - missed, all, "points");
        let passed = versus.iter().filter(|own| own.passed).count() as u64;
        text += &held(passed, versus.len() as u64, "two variants");
        text += &unjudged.describe().map_or_else(String::new, |sentence| format!(" {sentence}."));

        // Missing runs are printed only if there are any.
        if merged.failed() + merged.missing() > 0 {
            let (failed, missing) = (merged.failed(), merged.missing());
            text += &format!(" {failed} runs failed, {missing} are missing.");
        }
        text
    }
}

/// Says that an expectation of a point does not hold.
fn missed(cell: &Cell, expected: &CellExpected) -> String {
    let at = cell.at.iter().map(|(key, value)| format!(", {key}={}", numbers::written(value)));
    let name = cell.variant.clone() + &at.collect::<String>();
    let CellExpected { metric, of, allowed, measured, without, .. } = expected;
    let is = measured.map_or_else(
        || "has no value".into(),
        |is| {
            let within = is.within.map(|within| format!(" ± {}", numbers::short(within)));
            format!("is {}{}", numbers::short(is.mean), within.unwrap_or_default())
        },
    );

    // A mean over the other repetitions would mislead without this.
    let without = match without {
        0 => String::new(),
        1 => "has no value in 1 repetition; elsewhere it ".into(),
        some => format!("has no value in {some} repetitions; elsewhere it "),
    };
    let (of, allowed) = (numbers::short(*of), numbers::short(*allowed));
    format!("FAILED {name}: {metric} {without}{is} instead of {of}; {allowed} is allowed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::cells::CellShared;
    use crate::sweep::estimate::Estimate;

    #[test]
    fn of_many_cells_few_are_kept() {
        let estimate = Estimate::of(&[1.0]).expect("a value");
        let shared = CellShared {
            jain: estimate,
            jain_settled: None,
            converged: 0,
            converged_s: None,
            too_short: 0,
            rtt_exponent: None,
            dropped: estimate,
            queue: None,
        };
        let expected = CellExpected {
            metric: "rate".into(),
            of: 2.0,
            allowed: 0.5,
            measured: Some(estimate),
            without: 0,
            passed: false,
        };
        let mut tally = Tally::default();
        for n in 0..1000 {
            let fairness = (n >= 900).then_some(shared);
            let expected = vec![expected.clone()];
            tally.add(&Cell { runs: 1, fairness, expected, ..Cell::default() });
        }
        assert_eq!((tally.points, tally.few.lines, tally.steady), (1000, 1000, 1000));
        let of = |shares: bool| {
            tally.few.cells.iter().filter(|cell| cell.fairness.is_some() == shares).count()
        };
        assert_eq!((of(false), of(true)), (terminal::MOST_LINES, terminal::MOST_LINES));
        let Judgement { all, missed, first_missed } = &tally.judgement;
        assert_eq!((*all, *missed, first_missed.len()), (1000, 1000, MOST_LISTED));
        assert_eq!(first_missed[0], "FAILED : rate is 1 instead of 2; 0.5 is allowed");
    }
}
