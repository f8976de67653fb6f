//! Which points of a sweep each expectation is about.

use super::expect::same_value;
use super::space::Space;
use super::versus;
use serde_json::{Map, Value};

/// An expectation as far as it says where it is to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Variants that it is about, each judged by itself; of two that are compared the first one.
    pub variants: Vec<String>,
    /// The other one of two compared variants.
    pub other: Option<String>,
    /// Points of the sweep: dotted key to value; empty: all of them.
    pub at: Map<String, Value>,
    /// Number of these points; none where options have changed the axes that it names.
    pub points: u64,
}

impl Asked {
    /// Whether it is about a point, given as dotted key to value.
    pub fn is_at(&self, point: &Map<String, Value>) -> bool {
        self.at
            .iter()
            .all(|(key, value)| point.get(key).is_some_and(|here| same_value(value, here)))
    }
}

impl Space {
    /// All expectations, in the scenario's order.
    pub fn asked(&self) -> Vec<Asked> {
        self.expect
            .iter()
            .map(|expect| {
                // An expectation without a variant is about all of them.
                let variants = match &expect.variant {
                    Some(own) => vec![own.value.clone()],
                    None => self.variants().map(str::to_string).collect(),
                };
                let at = expect.at.iter().flat_map(|at| &at.value.0);
                let at: Map<String, Value> = at.map(|(key, v)| (key.text(), v.json())).collect();
                let other = versus::other(expect).map(|(_, other)| other.value.clone());
                Asked { variants, other, points: self.points_at(&at), at }
            })
            .collect()
    }

    /// Points of a variant that have these values.
    fn points_at(&self, at: &Map<String, Value>) -> u64 {
        let axes = self.axes();

        // An axis of several keys has their names joined by commas.
        let keys = axes.iter().flat_map(|(name, _)| name.split(", "));
        let keys: Vec<&str> = keys.collect();

        // A key that no axis has never holds.
        if !at.keys().all(|key| keys.contains(&key.as_str())) {
            return 0;
        }
        let mut count: u64 = 1;

        // Axes are independent: the counts of their points multiply.
        for (name, points) in &axes {
            let here = points.iter().filter(|point| {
                let mut values = name.split(", ").zip(point.iter());
                values.all(|(key, own)| at.get(key).is_none_or(|value| same_value(value, own)))
            });
            count = count.saturating_mul(here.count() as u64);
        }
        count
    }
}
