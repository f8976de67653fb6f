//! One line for several runs, and for two results side by side.

use super::{judged, said};
use crate::compare::Comparison;
use crate::document::{Document, Grade, Headline, Run};
use crate::numbers;
use crate::words::{percent, rate_of, sentences};

/// The headline of a document: of one run its own, of several the worst and the best one.
pub fn document(document: &Document) -> Headline {
    let graded: Vec<(&Run, &Headline)> =
        document.runs.iter().filter_map(|run| Some((run, run.headline.as_ref()?))).collect();
    let mut headline = match &graded[..] {
        [] => said(Grade::NoTraffic, "No run has come to a result.".into()),
        [(_, own)] => (*own).clone(),
        several => of_several(several),
    };

    // A single run has printed its judgement already.
    if graded.len() > 1 {
        headline.judged = judged::all(document.runs.iter());
        if let Some(judged) = &headline.judged {
            headline.text = sentences([headline.text, judged.text.clone()]);
        }
    }

    // Runs that are missing make the whole partial.
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

/// Distance of a run from what it could be: its grade first, its share second.
fn badness(own: &Headline) -> f64 {
    let class = match own.grade {
        Grade::Full | Grade::AsAsked => 0.0,
        Grade::Queue => 1.0,
        Grade::Late | Grade::Below | Grade::Lossy | Grade::CannotTell => 2.0,
        // A run that was cut short has no verdict: it is neither the worst nor the best.
        Grade::Partial => 1.5,
        Grade::Failed | Grade::NoTraffic => 4.0,
    };
    // A run that a program holds back is no worse for its share.
    let missing = if own.grade == Grade::AsAsked { 0.0 } else { 1.0 - own.share.unwrap_or(0.0) };
    class + missing.clamp(0.0, 1.0)
}

fn of_several(graded: &[(&Run, &Headline)]) -> Headline {
    // Where no run knows its path's rate, the slower one is worse.
    let rate = |own: &Headline| match own.share {
        None => own.rate_mbit.unwrap_or(0.0),
        Some(_) => 0.0,
    };
    let by = |a: &&(&Run, &Headline), b: &&(&Run, &Headline)| {
        badness(a.1).total_cmp(&badness(b.1)).then(rate(b.1).total_cmp(&rate(a.1)))
    };
    // The first of equals, both ways.
    let worst = graded.iter().rev().max_by(by).expect("there are several");
    let best = graded.iter().min_by(by).expect("there are several");
    let count = graded.len();

    // Without a bad run there is no worst one to point at.
    if graded.iter().all(|(_, own)| own.grade.is_good()) {
        let does = match graded.iter().all(|(_, own)| own.grade == Grade::Full) {
            true => "fill their path",
            false => "do what was asked of them",
        };
        let text = format!("All {count} runs {does}: {}", range(graded));
        return Headline { text: sentences([text, held_by(worst.1)]), ..worst.1.clone() };
    }
    let text = sentences([
        format!("{count} runs: {}", range(graded)),
        format!("Worst, {}: {}", worst.0.variant, without_judgement(worst.1)),
        best_of(best.0, best.1),
    ]);
    Headline { text, ..worst.1.clone() }
}

/// "link holds the flows 93 % of their lives".
fn held_by(own: &Headline) -> String {
    let held = own.place.as_ref().zip(own.limit_share);
    held.map_or(String::new(), |(place, share)| {
        format!("{place} holds the flows {} of their lives: set nothing", percent(share))
    })
}

/// The text of a run without the sentence that judges it: the document has its own.
fn without_judgement(own: &Headline) -> String {
    let judged = own.judged.as_ref().map_or("", |judged| &judged.text);
    own.text.strip_suffix(judged).unwrap_or(&own.text).trim_end().to_string()
}

fn best_of(run: &Run, own: &Headline) -> String {
    match own.rate_mbit {
        Some(rate) => format!("Best, {}: {}", run.variant, rate_of(rate, own.allowed_mbit)),
        None => format!("Best, {}", run.variant),
    }
}

/// "84 to 928 of 941 Mb/s (9 to 99 %)".
fn range(graded: &[(&Run, &Headline)]) -> String {
    let span = |of: fn(&Headline) -> Option<f64>| {
        let values = graded.iter().filter_map(|(_, own)| of(own));
        let ends = values.clone().reduce(f64::min).zip(values.reduce(f64::max));
        ends.unwrap_or((0.0, 0.0))
    };
    let (least, most) = span(|own| own.rate_mbit);
    let (lowest, highest) = span(|own| own.allowed_mbit);

    // Paths within half a per cent have one rate for the reader.
    let of = match highest - lowest <= 0.005 * highest {
        true => format!(" of {}", numbers::short(highest)),
        false => String::new(),
    };
    let (from, to) = span(|own| own.share);

    // Equal ends, as they are printed, need no range.
    let shares = match (percent(from), percent(to)) {
        (from, to) if from == to => from,
        (from, to) => format!("{} to {to}", from.trim_end_matches(" %")),
    };
    let rates = match (numbers::short(least), numbers::short(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    match () {
        // One end does not know the path's rate.
        () if highest == 0.0 => format!("{rates} Mb/s"),
        () if of.is_empty() => format!("{shares} of what their paths allow"),
        () => format!("{rates}{of} Mb/s ({shares})"),
    }
}

/// Below this ratio two rates are alike.
const ALIKE: f64 = 1.02;

/// The line above a comparison of two results: the faster one, and the limit of each.
pub fn compared([a, b]: [Option<&Headline>; 2]) -> String {
    let held = |name: &str, own: Option<&Headline>| match own {
        Some(own) if own.grade.is_failure() => format!("{name}: {}", failure(own)),
        Some(own) => own.cause.as_ref().map_or(String::new(), |cause| format!("{name}: {cause}")),
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
    sentences([first, paths([a, b]), held("a", a), held("b", b)])
}

/// "FAILED: no data arrived".
fn failure(own: &Headline) -> &str {
    own.text.split(". ").next().unwrap_or_default()
}

/// That the paths of both sides allow different rates.
fn paths(sides: [Option<&Headline>; 2]) -> String {
    let [a, b] = sides.map(|own| own.and_then(|own| own.allowed_mbit));
    match a.zip(b).filter(|(a, b)| (a / b).max(b / a) >= ALIKE) {
        Some((a, b)) => {
            format!("Their paths differ: a's allows {}, b's {}", numbers::rate(a), numbers::rate(b))
        }
        None => String::new(),
    }
}

/// The headline of two documents as one, graded as the worse of both.
pub fn merged(a: &Document, b: &Document, comparison: &Comparison) -> Option<Headline> {
    let headlines = [a, b].into_iter().filter_map(|document| document.headline.as_ref());
    let worse = headlines.max_by(|a, b| badness(a).total_cmp(&badness(b)))?;
    Some(Headline { text: comparison.headline.clone(), ..worse.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sample;

    /// A document of runs with these names, grades and rates, each of 100 Mb/s that the path allows.
    fn of(runs: &[(&str, Grade, f64)]) -> Document {
        let mut document = sample::document();
        let blank = Run { expectations: Vec::new(), published: None, ..document.runs[1].clone() };
        document.runs = runs
            .iter()
            .map(|(name, grade, rate)| Run {
                variant: (*name).into(),
                headline: Some(Headline {
                    rate_mbit: Some(*rate),
                    allowed_mbit: Some(100.0),
                    share: Some(rate / 100.0),
                    place: Some("link".into()),
                    limit_share: Some(0.95),
                    ..said(*grade, format!("{rate} of 100 Mb/s."))
                }),
                ..blank.clone()
            })
            .collect();
        (document.partial, document.missing) = (false, Vec::new());
        document
    }

    fn text(runs: &[(&str, Grade, f64)]) -> String {
        super::document(&of(runs)).text
    }

    #[test]
    fn of_several_runs_the_worst_comes_first() {
        let runs = [("a", Grade::Full, 95.0), ("b", Grade::Below, 3.0), ("c", Grade::Queue, 99.0)];
        let expected = "3 runs: 3 to 99 of 100 Mb/s (3 to 99 %). Worst, b: 3 of 100 Mb/s. \
                        Best, a: 95 of 100 Mb/s (95 %).";
        assert_eq!(text(&runs), expected);
        assert_eq!(super::document(&of(&runs)).grade, Grade::Below);
        // A long queue is worse than a short one at a lower rate.
        let queued = text(&[runs[0], runs[2]]);
        assert!(queued.contains("Worst, c: 99") && queued.contains("Best, a: 95"), "{queued}");
    }

    /// Cases as one end of a connection sees them.
    #[test]
    fn without_a_path_the_slower_run_is_worse() {
        let mut document = of(&[("a", Grade::CannotTell, 300.0), ("b", Grade::CannotTell, 900.0)]);
        for headline in document.runs.iter_mut().filter_map(|run| run.headline.as_mut()) {
            (headline.allowed_mbit, headline.share) = (None, None);
        }
        let text = super::document(&document).text;
        assert!(text.starts_with("2 runs: 300 to 900 Mb/s. Worst, a: "), "{text}");
        assert!(text.ends_with("Best, b: 900 Mb/s."), "{text}");
    }

    #[test]
    fn one_failure_takes_the_praise_from_all() {
        let good = [("a", Grade::Full, 95.0), ("b", Grade::Full, 97.0)];
        let praised = "All 2 runs fill their path: 95 to 97 of 100 Mb/s (95 to 97 %). \
                       link holds the flows 95 % of their lives: set nothing.";
        assert_eq!(text(&good), praised);
        let failed = [good[0], ("b", Grade::Failed, 97.0)];
        let headline = super::document(&of(&failed));
        assert_eq!(headline.grade, Grade::Failed);
        assert!(
            headline.text.contains("Worst, b") && !headline.text.contains("All 2"),
            "{}",
            headline.text
        );
    }

    #[test]
    fn what_is_missing_is_said_first() {
        let mut document = of(&[("a", Grade::Full, 95.0)]);
        (document.partial, document.missing) = (true, vec!["b".into()]);
        let headline = super::document(&document);
        assert_eq!(headline.text, "PARTIAL: 1 of 2 runs are missing. 95 of 100 Mb/s.");
        assert!(headline.grade == Grade::Partial && !headline.grade.is_good());
    }

    #[test]
    fn two_results_are_compared_by_their_rates() {
        let of = |grade, rate, cause: &str| {
            let own = said(grade, format!("{rate} of 100 Mb/s."));
            Headline { rate_mbit: Some(rate), cause: Some(cause.into()), ..own }
        };
        let slow =
            of(Grade::Below, 3.0, "The send buffer of sender stops the flow 86 % of its life");
        let fast = of(Grade::Full, 96.0, "The link is full and holds the flow 93 % of its life");
        let expected = "b is 32 times as fast as a: a 3 Mb/s, b 96 Mb/s. a: The send buffer of sender stops the \
                        flow 86 % of its life. b: The link is full and holds the flow 93 % of its life.";
        assert_eq!(compared([Some(&slow), Some(&fast)]), expected);
        assert!(compared([Some(&fast), Some(&slow)]).starts_with("a is 32 times as fast as b"));
        assert!(compared([Some(&slow), Some(&slow)]).starts_with("a and b are equally fast"));
        assert!(compared([None, Some(&slow)]).contains("a: this result is older"));
    }
}
