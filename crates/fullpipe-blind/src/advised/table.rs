//! Pages in Markdown: a table with the sums, and one with a row for each path or case.

use super::lists::Figures;
use super::{Cure, LISTS, Listed, Path, Sized, median};
use crate::causes::{HEALTHY, TOO_SHORT};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Write;

/// Measurement that makes a page, and is kept in records.
pub trait Measured: Serialize + DeserializeOwned {
    /// Head of the page.
    const HEAD: &'static str;

    /// Table of the sums.
    fn sums(all: &[Self]) -> String;

    /// Table with a row for each.
    fn rows(all: &[Self]) -> String;
}

/// The page of the measurements; `what` names the set.
pub fn page<T: Measured>(what: &str, all: &[T]) -> String {
    format!("# {}\n\n{what}\n\n{}\n{}", T::HEAD, T::sums(all), T::rows(all))
}

/// Share of items that hold, "0.967 (58 of 60)".
fn part<T>(all: &[T], holds: impl Fn(&T) -> bool) -> String {
    let count = all.iter().filter(|own| holds(own)).count();
    let share = count as f64 / all.len().max(1) as f64;
    format!("{share:.3} ({count} of {})", all.len())
}

/// A table of names and values.
fn table(rows: &[(&str, String)]) -> String {
    let mut out = String::from("| | |\n|---|--:|\n");
    for (name, value) in rows {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "| {name} | {value} |");
    }
    out
}

impl Measured for Path {
    const HEAD: &'static str = "Advice on random paths";

    fn sums(all: &[Path]) -> String {
        let is_nothing = |own: &&Path| own.changes.is_empty();
        let full: Vec<&Path> = all.iter().filter(|own| own.shares[0] >= 0.97).collect();
        let changed: Vec<&Path> = all.iter().filter(|own| !is_nothing(own)).collect();
        table(&[
            ("at least 0.95 of the path", part(all, |own| own.shares[1] >= 0.95)),
            ("at least 0.97 of the path", part(all, |own| own.shares[1] >= 0.97)),
            ("full today, and nothing is advised", part(&full, is_nothing)),
            ("more than 2 % below today", part(all, |own| own.shares[1] < 0.98 * own.shares[0])),
            (
                "round trip under load at most 1.25 of the least, where something is advised",
                part(&changed, |own| own.is_short()),
            ),
            (
                "longer, and `--goal delay` shortens it for 5 % of the rate",
                part(&changed, |own| own.is_shortened()),
            ),
            (
                "full today: round trip under load at most 1.25 of the least",
                part(&full, |own| own.is_short()),
            ),
            (
                "full today: longer, and `--goal delay` shortens it for 5 % of the rate",
                part(&full, |own| own.is_shortened()),
            ),
            (
                "lists of settings tried, median",
                median(all.iter().map(|own| own.tried as f64)).to_string(),
            ),
            (
                "lists of settings tried where something is advised, median",
                median(changed.iter().map(|own| own.tried as f64)).to_string(),
            ),
            (
                "seconds of one thread, median",
                format!("{:.1}", median(all.iter().map(|own| own.seconds))),
            ),
        ])
    }

    fn rows(all: &[Path]) -> String {
        let mut out = String::from(
            "| path | flows | today | advised | queue ms | RTT ms | tried | changes |\n\
             |---|--:|--:|--:|--:|--:|--:|---|\n",
        );
        for own in all {
            let [today, advised] = own.shares;
            let _ = writeln!(
                out,
                "| {} | {} | {today:.3} | {advised:.3} | {:.1} | {:.1} | {} | {} |",
                own.name,
                own.flows,
                own.queue_ms,
                own.rtt_ms,
                own.tried,
                own.changes.join(", ")
            );
        }
        out
    }
}

impl Sized {
    fn ratio(&self) -> f64 {
        self.arithmetic as f64 / self.bisected.max(1) as f64
    }
}

impl Measured for Sized {
    const HEAD: &'static str = "Sizes of buffers";

    fn sums(all: &[Sized]) -> String {
        table(&[
            (
                "least sizes within 15 % of the bisected size",
                part(all, |own| (1.0 / 1.15..=1.15).contains(&own.ratio())),
            ),
            ("too small by more", part(all, |own| own.ratio() < 1.0 / 1.15)),
            (
                "arithmetic over bisected, median",
                format!("{:.2}", median(all.iter().map(Sized::ratio))),
            ),
        ])
    }

    fn rows(all: &[Sized]) -> String {
        let mut out = String::from(
            "| path | setting | arithmetic, bytes | bisected, bytes | ratio |\n|---|---|--:|--:|--:|\n",
        );
        for own in all {
            let Sized { path, setting, arithmetic, bisected } = own;
            let ratio = own.ratio();
            let _ =
                writeln!(out, "| {path} | {setting} | {arithmetic} | {bisected} | {ratio:.2} |");
        }
        out
    }
}

impl Measured for Listed {
    const HEAD: &'static str = "Advice beside fixed lists";

    fn sums(all: &[Listed]) -> String {
        let mut out = String::from(
            "| settings | share of the path, median | queue ms, median | memory MB, median | memory of advice over it, \
             median of paths | paths where advice has at least 0.97 of its rate | the same, or in the median of nine runs | queue of advice over it, median of the paths \
             that it fills | the same of those that advice changes |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        list(&mut out, "today", all, |own| own.today, |own| own.keeps(&own.today));
        list(&mut out, "advised", all, |own| own.advised, |own| own.keeps(&own.advised));
        for (n, fixed) in LISTS.iter().enumerate() {
            list(&mut out, fixed.name, all, |own| own.lists[n], |own| own.keeps_median(n));
        }
        out
    }

    fn rows(all: &[Listed]) -> String {
        let mut out = String::from("| path | today | advised");
        for list in &LISTS {
            let _ = write!(out, " | {}", list.name);
        }
        out += " |\n|---|--:|--:|--:|--:|--:|\n";
        for own in all {
            let figures = [own.today, own.advised].into_iter().chain(own.lists.iter().copied());
            let _ = write!(out, "| {}", own.name);
            for Figures { share, queue_ms, .. } in figures {
                let _ = write!(out, " | {share:.3}, {queue_ms:.1} ms");
            }
            out += " |\n";
        }
        out
    }
}

/// Share of a path from which on settings fill it.
const FILLED: f64 = 0.97;

/// A row for a list; `keeps`: whether advice has its part of the list's rate in the median of several seeds.
fn list(
    out: &mut String,
    name: &str,
    all: &[Listed],
    of: impl Fn(&Listed) -> Figures,
    keeps: impl Fn(&Listed) -> bool,
) {
    // An empty queue must not be a divisor.
    let ratio = |own: &Listed| own.advised.queue_ms / of(own).queue_ms.max(1e-6);

    // Only lists that fill the path are compared: an unused path has no queue.
    let filled: Vec<&Listed> = all.iter().filter(|own| of(own).share >= FILLED).collect();
    let changed: Vec<&Listed> =
        filled.iter().copied().filter(|own| own.advised != own.today).collect();
    let _ = writeln!(
        out,
        "| {name} | {:.3} | {:.2} | {:.0} | {:.2} | {} | {} | {:.2} ({}) | {:.2} ({}) |",
        median(all.iter().map(|own| of(own).share)),
        median(all.iter().map(|own| of(own).queue_ms)),
        median(all.iter().map(|own| of(own).memory_mb)),
        median(all.iter().map(|own| own.advised.memory_mb / of(own).memory_mb.max(1e-6))),
        part(all, |own| own.keeps(&of(own))),
        part(all, keeps),
        median(filled.iter().copied().map(ratio)),
        filled.len(),
        median(changed.iter().copied().map(ratio)),
        changed.len(),
    );
}

impl Measured for Cure {
    const HEAD: &'static str = "Advice on blind cases";

    fn sums(all: &[Cure]) -> String {
        let of_settings: Vec<&Cure> = all.iter().filter(|own| own.setting).collect();
        let healthy: Vec<&Cure> = all.iter().filter(|own| own.cause == HEALTHY).collect();

        // Luck with one seed may fill a path that other seeds do not.
        let full: Vec<&Cure> = healthy
            .iter()
            .filter(|own| own.worst_share.is_some_and(|share| share >= FILLED))
            .copied()
            .collect();
        let short: Vec<&Cure> = all.iter().filter(|own| own.cause == TOO_SHORT).collect();
        table(&[
            (
                "a setting is the cause, and advice regains at least 95 %",
                part(&of_settings, |own| own.regained >= 0.95),
            ),
            (
                "a setting is the cause, and advice fills 95 % of the path",
                part(&of_settings, |own| own.shares[1] >= 0.95),
            ),
            ("healthy, and nothing is advised", part(&healthy, |own| own.changes.is_empty())),
            (
                "healthy, and nothing is advised without reason: less than 2 % in the median of nine other runs",
                part(&healthy, |own| own.has_reason()),
            ),
            (
                "healthy, full with three other seeds, too, and nothing is advised",
                part(&full, |own| own.changes.is_empty()),
            ),
            (
                "too short to tell, and nothing is advised",
                part(&short, |own| own.changes.is_empty()),
            ),
            ("more than 2 % below today", part(all, |own| own.shares[1] < 0.98 * own.shares[0])),
        ])
    }

    fn rows(all: &[Cure]) -> String {
        let mut out = String::from(
            "| case | cause | setting | today | advised | of the case without its break | changes |\n\
             |---|---|---|--:|--:|--:|---|\n",
        );
        for own in all {
            let Cure { name, cause, regained, .. } = own;
            let ([today, advised], changes) = (own.shares, own.changes.join(", "));
            let setting = if own.setting { "yes" } else { "no" };
            let _ = writeln!(
                out,
                "| {name} | {cause} | {setting} | {today:.3} | {advised:.3} | {regained:.2} | {changes} |"
            );
        }
        out
    }
}
