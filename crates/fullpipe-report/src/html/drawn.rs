//! Which runs a page shows at first, and the findings of its figures for the runs that it shows.

use crate::aggregate::{Shown, shown};
use crate::figures::{self, Figure};
use crate::overview;
use crate::page::escape::joined;
use fullpipe_analysis::document::{Document, Run};
use serde_json::{Map, Value};

/// Number of runs up to which a page shows all of them at first. With more runs it shows those that its first sentence
/// is about.
pub(super) const MOST: usize = 6;

/// Number of alike flows up to which all are drawn at first.
const EACH: usize = 2;

/// Whether the page has a matrix of runs, from which the reader chooses.
pub(super) fn are_many(document: &Document) -> bool {
    document.runs.len() > MOST
}

/// Runs that are shown at first: all where there are few, else the worst and the best one, or the first.
pub(super) fn at_first(document: &Document) -> Vec<usize> {
    if !are_many(document) {
        return (0..document.runs.len()).collect();
    }
    let known = document.runs.iter().enumerate().filter_map(|(n, run)| Some((n, value(run)?)));
    let known: Vec<(usize, f64)> = known.filter(|(_, value)| value.is_finite()).collect();
    let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    // The first of equals, both ways, as in the headline.
    let ends = [known.iter().min_by(by_value), known.iter().rev().max_by(by_value)];
    let mut runs: Vec<usize> = ends.into_iter().flatten().map(|(run, _)| *run).collect();
    runs.sort_unstable();
    runs.dedup();
    if runs.is_empty() { vec![0] } else { runs }
}

/// Value by which runs are sorted: the share of what the path allows, or the rate where there is no headline. Failures
/// are last.
fn value(run: &Run) -> Option<f64> {
    match &run.headline {
        Some(headline) if headline.grade.is_failure() => Some(-1.0),
        Some(headline) => Some(headline.share.unwrap_or(0.0)),
        None => overview::rate_mbit(run),
    }
}

/// Names of flows that are not drawn at first: of many alike ones all but the first.
pub(super) fn folded_flows(document: &Document) -> Vec<&str> {
    let (mut folded, mut drawn): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for flows in document.runs.iter().flat_map(|run| shown(run, EACH)) {
        match flows {
            Shown::Each(flow) => drawn.push(&flow.name),
            // The first of a crowd is drawn as its example.
            Shown::Crowd(flows) => {
                drawn.extend(flows.first().map(|flow| &flow.name[..]));
                folded.extend(flows.iter().skip(1).map(|flow| &flow.name[..]));
            }
        }
    }

    // A name may be alone in one run and in a crowd of another: then it is drawn.
    folded.retain(|name| !drawn.contains(name));
    folded.sort_unstable();
    folded.dedup();
    folded
}

/// Attribute of an element about a run: the page's scripts show it when the reader chooses the run.
pub(super) fn hidden(is_shown: bool) -> &'static str {
    if is_shown { "" } else { " hidden" }
}

/// Title of each figure for the runs that are shown: for all of them, for those shown at first, and for each one alone. Names
/// of figures to lists of runs ("0,3") to titles.
pub(super) fn titles(document: &Document, figures: &[Figure]) -> Map<String, Value> {
    let all: Vec<usize> = (0..document.runs.len()).collect();
    let alone = all.iter().map(|run| vec![*run]);

    // The page picks a title by the runs that are switched on.
    let sets: Vec<Vec<usize>> = std::iter::once(at_first(document)).chain(alone).collect();
    let mut titles: Map<String, Value> = Map::new();
    let mut add = |runs: &[usize], figures: &[Figure]| {
        let key: Vec<String> = runs.iter().map(usize::to_string).collect();
        for figure in figures {
            let own = titles.entry(figure.name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(own) = own {
                own.insert(key.join(","), joined(&figure.title).into());
            }
        }
    };
    add(&all, figures);

    // The set of all runs has its titles already.
    for runs in sets.iter().filter(|runs| **runs != all) {
        add(runs, &figures::all(&only(document, runs)));
    }
    titles
}

/// The document with some of its runs.
fn only(document: &Document, runs: &[usize]) -> Document {
    let names: Vec<&str> = runs.iter().map(|run| &document.runs[*run].variant[..]).collect();
    let is_there = |name: &str| names.contains(&name);
    let pairs = document.comparisons.iter().filter(|pair| is_there(&pair.a) && is_there(&pair.b));
    Document {
        scenario: document.scenario.clone(),
        headline: None,
        missing: Vec::new(),
        runs: runs.iter().map(|run| document.runs[*run].clone()).collect(),
        comparisons: pairs.cloned().collect(),
        ..*document
    }
}
