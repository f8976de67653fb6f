//! Distributions of results over seeds on two engines.

use crate::numbers::ABSENT;
use crate::parity::spread::Spread;
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, lay_out, number, words};

const COLUMNS: [Column; 6] = [
    words("run, over its seeds"),
    words("what"),
    number("Linux", "10 % – 50 % – 90 %"),
    number("simulator", "10 % – 50 % – 90 %"),
    number("apart", "KS"),
    words(""),
];
const WIDE: usize = 120;

/// A line per quantity, with its run on the same line where there is room, else above it.
pub fn spreads(spreads: &[Spread], style: Style) -> String {
    let narrow = style.width < WIDE;
    let mut lines = Vec::new();
    let mut last = String::new();
    let columns = if narrow { &COLUMNS[1..] } else { &COLUMNS[..] };
    let rows: Vec<Vec<String>> = spreads.iter().map(|s| row(s, narrow)).collect();
    let mut laid = lay_out(columns, &rows, style.columns()).into_iter();
    lines.extend(laid.by_ref().take(2).map(|line| style.faint(&line)));

    // On narrow terminals rows of one run share its name.
    for (spread, line) in spreads.iter().zip(laid) {
        let name = name(spread);
        if narrow && name != last {
            lines.push(style.bold(&name));
            last = name;
        }
        lines.push(if spread.met { line } else { style.bad(&line) });
    }
    lines.join("\n") + "\n"
}

fn name(spread: &Spread) -> String {
    format!("{}, {}, {} seeds", spread.run, spread.congestion, spread.seeds)
}

fn row(spread: &Spread, narrow: bool) -> Vec<String> {
    // Counts are whole; other values show three digits or so.
    let value = |value: f64| match value {
        value if !value.is_finite() => ABSENT.to_string(),
        value if value.fract() == 0.0 => format!("{value:.0}"),
        value if value >= 100.0 => format!("{value:.1}"),
        value if value >= 10.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    };
    let band = |side: usize| {
        [spread.low, spread.median, spread.high].map(|pair| value(pair[side])).join(" – ")
    };
    let met = match spread.met {
        // So few seeds can never show a difference.
        _ if spread.allowed >= 1.0 => "too few",
        true => "alike",
        false => "OVER",
    };
    let what = spread.quantity.says().to_string();
    let mut cells = vec![what, band(0), band(1), format!("{:.2}", spread.apart), met.to_string()];
    if !narrow {
        cells.insert(0, name(spread));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::spread::Quantity;

    #[test]
    fn distributions_fit_the_width() {
        let spread = |quantity, met| Spread {
            run: "my/base".into(),
            congestion: "reno".into(),
            quantity,
            seeds: 20,
            low: [10.5, 10.25],
            median: [12.0, 13.0],
            high: [f64::INFINITY, 14.0],
            apart: if met { 0.2 } else { 0.7 },
            allowed: 0.515,
            met,
        };
        let all = [spread(Quantity::AckedMb, true), spread(Quantity::Retransmitted, false)];
        let text = spreads(&all, Style { width: 80, color: false });
        assert_eq!(
            text,
            "  what                           Linux           simulator  apart
                    10 % – 50 % – 90 %  10 % – 50 % – 90 %     KS
my/base, reno, 20 seeds
  acknowledged, MB      10.50 – 12 – –     10.25 – 13 – 14   0.20  alike
  sent again            10.50 – 12 – –     10.25 – 13 – 14   0.70  OVER
"
        );
        let wide = spreads(&all, Style { width: 120, color: false });
        assert!(wide.contains("  my/base, reno, 20 seeds  acknowledged, MB"), "{wide}");
    }
}
