//! Sentence and table on the gain of each relief.

use super::document::{Relieved, Run, Tried};
use super::{ALONE, GAIN};
use crate::analysis::words::{lower, ms, percent};
use crate::numbers;
use std::fmt::Write;

/// Cells of the longest bar.
const BAR: usize = 30;
/// Row of the run as it is.
const AS_IT_IS: &str = "none, as it is";
/// Columns of a row, and the fewest characters of its bar.
const COLUMNS: usize = 80;
const SHORT_BAR: usize = 10;
/// Columns of the rate and the gain, with the spaces around them, and of the message.
const NUMBERS: usize = 25;
const MESSAGE: usize = 11;
/// Number of reliefs in the answer in addition to the best one.
const OTHERS: usize = 2;

/// Loss of datagrams from which on it is worth a sentence.
const LOSES: f64 = 0.01;

/// Answer of a run; `refused`: why the run as it is could not be made.
///
/// One sentence is about the judged flows. A second one is about datagrams, where a hundredth or more is lost.
pub fn answer(run: &Run, refused: Option<&str>) -> String {
    let flows = of_flows(run, refused);
    match of_datagrams(run) {
        Some(datagrams) => format!("{flows} {datagrams}"),
        None => flows,
    }
}

/// Sentence on the datagrams that do not arrive, and on the relief that brings most of them.
fn of_datagrams(run: &Run) -> Option<String> {
    let now = run.arrived.filter(|now| 1.0 - now >= LOSES)?;

    // The relief without competitors has next to no datagrams.
    let known = run.reliefs.iter().filter(|own| own.arrived.is_some() && own.name != ALONE);
    let best = known.max_by(|a, b| a.arrived.unwrap_or(0.0).total_cmp(&b.arrived.unwrap_or(0.0)));
    let better = best.filter(|own| own.arrived.is_some_and(|then| then - now >= LOSES));
    Some(match better {
        Some(own) => format!(
            "Of the datagrams {} arrive; {} alone brings {}.",
            percent(now),
            lower(&own.label),
            percent(own.arrived.unwrap_or(now))
        ),
        None => format!("Of the datagrams {} arrive, and no relief brings more.", percent(now)),
    })
}

/// Sentence on the judged flows.
fn of_flows(run: &Run, refused: Option<&str>) -> String {
    let Some(mbit) = run.mbit else {
        let stopped = "Nothing is known: the run as it is was stopped before its end.";
        return refused.map_or(stopped.into(), |why| format!("Nothing is known: {why}"));
    };
    let now = numbers::rate(mbit);

    // Reliefs are sorted, so the first one gains most.
    let mut gains = run.reliefs.iter().filter(|own| own.gain.is_some_and(|gain| gain >= GAIN));
    let left = run.reliefs.iter().filter(|own| is_left(own)).count();
    let so_far = match left {
        0 => String::new(),
        _ => format!("So far ({} of {} tried): ", run.reliefs.len() - left, run.reliefs.len()),
    };

    // A rate of nothing has no gain as a factor.
    if mbit == 0.0 {
        return format!("{so_far}{}", of_nothing(run));
    }
    let Some(best) = gains.next() else {
        if left > 0 {
            return format!(
                "{so_far}no relief is known yet that gives more than 2 % beyond {now}."
            );
        }
        return format!("{so_far}Nothing alone gives more than 2 % beyond {now}.");
    };
    let others: Vec<&Tried> = gains.collect();
    let (label, gain) = (&best.label, times(best.gain.unwrap_or(1.0)));
    let then = numbers::rate(best.mbit.unwrap_or(mbit));

    // Other reliefs are named, so that the best one is not taken for the only one.
    let rest = match others.as_slice() {
        [] => "nothing else gives more than 2 %".to_string(),
        others => named(others),
    };

    // A full path has no fault to relieve.
    let alone = match (is_full(run), others.is_empty()) {
        (true, true) => {
            format!("The path is full, and only more path gives more: {} gives", lower(label))
        }
        (true, false) => {
            format!("The path is full, and more path gives most: {} gives", lower(label))
        }
        (false, _) => format!("{label} alone gives"),
    };

    // Messages may come sooner at the same rate.
    if let Some([before, after]) = sooner(run, best) {
        let at = if then == now { then } else { format!("{then} instead of {now}") };
        return format!(
            "{so_far}{label} alone brings messages sooner: half of them within {after} instead of {before}, at {at}; {rest}."
        );
    }
    format!("{so_far}{alone} {gain} as much: {now} -> {then}; {rest}.")
}

/// Median times of messages as it is and with a relief, where its gain is theirs.
fn sooner(run: &Run, own: &Tried) -> Option<[String; 2]> {
    // A gain that is not the quotient of the rates is that of the times.
    let is_of_rates = (own.gain? - own.mbit? / run.mbit?).abs() < 1e-9;
    (!is_of_rates).then_some([ms(run.message_ms?), ms(own.message_ms?)])
}

/// Gain of a path twice as fast from which on the path was the limit.
const OF_PATH: f64 = 1.5;
/// Gain of any other relief from which on the path was not the only one.
const OF_OTHERS: f64 = 1.1;

/// Whether a faster path alone gives much more.
fn is_full(run: &Run) -> bool {
    let others = run.reliefs.iter().filter(|own| own.name != "path");
    let most = others.filter_map(|own| own.gain).fold(1.0, f64::max);
    run.gain("path").is_some_and(|gain| gain >= OF_PATH) && most < OF_OTHERS
}

/// Whether a relief was neither tried nor refused.
fn is_left(own: &Tried) -> bool {
    own.mbit.is_none() && own.refused.is_none()
}

/// Answer where the run as it is acknowledges nothing, so that no gain is a quotient.
fn of_nothing(run: &Run) -> String {
    let rate = |own: &Tried| own.mbit.unwrap_or(0.0);
    let best = run.reliefs.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    match best.filter(|own| rate(own) > 0.0) {
        Some(own) => {
            format!("{} alone gives {} instead of nothing.", own.label, numbers::rate(rate(own)))
        }
        None => "Nothing is acknowledged, as it is and with each relief.".into(),
    }
}

/// "the next are a larger queue (1.4 times) and SACK (1.1 times)".
fn named(others: &[&Tried]) -> String {
    let shown = others
        .iter()
        .take(OTHERS)
        .map(|own| format!("{} ({})", lower(&own.label), times(own.gain.unwrap_or(1.0))));
    let shown: Vec<String> = shown.collect();
    let next = if shown.len() == 1 { "the next is" } else { "the next are" };
    format!("{next} {}", shown.join(" and "))
}

/// "2.1 times".
fn times(gain: f64) -> String {
    let decimals = if gain < 1.1 { 2 } else { usize::from(gain < 20.0) };
    format!("{} times", numbers::fixed(gain, decimals))
}

/// Answers and tables of all runs. The first line is the first answer.
pub fn render(document: &Relieved) -> String {
    let mut out = String::new();
    for (index, run) in document.runs.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let name = if document.runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
        let _ = writeln!(out, "{name}{}", run.answer);
        if run.mbit.is_some() {
            table(&mut out, run);
        }
    }
    out
}

/// Length of the bar of a relief, or of the run as it is: the gain; the rate where nothing is acknowledged as it is.
pub(super) fn length(run: &Run, own: Option<&Tried>) -> f64 {
    let has_rate = run.mbit.is_some_and(|mbit| mbit > 0.0);
    match own {
        None => f64::from(u8::from(has_rate)),
        Some(own) if has_rate => own.gain.unwrap_or(0.0),
        Some(own) => own.mbit.unwrap_or(0.0),
    }
}

/// Length of the longest bar.
pub(super) fn longest(run: &Run) -> f64 {
    let all = run.reliefs.iter().map(|own| length(run, Some(own)));
    all.fold(length(run, None), f64::max)
}

/// Reliefs with their bars. Reliefs without a gain share one line.
fn table(out: &mut String, run: &Run) {
    let most = longest(run);
    let reliefs = || run.reliefs.iter().filter(|own| own.gains());
    let width = reliefs().map(|own| own.label.chars().count()).max().unwrap_or(0);
    let width = width.max(AS_IT_IS.len());

    // Bars take what the other columns leave.
    let has_times = run.message_ms.is_some() || reliefs().any(|own| own.message_ms.is_some());
    let times = if has_times { MESSAGE } else { 0 };
    let bar = COLUMNS.saturating_sub(width + NUMBERS + times).clamp(SHORT_BAR, BAR);

    // The longest bar is that of the largest gain, or of the largest rate where there is no gain as a factor.
    let row = |out: &mut String, label: &str, own: Option<&Tried>| {
        let cells = ((length(run, own) / most.max(1e-9) * bar as f64).round() as usize).min(bar);
        let gain = match own {
            Some(own) => own.gain,
            None => run.mbit.filter(|mbit| *mbit > 0.0).map(|_| 1.0),
        };
        let gain = gain.map_or_else(|| numbers::ABSENT.into(), |gain| numbers::fixed(gain, 2));
        let (mbit, message) =
            own.map_or((run.mbit, run.message_ms), |own| (own.mbit, own.message_ms));
        let mbit = numbers::rate(mbit.unwrap_or(0.0));
        let bar = "#".repeat(cells);
        let message = match (message, has_times) {
            (None, false) => String::new(),
            (own, _) => format!(" {:>10}", own.map_or(String::new(), ms)),
        };
        let _ = writeln!(out, "  {label:<width$} {mbit:>12}{message} {gain:>7}  {bar}");
    };

    // Only programs with messages have a column for their times.
    let message = if has_times { "    message" } else { "" };
    let _ = writeln!(out, "\n  {:<width$} {:>12}{message} {:>7}", "relief, alone", "rate", "gain");
    row(out, AS_IT_IS, None);

    // Reliefs without a gain, refused ones and those left make one line each.
    let (gaining, others): (Vec<&Tried>, Vec<&Tried>) =
        run.reliefs.iter().partition(|own| own.gains());
    for own in gaining {
        row(out, &own.label, Some(own));
    }
    list(out, RATES, rates_of(run).into_iter());
    if run.message_ms.is_some() {
        list(out, "Times of messages are", std::iter::once("medians".to_string()));
    }
    // Datagrams have no rate here: their sentence says what they gain.
    let no_gain = if run.arrived.is_some() { "No gain in that rate" } else { "No gain" };
    list(out, no_gain, others.iter().filter(|own| own.mbit.is_some()).map(|own| lower(&own.label)));
    let refused = others.iter().filter_map(|own| Some((own, own.refused.as_ref()?)));
    list(out, "Not possible", refused.map(|(own, why)| format!("{} ({why})", lower(&own.label))));
    let left = others.iter().filter(|own| is_left(own));
    list(out, "Not tried", left.map(|own| lower(&own.label)));
}

/// Beginning of the sentence that says whose rates are shown.
pub(super) const RATES: &str = "Rates are of acknowledged payload over the whole transfer";

/// "flow bulk and its 3 copies"; none for a run without a flow.
pub(super) fn rates_of(run: &Run) -> Option<String> {
    let first = run.flows.first()?;
    Some(match run.flows.len() - 1 {
        0 => format!("flow {first}"),
        1 => format!("flow {first} and its copy"),
        copies => format!("flow {first} and its {copies} copies"),
    })
}

fn list(out: &mut String, head: &str, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        crate::plan::page::wrapped(out, &format!("  {head}: "), &format!("{}.", names.join(", ")));
    }
}
