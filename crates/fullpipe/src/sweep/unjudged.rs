//! Expectations that nothing was said of: their variant was left out, their points have no runs, or their runs failed.

use super::cells::Cell;
use super::competition::point;
use super::manifest::Manifest;
use crate::scenario::Asked;
use std::collections::BTreeMap;

/// Presence of a variant at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum There {
    /// No run.
    #[default]
    Nothing,
    /// Runs that all failed.
    Failed,
    /// Something to be judged.
    Facts,
}

/// Counts where expectations are judged, cell by cell. An expectation counts once for each variant and point that it is about.
#[derive(Debug, Default)]
pub struct Judging {
    asked: Vec<Asked>,
    variants: Vec<String>,
    /// Counts for each expectation: judged, failed.
    counts: Vec<[u64; 2]>,
    /// Presence of both variants at a point, for each expectation of two variants.
    pairs: BTreeMap<(usize, String), [There; 2]>,
}

/// Number of expectations that are not judged, and the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unjudged {
    /// All expectations.
    pub all: u64,
    /// Expectations of variants that were left out.
    pub left_out: u64,
    /// About no point of the sweep, as options have changed its axes.
    pub nowhere: u64,
    /// At points without runs.
    pub absent: u64,
    /// At points at which all runs failed.
    pub failed: u64,
}

impl Judging {
    /// Of a sweep, before any of its cells was seen.
    pub fn new(manifest: &Manifest) -> Judging {
        let asked = manifest.space(&[]).map_or(Vec::new(), |space| space.asked());
        let counts = vec![[0, 0]; asked.len()];
        Judging { asked, variants: manifest.variants.clone(), counts, pairs: BTreeMap::new() }
    }

    /// Takes a cell.
    pub fn add(&mut self, cell: &Cell) {
        let there = if cell.runs > 0 { There::Facts } else { There::Failed };
        for (n, asked) in self.asked.iter().enumerate().filter(|(_, own)| own.is_at(&cell.at)) {
            let own = asked.variants.contains(&cell.variant);

            // An expectation of one variant is judged where that variant has a result.
            match &asked.other {
                None if own => self.counts[n][usize::from(there == There::Failed)] += 1,
                None => {}
                Some(other) => {
                    let key = || (n, point(&cell.at));

                    // One of two variants needs a result of both, which may come in any order.
                    if own {
                        self.pairs.entry(key()).or_default()[0] = there;
                    }
                    if *other == cell.variant {
                        self.pairs.entry(key()).or_default()[1] = there;
                    }
                }
            }
        }
    }

    /// The unjudged expectations.
    pub fn unjudged(mut self) -> Unjudged {
        // A pair with one side still missing counts as absent below.
        for ((n, _), both) in std::mem::take(&mut self.pairs) {
            if !both.contains(&There::Nothing) {
                self.counts[n][usize::from(both.contains(&There::Failed))] += 1;
            }
        }
        let mut found = Unjudged::default();
        for (asked, [judged, failed]) in self.asked.iter().zip(&self.counts) {
            // `--variant` may have left out either side.
            let chosen = |name: &String| self.variants.contains(name);
            let both = asked.other.as_ref().is_none_or(chosen);
            let own = asked.variants.iter().filter(|name| both && chosen(name)).count() as u64;
            let each = asked.points.max(1);
            found.all += each * asked.variants.len() as u64;
            found.left_out += each * (asked.variants.len() as u64 - own);

            // No point of the sweep has the expectation's values.
            match asked.points {
                0 => found.nowhere += own,
                points => found.absent += (points * own).saturating_sub(judged + failed),
            }
            found.failed += failed;
        }
        found
    }
}

impl Unjudged {
    /// Unjudged expectations of complete cells.
    pub fn of(manifest: &Manifest, cells: &[Cell]) -> Unjudged {
        let mut judging = Judging::new(manifest);
        cells.iter().for_each(|cell| judging.add(cell));
        judging.unjudged()
    }

    /// Number of all of them.
    pub fn count(&self) -> u64 {
        self.left_out + self.nowhere + self.absent + self.failed
    }

    /// Sentence on them; none where all are judged.
    pub fn describe(&self) -> Option<String> {
        let reasons = [
            (self.left_out, "of variants that were left out (--variant)"),
            (self.absent, "at points without runs (--points, --shard)"),
            (self.failed, "at points whose runs failed"),
            (self.nowhere, "about no point of this sweep (--set)"),
        ];
        let why = reasons.iter().filter(|(some, _)| *some > 0);
        let why: Vec<String> = why.map(|(some, what)| format!("{some} {what}")).collect();
        let (some, all) = (self.count(), self.all);
        (some > 0).then(|| format!("{some} of {all} expectations not judged: {}", why.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{SetOption, Source, Space};
    use serde_json::{Value, json};

    const SCENARIO: &str = r#"
        duration = "1s"
        path = { rate = "10Mbit", delay = { forward = "1ms", back = "1ms" } }
        flow = [{ name = "bulk", congestion = "reno" }]
        variant = [{ name = "a" }, { name = "b" }, { name = "c" }]
        sweep = { "path.loss" = [1e-4, 1e-3, 1e-2], "path.mtu" = [1500, 9000] }
        [[expect]]
        at = { "path.loss" = 0.001 }
        metric = "flow.bulk.bytes"
        of = 1
        within = "1 %"
        [[expect]]
        variant = "a"
        at = { "path.loss" = 0.001, "path.mtu" = 1500 }
        metric = "flow.bulk.bytes"
        above = "b"
    "#;

    fn manifest(sets: &[&str], variants: &[&str]) -> Manifest {
        let source = Source::text("some", SCENARIO);
        let sets: Vec<SetOption> = sets.iter().map(|set| SetOption((*set).into())).collect();
        let variants: Vec<String> = variants.iter().map(|name| (*name).into()).collect();
        let space = Space::parse(&source, &sets, &variants).unwrap_or_else(|e| panic!("{e}"));
        Manifest::new(&space, &source, "some", &sets, "sim", &[])
    }

    fn cell(variant: &str, loss: f64, mtu: u64, runs: u32) -> Cell {
        let at = json!({ "path.loss": loss, "path.mtu": mtu });
        let Value::Object(at) = at else { panic!("an object") };
        Cell { variant: variant.into(), at, runs, failed: 1 - runs, ..Cell::default() }
    }

    #[test]
    fn each_reason_is_counted() {
        // Two points for each of three variants, and one for two variants.
        let nothing = Unjudged::of(&manifest(&[], &[]), &[]);
        assert_eq!(nothing, Unjudged { all: 7, absent: 7, ..Unjudged::default() });
        let cells = [
            cell("a", 1e-3, 1500, 1),
            cell("a", 1e-3, 9000, 1),
            cell("b", 1e-3, 1500, 0),
            cell("b", 1e-2, 1500, 1),
        ];
        let some = Unjudged::of(&manifest(&[], &["a", "b"]), &cells);
        // Of c both; b at 9000 is not there; b at 1500 failed, so it cannot be compared with a either.
        let expected = Unjudged { all: 7, left_out: 2, nowhere: 0, absent: 1, failed: 2 };
        assert_eq!(some, expected);
        let sentence = some.describe().expect("some are not judged");
        assert!(
            sentence.starts_with("5 of 7 expectations not judged: 2 of variants"),
            "{sentence}"
        );
        let gone = Unjudged::of(&manifest(&["path.loss=0.5"], &["a"]), &[]);
        assert_eq!(gone, Unjudged { all: 4, left_out: 3, nowhere: 1, ..Unjudged::default() });
    }

    #[test]
    fn nothing_is_said_where_all_are_judged() {
        let cells: Vec<Cell> = ["a", "b", "c"]
            .iter()
            .flat_map(|name| [1500, 9000].map(|mtu| cell(name, 1e-3, mtu, 1)))
            .collect();
        assert_eq!(Unjudged::of(&manifest(&[], &[]), &cells).describe(), None);
    }
}
