//! Score as a page of Markdown.

use super::summary::{Share, Summary};
use super::{Scored, summary};
use fullpipe::analysis::numbers;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The page; `what` is one sentence about the set. Writing to a string cannot fail, here and below.
pub fn markdown(what: &str, scored: &[Scored]) -> String {
    let mut out = format!("# Blind test\n\n{what}\n\n{}", sums(scored));
    errors(&mut out, scored);
    out
}

/// Sums, rows by cause and the confusion matrix.
pub fn sums(scored: &[Scored]) -> String {
    let (own, mut out) = (summary(scored), String::new());
    head(&mut out, &own);
    rows(&mut out, &own);
    matrix(&mut out, &own);
    out
}

fn shown(share: Share) -> String {
    if share.of == 0 {
        return "-".into();
    }
    let points = (share.points * 100.0).round() / 100.0;
    format!("{:.2} ({:.2} to {:.2}), {points} of {}", share.value(), share.from, share.to, share.of)
}

fn head(out: &mut String, own: &Summary) {
    let _ = writeln!(out, "| | share (95 % interval) |\n|---|---|");
    let table = [
        ("right cause", own.exact),
        ("right group", own.group),
        ("right cause, where a setting of a host cures it", own.setting),
        ("verdict is sure", own.sure),
        ("sure verdicts with the right cause", own.sure_exact),
        ("sure verdicts with the right group", own.sure_group),
        ("healthy flows called broken", own.healthy_called_broken),
        ("verdict names no cause", own.cannot_tell),
        ("right cause if each verdict were \"none\"", own.with_none),
    ];
    for (name, share) in table {
        let _ = writeln!(out, "| {name} | {} |", shown(share));
    }
    if own.not_run > 0 {
        let _ = writeln!(out, "\nThe engine did not run {} cases.", own.not_run);
    }
}

fn rows(out: &mut String, own: &Summary) {
    let _ = writeln!(out, "\n## By cause\n\n| cause | cases | right | group | said instead |");
    let _ = writeln!(out, "|---|--:|--:|--:|---|");
    for row in &own.rows {
        let instead = row.instead.iter().map(|(code, count)| format!("{code} {count}"));
        let instead = instead.collect::<Vec<_>>().join(", ");
        let (cause, of, right, group) = (&row.cause, row.of, numbers::short(row.right), row.group);
        let _ = writeln!(out, "| {cause} | {of} | {right} | {group} | {instead} |");
    }
}

fn matrix(out: &mut String, own: &Summary) {
    // A column for each cause that any verdict has named.
    let said: BTreeSet<&String> = own.confusion.values().flat_map(|row| row.keys()).collect();
    let _ =
        writeln!(out, "\n## Confusion matrix\n\nRows are labels, columns are first causes said.\n");
    let head: String = said.iter().map(|code| format!(" {code} |")).collect();
    let line: String = said.iter().map(|_| "--:|").collect();
    let _ = writeln!(out, "| |{head}\n|---|{line}");
    for (cause, row) in &own.confusion {
        let cells: String = said
            .iter()
            .map(|code| row.get(*code).map_or(String::from(" |"), |n| format!(" {n} |")))
            .collect();
        let _ = writeln!(out, "| {cause} |{cells}");
    }
}

fn errors(out: &mut String, scored: &[Scored]) {
    let _ = writeln!(out, "\n## Errors\n\n| case | label | gain | said | because | headline |");
    let _ = writeln!(out, "|---|---|--:|---|---|---|");
    let mut wrong: Vec<&Scored> =
        scored.iter().filter(|own| own.not_run.is_none() && own.points == 0.0).collect();
    wrong.sort_by(|a, b| (&a.cause, &a.says, &a.name).cmp(&(&b.cause, &b.says, &b.name)));
    for own in wrong {
        let (says, text) = (own.says.join(" or "), own.text.replace('|', "/"));
        let Scored { name, cause, gain, because, .. } = own;
        let _ = writeln!(out, "| {name} | {cause} | {gain:.2} | {says} | {because} | {text} |");
    }
}
