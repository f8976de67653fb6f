//! Expectations of a scenario, checked against the run they are about.

use super::format::axes::Axis;
use super::format::context::Context;
use super::format::dotted::Dotted;
use super::format::keys::At;
use super::format::node::Node;
use super::format::special::Range;
use super::metric::{self, Metric};
use super::plan::Expect;
use super::resolved::Resolved;
use super::space::Change;
use super::tolerance;
use super::versus;
use super::written;
use serde_json::Value as Json;

/// The expectations that apply to `variant` at a point of the sweep. Reports errors in them.
pub fn read(
    written: &[written::Expect],
    variant: &str,
    point: &[Change],
    run: &Resolved,
    cx: &mut Context,
) -> Vec<Expect> {
    written
        .iter()
        .filter(|expect| {
            let value = versus::other(expect).is_none();
            let own = expect.variant.as_ref().is_none_or(|wanted| wanted.value == variant);
            value && own && is_about(expect, point)
        })
        .filter_map(|expect| single(expect, run, cx))
        .collect()
}

/// Whether an expectation is about a point of the sweep.
pub(super) fn is_about(expect: &written::Expect, point: &[Change]) -> bool {
    expect.at.iter().flat_map(|at| &at.value.0).all(|(key, value)| is_at(key, value, point))
}

/// Whether a point has this value of an axis.
fn is_at(key: &Dotted, value: &Node, point: &[Change]) -> bool {
    point
        .iter()
        .any(|(own, here)| own.parts == key.parts && same_value(&value.json(), &here.json()))
}

/// Whether two values as written are one: numbers however they are written.
pub(super) fn same_value(a: &Json, b: &Json) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Reports points that no axis has.
pub fn check_points(written: &[written::Expect], axes: &[Axis], cx: &mut Context) {
    for (key, value) in written.iter().filter_map(|e| e.at.as_ref()).flat_map(|at| &at.value.0) {
        // An axis may have several keys: each knows its place in the points.
        let keys =
            || axes.iter().flat_map(|axis| axis.keys.iter().zip(0..).map(move |k| (axis, k)));
        let Some((axis, (_, index))) = keys().find(|(_, (own, _))| own.parts == key.parts) else {
            let names: Vec<String> = keys().map(|(_, (own, _))| own.text()).collect();
            let message = format!("`{}` is not an axis of the sweep", key.text());
            cx.error("unknown-name", key.place, message)
                .names(&key.text(), names.iter().map(String::as_str));
            continue;
        };

        // The value must be a point of the axis, compared as the axis means it.
        if !axis.points.iter().any(|own| is_at(key, value, &[(key.clone(), own[index].clone())])) {
            let message = format!("the axis `{}` has no such point", key.text());
            let points = axis.points.iter().map(|point| point[index].json().to_string());
            let expected = points.collect::<Vec<_>>().join(", ");
            cx.error("bad-value", value.place, message).expected(format!("one of {expected}"));
        }
    }
}

fn single(expect: &written::Expect, run: &Resolved, cx: &mut Context) -> Option<Expect> {
    let metric = expect.metric.as_ref()?;
    let (target, entry) = metric::find(&metric.value, metric.place, run, cx)?;
    let within = expect.within.as_ref()?;
    let tolerance = tolerance::read(&within.value, entry.unit, within.place, cx);
    let interval = expect.interval.as_ref().map(|range| range.value.0);
    let of = expect.of.as_ref()?;
    extent(metric, entry, interval, cx)?;
    if let Some(range) = &expect.interval {
        within_run(range, run, cx);
    }

    // One value for the whole run, or one for each interval.
    let values = interval.map_or(1, |[first, end]| end - first);
    if of.value.0.len() != values {
        let expected = match interval {
            Some(_) => format!("as many values as intervals: {values}"),
            None => "one value for the whole run, or `interval`".into(),
        };
        let message = format!("number of values in `of`: {}", of.value.0.len());
        cx.error("bad-value", of.place, message).expected(expected);
        return None;
    }
    Some(Expect {
        metric: metric.value.clone(),
        target,
        interval,
        of: of.value.0.clone(),
        within: within.value.clone(),
        tolerance: tolerance?,
    })
}

/// Whether the metric exists per interval or for the whole run, as asked.
pub(super) fn extent(
    metric: &At<String>,
    entry: &Metric,
    interval: Option<[usize; 2]>,
    cx: &mut Context,
) -> Option<()> {
    let (exists, what, expected) = match interval {
        Some(_) => (entry.per_interval, "per interval", "no `interval`: the whole run"),
        None => (entry.whole_run, "for the whole run", "`interval = [first, one past the last]`"),
    };
    if !exists {
        let message = format!("`{}` has no value {what}", metric.value);
        cx.error("conflict", metric.place, message).expected(expected);
    }
    exists.then_some(())
}

/// Reports intervals after the run's end.
fn within_run(range: &At<Range>, run: &Resolved, cx: &mut Context) {
    let report = &run.report;
    let rest = run.duration.saturating_sub(report.first_interval).as_ns();
    let intervals = 1 + rest.div_ceil(report.interval.as_ns());
    let [_, end] = range.value.0;
    if end as u64 > intervals {
        cx.error("out-of-range", range.place, format!("interval {} is after the run", end - 1))
            .expected(format!(
                "an end of at most {intervals}: the run lasts {}s",
                run.duration.as_secs_f64()
            ));
    }
}
