//! The answer and its grounds, in few lines: headline, runs, their limits, drops, expectations, notes.

use super::grid::wrap;
use super::sections::{Section, fit};
use super::{
    Style, compared, datagrams, dropped, emulated, findings, held_back, judged, messages, nfs,
    runs, shared,
};
use fullpipe_analysis::document::{Document, Run};
use fullpipe_analysis::numbers;
use std::borrow::Cow;

/// Most lines of a text on a screen, so that the command's own lines have room below 60.
pub const LINES: usize = 50;
/// Where the left-out items are shown.
const MORE: &str = "--full, or report.html";
/// Number of runs up to which each has lines of its own.
pub const EACH: usize = 6;

/// The summary in at most [`LINES`] lines.
pub fn short(document: &Document, style: Style) -> Vec<String> {
    let answer = document.headline.as_ref().map_or(0, |headline| headline.text.chars().count());
    let rows = answer.div_ceil(style.columns()).max(1) - 1;
    fit(sections(document, false, style), LINES.saturating_sub(rows), MORE, style)
}

/// The summary with all its lines.
pub fn whole(document: &Document, style: Style) -> Vec<String> {
    let sections =
        sections(document, true, style).into_iter().map(|section| Section { most: 0, ..section });
    fit(sections.collect(), usize::MAX, MORE, style)
}

/// Parts of the summary in their order. A whole one has medians and errors of published ramps besides.
fn sections(document: &Document, is_whole: bool, style: Style) -> Vec<Section> {
    let few = document.runs.len() <= EACH;
    let traced = &*traced(document);
    let of_each = |lines: fn(&Run, Style) -> Vec<String>, most: usize| {
        let all: Vec<String> = document.runs.iter().flat_map(|run| lines(run, style)).collect();
        Section::lines(all.into_iter().skip_while(String::is_empty).collect(), most)
    };

    // The order is that of a reader's questions: result, cause, losses, details.
    let mut sections = vec![
        Section::whole(answer(document, style)),
        runs::section(document, style),
        Section::items(held_back::items(traced, is_whole, style), 14, "sentences"),
        Section::sentences(&second_causes(document, is_whole), 6, "second causes", style),
        Section::sentences(&drops(traced), 8, "drops", style),
        of_each(datagrams::lines, 8),
        of_each(messages::lines, 8),
        of_each(nfs::lines, 8),
        of_each(emulated::lines, 8),
    ];

    // Sections of single flows would bury a summary of many runs.
    if few {
        let shares = named(traced, shared::sentence);
        sections.push(Section::sentences(&shares, 10, "shares", style));
        sections.push(Section::lines(slow_start(traced, style), 14));
    }
    sections.push(expectations(document, style));
    let published = published(document, is_whole);
    sections.push(Section::sentences(&published, 12, "published runs", style));
    sections.push(Section::lines(comparisons(document, style), 14));
    sections.push(Section::sentences(&notes(document), 8, "notes", style));
    sections.push(Section::sentences(&views(document), 3, "views", style));
    sections
}

/// Document with the runs that show their whole trace: sockets do not show what holds a flow back, nor drops.
fn traced(document: &Document) -> Cow<'_, Document> {
    if document.runs.iter().all(|run| run.view.is_none()) {
        return Cow::Borrowed(document);
    }
    let mut traced = document.clone();
    traced.runs.retain(|run| run.view.is_none());
    Cow::Owned(traced)
}

/// Note that verdicts come from a view of sockets, and that the report has the whole trace.
fn views(document: &Document) -> Vec<String> {
    let Some(view) = document.runs.iter().find_map(|run| run.view.as_deref()) else {
        return Vec::new();
    };
    vec![format!(
        "view {view}: what `ss` and the counters of that host show; report.html has the whole trace"
    )]
}

/// Number of expectations that hold, and those that fail.
fn expectations(document: &Document, style: Style) -> Section {
    let failures = judged::failures(document);
    let head = judged::of_all(document, style).into_iter().collect();
    let mut section = Section::sentences(&failures, 8, "failed expectations", style);
    for line in section.items.iter_mut().flatten() {
        *line = style.bad(line);
    }
    Section { head, ..section }
}

/// Headline, title, and that something is missing.
fn answer(document: &Document, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    // One line whatever the width: programs and people read the first line alone.
    lines.extend(document.headline.as_ref().map(|headline| style.bold(&headline.text)));
    let scenario = &document.scenario;
    let text = format!("{} ({}, seed {})", scenario.title, scenario.name, scenario.seed);
    lines.extend(wrap(&text, "", style.columns()));

    // A partial result says so before its numbers.
    if document.partial {
        let mut text =
            "PARTIAL: interrupted, or runs failed; everything is whole up to the last interval shown".to_string();
        if !document.missing.is_empty() {
            text += &format!("; missing: {}", document.missing.join("; "));
        }
        let lines_of = wrap(&text, "", style.columns());
        let more = lines_of.len().saturating_sub(MOST_OF_MISSING);
        lines.extend(lines_of.iter().take(MOST_OF_MISSING).map(|line| style.bad(line)));
        if more > 0 {
            lines.push(style.bad(&format!("  {more} more lines of missing runs: summary.json")));
        }
    }
    lines
}

/// Most lines that name missing runs.
const MOST_OF_MISSING: usize = 6;

/// The second cause of each run that has one. The whole text shows all findings elsewhere.
fn second_causes(document: &Document, is_whole: bool) -> Vec<String> {
    match is_whole {
        true => Vec::new(),
        false => named(document, findings::next),
    }
}

/// Drops of each run, or of many runs by place.
fn drops(document: &Document) -> Vec<String> {
    match document.runs.len() {
        0..=EACH => named(document, dropped::sentence),
        _ => by_place(document),
    }
}

/// A sentence of each run, with the run's name where there are several.
fn named(document: &Document, sentence: fn(&Run) -> Option<String>) -> Vec<String> {
    let several = document.runs.len() > 1;
    document
        .runs
        .iter()
        .filter_map(|run| {
            let sentence = sentence(run)?;
            Some(if several { format!("{}: {sentence}", run.variant) } else { sentence })
        })
        .collect()
}

/// A sentence per place: in how many runs it dropped packets, and how many.
fn by_place(document: &Document) -> Vec<String> {
    let mut places: Vec<(&str, Vec<u64>)> = Vec::new();
    let stages = document.runs.iter().flat_map(|run| &run.stages);

    // Runs count by place: one place may drop in many runs.
    for stage in stages.filter(|stage| stage.dropped > 0) {
        match places.iter_mut().find(|(name, _)| *name == stage.name) {
            Some((_, counts)) => counts.push(stage.dropped),
            None => places.push((&stage.name, vec![stage.dropped])),
        }
    }
    let all = document.runs.len();
    places
        .into_iter()
        .map(|(place, mut counts)| {
            counts.sort_unstable();
            let runs = counts.len();

            // Equal ends become one number.
            let mut ends = [counts[0], counts[runs - 1]].map(numbers::count).to_vec();
            ends.dedup();
            format!(
                "dropped at {place}: in {runs} of {all} runs, {} packets a run",
                ends.join(" to ")
            )
        })
        .collect()
}

/// A sentence for each run that is compared with a published one.
fn published(document: &Document, is_whole: bool) -> Vec<String> {
    match is_whole {
        true => named(document, |run| run.published.as_ref().map(judged::sentence)),
        false => named(document, |run| run.published.as_ref().map(judged::in_short)),
    }
}

/// Results of slow start, without the empty line before them.
fn slow_start(document: &Document, style: Style) -> Vec<String> {
    super::slow_start::lines(document, style).into_iter().skip_while(String::is_empty).collect()
}

fn comparisons(document: &Document, style: Style) -> Vec<String> {
    document.comparisons.iter().flat_map(|pair| compared::pair(pair, style)).collect()
}

/// Notes of all runs, each once, with the run's name or the number of runs that have it.
fn notes(document: &Document) -> Vec<String> {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();

    // A note that several runs share is printed once.
    for run in &document.runs {
        let mut own: Vec<String> = Vec::new();
        if !run.substituted.is_empty() {
            let (engine, what) = (&run.engine, run.substituted.join("; "));
            own.push(format!("engine {engine} instead of what the scenario says: {what}"));
        }
        own.extend(run.notes.iter().cloned());
        own.extend(dropped::more(run));
        for text in own {
            match notes.iter_mut().find(|(known, _)| *known == text) {
                Some((_, runs)) => runs.push(&run.variant),
                None => notes.push((text, vec![&run.variant])),
            }
        }
    }

    // The only run needs no name.
    notes
        .into_iter()
        .map(|(text, runs)| match runs[..] {
            [_] if document.runs.len() == 1 => format!("note: {text}"),
            [run] => format!("note on {run}: {text}"),
            _ => format!("note on {} runs: {text}", runs.len()),
        })
        .collect()
}
