//! Two sweeps compared, point by point: how far their means are apart, and whether that is shown.
//!
//! The difference of two means has a 95 % confidence interval by Welch's t test (B. L. Welch, Biometrika 34, 1947), which lets
//! the two vary differently. An interval that has 0 in it shows no difference. The effect size is the difference over the standard
//! deviation of a single run (Cohen's d, with the root of the mean of both variances).

use super::cells::Cell;
use super::estimate::{Estimate, t};
use crate::analysis::compare::Setting;
use crate::scenario::point_name;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Differences between two sweeps.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Differences between their scenarios and engines; see [`apart`](super::apart::apart).
    pub scenario: Vec<Setting>,
    /// Points that both have, metric by metric.
    pub pairs: Vec<Pair>,
    /// Points that only one of them has, as text.
    pub alone: Vec<String>,
}

/// A metric at a point of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Name of the variant.
    pub variant: String,
    /// The point: dotted key to value as written.
    pub at: Map<String, Value>,
    /// The metric as in `[[expect]]`, in its unit: `flow.NAME.settled_mbit`, `fairness.jain_settled`, `fairness.converged_s`,
    /// `fairness.rtt_exponent`.
    pub metric: String,
    /// Estimate of the first sweep.
    pub a: Estimate,
    /// Estimate of the second sweep.
    pub b: Estimate,
    /// The second mean less the first.
    pub difference: f64,
    /// Half the width of its 95 % interval; absent where one has a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Cohen's d; absent where nothing varies, or one has a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<f64>,
    /// Conclusion from the difference.
    pub shown: Shown,
}

/// Conclusion from a difference of means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The second is higher.
    Higher,
    /// The second is lower.
    Lower,
    /// The interval has 0 in it.
    Nothing,
    /// All runs of both gave the same.
    Equal,
    /// A sweep has a single run, or its repetitions are one run.
    Unknown,
}

impl Shown {
    /// Conclusion from the second mean less the first one; `one_run`: the repetitions of a sweep are one run.
    pub fn between(a: &Estimate, b: &Estimate, one_run: bool) -> Shown {
        shown(a, b, welch(a, b).map(|(within, _)| within), one_run)
    }
}

impl Comparison {
    /// Comparison of the cells of two sweeps, by variant, point and metric.
    pub fn new(a: &[Cell], b: &[Cell]) -> Comparison {
        // Values as text: numbers of JSON have no order.
        let place = |cell: &Cell| {
            let point = cell.at.iter().map(|(key, value)| (key.clone(), value.to_string()));
            (cell.variant.clone(), point.collect::<BTreeMap<_, _>>())
        };
        let mut others: BTreeMap<_, &Cell> = b.iter().map(|cell| (place(cell), cell)).collect();
        let (mut all, mut alone) = (Vec::new(), Vec::new());

        // Cells that match leave the map; the rest is alone.
        for cell in a {
            match others.remove(&place(cell)) {
                Some(other) => all.extend(pairs(cell, other)),
                None => alone.push(format!("a: {}", point_name(&cell.variant, &cell.at))),
            }
        }

        // The order of `b` is kept for its own cells.
        let left = b.iter().filter(|cell| others.contains_key(&place(cell)));
        alone.extend(left.map(|cell| format!("b: {}", point_name(&cell.variant, &cell.at))));
        Comparison { scenario: Vec::new(), pairs: all, alone }
    }
}

/// Metrics of a cell: the flows' rates, and their fairness.
fn metrics(cell: &Cell) -> Vec<(String, Estimate)> {
    let mut all: Vec<_> = cell
        .flows
        .iter()
        .map(|own| (format!("flow.{}.settled_mbit", own.name), own.settled_mbit))
        .collect();

    // Fairness needs several flows.
    if let Some(shared) = &cell.fairness {
        let own = [
            ("jain_settled", shared.jain_settled),
            ("converged_s", shared.converged_s),
            ("rtt_exponent", shared.rtt_exponent),
        ];
        let there = own.into_iter().filter_map(|(name, of)| Some((name, of?)));
        all.extend(there.map(|(name, of)| (format!("fairness.{name}"), of)));
    }
    all
}

/// The metrics that both cells have.
fn pairs(a: &Cell, b: &Cell) -> Vec<Pair> {
    let others: BTreeMap<String, Estimate> = metrics(b).into_iter().collect();
    let mut pairs = Vec::new();
    for (metric, one) in metrics(a) {
        // A metric of one sweep alone has nothing to compare with.
        let Some(&other) = others.get(&metric) else { continue };

        // Without variance Welch's test says nothing.
        let (within, effect) = welch(&one, &other).map_or((None, None), |(w, e)| (Some(w), e));
        pairs.push(Pair {
            variant: a.variant.clone(),
            at: a.at.clone(),
            metric,
            a: one,
            b: other,
            difference: other.mean - one.mean,
            within,
            effect,
            shown: shown(&one, &other, within, a.one_run || b.one_run),
        });
    }
    pairs
}

fn shown(a: &Estimate, b: &Estimate, within: Option<f64>, one_run: bool) -> Shown {
    let difference = b.mean - a.mean;
    let constant = |of: &Estimate| of.min == of.max;
    match within {
        _ if constant(a) && constant(b) && a.min == b.min => Shown::Equal,
        Some(within) if !one_run => match difference {
            d if d.abs() <= within => Shown::Nothing,
            d if d > 0.0 => Shown::Higher,
            _ => Shown::Lower,
        },
        _ => Shown::Unknown,
    }
}

/// Half the width of the difference's interval, and the effect size; none where a sweep has a single value.
fn welch(a: &Estimate, b: &Estimate) -> Option<(f64, Option<f64>)> {
    let (ea, eb) = (a.error()?, b.error()?);
    let (va, vb) = (ea * ea, eb * eb);
    let sum = va + vb;
    if sum == 0.0 {
        return Some((0.0, None));
    }
    let (na, nb) = (f64::from(a.n), f64::from(b.n));
    let freedom = sum * sum / (va * va / (na - 1.0) + vb * vb / (nb - 1.0));
    let deviation = ((va * na + vb * nb) / 2.0).sqrt();
    // Degrees of freedom are rounded down, which makes the interval wider.
    Some((t(freedom as usize) * sum.sqrt(), Some((b.mean - a.mean) / deviation)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::cells::CellShared;

    fn of(values: &[f64]) -> Estimate {
        Estimate::of(values).expect("values")
    }

    /// By hand: variances 1 and 4, of 4 values each. Errors are 0.25 + 1 = 1.25, its root 1.118. The freedom is 1.25^2
    /// / (0.0625 / 3 + 1 / 3) = 4.41, with t(4) = 2.776.
    #[test]
    fn an_interval_is_welchs() {
        let spread = |mean: f64, deviation: f64| {
            let step = deviation * (3.0_f64 / 4.0).sqrt();
            of(&[mean - step, mean + step, mean - step, mean + step])
        };
        let (within, effect) = welch(&spread(10.0, 1.0), &spread(20.0, 2.0)).expect("spreads");
        assert!((within - 2.776 * 1.25_f64.sqrt()).abs() < 1e-3, "{within}");
        assert!((effect.expect("an effect") - 10.0 / 2.5_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn how_flows_share_is_compared_where_both_have_it() {
        let cell = |jain_settled: Option<Estimate>, k: f64| {
            let (jain, dropped) = (of(&[0.9]), of(&[0.0]));
            let rtt_exponent = Some(of(&[k, k + 0.1]));
            let (converged, converged_s, too_short, queue) = (0, None, 0, None);
            let shared = CellShared {
                jain,
                jain_settled,
                converged,
                converged_s,
                too_short,
                rtt_exponent,
                dropped,
                queue,
            };
            Cell { variant: "cubic".into(), fairness: Some(shared), ..Cell::default() }
        };
        let [a, b] = [cell(None, 0.5), cell(Some(of(&[0.9])), 3.5)];
        let alone = Cell { variant: "bic".into(), ..Cell::default() };
        let compared = Comparison::new(&[a], &[alone, b]);
        let [pair] = &compared.pairs[..] else { panic!("{:?}", compared.pairs) };
        assert_eq!((&*pair.metric, pair.shown), ("fairness.rtt_exponent", Shown::Higher));
        assert_eq!(compared.alone, ["b: bic"]);
    }

    #[test]
    fn what_is_not_shown_is_said() {
        let see = |a: &[f64], b: &[f64]| Shown::between(&of(a), &of(b), false);
        assert_eq!(see(&[1.0, 2.0, 3.0], &[1.5, 2.5, 3.5]), Shown::Nothing);
        assert_eq!(see(&[1.0, 1.1, 0.9], &[9.0, 9.1, 8.9]), Shown::Higher);
        assert_eq!(see(&[9.0, 9.1, 8.9], &[1.0, 1.1, 0.9]), Shown::Lower);
        assert_eq!(see(&[5.0, 5.0], &[5.0, 5.0]), Shown::Equal);
        // Equal rates of different runs count like other rates; rates of one run show nothing.
        assert_eq!(see(&[5.0, 5.0], &[6.0, 6.0]), Shown::Higher);
        assert_eq!(see(&[5.0, 5.0], &[5.0, 5.1]), Shown::Nothing);
        let one = |a: &[f64], b: &[f64]| Shown::between(&of(a), &of(b), true);
        assert_eq!(one(&[5.0, 5.0], &[6.0, 6.0]), Shown::Unknown);
        assert_eq!(one(&[5.0, 5.0], &[5.0, 5.0]), Shown::Equal);
        assert_eq!(see(&[5.0], &[6.0, 6.5]), Shown::Unknown);
    }
}
