//! Verdicts on texts: the first line says what is wrong and what to do, or that the text does not show it.

use super::text;
use fullpipe::analysis::document::{Confidence, Document, Run};
use fullpipe::analysis::rules::{HEALTHY, by_code, group};
use fullpipe::numbers::rate;
use fullpipe::observation::{self, Judged, Observation};
use fullpipe::pasted::Answer;
use fullpipe::report::terminal::Style;
use serde::Serialize;

/// The document of several verdicts, with the lines that show them.
#[derive(Serialize)]
pub struct Pasted<'a> {
    #[serde(flatten)]
    document: Document,
    /// Verdicts, the one that decides first; each belongs to the run at its place.
    pasted: &'a [Answer],
}

/// The document of verdicts.
pub fn document(answers: &[Answer]) -> Pasted<'_> {
    let runs: Vec<Run> = answers.iter().map(|own| own.run.clone()).collect();
    let mut document = observation::document("Pasted text", runs);

    // The first verdict decides, whatever the other texts say.
    document.headline = answers.first().and_then(|own| own.run.headline.clone());
    if let (Some(headline), Some(own)) = (&mut document.headline, answers.first()) {
        headline.text = verdict(own);
    }
    Pasted { document, pasted: answers }
}

/// The verdicts as text.
pub fn text(answers: &[Answer], style: Style) -> String {
    let mut out = String::new();
    let width = style.columns();
    for (at, own) in answers.iter().enumerate() {
        if at == 0 {
            text::line(&mut out, width, "", &verdict(own));
        }
        out.push('\n');
        text::line(&mut out, width, "", &own.about);
        if at > 0 {
            text::line(&mut out, width, "  ", &verdict(own));
        }
        one(&mut out, width, own);
    }
    out
}

fn one(out: &mut String, width: usize, own: &Answer) {
    let mut findings = own.run.findings.iter();
    findings.by_ref().take(1).for_each(|own| text::finding(out, width, own));
    for own in findings.filter(|own| own.group != group(HEALTHY)) {
        let hint = format!("{} ({}, {})", own.cause, own.code, text::word(own.confidence));
        text::line(out, width, "  also fits: ", &hint);
    }
    for quote in &own.lines {
        let start = format!("  {}:{}: ", quote.file, quote.line);
        text::line(out, width, &start, &quote.text);
    }
    own.notes.iter().for_each(|note| text::line(out, width, "  note: ", note));
    text::line(out, width, "  not shown: ", &own.hidden);
    text::line(out, width, "  to see it: ", &own.next);
    let code = own.run.headline.as_ref().and_then(|own| own.code.as_deref());
    let page = code.map(|code| format!("`fullpipe explain {code}`"));
    page.iter().for_each(|page| text::line(out, width, "  more: ", page));
}

/// Verdict and remedy; or the sentence that the text does not show the cause, and the look that would.
fn verdict(own: &Answer) -> String {
    let run = &own.run;

    // Causes of counters have no share of time: their figures are the evidence.
    if own.is_of_host() {
        return run.headline.as_ref().map_or_else(String::new, |own| own.text.clone());
    }
    let first = run.findings.first().filter(|own| own.confidence == Confidence::CannotTell);
    let (Some(first), Some(headline)) = (first, &run.headline) else { return text::answer(run) };
    if first.code == "too_short" {
        return headline.text.clone();
    }
    let titles = [&first.code].into_iter().chain(&first.twins);
    let titles: Vec<&str> = titles.filter_map(|code| Some(by_code(code)?.title)).collect();
    let parts = [
        headline.rate_mbit.map(rate),
        Some("The text does not show the cause".to_string()),
        Some(format!("{}: {}", first.cause, first.evidence.join(", and "))),
        (first.twins.len() > 1).then(|| format!("It may be: {}", titles.join("; "))),
        first.would_decide.as_ref().map(|see| format!("To decide, see {see}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}.", parts.join(". "))
}

/// A connection of looks with its figures.
pub fn about(observation: &Observation, own: &Judged) -> String {
    text::about(&observation.followed.subjects[own.subject], &own.run)
}
