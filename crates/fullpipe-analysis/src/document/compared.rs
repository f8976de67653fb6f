//! Comparison of two runs.

use super::distance::Distance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the metric that compares only where the plateaus are alike.
pub const TIME_TO_PLATEAU: &str = "time_to_plateau_s";
/// Largest difference of two rates that count as alike, as a share of the higher one.
const ALIKE: f64 = 0.1;

/// Whether two rates are so near each other that the times that flows need to reach them compare: a flow that reaches a
/// tenth of the rate sooner is not the better one.
#[must_use]
pub fn rates_alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= ALIKE * a.max(b)
}

/// Differences between two experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The answer in one line: which one is faster, and the headlines of both.
    pub headline: String,
    /// Pairs of runs, in the order of the first experiment.
    pub runs: Vec<Pair>,
    /// Runs that only the first has.
    pub only_a: Vec<String>,
    /// Runs that only the second has.
    pub only_b: Vec<String>,
}

/// Two runs of one name; the only run of each experiment is a pair whatever the names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// Name of the first run.
    pub a: String,
    /// Name of the second run.
    pub b: String,
    /// Keys of the scenario with different values.
    pub scenario: Vec<Setting>,
    /// Flows of both runs, by name.
    pub flows: Vec<FlowPair>,
    /// Flows that only one of the runs has.
    pub unpaired_flows: Vec<String>,
    /// Stages of one name of which at least one dropped something.
    pub drops: Vec<Change>,
    /// Causes that only one of the runs has, by code, with the share of its flows' lives; absent where both have the same ones.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Change>,
    /// Stages of one name of which at least one marked something (ECN); absent where none did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<Change>,
}

/// A key of the scenario with both values; none where the key is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// Value of the first run.
    pub a: Option<String>,
    /// Value of the second run.
    pub b: Option<String>,
}

/// Two flows of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowPair {
    /// Their name.
    pub name: String,
    /// Their metrics, named as in the document.
    pub metrics: Vec<Change>,
    /// Shares of the limits that at least one of them has.
    pub limits: Vec<Change>,
    /// How far they are apart in time.
    pub distance: Distance,
}

impl FlowPair {
    /// Both plateaus, Mb/s, where they are so far apart that the times to reach them, which differ, do not compare.
    pub fn unlike_plateaus(&self) -> Option<(f64, f64)> {
        let named = |name: &str| self.metrics.iter().find(|change| change.name == name);
        let (plateau, time) = (named("plateau_mbit")?, named(TIME_TO_PLATEAU)?);
        if time.same() {
            return None;
        }
        plateau.a.zip(plateau.b).filter(|(a, b)| !rates_alike(*a, *b))
    }
}

/// A number on both sides; none where there is no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Name of the metric, limit or stage.
    pub name: String,
    /// Value of the first run.
    pub a: Option<f64>,
    /// Value of the second run.
    pub b: Option<f64>,
    /// `b / a - 1`; none where there is no value, `a` is 0, or the two do not compare: times to 90 % of plateaus that
    /// are not alike.
    pub relative: Option<f64>,
}

impl Change {
    pub(crate) fn new(name: &str, a: Option<f64>, b: Option<f64>) -> Change {
        let relative = match (a, b) {
            (Some(a), Some(b)) if a != 0.0 => Some(b / a - 1.0),
            _ => None,
        };
        Change { name: name.into(), a, b, relative }
    }

    /// Drops the difference of values that do not compare.
    pub(crate) fn without_difference(self) -> Change {
        Change { relative: None, ..self }
    }

    /// Whether both sides are equal.
    pub fn same(&self) -> bool {
        self.a == self.b
    }
}
