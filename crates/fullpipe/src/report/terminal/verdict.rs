//! One verdict per flow of each variant: how fast it came to its plateau, its mean rate, and what held
//! it back.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::analysis::document::{Document, Flow, Published, Run};
use crate::report::{happened, limits, numbers};

const COLUMNS: [Column; 4] =
    [words("variant"), number("to 90 %", "s"), number("plateau", "Mb/s"), number("mean", "Mb/s")];

/// Room for a variant's name beside the numbers.
const NAME: usize = 44;

/// The verdicts, in the document's order.
pub fn lines(document: &Document, style: Style) -> Vec<String> {
    let flows: Vec<(&Run, &Flow)> =
        document.runs.iter().flat_map(|run| run.flows.iter().map(move |f| (run, f))).collect();
    let rows: Vec<Vec<String>> = flows.iter().map(|(run, flow)| row(run, flow)).collect();
    let mut table = lay_out(&COLUMNS, &rows, style.columns()).into_iter();
    let mut lines = vec![String::new(), style.bold("Verdict")];
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));
    for ((run, flow), line) in flows.iter().zip(table) {
        let name = name(run, flow);
        if !fits(&name) {
            lines.extend(wrap(&name, "", style.columns()).iter().map(|line| style.bold(line)));
        }
        lines.push(style.bold(&line));
        if let Some(aborted) = &flow.aborted {
            let text = happened::aborted(aborted);
            lines.extend(wrap(&text, "      ", style.columns()).iter().map(|l| style.bad(l)));
        }
        if !run.substituted.is_empty() {
            lines.extend(wrap(&substituted(run), "      ", style.columns()));
        }
        lines.extend(wrap(&held_back(flow), "      ", style.columns()));
        for more in limits::cuts(run, flow).into_iter().chain(limits::dropped_acks(flow)) {
            lines.extend(wrap(&more, "      ", style.columns()));
        }
        if let Some(published) = &run.published {
            lines.extend(wrap(&beside(published), "      ", style.columns()));
        }
    }
    lines
}

fn row(run: &Run, flow: &Flow) -> Vec<String> {
    let optional = |value: Option<f64>| {
        value.map_or(numbers::ABSENT.to_string(), |value| numbers::fixed(value, 1))
    };
    vec![
        Some(name(run, flow)).filter(|name| fits(name)).unwrap_or_default(),
        optional(flow.time_to_plateau_s),
        optional(flow.plateau_mbit),
        numbers::fixed(flow.mean_mbit, 1),
    ]
}

/// Whether a name has room beside the numbers; a longer one has lines of its own.
fn fits(name: &str) -> bool {
    name.chars().count() <= NAME
}

/// The variant, with the flow's name where the run has several.
fn name(run: &Run, flow: &Flow) -> String {
    let mut name = match run.flows.len() {
        1 => run.variant.clone(),
        _ => format!("{} / {}", run.variant, flow.name),
    };
    if run.partial {
        name += " (partial)";
    }
    name
}

/// What was not as the scenario says.
fn substituted(run: &Run) -> String {
    format!(
        "engine {} instead of what the scenario says: {}",
        run.engine,
        run.substituted.join("; ")
    )
}

/// All limits with their shares, which add up to 100 % as they are printed.
fn held_back(flow: &Flow) -> String {
    let ranked = limits::ranked(&flow.limits);
    if ranked.is_empty() {
        return "nothing was sent".to_string();
    }
    let tenths = tenths_of_percent(&ranked.iter().map(|(_, share)| *share).collect::<Vec<_>>());
    let parts: Vec<String> = ranked
        .iter()
        .zip(tenths)
        .filter(|(_, tenths)| *tenths > 0)
        .map(|((name, _), n)| format!("{} {}.{} %", limits::label(name), n / 10, n % 10))
        .collect();
    format!("held back by {}", parts.join("; "))
}

/// Shares in tenths of a percent that add up to 1000, by the largest remainders.
fn tenths_of_percent(shares: &[f64]) -> Vec<u32> {
    let total: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| share / total * 1000.0).collect();
    let mut tenths: Vec<u32> = exact.iter().map(|e| e.floor() as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    let missing = 1000_u32.saturating_sub(tenths.iter().sum());
    for n in order.into_iter().take(missing as usize) {
        tenths[n] += 1;
    }
    tenths
}

/// The published run: its time, its mean with ours over the same rows, and how far the rows of its
/// ramp are off.
fn beside(published: &Published) -> String {
    let mut parts = Vec::new();
    if let Some(time) = published.time_to_plateau_s {
        parts.push(format!("to 90 % {} s", numbers::fixed(time, 1)));
    }
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);
    if theirs > 0.0 {
        parts.push(format!(
            "mean {} Mb/s, simulated over the same rows {} ({})",
            numbers::fixed(theirs, 1),
            numbers::fixed(ours, 1),
            numbers::difference(ours / theirs - 1.0)
        ));
    }
    if let Some(median) = published.median_error_before_plateau {
        parts.push(format!("ramp's median error {}", percent(median)));
    }
    if let Some(worst) = published.worst_error_before_plateau {
        parts.push(format!("worst {}", percent(worst)));
    }
    let inside = published.rows.iter().filter(|row| row.in_band).count();
    let cut = if published.band_whole { "" } else { ", which is not whole: interrupted" };
    parts.push(format!("{inside} of {} rows in the band{cut}", published.rows.len()));
    format!("published: {}", parts.join(", "))
}

fn percent(share: f64) -> String {
    format!("{} %", numbers::fixed(share * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_shares_add_up_to_one_hundred_percent() {
        let cases: [&[f64]; 5] =
            [&[1.0], &[0.5, 0.5], &[1.0 / 3.0; 3], &[0.9996, 0.0004], &[0.1234; 7]];
        for shares in cases {
            let tenths = tenths_of_percent(shares);
            assert_eq!(tenths.iter().sum::<u32>(), 1000, "{shares:?}");
        }
        assert_eq!(tenths_of_percent(&[1.0 / 3.0; 3]), [334, 333, 333]);
    }
}
