//! Repetitions of a point put together.

use super::estimate::Estimate;
use super::merge::Merged;
use super::record::{Facts, Flow, Part, Record, Shared};
use crate::analysis::EPOCHS;
use crate::scenario::Tolerance;
use crate::trace::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A point of a variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the variant.
    pub variant: String,
    /// The sweep point: dotted key to value as written.
    pub at: Map<String, Value>,
    /// Repetitions that are there and did not fail.
    pub runs: u32,
    /// Repetitions that failed.
    pub failed: u32,
    /// Whether repetitions are one run: there are several, and all facts of them are equal.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub one_run: bool,
    /// Rate at which all flows together settle, Mb/s of payload; absent where all repetitions failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sum_mbit: Option<Estimate>,
    /// Flows in the scenario's order.
    pub flows: Vec<CellFlow>,
    /// Expectations of the point; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub expected: Vec<CellExpected>,
    /// Fairness of the flows; absent where no two of one direction live at one time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<CellShared>,
    /// Units dropped at all places together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dropped: Option<Estimate>,
}

/// An expectation of a point: the mean over its repetitions is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellExpected {
    /// The metric as written.
    pub metric: String,
    /// The value that is expected.
    pub of: f64,
    /// Allowed distance of the mean from it.
    pub allowed: f64,
    /// Measured value; absent where no repetition has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<Estimate>,
    /// Repetitions without a value.
    pub without: u32,
    /// Whether all have one, and the mean is near enough.
    pub passed: bool,
}

/// A flow over the repetitions of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFlow {
    /// Name in the scenario.
    pub name: String,
    /// Congestion control.
    pub congestion: String,
    /// Mean rate in the second half of its life, Mb/s of payload.
    pub settled_mbit: Estimate,
    /// Repetitions in which that is steady.
    pub steady: u32,
    /// Segments retransmitted.
    pub retransmitted: Estimate,
    /// Median smoothed RTT, ms; absent where none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub srtt_ms: Option<Estimate>,
    /// Rate that its congestion control's rule predicts for the path's random losses, Mb/s of payload; absent where
    /// there is no rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub law_mbit: Option<f64>,
    /// Whether the rule's assumptions hold, for the path and for the measured flow: all repetitions have 30 loss epochs
    /// in the second half, and cwnd held the flow back.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub law_holds: bool,
    /// Its part of the delivered bytes while all flows live (0 to 1); absent where it is alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<Estimate>,
    /// Coefficient of variation of its rate in the second half of that time; absent where it is alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variation: Option<Estimate>,
    /// Limit that held it back for most of its life, in most repetitions.
    pub limit: String,
}

/// Fairness of flows, over the repetitions of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellShared {
    /// Jain's index while all flows live.
    pub jain: Estimate,
    /// Jain's index over the second half of that time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jain_settled: Option<Estimate>,
    /// Repetitions in which the flows converge.
    pub converged: u32,
    /// Convergence time of these, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub converged_s: Option<Estimate>,
    /// Repetitions that are too short to see whether the flows converge.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub too_short: u32,
    /// RTT-fairness exponent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt_exponent: Option<Estimate>,
    /// Units dropped on the data's way in that time.
    pub dropped: Estimate,
    /// Mean number waiting in front of the slowest link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<Estimate>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The cells of a sweep in its order.
///
/// # Errors
/// Records cannot be read.
pub fn cells(merged: &Merged) -> Result<Vec<Cell>, Error> {
    let mut cells = Vec::new();
    each(merged, |cell| {
        cells.push(cell);
        Ok(())
    })?;
    Ok(cells)
}

/// Passes each cell of a sweep to `visit`, in its order; one at a time, as a sweep may have a million.
///
/// # Errors
/// Records cannot be read, or the error of `visit`.
pub fn each(
    merged: &Merged,
    mut visit: impl FnMut(Cell) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut group = Vec::<Record>::new();
    merged.each(|record| {
        if !group.last().is_none_or(|last| last.variant == record.variant && last.at == record.at) {
            visit(cell(&group))?;
            group.clear();
        }
        group.push(record);
        Ok(())
    })?;
    if group.is_empty() { Ok(()) } else { visit(cell(&group)) }
}

/// A cell from its repetitions.
fn cell(group: &[Record]) -> Cell {
    // Repetitions that failed count apart.
    let facts: Vec<&Facts> = group.iter().filter_map(|record| record.facts.as_ref()).collect();
    let sum = |facts: &&Facts| facts.flows.iter().map(|flow| flow.settled_mbit).sum::<f64>();
    let sums: Vec<f64> = facts.iter().map(sum).collect();
    let drops = |facts: &&Facts| facts.stages.iter().map(|stage| stage.dropped).sum::<u64>() as f64;
    let drops: Vec<f64> = facts.iter().map(drops).collect();
    let names = facts.first().map_or(0, |facts| facts.flows.len());

    // Flows pair by index for their rates, and by name for their shares.
    let flow = |index: usize| {
        let own: Vec<&Flow> = facts.iter().filter_map(|facts| facts.flows.get(index)).collect();
        let shared = facts.iter().filter_map(|facts| facts.fairness.as_ref());
        let name = own.first().map(|flow| &flow.name);
        let parts = shared.filter_map(|all| all.flows.iter().find(|own| Some(&own.name) == name));
        let parts: Vec<&Part> = parts.collect();
        over(&own, &parts)
    };
    let all: Vec<&Shared> = facts.iter().filter_map(|facts| facts.fairness.as_ref()).collect();
    let (variant, at) =
        group.first().map(|r| (r.variant.clone(), r.at.clone())).unwrap_or_default();
    Cell {
        variant,
        at,
        runs: facts.len() as u32,
        failed: (group.len() - facts.len()) as u32,
        // Equal facts mean that nothing was drawn: the repetitions are one run.
        one_run: facts.len() > 1 && facts.windows(2).all(|pair| pair[0] == pair[1]),
        sum_mbit: Estimate::of(&sums),
        flows: (0..names).filter_map(flow).collect(),
        expected: expected(&facts),
        fairness: shared(&all),
        dropped: Estimate::of(&drops),
    }
}

/// The expectations of a point, which all its repetitions have in one order. One without a value in some repetition does not hold.
fn expected(facts: &[&Facts]) -> Vec<CellExpected> {
    let first = facts.first().map_or(&[][..], |facts| &facts.expected);
    first
        .iter()
        .enumerate()
        .map(|(n, asked)| {
            let own = facts.iter().filter_map(|facts| facts.expected.get(n)?.measured);
            let values: Vec<f64> = own.collect();
            let (metric, of, allowed) = (asked.metric.clone(), asked.of, asked.allowed);
            let measured = Estimate::of(&values);

            // The mean must lie near, and every repetition must have a value.
            let near = measured.is_some_and(|is| Tolerance::Absolute(allowed).accepts(of, is.mean));
            let passed = near && values.len() == facts.len();
            let without = (facts.len() - values.len()) as u32;
            CellExpected { metric, of, allowed, measured, without, passed }
        })
        .collect()
}

/// Fairness of the flows, over the cell's repetitions.
fn shared(all: &[&Shared]) -> Option<CellShared> {
    // Repetitions without the value are left out of its estimate.
    let of = |value: fn(&Shared) -> Option<f64>| {
        Estimate::of(&all.iter().filter_map(|one| value(one)).collect::<Vec<_>>())
    };
    let converged_s = of(|one| one.converged_s);
    Some(CellShared {
        jain: of(|one| Some(one.jain))?,
        jain_settled: of(|one| one.jain_settled),
        converged: converged_s.map_or(0, |estimate| estimate.n),
        converged_s,
        too_short: all.iter().filter(|one| one.too_short).count() as u32,
        rtt_exponent: of(|one| one.rtt_exponent),
        dropped: of(|one| Some(one.dropped as f64))?,
        queue: of(|one| one.queue),
    })
}

/// A flow over its repetitions, with its parts where it shares the path.
fn over(own: &[&Flow], parts: &[&Part]) -> Option<CellFlow> {
    let first = own.first()?;
    let of = |value: fn(&Flow) -> f64| {
        Estimate::of(&own.iter().map(|flow| value(flow)).collect::<Vec<_>>())
    };
    let rtts: Vec<f64> = own.iter().filter_map(|flow| flow.srtt_median_ms).collect();
    Some(CellFlow {
        law_mbit: first.law_mbit,
        // A law assumes a flow that cwnd holds, with enough losses to average.
        law_holds: own.iter().all(|flow| {
            flow.law_holds && flow.loss_epochs >= EPOCHS && flow.limit.starts_with("cwnd")
        }),
        name: first.name.clone(),
        congestion: first.congestion.clone(),
        settled_mbit: of(|flow| flow.settled_mbit)?,
        steady: own.iter().filter(|flow| flow.steady).count() as u32,
        retransmitted: of(|flow| flow.retransmitted_segments as f64)?,
        srtt_ms: Estimate::of(&rtts),
        share: Estimate::of(&parts.iter().map(|part| part.share).collect::<Vec<_>>()),
        variation: Estimate::of(&parts.iter().filter_map(|p| p.variation).collect::<Vec<_>>()),
        limit: most(own.iter().map(|flow| flow.limit.as_str())),
    })
}

/// The most frequent name; of several the first.
fn most<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let best = names.clone().enumerate().max_by_key(|(n, name)| {
        (names.clone().filter(|other| other == name).count(), usize::MAX - n)
    });
    best.map_or_else(String::new, |(_, name)| name.to_string())
}
