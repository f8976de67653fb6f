//! Comparison of two experiments: differences in the scenarios, and in the results.

use super::distance::distance;
use super::document::{Document, Flow, Run, Stage};
use super::headline;
use crate::document::compared::TIME_TO_PLATEAU;
pub use crate::document::compared::{Change, Comparison, FlowPair, Pair, Setting, rates_alike};
use std::collections::{BTreeMap, BTreeSet};

/// A side of a comparison: a document, and its settings.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The results.
    pub document: &'a Document,
    /// Per run, in the document's order, its complete scenario by dotted key, see [`flatten`].
    pub settings: &'a [BTreeMap<String, String>],
}

/// Compares two experiments.
pub fn compare(a: &Side, b: &Side) -> Comparison {
    let pairs = pairs(a.document, b.document);
    let left_over = |document: &Document, used: &BTreeSet<usize>| {
        let runs = document.runs.iter().enumerate().filter(|(i, _)| !used.contains(i));
        runs.map(|(_, run)| run.variant.clone()).collect()
    };
    let headlines = [a, b].map(|side| side.document.headline.as_ref());
    Comparison {
        headline: headline::compared(headlines),
        runs: pairs.iter().map(|(i, j)| pair(a, *i, b, *j)).collect(),
        only_a: left_over(a.document, &pairs.iter().map(|(i, _)| *i).collect()),
        only_b: left_over(b.document, &pairs.iter().map(|(_, j)| *j).collect()),
    }
}

/// Indices of runs that belong together.
fn pairs(a: &Document, b: &Document) -> Vec<(usize, usize)> {
    if let ([_], [_]) = (a.runs.as_slice(), b.runs.as_slice()) {
        return vec![(0, 0)];
    }
    a.runs
        .iter()
        .enumerate()
        .filter_map(|(i, run)| {
            let j = b.runs.iter().position(|other| other.variant == run.variant)?;
            Some((i, j))
        })
        .collect()
}

fn pair(a: &Side, i: usize, b: &Side, j: usize) -> Pair {
    let empty = BTreeMap::new();
    let settings_a = a.settings.get(i).unwrap_or(&empty);
    let settings_b = b.settings.get(j).unwrap_or(&empty);
    let scenario = settings(settings_a, settings_b);
    Pair { scenario, ..of_one_scenario(&a.document.runs[i], &b.document.runs[j]) }
}

/// Two runs of one scenario, compared.
pub fn of_one_scenario(run_a: &Run, run_b: &Run) -> Pair {
    let flow = |name: &str, run: &'_ Run| run.flows.iter().position(|flow| flow.name == name);

    // Flows pair by name, so that a scenario may list them in another order.
    let (mut flows, mut unpaired) = (Vec::new(), Vec::new());
    for in_a in &run_a.flows {
        match flow(&in_a.name, run_b) {
            Some(at) => flows.push(flow_pair(in_a, &run_b.flows[at])),
            None => unpaired.push(in_a.name.clone()),
        }
    }

    // Flows that only the second run has follow those of the first.
    let only_b = run_b.flows.iter().filter(|f| flow(&f.name, run_a).is_none());
    unpaired.extend(only_b.map(|flow| flow.name.clone()));
    Pair {
        a: run_a.variant.clone(),
        b: run_b.variant.clone(),
        scenario: Vec::new(),
        flows,
        unpaired_flows: unpaired,
        drops: counted(&run_a.stages, &run_b.stages, |stage| stage.dropped),
        findings: findings(run_a, run_b),
        marks: counted(&run_a.stages, &run_b.stages, |stage| stage.marked),
    }
}

/// Causes that only one of two runs has, first those of the first run.
fn findings(a: &Run, b: &Run) -> Vec<Change> {
    let share = |run: &Run, code: &str| {
        run.findings.iter().find(|own| own.code == code).map(|own| own.share_of_time)
    };
    let codes = a.findings.iter().chain(&b.findings).map(|own| &own.code);
    let both = codes.map(|code| Change::new(code, share(a, code), share(b, code)));
    both.filter(|change| change.a.is_none() || change.b.is_none()).collect()
}

/// Settings that differ, by their key, with both values.
pub fn settings(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Setting> {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differing = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
    differing
        .map(|key| Setting { key: key.clone(), a: a.get(key).cloned(), b: b.get(key).cloned() })
        .collect()
}

fn flow_pair(a: &Flow, b: &Flow) -> FlowPair {
    let names: BTreeSet<&String> = a.limits.keys().chain(b.limits.keys()).collect();
    let share = |flow: &Flow, name: &String| flow.limits.get(name).copied().unwrap_or(0.0);
    FlowPair {
        name: a.name.clone(),
        metrics: metric_changes(a, b),
        limits: names
            .into_iter()
            .filter(|name| share(a, name) > 0.0 || share(b, name) > 0.0)
            .map(|name| Change::new(name, Some(share(a, name)), Some(share(b, name))))
            .collect(),
        distance: distance(a, b),
    }
}

fn metric_changes(a: &Flow, b: &Flow) -> Vec<Change> {
    let plateaus = a.plateau_mbit.zip(b.plateau_mbit);
    let comparable = plateaus.is_none_or(|(a, b)| rates_alike(a, b));

    let both = metrics(a).into_iter().zip(metrics(b));

    // Programs without messages have no times of them.
    let both = both
        .filter(|((name, a), (_, b))| !name.starts_with("message_") || a.is_some() || b.is_some());
    let changes = both.map(|((name, a), (_, b))| match name {
        TIME_TO_PLATEAU if !comparable => Change::new(name, a, b).without_difference(),
        _ => Change::new(name, a, b),
    });
    changes.collect()
}

fn metrics(flow: &Flow) -> [(&'static str, Option<f64>); 8] {
    let messages = flow.messages.as_ref();
    [
        ("bytes", Some(flow.bytes as f64)),
        ("mean_mbit", Some(flow.mean_mbit)),
        ("plateau_mbit", flow.plateau_mbit),
        (TIME_TO_PLATEAU, flow.time_to_plateau_s),
        ("retransmitted_segments", Some(flow.retransmitted_segments as f64)),
        ("completion_s", flow.completion_s),
        ("message_median_ms", messages.map(|own| own.median_ms)),
        ("message_p95_ms", messages.map(|own| own.p95_ms)),
    ]
}

/// Changes of a count of stages, by the stages' names; only where one side has counted something.
fn counted(a: &[Stage], b: &[Stage], count: fn(&Stage) -> u64) -> Vec<Change> {
    let mut names: Vec<&String> = Vec::new();
    for stage in a.iter().chain(b) {
        if count(stage) > 0 && !names.contains(&&stage.name) {
            names.push(&stage.name);
        }
    }
    let of = |stages: &[Stage], name: &String| {
        stages.iter().find(|stage| stage.name == *name).map(|stage| count(stage) as f64)
    };
    names.into_iter().map(|name| Change::new(name, of(a, name), of(b, name))).collect()
}

/// The values of a TOML document by dotted key, as they would be written; entries of arrays of
/// tables are named by their `name`, or counted from 0.
///
/// # Errors
/// It is not TOML; the error says where.
pub fn flatten(toml: &str) -> Result<BTreeMap<String, String>, String> {
    let document: toml_edit::DocumentMut = toml.parse().map_err(|e| format!("{e}"))?;
    let mut flat = BTreeMap::new();
    flatten_table(document.as_table(), "", &mut flat);
    Ok(flat)
}

fn flatten_table(
    table: &dyn toml_edit::TableLike,
    prefix: &str,
    flat: &mut BTreeMap<String, String>,
) {
    for (key, item) in table.iter() {
        let key = format!("{prefix}{key}");

        // `[[flow]]` and `flow = [{ ... }]` flatten to the same keys.
        if let Some(tables) = item.as_array_of_tables() {
            for (number, table) in tables.iter().enumerate() {
                flatten_table(table, &format!("{key}.{}.", entry(table, number)), flat);
            }
        } else if let Some(array) = item.as_array().filter(|array| holds_tables(array)) {
            for (number, table) in array.iter().filter_map(|v| v.as_inline_table()).enumerate() {
                flatten_table(table, &format!("{key}.{}.", entry(table, number)), flat);
            }
        } else if let Some(table) = item.as_table_like() {
            flatten_table(table, &format!("{key}."), flat);
        } else if let Some(value) = item.as_value() {
            // Comments and spaces around a value are no difference.
            flat.insert(key, value.clone().decorated("", "").to_string());
        }
    }
}

fn holds_tables(array: &toml_edit::Array) -> bool {
    !array.is_empty() && array.iter().all(toml_edit::Value::is_inline_table)
}

fn entry(table: &dyn toml_edit::TableLike, number: usize) -> String {
    let name = table.get("name").and_then(|name| name.as_str());
    name.map_or_else(|| number.to_string(), str::to_string)
}
