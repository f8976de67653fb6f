//! One line for several runs, and for two results side by side.

use super::super::compare::Comparison;
use super::super::document::{Document, Grade, Headline, Run};
use super::words::{percent, rate_of, sentences};
use super::{judged, said};
use crate::numbers;

/// The headline of a document: of one run its own, of several the worst and the best one.
pub fn document(document: &Document) -> Headline {
    let told: Vec<(&Run, &Headline)> =
        document.runs.iter().filter_map(|run| Some((run, run.headline.as_ref()?))).collect();
    let mut headline = match &told[..] {
        [] => said(Grade::NoTraffic, "No run has come to a result.".into()),
        [(_, own)] => (*own).clone(),
        several => of_several(several),
    };
    if told.len() > 1 {
        headline.judged = judged::all(document.runs.iter());
        if let Some(judged) = &headline.judged {
            headline.text = sentences([headline.text, judged.text.clone()]);
        }
    }
    if document.partial && headline.grade != Grade::Partial {
        headline.grade = Grade::Partial;
        let missing = match document.missing.len() {
            0 => "PARTIAL: not everything was run".to_string(),
            n => format!("PARTIAL: {n} of {} runs are missing", n + document.runs.len()),
        };
        headline.text = sentences([missing, headline.text]);
    }
    headline
}

/// How far a run is from what it could be; failures first.
fn badness(own: &Headline) -> f64 {
    match own.grade {
        grade if grade.is_failure() => 2.0,
        _ => 1.0 - own.share.unwrap_or(0.0),
    }
}

fn of_several(told: &[(&Run, &Headline)]) -> Headline {
    let by = |a: &&(&Run, &Headline), b: &&(&Run, &Headline)| badness(a.1).total_cmp(&badness(b.1));
    // The first of equals, both ways.
    let worst = told.iter().rev().max_by(by).expect("there are several");
    let best = told.iter().min_by(by).expect("there are several");
    let count = told.len();
    if told.iter().all(|(_, own)| own.grade.is_good()) && badness(worst.1) < 0.1 {
        let text = format!("All {count} runs fill their path: {}", range(told));
        return Headline { text: sentences([text, without_judgement(worst.1)]), ..worst.1.clone() };
    }
    let text = sentences([
        format!("{count} runs: {}", range(told)),
        format!("Worst, {}: {}", worst.0.variant, without_judgement(worst.1)),
        best_of(best),
    ]);
    Headline { text, ..worst.1.clone() }
}

/// The text of a run without the sentence that judges it: the document has its own.
fn without_judgement(own: &Headline) -> String {
    let judged = own.judged.as_ref().map_or("", |judged| &judged.text);
    own.text.strip_suffix(judged).unwrap_or(&own.text).trim_end().to_string()
}

fn best_of((run, own): &(&Run, &Headline)) -> String {
    match own.rate_mbit {
        Some(rate) => format!("Best, {}: {}", run.variant, rate_of(rate, own.allowed_mbit)),
        None => format!("Best, {}", run.variant),
    }
}

/// "84 to 928 of 941 Mb/s (9 to 99 %)".
fn range(told: &[(&Run, &Headline)]) -> String {
    let span = |of: fn(&Headline) -> Option<f64>| {
        let values = told.iter().filter_map(|(_, own)| of(own));
        let ends = values.clone().reduce(f64::min).zip(values.reduce(f64::max));
        ends.unwrap_or((0.0, 0.0))
    };
    let (least, most) = span(|own| own.rate_mbit);
    let (lowest, highest) = span(|own| own.allowed_mbit);
    let of = match highest - lowest <= 0.005 * highest {
        true => format!(" of {}", numbers::short(highest)),
        false => String::new(),
    };
    let (from, to) = span(|own| own.share);
    let shares = match (percent(from), percent(to)) {
        (from, to) if from == to => from,
        (from, to) => format!("{} to {to}", from.trim_end_matches(" %")),
    };
    format!("{} to {}{of} Mb/s ({shares})", numbers::short(least), numbers::short(most))
}

/// Below this ratio two rates are alike.
const ALIKE: f64 = 1.02;

/// The line above a comparison of two results.
pub fn compared([a, b]: [Option<&Headline>; 2]) -> String {
    let side = |name: &str, own: Option<&Headline>| match own {
        Some(own) => format!("{name}: {}", own.text),
        None => format!("{name}: this result is older and has no headline"),
    };
    let rates = a.and_then(|own| own.rate_mbit).zip(b.and_then(|own| own.rate_mbit));
    let first = match rates {
        Some((a, b)) if a > 0.0 && b > 0.0 => {
            let rates = format!("a {}, b {}", numbers::rate(a), numbers::rate(b));
            match (b / a).max(a / b) {
                ratio if ratio < ALIKE => format!("a and b are equally fast: {rates}"),
                ratio if b > a => {
                    format!("b is {} times as fast as a: {rates}", numbers::short(ratio))
                }
                ratio => format!("a is {} times as fast as b: {rates}", numbers::short(ratio)),
            }
        }
        _ => "a and b cannot be compared by rate".into(),
    };
    sentences([first, side("a", a), side("b", b)])
}

/// The headline of two documents as one, graded as the worse of both.
pub fn merged(a: &Document, b: &Document, comparison: &Comparison) -> Option<Headline> {
    let told = [a, b].into_iter().filter_map(|document| document.headline.as_ref());
    let worse = told.max_by(|a, b| badness(a).total_cmp(&badness(b)))?;
    Some(Headline { text: comparison.headline.clone(), ..worse.clone() })
}
