//! Expectations of two variants: their repetitions are compared one by one.
//!
//! Limits:
//! - `friendliness` and `harm` cannot be named in an `[[expect]]`: expect rates in their place.

use super::competition::point;
use super::estimate::Estimate;
use super::manifest::Manifest;
use super::record::Record;
use crate::scenario::{Side, Versus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Two variants at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The sweep point: dotted key to value as written.
    pub point: Map<String, Value>,
    /// The expectation.
    #[serde(flatten)]
    pub expected: Versus,
    /// The variant's value less the other's, over repetitions of one number; absent where no two have a value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<Estimate>,
    /// Repetitions in which one of the two has no value.
    pub without: u32,
    /// Whether all have values, and their differences' 95 % interval is on the side that was expected. A single repetition, or
    /// differences that are all the same, show nothing, as in [`compare`](super::compare).
    pub passed: bool,
}

/// Values by repetition, of a variant at a point.
type Values = BTreeMap<u32, Option<f64>>;

/// Expectations of two variants in a scenario, judged record by record.
#[derive(Debug)]
pub struct Judging<'a> {
    asked: &'a [Versus],
    /// In the order of the sweep.
    points: Vec<Map<String, Value>>,
    seen: BTreeSet<String>,
    /// Values by variant, point and metric.
    groups: BTreeMap<(String, String, &'a str), Values>,
    /// Variants and points with a result of some run.
    came_out: BTreeSet<(String, String)>,
}

impl<'a> Judging<'a> {
    /// Of a sweep, before any of its records was seen.
    pub fn new(manifest: &'a Manifest) -> Judging<'a> {
        Judging {
            asked: &manifest.versus,
            points: Vec::new(),
            seen: BTreeSet::new(),
            groups: BTreeMap::new(),
            came_out: BTreeSet::new(),
        }
    }

    /// Takes a record.
    pub fn add(&mut self, record: &Record) {
        let about = self
            .asked
            .iter()
            .filter(|own| {
                let named = own.variant == record.variant || own.other == record.variant;
                named && own.is_at(&record.at)
            })
            .map(|own| &*own.metric);
        let about: BTreeSet<&str> = about.collect();
        if about.is_empty() {
            return;
        }
        let at = point(&record.at);

        // A failed run may have records: the result shows whether any repetition succeeded.
        if record.facts.is_some() {
            self.came_out.insert((record.variant.clone(), at.clone()));
        }

        // A missing value is kept: the pair then counts as one without.
        for metric in about {
            let value = record.facts.as_ref().and_then(|facts| facts.compared.get(metric));
            let key = (record.variant.clone(), at.clone(), metric);
            self.groups.entry(key).or_default().insert(record.repetition, value.copied());
        }
        if self.seen.insert(at) {
            self.points.push(record.at.clone());
        }
    }

    /// The expectations with their results, in the scenario's order, then in that of the sweep's points. Points at
    /// which either variant has no result are left out: [`unjudged`](super::unjudged) counts them.
    pub fn finish(self) -> Vec<Judged> {
        let Judging { asked, points, groups, came_out, .. } = &self;
        let all = asked.iter().flat_map(|own| {
            points.iter().filter(|here| own.is_at(here)).map(move |here| (own, here))
        });
        all.filter_map(|(own, here)| {
            let at = point(here);
            let of = |name: &String| {
                let there = came_out.contains(&(name.clone(), at.clone()));
                groups.get(&(name.clone(), at.clone(), &*own.metric)).filter(|_| there)
            };
            Some(judge(own, here, of(&own.variant)?, of(&own.other)?))
        })
        .collect()
    }
}

fn judge(expected: &Versus, point: &Map<String, Value>, own: &Values, other: &Values) -> Judged {
    // Repetitions pair by number, which is their seed.
    let differences: Vec<f64> =
        own.iter().filter_map(|(n, value)| Some((*value)? - (*other.get(n)?)?)).collect();
    let without = own.len().max(other.len()) - differences.len();
    let difference = Estimate::of(&differences);

    // The interval must lie wholly on the expected side, and repetitions must differ.
    let shown = difference.is_some_and(|found| {
        let mean = match expected.side {
            Side::Above => found.mean,
            Side::Below => -found.mean,
        };
        found.min < found.max && found.within.is_some_and(|within| mean > within)
    });
    Judged {
        point: point.clone(),
        expected: expected.clone(),
        difference,
        without: without as u32,
        passed: shown && without == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(side: Side, own: &[Option<f64>], other: &[Option<f64>]) -> bool {
        let expected = Versus {
            variant: "a".into(),
            at: Map::new(),
            metric: "fairness.jain".into(),
            side,
            other: "b".into(),
        };
        let values = |of: &[Option<f64>]| (0..).zip(of.iter().copied()).collect::<Values>();
        judge(&expected, &Map::new(), &values(own), &values(other)).passed
    }

    #[test]
    fn differences_of_repetitions_decide() {
        let other = [Some(10.0), Some(20.0), Some(30.0)];
        // 1, 2, 3 more each time: 2 +- 2.48 shows nothing; 4, 5, 6 more: 5 +- 2.48 does.
        assert!(!passes(Side::Above, &[Some(11.0), Some(22.0), Some(33.0)], &other));
        let more = [Some(14.0), Some(25.0), Some(36.0)];
        assert!(passes(Side::Above, &more, &other));
        assert!(!passes(Side::Below, &more, &other));
        assert!(passes(Side::Below, &other, &more));
    }

    #[test]
    fn values_must_be_there() {
        assert!(!passes(Side::Above, &[Some(2.0), None], &[Some(1.0), Some(1.0)]));
        assert!(!passes(Side::Above, &[None], &[None]));
        // One repetition, and two that are one run.
        assert!(!passes(Side::Above, &[Some(2.0)], &[Some(1.0)]));
        assert!(!passes(Side::Above, &[Some(2.0), Some(2.0)], &[Some(1.0), Some(1.0)]));
        assert!(!passes(Side::Above, &[Some(1.0)], &[Some(1.0)]));
    }
}
