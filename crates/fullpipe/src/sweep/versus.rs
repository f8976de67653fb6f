//! What is expected of two variants: their repetitions are compared one by one.

use super::competition::point;
use super::estimate::Estimate;
use super::merge::Merged;
use crate::scenario::{Side, Versus};
use crate::trace::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Two variants at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The sweep point: dotted key to value as written.
    pub point: Map<String, Value>,
    /// What was expected.
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

/// What was expected of two variants, in the scenario's order, then in that of the sweep's points. Points at which either has no
/// run that came out are left out: [`unjudged`](super::unjudged) counts them.
///
/// # Errors
/// Records cannot be read.
pub fn versus(merged: &Merged) -> Result<Vec<Judged>, Error> {
    let asked = &merged.manifest.versus;
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let (mut points, mut seen) = (Vec::new(), BTreeSet::new());
    let mut groups = BTreeMap::<(String, String, &str), Values>::new();
    let mut came_out = BTreeSet::<(String, String)>::new();
    merged.each(|record| {
        let is_about = |own: &&Versus| {
            let named = own.variant == record.variant || own.other == record.variant;
            named && own.is_at(&record.at)
        };
        let about: BTreeSet<&str> = asked.iter().filter(is_about).map(|own| &*own.metric).collect();
        if about.is_empty() {
            return Ok(());
        }
        let at = point(&record.at);
        if record.facts.is_some() {
            came_out.insert((record.variant.clone(), at.clone()));
        }
        for metric in about {
            let value = record.facts.as_ref().and_then(|facts| facts.compared.get(metric));
            let key = (record.variant.clone(), at.clone(), metric);
            groups.entry(key).or_default().insert(record.repetition, value.copied());
        }
        if seen.insert(at) {
            points.push(record.at);
        }
        Ok(())
    })?;
    let one = |own: &Versus, here: &Map<String, Value>| {
        let at = point(here);
        let of = |name: &String| {
            let there = came_out.contains(&(name.clone(), at.clone()));
            groups.get(&(name.clone(), at.clone(), &*own.metric)).filter(|_| there)
        };
        Some(judge(own, here, of(&own.variant)?, of(&own.other)?))
    };
    let all = asked.iter().flat_map(|own| {
        points.iter().filter(|here| own.is_at(here)).filter_map(move |here| one(own, here))
    });
    Ok(all.collect())
}

fn judge(expected: &Versus, point: &Map<String, Value>, own: &Values, other: &Values) -> Judged {
    let pair = |(n, value): (&u32, &Option<f64>)| Some((*value)? - (*other.get(n)?)?);
    let differences: Vec<f64> = own.iter().filter_map(pair).collect();
    let without = own.len().max(other.len()) - differences.len();
    let difference = Estimate::of(&differences);
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
