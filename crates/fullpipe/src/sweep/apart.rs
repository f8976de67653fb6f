//! Differences between two sweeps in their scenarios and engines.

use super::manifest::Manifest;
use crate::analysis::compare::{Setting, flatten, settings};
use crate::scenario::{Point, unquoted};
use std::collections::BTreeMap;

/// Differences between two sweeps: in how they were made, and in their scenarios. The scenarios are compared in the
/// first variant that both have.
pub fn apart(a: &Manifest, b: &Manifest) -> Vec<Setting> {
    let mut found = settings(&made(a), &made(b));

    // Variants may differ: a common one shows how the scenarios do.
    let common = a.variants.iter().find(|name| b.variants.contains(name));
    let of = |own: &Manifest| common.and_then(|name| scenario(own, name));
    let differ = match (of(a), of(b)) {
        (Some(one), Some(other)) => settings(&one, &other),
        _ => Vec::new(),
    };

    // Texts that differ in no setting differ in comments, or in other variants.
    let is_explained = !differ.is_empty() || a.scenario == b.scenario;
    found.extend(differ);
    if !is_explained {
        let text = |what: &str| Some(what.to_string());
        found.push(Setting { key: "scenario".into(), a: text("a text"), b: text("another text") });
    }
    found
}

/// Facts on how a sweep was made.
fn made(manifest: &Manifest) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([
        ("version".to_string(), manifest.fullpipe.clone()),
        ("engine".into(), manifest.engine.clone()),
        ("variants".into(), manifest.variants.join(", ")),
        ("seeds".into(), manifest.seeds.to_string()),
    ]);
    all.extend(manifest.axes.iter().map(|axis| {
        let points: Vec<String> = axis.points.iter().map(|p| values(p)).collect();
        (format!("axis {}", axis.name), points.join(" | "))
    }));
    if !manifest.set.is_empty() {
        all.insert("--set".into(), manifest.set.join(" "));
    }
    all
}

fn values(point: &[serde_json::Value]) -> String {
    point.iter().map(unquoted).collect::<Vec<_>>().join(" ")
}

/// The complete scenario of a variant at the first point, by dotted key; none where it cannot be read here.
fn scenario(manifest: &Manifest, variant: &str) -> Option<BTreeMap<String, String>> {
    let space = manifest.space(&[])?;
    let index = space.variants().position(|name| name == variant)?;
    let at = vec![0; manifest.axes.len()];
    let plan = space.plan(&Point { variant: index, at, repetition: 0 }).ok()?;
    flatten(&plan.resolved.to_toml()).ok()
}
