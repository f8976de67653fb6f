//! Sums over all cases.

use super::Scored;
use super::wilson::interval;
use crate::causes::{self, CANNOT_TELL, HEALTHY, TOO_SHORT};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Confidence of verdicts that are sure.
const SURE: &str = "sure";

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Points; twins have parts of one.
    pub points: f64,
    /// Cases.
    pub of: usize,
    /// Least value of the 95 % interval (0 to 1).
    pub from: f64,
    /// Greatest value of the 95 % interval (0 to 1).
    pub to: f64,
}

impl Share {
    fn new(points: f64, of: usize) -> Share {
        let [from, to] = interval(points, of);
        Share { points, of, from, to }
    }

    /// The share itself (0 to 1); 0 of nothing.
    pub fn value(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.points / self.of as f64 }
    }
}

/// Row of one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Code of the cause.
    pub cause: String,
    /// Cases.
    pub of: usize,
    /// Points for the cause.
    pub right: f64,
    /// Points for the group.
    pub group: f64,
    /// First codes said instead, by how often.
    pub instead: Vec<(String, usize)>,
}

/// All sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Cases with the right cause.
    pub exact: Share,
    /// Cases with the right group.
    pub group: Share,
    /// Cases with a sure verdict, of all.
    pub sure: Share,
    /// Sure verdicts with the right cause, of all sure ones.
    pub sure_exact: Share,
    /// Sure verdicts with the right group, of all sure ones.
    pub sure_group: Share,
    /// Cases that a setting of a host cures: right causes.
    pub setting: Share,
    /// Healthy cases called broken, of all healthy ones.
    pub healthy_called_broken: Share,
    /// Right causes if each verdict were "none".
    pub with_none: Share,
    /// Verdicts that name no cause, of all.
    pub cannot_tell: Share,
    /// Cases that the engine did not run.
    pub not_run: usize,
    /// Rows by cause.
    pub rows: Vec<Row>,
    /// Confusion matrix: label, first code said, cases.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
}

/// Sums up.
pub fn summary(scored: &[Scored]) -> Summary {
    let run: Vec<&Scored> = scored.iter().filter(|own| own.not_run.is_none()).collect();
    let is_sure = |own: &Scored| own.confidence.as_deref() == Some(SURE);
    let exact = |own: &Scored| own.points;
    let by_group = |own: &Scored| own.group_points;
    let first_is = |own: &Scored, code: &str| f64::from(u8::from(first(own) == code));
    Summary {
        exact: share(&run, |_| true, exact),
        group: share(&run, |_| true, by_group),
        sure: share(&run, |_| true, |own| f64::from(u8::from(is_sure(own)))),
        sure_exact: share(&run, is_sure, exact),
        sure_group: share(&run, is_sure, by_group),
        setting: share(&run, |own| own.setting, exact),
        healthy_called_broken: share(
            &run,
            |own| own.cause == HEALTHY,
            |own| {
                1.0 - first_is(own, HEALTHY)
                    .max(first_is(own, TOO_SHORT))
                    .max(first_is(own, CANNOT_TELL))
            },
        ),
        with_none: share(&run, |_| true, |own| f64::from(u8::from(own.cause == HEALTHY))),
        cannot_tell: share(&run, |_| true, |own| first_is(own, CANNOT_TELL)),
        not_run: scored.len() - run.len(),
        rows: rows(&run),
        confusion: confusion(&run),
    }
}

fn share(
    run: &[&Scored],
    counts: impl Fn(&Scored) -> bool,
    points: impl Fn(&Scored) -> f64,
) -> Share {
    let counted: Vec<&&Scored> = run.iter().filter(|own| counts(own)).collect();
    Share::new(counted.iter().map(|own| points(own)).sum(), counted.len())
}

/// First code of a verdict.
fn first(own: &Scored) -> &str {
    own.says.first().map_or(CANNOT_TELL, String::as_str)
}

fn rows(run: &[&Scored]) -> Vec<Row> {
    let mut causes: Vec<&str> = causes::all().collect();
    causes.sort_unstable();
    let row = |cause: &str| {
        let own: Vec<&&Scored> = run.iter().filter(|own| own.cause == cause).collect();

        // Wrong verdicts, the most frequent first.
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        own.iter().filter(|own| own.points == 0.0).for_each(|own| {
            *counts.entry(first(own)).or_default() += 1;
        });
        let mut instead: Vec<(String, usize)> =
            counts.into_iter().map(|(code, count)| (code.to_string(), count)).collect();
        instead.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Row {
            cause: cause.into(),
            of: own.len(),
            right: own.iter().map(|own| own.points).sum(),
            group: own.iter().map(|own| own.group_points).sum(),
            instead,
        }
    };
    causes.into_iter().map(row).filter(|row| row.of > 0).collect()
}

fn confusion(run: &[&Scored]) -> BTreeMap<String, BTreeMap<String, usize>> {
    let mut table: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for own in run {
        let row = table.entry(own.cause.clone()).or_default();
        *row.entry(first(own).to_string()).or_default() += 1;
    }
    table
}
