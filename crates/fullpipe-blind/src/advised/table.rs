//! Pages in Markdown.

use super::{Cure, LISTS, Listed, Path, Sized, median};
use std::fmt::Write;

/// Share of items that hold, "0.97 (58 of 60)".
fn part<T>(all: &[T], holds: impl Fn(&T) -> bool) -> String {
    let count = all.iter().filter(|own| holds(own)).count();
    let share = count as f64 / all.len().max(1) as f64;
    format!("{share:.3} ({count} of {})", all.len())
}

/// Advice on random paths.
pub fn paths_page(what: &str, paths: &[Path]) -> String {
    let share = |own: &Path| own.judged.advised.share().unwrap_or(0.0);
    let today = |own: &Path| own.judged.today.share().unwrap_or(0.0);
    let is_nothing = |own: &Path| own.judged.advice.changes.is_empty();
    let full: Vec<&Path> = paths.iter().filter(|own| today(own) >= 0.97).collect();
    let changed: Vec<&Path> = paths.iter().filter(|own| !is_nothing(own)).collect();
    let rows = [
        ("at least 0.95 of the path", part(paths, |own| share(own) >= 0.95)),
        ("at least 0.97 of the path", part(paths, |own| share(own) >= 0.97)),
        ("full today, and nothing is advised", part(&full, |own| is_nothing(own))),
        ("more than 2 % below today", part(paths, |own| share(own) < 0.98 * today(own))),
        (
            "round trip under load at most 1.25 of the least, where something is advised",
            part(&changed, |own| own.judged.advised.inflation <= 1.25),
        ),
        (
            "lists of settings tried, median",
            median(paths.iter().map(|own| own.judged.advice.tried as f64)).to_string(),
        ),
        (
            "seconds of one core, median (with the judgement)",
            format!("{:.1}", median(paths.iter().map(|own| own.seconds))),
        ),
    ];
    // Writing to a string cannot fail, here and below.
    let mut out = format!("# Advice on random paths\n\n{what}\n\n| | |\n|---|--:|\n");
    for (name, value) in rows {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out += "\n| path | flows | today | advised | queue ms | RTT ms | tried | changes |\n|---|--:|--:|--:|--:|--:|--:|---|\n";
    for own in paths {
        let advice = &own.judged.advice;
        let words: Vec<String> = advice
            .changes
            .iter()
            .map(|own| format!("{} {}", own.change.setting, own.change.advised))
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {:.3} | {:.3} | {:.1} | {:.1} | {} | {} |",
            own.name,
            advice.flows,
            today(own),
            share(own),
            own.judged.advised.queue_ms,
            advice.base_rtt_ms,
            advice.tried,
            words.join(", ")
        );
    }
    out
}

/// Sizes by arithmetic beside bisected ones.
pub fn sizes_page(what: &str, all: &[Sized]) -> String {
    let ratio = |own: &Sized| own.arithmetic as f64 / own.bisected.max(1) as f64;
    let rows = [
        (
            "within 15 % of the bisected size",
            part(all, |own| (1.0 / 1.15..=1.15).contains(&ratio(own))),
        ),
        ("too small by more", part(all, |own| ratio(own) < 1.0 / 1.15)),
        ("arithmetic over bisected, median", format!("{:.2}", median(all.iter().map(ratio)))),
    ];
    let mut out = format!("# Sizes of buffers\n\n{what}\n\n| | |\n|---|--:|\n");
    for (name, value) in rows {
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out += "\n| path | setting | arithmetic, bytes | bisected, bytes | ratio |\n|---|---|--:|--:|--:|\n";
    for own in all {
        let (path, setting) = (&own.path, &own.setting);
        let ratio = ratio(own);
        let _ = writeln!(
            out,
            "| {path} | {setting} | {} | {} | {ratio:.2} |",
            own.arithmetic, own.bisected
        );
    }
    out
}

/// Advice beside fixed lists.
pub fn lists_page(what: &str, all: &[Listed]) -> String {
    let mut out = format!(
        "# Advice beside fixed lists\n\n{what}\n\n| settings | share of the path, median | queue ms, median | memory MB, median | \
         advice's memory over it, median of paths | paths where advice has at least 0.97 of its rate |\n\
         |---|--:|--:|--:|--:|--:|\n"
    );

    row(&mut out, "today", all, |listed| listed.today);
    row(&mut out, "advised", all, |listed| listed.advised);
    for (n, list) in LISTS.iter().enumerate() {
        row(&mut out, list.name, all, |own| own.lists[n]);
    }
    out += "\n| path | today | advised";
    for list in &LISTS {
        let _ = write!(out, " | {}", list.name);
    }
    out += " |\n|---|--:|--:|--:|--:|--:|\n";
    for own in all {
        let _ = write!(out, "| {} | {:.3} | {:.3}", own.name, own.today.share, own.advised.share);
        for list in &own.lists {
            let _ = write!(out, " | {:.3}", list.share);
        }
        out += " |\n";
    }
    out
}

fn row(
    out: &mut String,
    name: &str,
    all: &[Listed],
    of: impl Fn(&Listed) -> super::lists::Figures,
) {
    let _ = writeln!(
        out,
        "| {name} | {:.3} | {:.2} | {:.0} | {:.2} | {} |",
        median(all.iter().map(|own| of(own).share)),
        median(all.iter().map(|own| of(own).queue_ms)),
        median(all.iter().map(|own| of(own).memory_mb)),
        median(all.iter().map(|own| own.advised.memory_mb / of(own).memory_mb.max(1e-6))),
        part(all, |own| own.advised.share >= 0.97 * of(own).share)
    );
}

/// Advice on blind cases.
pub fn cures_page(what: &str, all: &[Cure]) -> String {
    let settings: Vec<&Cure> = all.iter().filter(|own| own.setting).collect();
    let healthy: Vec<&Cure> = all.iter().filter(|own| own.is_healthy()).collect();
    let regains = |own: &&Cure| own.regained >= 0.95 || own.shares[1] >= 0.95;
    let mut out = format!(
        "# Advice on blind cases\n\n{what}\n\n| | |\n|---|--:|\n| a setting is the cause, and advice regains at least 95 % | {} |\n\
         | healthy or too short, and nothing is advised | {} |\n| more than 2 % below today | {} |\n",
        part(&settings, regains),
        part(&healthy, |own| own.changes.is_empty()),
        part(all, |own| own.shares[1] < 0.98 * own.shares[0])
    );
    out += "\n| case | cause | setting | today | advised | of the case without its break | changes |\n|---|---|---|--:|--:|--:|---|\n";
    for own in all {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.3} | {:.3} | {:.2} | {} |",
            own.name,
            own.cause,
            if own.setting { "yes" } else { "no" },
            own.shares[0],
            own.shares[1],
            own.regained,
            own.changes.join(", ")
        );
    }
    out
}
