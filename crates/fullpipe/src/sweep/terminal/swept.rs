//! Two sweeps compared, a line for each metric of a point.

use super::cells::name;
use crate::numbers::short;
use crate::report::terminal::grid::{Column, fitted, number, words, wrap};
use crate::report::terminal::names::Name;
use crate::report::terminal::{Style, compared};
use crate::sweep::compare::{Comparison, Pair, Shown};

/// Lines after which the JSON document is the place to look.
const MOST: usize = 30;

const COLUMNS: [Column; 7] = [
    words("variant and point"),
    words("what"),
    number("a", ""),
    number("b", ""),
    number("b - a", ""),
    number("effect", "sd"),
    words("shown"),
];

/// The comparison as text.
pub fn swept(comparison: &Comparison, style: Style) -> String {
    let shown = |what: Shown| comparison.pairs.iter().filter(|pair| pair.shown == what).count();
    let all = comparison.pairs.len();
    let head = format!(
        "{all} figures at points of both: {} higher in b, {} lower, {} equal, no difference shown {}, not known {}",
        shown(Shown::Higher),
        shown(Shown::Lower),
        shown(Shown::Equal),
        shown(Shown::Nothing),
        shown(Shown::Unknown)
    );

    // Settings that differ explain the figures, so they come first.
    let mut lines = compared::settings(&comparison.scenario, style);
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(wrap(&head, "", style.columns()));

    // The axes are named once, and their values stand in the rows.
    if let Some(pair) = comparison.pairs.first().filter(|pair| !pair.at.is_empty()) {
        let axes: Vec<&str> = pair.at.keys().map(String::as_str).collect();
        lines.extend(wrap(&format!("point: {}", axes.join(", ")), "  ", style.columns()));
    }
    lines.push(String::new());
    let rows: Vec<Vec<String>> = comparison.pairs.iter().take(MOST).map(row).collect();
    let names = comparison.pairs.iter().take(MOST).map(|pair| Name::new(&pair.variant, &pair.at));
    lines.extend(fitted(&COLUMNS, rows, &names.collect::<Vec<_>>(), style.columns()));
    if all > MOST {
        lines.push(format!("  {} more lines with --json", all - MOST));
    }

    // Points of one sweep alone follow the pairs.
    for alone in comparison.alone.iter().take(MOST) {
        lines.extend(wrap(&format!("only in {alone}"), "  ", style.columns()));
    }
    let note = "b - a: difference of the means with its 95 % confidence interval (Welch's t test); effect: that over the standard \
                deviation of a run (Cohen's d); not known: one run, or repetitions that are one run. Of many figures that are equal one in \
                twenty shows a difference by chance";
    lines.push(String::new());
    lines.extend(wrap(note, "  ", style.columns()));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A metric in few words, with its unit.
fn named(metric: &str) -> String {
    match metric {
        "fairness.jain_settled" => "Jain, settled".into(),
        "fairness.converged_s" => "converged s".into(),
        "fairness.rtt_exponent" => "RTT^-k".into(),
        _ => {
            let flow =
                metric.strip_prefix("flow.").and_then(|own| own.strip_suffix(".settled_mbit"));
            flow.map_or_else(|| metric.into(), |flow| format!("{flow} Mb/s"))
        }
    }
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
        named(&pair.metric),
        short(pair.a.mean),
        short(pair.b.mean),
        format!("{}{within}", short(pair.difference)),
        pair.effect.map_or_else(|| "–".into(), short),
        what.into(),
    ]
}
