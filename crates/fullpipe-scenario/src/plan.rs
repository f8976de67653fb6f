//! Result of [`load`](super::load): the runs that a scenario asks for.

use super::places::Places;
use super::published::Data;
use super::resolved::Resolved;
use super::versus::Compared;
use serde_json::{Map, Value};

/// A checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Recipe name or file stem.
    pub name: String,
    /// Title from the file; the name where it has none.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Published figures that the scenario names.
    pub published: Option<Data>,
    pub(super) plans: Vec<Plan>,
}

impl Scenario {
    /// Plans of variants and sweep points, in the file's order; the last axis of a sweep runs fastest.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the variant, "base" where the scenario has none.
    pub variant: String,
    /// The sweep point: dotted key to value as written; empty without a sweep.
    pub sweep: Map<String, Value>,
    /// Everything that differs from the file's base: by the variant, the sweep point and `--set`.
    pub set: Map<String, Value>,
    /// The complete description.
    pub resolved: Resolved,
    /// Places of its keys.
    pub places: Places,
    /// The expectations that apply to this run.
    pub expectations: Vec<Expect>,
    /// Metrics that are compared with other variants' metrics.
    pub compared: Vec<Compared>,
    /// Name of the run in [`Scenario::published`] to compare this one with.
    pub published_run: Option<String>,
}

impl Plan {
    /// A name unique within the scenario: the variant, and the sweep point where there is one.
    pub fn name(&self) -> String {
        point_name(&self.variant, &self.sweep)
    }
}

/// The name of a sweep point of a variant.
pub fn point_name(variant: &str, at: &Map<String, Value>) -> String {
    let at = at.iter().map(|(key, value)| format!(", {key}={}", unquoted(value)));
    variant.to_string() + &at.collect::<String>()
}

/// A value as it is after `--set`: a string without quotes.
pub fn unquoted(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Expectation of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// The metric as written, for instance "flow.bulk.segments_delivered".
    pub metric: String,
    /// Subject of the metric.
    pub target: Target,
    /// Report intervals it covers, first and one past the last; none: the whole run.
    pub interval: Option<[usize; 2]>,
    /// Expected values: one per interval, or one for the whole run.
    pub of: Vec<f64>,
    /// The tolerance as written.
    pub within: String,
    /// The tolerance.
    pub tolerance: Tolerance,
}

/// Subject of a metric; columns are names of the document's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A column of a flow.
    Flow {
        /// The flow's name.
        flow: String,
        /// The column, see the metrics' table.
        column: &'static str,
    },
    /// The share of a flow's life in which one limit held it back.
    Limit {
        /// The flow's name.
        flow: String,
        /// The limit, one of `fullpipe_base::limits::limit_names`.
        limit: &'static str,
    },
    /// A column of datagrams.
    Datagrams {
        /// Their name.
        datagrams: String,
        /// The column, see the metrics' table.
        column: &'static str,
    },
    /// Fairness of the flows.
    Fairness {
        /// The column, see the metrics' table.
        column: &'static str,
    },
    /// A column of files on an NFS mount.
    Nfs {
        /// Its name.
        nfs: String,
        /// The column, see the metrics' table.
        column: &'static str,
    },
    /// A counter of a stage.
    Stage {
        /// The stage's name.
        stage: String,
        /// The column, see the metrics' table.
        column: &'static str,
    },
}

/// Distance that a measured value may have from the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// In the metric's own unit.
    Absolute(f64),
    /// A share of the expected value (0.02 is 2 %).
    Relative(f64),
}

impl Tolerance {
    /// Whether `measured` is close enough to `expected`. Bounds are inclusive.
    pub fn accepts(self, expected: f64, measured: f64) -> bool {
        (measured - expected).abs() <= self.allowed(expected) * (1.0 + 1e-12)
    }

    /// Largest distance of a value from the expected one, in the metric's own unit.
    pub fn allowed(self, expected: f64) -> f64 {
        match self {
            Tolerance::Absolute(bound) => bound,
            Tolerance::Relative(share) => share * expected.abs(),
        }
    }
}
