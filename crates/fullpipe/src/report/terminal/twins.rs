//! Whether what misses a bar is chance: genuine Linux beside itself.

use super::Style;
use super::grid::wrap;
use super::parity::{bars, so_much};
use crate::parity::bars::Judged;
use crate::parity::spread::Spread;
use crate::parity::twin::{Chance, Rank, STEP};

/// The bars for Linux's own twins, then of each miss whether it may be chance; empty without twins.
pub fn twins(itself: &[Judged], chances: &[Chance], style: Style) -> String {
    if itself.is_empty() {
        return String::new();
    }
    let head =
        format!("Linux beside itself, where its way forward is {STEP} (20 m of fibre) longer:");
    let mut lines = vec![String::new(), head];
    lines.extend(bars(itself, style));
    if !chances.is_empty() {
        let by_chance = chances.iter().filter(|chance| chance.by_chance).count();
        let head = format!(
            "chance or error: {by_chance} of {} that miss may be chance (over {} such ways, Linux is as far from \
             itself, and both are distributed alike)",
            chances.len(),
            chances[0].twins
        );
        lines.push(String::new());
        lines.extend(wrap(&head, "", style.columns()));
    }
    for chance in chances {
        lines.extend(
            wrap(&told(chance), "  ", style.columns())
                .into_iter()
                .map(|line| if chance.by_chance { line } else { style.bad(&line) }),
        );
    }
    lines.join("\n") + "\n"
}

/// "7, bic: chance; throughput 3.09 x, Linux itself 3.34 x, 12 of 20 as far; distributions 0.19 apart of 0.51".
fn told(chance: &Chance) -> String {
    let verdict = if chance.by_chance { "chance" } else { "NOT chance" };
    let ranks: Vec<String> = chance.ranks.iter().map(|rank| ranked(rank, chance.twins)).collect();
    let furthest = chance.spreads.iter().max_by(|a, b| a.apart.total_cmp(&b.apart));
    let spread = furthest.map_or(String::new(), |spread: &Spread| {
        format!("; distributions {:.2} apart, {:.2} allowed", spread.apart, spread.allowed)
    });
    format!("{}, {}: {verdict}; {}{spread}", chance.run, chance.congestion, ranks.join("; "))
}

fn ranked(rank: &Rank, twins: usize) -> String {
    let itself = match rank.itself.is_finite() {
        true => format!("{:.2} x", rank.itself),
        false => "on one side only".into(),
    };
    format!(
        "{}, Linux itself {itself}, {} of {twins} as far",
        so_much(rank.bar, rank.sim),
        rank.as_far
    )
}
