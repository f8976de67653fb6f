//! Advice as text for a terminal. The answer is the first line, however long: programs take it.

use super::answer::kept;
use super::change::Scope;
use super::document::Advice;
use super::files::File;
use super::method::Kept;
use super::newcomer::Newcomer;
use crate::analysis::numbers;
use crate::analysis::words::{bytes, ms, rate_of};
use crate::report::terminal::grid::{Column, lay_out, number, words, wrap};
use std::fmt::Write;

/// How much is printed.
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
    if !advice.changes.is_empty() {
        changes(&mut out, advice, width);
    }
    if !advice.notes.is_empty() {
        heading(&mut out, "Costs and conditions");
        advice.notes.iter().for_each(|note| paragraph(&mut out, "- ", note, width));
    }
    sensitivity(&mut out, advice);
    if let Some(own) = &advice.newcomer {
        newcomer(&mut out, own, width);
    }
    if !advice.files.program.is_empty() {
        heading(&mut out, by_hand(advice));
        advice.files.program.iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    advice.files.enough.iter().for_each(|file| self::file(&mut out, file));
    if extent.explain {
        explained(&mut out, advice, width);
    }
    out
}

/// Heading of what no file changes.
fn by_hand(advice: &Advice) -> &'static str {
    let mut changes = advice.changes.iter().map(|own| own.change.scope);
    match changes.any(|scope| scope == Scope::Path) {
        true => "In programs and the network",
        false => "In the program",
    }
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
    const COLUMNS: [Column; 5] = [
        words(""),
        number("rate", "Mb/s"),
        number("of path", ""),
        number("queue", "ms"),
        number("sent again", "segments"),
    ];
    let row = |name: &str, own: &super::document::Result| {
        vec![
            name.to_string(),
            numbers::short(own.mbit),
            own.share.map_or_else(|| numbers::ABSENT.into(), numbers::share),
            numbers::short(own.queue_ms),
            numbers::count(own.retransmitted),
        ]
    };
    let mut rows = vec![row("today", &advice.today)];
    if !advice.changes.is_empty() {
        rows.push(row("advised", &advice.advised));
    }
    out.push('\n');
    lay_out(&COLUMNS, &rows, 80).iter().for_each(|line| _ = writeln!(out, "{line}"));
    paragraph(out, "", &rates_are(advice), width);
}

/// What the rates of advice are.
pub(super) fn rates_are(advice: &Advice) -> String {
    match advice.seeds {
        0 | 1 => "rates once the flows have grown".to_string(),
        runs => format!(
            "rates once the flows have grown, each the worst of {runs} runs with other seeds, starts and delays"
        ),
    }
}

fn changes(out: &mut String, advice: &Advice, width: usize) {
    const COLUMNS: [Column; 5] = [
        words("setting"),
        words("of"),
        words("today"),
        words("advised"),
        number("without", "Mb/s"),
    ];
    let rows: Vec<Vec<String>> = advice
        .changes
        .iter()
        .map(|own| {
            let change = &own.change;
            let without = numbers::short(own.without_mbit);
            vec![
                change.setting.clone(),
                change.whose.clone(),
                change.today.clone(),
                change.advised.clone(),
                without,
            ]
        })
        .collect();
    heading(out, "Changes, and the rate with all others but without this one");
    lay_out(&COLUMNS, &rows, width).iter().for_each(|line| _ = writeln!(out, "{line}"));
    for own in &advice.changes {
        let text = format!("{}: {}", own.change.setting, reason(own, advice));
        paragraph(out, "- ", &text, width);
    }
}

/// Why a change is made, its least size, and the queue without it.
pub(super) fn reason(own: &Kept, advice: &Advice) -> String {
    // In the unit of the advised size.
    let in_mib = |least: u64| bytes(least.next_multiple_of(64 << 10));
    let least = own.least.map_or_else(String::new, |least| {
        format!(" The least that fills the path is {}.", in_mib(least))
    });
    let delay = match own.without_queue_ms > advice.advised.queue_ms + 1.0 {
        true => format!(" Without it {} wait in queues.", ms(own.without_queue_ms)),
        false => String::new(),
    };
    format!("{}.{least}{delay}", own.change.why)
}

fn sensitivity(out: &mut String, advice: &Advice) {
    if advice.sensitivity.is_empty() {
        return;
    }
    heading(out, "If the path is a little different");
    for own in &advice.sensitivity {
        let _ = writeln!(out, "  {}: {}{}", own.what, numbers::rate(own.mbit), kept(own.share));
    }
}

fn newcomer(out: &mut String, own: &Newcomer, width: usize) {
    heading(out, "If another flow joins later");
    let text = format!(
        "After {:.0} s it has {}, its part of the path; with today's settings {}.",
        own.after_s,
        rate_of(own.mbit, Some(own.part_mbit)),
        numbers::short(own.today_mbit)
    );
    paragraph(out, "", &text, width);
}

fn file(out: &mut String, file: &File) {
    heading(out, &format!("On {}, as root: {}", file.host, file.path));
    for line in file.text.lines() {
        let _ = writeln!(out, "  {line}");
    }
    for (what, command) in commands(file) {
        // Commands are there to be pasted: they are never wrapped.
        let mark = format!("{what}:");
        let _ = writeln!(out, "  {mark:<12}{command}");
    }
}

/// Commands around a file, in the order in which an administrator runs them.
pub(super) fn commands(file: &File) -> Vec<(&'static str, String)> {
    let save = file.save.clone().map(|command| ("keep first", command));
    let undo = format!("rm {}; {}", file.path, file.undo);
    save.into_iter().chain([("at once", file.apply.clone()), ("undo", undo)]).collect()
}

fn explained(out: &mut String, advice: &Advice, width: usize) {
    advice.files.instead.iter().for_each(|file| self::file(out, file));
    for own in &advice.elsewhere {
        heading(out, &format!("On {} (not simulated)", own.system));
        own.lines.iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    const COLUMNS: [Column; 4] =
        [number("rate", "Mb/s"), number("queue", "ms"), words("tried"), words("")];
    let rows: Vec<Vec<String>> = advice
        .steps
        .iter()
        .map(|step| {
            let (mbit, queue) = (numbers::short(step.mbit), numbers::short(step.queue_ms));
            vec![mbit, queue, step.what.clone(), step.then.clone()]
        })
        .collect();
    heading(out, &format!("Every trial ({} lists of settings)", advice.tried));
    lay_out(&COLUMNS, &rows, width).iter().for_each(|line| _ = writeln!(out, "{line}"));
    if let Some(verdict) = &advice.today.verdict {
        heading(out, "Verdict on today");
        paragraph(out, "", verdict, width);
    }
    if !advice.changes.is_empty() {
        let share = rate_of(advice.advised.mbit, advice.allowed_mbit);
        heading(out, &format!("Verdict with the changes: {share}"));
        let verdict = advice.advised.verdict.as_deref().unwrap_or("");
        paragraph(out, "", verdict, width);
    }
}
