//! Advice as text for a terminal. The answer is the first line, however long: programs take it.

use super::document::Advice;
use super::files::File;
use super::shown;
use crate::analysis::numbers;
use crate::analysis::words::rate_of;
use crate::report::terminal::grid::{Column, lay_out, number, words, wrap};
use std::fmt::Write;

/// Width of the text, and how much it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Columns of the terminal.
    pub width: usize,
    /// Every trial, and files for other tools and other systems, too.
    pub explain: bool,
}

/// The text.
pub fn render(advice: &Advice, extent: Extent) -> String {
    let width = extent.width.max(60);
    let mut out = format!("{}\n", advice.answer);
    before_and_after(&mut out, advice, width);

    // Sections follow the reader's questions: what, at what cost, and how.
    if !advice.changes.is_empty() {
        changes(&mut out, advice, width);
    }
    if !advice.notes.is_empty() {
        heading(&mut out, shown::NOTES);
        advice.notes.iter().for_each(|note| paragraph(&mut out, "- ", note, width));
    }
    if !advice.sensitivity.is_empty() {
        heading(&mut out, shown::DIFFERENT);
        shown::different(advice).iter().for_each(|line| paragraph(&mut out, "", line, width));
    }
    if let Some(own) = &advice.newcomer {
        heading(&mut out, shown::JOINS);
        paragraph(&mut out, "", &shown::joins(own), width);
    }
    if !advice.files.program.is_empty() {
        heading(&mut out, shown::by_hand(advice));
        advice.files.program.iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    advice.files.enough.iter().for_each(|file| self::file(&mut out, file));
    if extent.explain {
        explained(&mut out, advice, width);
    }
    out
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{text}");
}

fn paragraph(out: &mut String, mark: &str, text: &str, width: usize) {
    let lines = wrap(text, "    ", width);
    for (n, line) in lines.iter().enumerate() {
        match n {
            0 => _ = writeln!(out, "  {mark}{}", line.trim_start()),
            _ => _ = writeln!(out, "{line}"),
        }
    }
}

fn before_and_after(out: &mut String, advice: &Advice, width: usize) {
    out.push('\n');
    let lines = lay_out(&shown::of_rates(advice), &shown::rates(advice), 80);
    lines.iter().for_each(|line| _ = writeln!(out, "{line}"));
    paragraph(out, "", &shown::rates_are(advice), width);
}

fn changes(out: &mut String, advice: &Advice, width: usize) {
    heading(out, shown::CHANGES);
    let lines = lay_out(shown::of_changes(advice), &shown::changes(advice), width);
    lines.iter().for_each(|line| _ = writeln!(out, "{line}"));
    for own in &advice.changes {
        let text = format!("{}: {}", own.change.setting, shown::reason(own, advice));
        paragraph(out, "- ", &text, width);
    }
}

fn file(out: &mut String, file: &File) {
    heading(out, &shown::place(file));
    for line in file.text.lines() {
        let _ = writeln!(out, "  {line}");
    }
    for (what, command) in shown::commands(file) {
        // Commands are there to be pasted: they are never wrapped.
        let mark = format!("{what}:");
        let _ = writeln!(out, "  {mark:<12}{command}");
    }
}

fn explained(out: &mut String, advice: &Advice, width: usize) {
    advice.files.instead.iter().for_each(|file| self::file(out, file));
    for own in &advice.elsewhere {
        heading(out, &format!("On {} (not simulated)", own.system));
        own.lines.iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    const COLUMNS: [Column; 4] =
        [number("rate", "Mb/s"), number("queue", "ms"), words("tried"), words("")];

    // Every trial in its order shows how the advice was found.
    let rows: Vec<Vec<String>> = advice
        .steps
        .iter()
        .map(|step| {
            let (mbit, queue) = (numbers::short(step.mbit), numbers::short(step.queue_ms));
            vec![mbit, queue, step.what.clone(), step.then.clone()]
        })
        .collect();
    heading(
        out,
        &format!(
            "Every trial ({} {})",
            advice.tried,
            if advice.tried == 1 { "list of settings" } else { "lists of settings" }
        ),
    );
    lay_out(&COLUMNS, &rows, width).iter().for_each(|line| _ = writeln!(out, "{line}"));
    if let Some(verdict) = &advice.today.verdict {
        heading(out, "Verdict on today");
        paragraph(out, "", verdict, width);
    }

    // Verdicts stand last: they are long.
    if !advice.changes.is_empty() {
        let own = &advice.advised;
        let allowed = own.share.filter(|share| *share > 0.0).map(|share| own.mbit / share);
        let share = rate_of(own.mbit, allowed);
        heading(out, &format!("Verdict with the changes: {share}"));
        let verdict = advice.advised.verdict.as_deref().unwrap_or("");
        paragraph(out, "", verdict, width);
    }
}
