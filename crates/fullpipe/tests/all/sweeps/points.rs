//! The tables of docs/sweeps.md: points on both engines, from the records that are kept (`UPDATE_EXPECT=1` rewrites them).

use super::kept::records;
use crate::marked;
use fullpipe::numbers::share;
use fullpipe::sweep::cells::cells;
use fullpipe::sweep::compare::{Comparison, Pair, Shown};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The median difference between the engines, of each congestion control.
const MEDIAN: f64 = 0.05;

/// Writes the table that compares a sweep with its sweep on real Linux: how far means are apart, by congestion control.
fn table(name: &str) {
    let [simulated, real] = [name.to_string(), format!("{name}-linux")].map(|name| records(&name));
    let [a, b] = [&simulated, &real].map(|merged| cells(merged).expect("cells"));
    let compared = Comparison::new(&a, &b);
    assert!(compared.alone.is_empty(), "{:?}", compared.alone);
    let mut controls = BTreeMap::<&str, Vec<&Pair>>::new();
    for pair in &compared.pairs {
        let control = pair.variant.split(',').next().unwrap_or_default();
        controls.entry(control).or_default().push(pair);
    }
    let mut text = String::from(
        "| | points | median difference of means | largest | shown |\n|---|--:|--:|--:|--:|\n",
    );
    for (control, pairs) in controls {
        let apart = |pair: &&Pair| pair.difference.abs() / pair.b.mean;
        let mut apart: Vec<f64> = pairs.iter().map(apart).collect();
        apart.sort_by(f64::total_cmp);
        let middle = apart.len() / 2;
        let median = (apart[middle] + apart[(apart.len() - 1) / 2]) / 2.0;
        assert!(median < MEDIAN, "{name}, {control}: {median}");
        let shown = pairs.iter().filter(|pair| matches!(pair.shown, Shown::Higher | Shown::Lower));
        let (points, largest) = (apart.len(), apart[apart.len() - 1]);
        let (median, largest, shown) = (share(median), share(largest), shown.count());
        writeln!(text, "| {control} | {points} | {median} | {largest} | {shown} |").expect("text");
    }
    let repetitions = simulated.manifest.seeds;
    writeln!(text, "\nMeans of {repetitions} repetitions on each engine.").expect("text");
    marked::committed("docs/sweeps.md", name, &text);
}

#[test]
fn controls_on_both_engines() {
    table("controls");
}

#[test]
fn points_of_the_surface_on_both_engines() {
    table("loss-delay");
}
