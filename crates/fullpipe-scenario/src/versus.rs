//! Expectations about two variants of a sweep: a metric of one is above or below the other's.

use super::expect::{extent, is_about, same_value};
use super::format::context::Context;
use super::format::keys::At;
use super::metric;
use super::plan::Target;
use super::resolved::Resolved;
use super::space::Change;
use super::written;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Expectation of two variants at the same points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Versus {
    /// The variant.
    pub variant: String,
    /// Points of the sweep: dotted key to value; empty: all of them.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub at: Map<String, Value>,
    /// The metric as written.
    pub metric: String,
    /// Where the variant's value is, seen from the other's.
    pub side: Side,
    /// The other variant.
    pub other: String,
}

/// Above or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The value is larger.
    Above,
    /// The value is smaller.
    Below,
}

/// A metric of a run that is compared with another variant's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The metric as written.
    pub metric: String,
    /// Subject of the metric.
    pub target: Target,
}

impl Side {
    /// Its key in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Side::Above => "above",
            Side::Below => "below",
        }
    }
}

impl Versus {
    /// The expectation as written; none where a value is expected, or where the key is incomplete.
    pub(super) fn of(expect: &written::Expect) -> Option<Versus> {
        let (side, other) = other(expect)?;
        let at = expect.at.iter().flat_map(|at| &at.value.0);
        Some(Versus {
            variant: expect.variant.as_ref()?.value.clone(),
            at: at.map(|(key, value)| (key.text(), value.json())).collect(),
            metric: expect.metric.as_ref()?.value.clone(),
            side,
            other: other.value.clone(),
        })
    }

    /// Whether it is about a point, given as dotted key to value.
    pub fn is_at(&self, point: &Map<String, Value>) -> bool {
        self.at
            .iter()
            .all(|(key, value)| point.get(key).is_some_and(|here| same_value(value, here)))
    }
}

/// The other variant that an expectation names.
pub(super) fn other(expect: &written::Expect) -> Option<(Side, &At<String>)> {
    let above = expect.above.as_ref().map(|at| (Side::Above, at));
    above.or_else(|| expect.below.as_ref().map(|at| (Side::Below, at)))
}

/// Reports keys that an expectation of two variants cannot have, and keys that an expectation of a value lacks.
pub(super) fn check(expect: &written::Expect, cx: &mut Context) {
    let Some(metric) = &expect.metric else { return };
    let value = "`of` and `within`, or `above` or `below` with the name of a variant";
    let Some((side, _)) = other(expect) else {
        // An expectation of a value needs value and tolerance.
        if expect.of.is_none() || expect.within.is_none() {
            let message = format!("nothing is said of the value of `{}`", metric.value);
            cx.error("missing-key", metric.place, message).expected(value);
        }
        return;
    };

    // Keys of values have no meaning between two variants.
    let places = [
        expect.of.as_ref().map(|at| at.place),
        expect.within.as_ref().map(|at| at.place),
        expect.interval.as_ref().map(|at| at.place),
        expect.above.as_ref().and(expect.below.as_ref()).map(|at| at.place),
    ];
    if let Some(place) = places.into_iter().flatten().next() {
        let message = format!("an expectation with `{}` has nothing else", side.name());
        cx.error("conflict", place, message).expected(value);
    }
    if expect.variant.is_none() {
        let message = format!("which variant is `{}` the other?", side.name());
        cx.error("missing-key", metric.place, message).expected("`variant`");
    }
}

/// Metrics to measure for a variant at a point, each once. Reports metrics that it does not have.
pub(super) fn compared(
    written: &[written::Expect],
    variant: &str,
    point: &[Change],
    run: &Resolved,
    cx: &mut Context,
) -> Vec<Compared> {
    let mut all = Vec::<Compared>::new();
    for expect in written {
        let (Some((_, other)), Some(metric)) = (other(expect), &expect.metric) else { continue };

        // Both variants of the pair must be measured.
        let own = expect.variant.as_ref().is_some_and(|at| at.value == variant);
        let known = all.iter().any(|one| one.metric == metric.value);

        // One metric is measured once, however many expectations use it.
        if !is_about(expect, point) || known || !(own || other.value == variant) {
            continue;
        }
        let found = metric::find(&metric.value, metric.place, run, cx);
        let found = found.filter(|(_, entry)| extent(metric, entry, None, cx).is_some());
        all.extend(found.map(|(target, _)| Compared { metric: metric.value.clone(), target }));
    }
    all
}
