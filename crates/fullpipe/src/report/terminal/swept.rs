//! Two sweeps beside each other, a line for each flow of a point.

use super::cells::name;
use super::grid::{Column, fitted, number, words, wrap};
use super::names::Name;
use super::{Style, compared};
use crate::report::numbers::short;
use crate::sweep::compare::{Comparison, Pair, Shown};

/// Lines after which the JSON document is the place to look.
const MOST: usize = 60;

const COLUMNS: [Column; 7] = [
    words("variant and point"),
    words("flow"),
    number("a", "Mb/s"),
    number("b", "Mb/s"),
    number("b - a", "Mb/s"),
    number("effect", "sd"),
    words("shown"),
];

/// The comparison as text.
pub fn swept(comparison: &Comparison, style: Style) -> String {
    let shown = |what: Shown| comparison.flows.iter().filter(|pair| pair.shown == what).count();
    let all = comparison.flows.len();
    let head = format!(
        "{all} rates at points of both: {} higher in b, {} lower, {} equal, no difference shown {}, not known {}",
        shown(Shown::Higher),
        shown(Shown::Lower),
        shown(Shown::Equal),
        shown(Shown::Nothing),
        shown(Shown::Unknown)
    );
    let mut lines = compared::settings(&comparison.scenario, style);
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(wrap(&head, "", style.columns()));
    lines.push(String::new());
    let rows: Vec<Vec<String>> = comparison.flows.iter().take(MOST).map(row).collect();
    let names = comparison.flows.iter().take(MOST).map(|pair| Name::new(&pair.variant, &pair.at));
    lines.extend(fitted(&COLUMNS, rows, &names.collect::<Vec<_>>(), style.columns()));
    if all > MOST {
        lines.push(format!("  {} more lines with --json", all - MOST));
    }
    for alone in comparison.alone.iter().take(MOST) {
        lines.extend(wrap(&format!("only in {alone}"), "  ", style.columns()));
    }
    let note = "b - a: difference of the means with its 95 % confidence interval (Welch's t test); effect: that over the standard \
                deviation of a run (Cohen's d); not known: one run, or repetitions that are one run. Of many rates that are equal one in \
                twenty shows a difference by chance";
    lines.push(String::new());
    lines.extend(wrap(note, "  ", style.columns()));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn row(pair: &Pair) -> Vec<String> {
    let within = pair.within.map_or_else(String::new, |within| format!(" ± {}", short(within)));
    let what = match pair.shown {
        Shown::Higher => "higher",
        Shown::Lower => "lower",
        Shown::Nothing => "no difference",
        Shown::Equal => "equal",
        Shown::Unknown => "not known",
    };
    vec![
        name(&pair.variant, &pair.at),
        pair.flow.clone(),
        short(pair.a.mean),
        short(pair.b.mean),
        format!("{}{within}", short(pair.difference)),
        pair.effect.map_or_else(|| "–".into(), short),
        what.into(),
    ]
}
