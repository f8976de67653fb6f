//! docs/theory.md: one section per test, each between marks of its own.

use crate::marked;
use std::fmt::Write;

/// A row: its name, the prediction, the simulated value.
pub struct Row {
    pub what: String,
    pub predicted: f64,
    pub simulated: f64,
}

impl Row {
    pub fn error(&self) -> f64 {
        self.simulated / self.predicted - 1.0
    }
}

/// Compares the section's rows with the page (or rewrites it), and each row with the tolerance.
pub fn check(section: &str, unit: &str, tolerance: f64, rows: &[Row]) {
    let tolerances: Vec<f64> = rows.iter().map(|row| tolerance * row.predicted).collect();
    check_by(section, unit, rows, &tolerances);
}

/// Compares the section's rows with the page (or rewrites it), with a tolerance in units for each row.
pub fn check_by(section: &str, unit: &str, rows: &[Row], tolerances: &[f64]) {
    let mut table =
        format!("| | theory, {unit} | simulated, {unit} | difference |\n|---|--:|--:|--:|\n");
    for Row { what, predicted, simulated } in rows {
        let off = (simulated / predicted - 1.0) * 100.0;
        let _ = writeln!(table, "| {what} | {predicted:.2} | {simulated:.2} | {off:+.1} % |");
    }
    for (row, tolerance) in rows.iter().zip(tolerances) {
        let off = (row.simulated - row.predicted).abs();
        assert!(off <= *tolerance, "{section}, {}: off by more\n{table}", row.what);
    }
    marked::sampled("docs/theory.md", section, &table);
}

/// A row: its name, the prediction, the range that the theory gives for the result, the simulated value.
pub struct Range {
    pub what: String,
    pub theory: f64,
    pub between: [f64; 2],
    pub simulated: f64,
}

/// As [`check`], for ranges; the tolerance is beyond their ends.
pub fn check_within(section: &str, unit: &str, tolerance: f64, rows: &[Range]) {
    let mut table = format!(
        "| | theory, {unit} | at rest between, {unit} | simulated, {unit} |\n|---|--:|--:|--:|\n"
    );
    for Range { what, theory, between: [low, high], simulated } in rows {
        let _ =
            writeln!(table, "| {what} | {theory:.2} | {low:.2} and {high:.2} | {simulated:.2} |");
    }
    for Range { what, between: [low, high], simulated, .. } in rows {
        let within = low * (1.0 - tolerance)..=high * (1.0 + tolerance);
        assert!(within.contains(simulated), "{section}, {what}: off by more\n{table}");
    }
    marked::sampled("docs/theory.md", section, &table);
}
