//! docs/theory.md: one section per test, each between marks of its own.

use crate::marked;
use std::fmt::Write;

/// A row: what it is, what theory says, what was simulated.
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

/// Compares the section's table with the page (or rewrites it), and each row with the tolerance.
pub fn check(section: &str, unit: &str, tolerance: f64, rows: &[Row]) {
    let mut table =
        format!("| | theory, {unit} | simulated, {unit} | difference |\n|---|--:|--:|--:|\n");
    for Row { what, predicted, simulated } in rows {
        let off = (simulated / predicted - 1.0) * 100.0;
        let _ = writeln!(table, "| {what} | {predicted:.2} | {simulated:.2} | {off:+.1} % |");
    }
    for row in rows {
        assert!(row.error().abs() <= tolerance, "{section}, {}: off by more\n{table}", row.what);
    }
    marked::committed("docs/theory.md", section, &table);
}
