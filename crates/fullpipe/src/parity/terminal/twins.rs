//! Text on whether a missed bar is chance: how far real Linux is from itself.

use super::judged::{bars, so_much};
use crate::parity::bars::Judged;
use crate::parity::spread::Spread;
use crate::parity::twin::{Chance, FEWEST, Rank, STEP};
use crate::report::terminal::Style;
use crate::report::terminal::grid::wrap;

/// The bars for Linux's own twins, then of each miss whether it may be chance; empty without twins.
pub fn twins(itself: &[Judged], chances: &[Chance], style: Style) -> String {
    if itself.is_empty() {
        return String::new();
    }
    let head =
        format!("Linux beside itself, where its way forward is {STEP} (20 m of fibre) longer:");
    let mut lines = vec![String::new(), head];
    lines.extend(bars(itself, style));

    // Bars of the twins stand even if nothing missed.
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
        let text = wrap(&describe(chance), "  ", style.columns()).into_iter();

        // A miss that chance does not explain is an error of the simulator.
        let bad = !chance.by_chance && !is_open(chance);
        lines.extend(text.map(|line| if bad { style.bad(&line) } else { line }));
    }

    // Twins repeat random draws, so they leave such runs open.
    if chances.iter().any(is_open) {
        let hint = format!(
            "open: random numbers decide in these runs, each engine draws its own, and twins of an engine draw the same; \
             fullpipe parity SCENARIO --seeds {FEWEST} tells chance from error there (--keep leaves the scenarios)"
        );
        lines.extend(wrap(&hint, "", style.columns()));
    }
    lines.join("\n") + "\n"
}

/// Whether twins decide nothing.
fn is_open(chance: &Chance) -> bool {
    !chance.by_chance && !chance.draws.is_empty()
}

/// "7, bic: chance; throughput 3.09 x, Linux itself 3.34 x, 12 of 20 as far; distributions 0.19 apart of 0.51".
fn describe(chance: &Chance) -> String {
    let verdict = match chance {
        chance if chance.by_chance => "chance".to_string(),
        chance if is_open(chance) => {
            format!("open, for {} draws random numbers", chance.draws.join(", "))
        }
        _ => "NOT chance".to_string(),
    };
    let ranks: Vec<String> = chance.ranks.iter().map(|rank| ranked(rank, chance.twins)).collect();

    // The distributions that differ most decide.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::bars::Bar;

    fn chance(by_chance: bool, draws: &[&str]) -> Chance {
        let rank = Rank { bar: Bar::Near, sim: 3.0, itself: 0.5, as_far: 0 };
        Chance {
            run: "my/base".into(),
            congestion: "reno".into(),
            twins: 20,
            ranks: vec![rank],
            spreads: Vec::new(),
            by_chance,
            draws: draws.iter().map(|name| name.to_string()).collect(),
        }
    }

    fn shown(chance: Chance) -> String {
        let (congestion, median_of_medians) = ("reno".to_string(), None);
        let judged = [Judged { congestion, runs: 1, median_of_medians, figures: Vec::new() }];
        let text = twins(&judged, &[chance], Style { width: 80, color: false });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn twins_leave_open_what_random_numbers_decide() {
        let ranked = "throughput 3.00 x, Linux itself 0.50 x, 0 of 20 as far";
        let plain = shown(chance(false, &[]));
        assert!(plain.contains(&format!("my/base, reno: NOT chance; {ranked}")), "{plain}");
        assert!(!plain.contains("--seeds"), "{plain}");
        let random = shown(chance(false, &["path.forward.link"]));
        assert!(!random.contains("NOT chance") && random.contains("--seeds 20"), "{random}");
        let open = "my/base, reno: open, for path.forward.link draws random numbers;";
        assert!(random.contains(open), "{random}");
        let by_chance = shown(chance(true, &["path.forward.link"]));
        assert!(by_chance.contains("my/base, reno: chance;"), "{by_chance}");
        assert!(!by_chance.contains("--seeds"), "{by_chance}");
    }
}
