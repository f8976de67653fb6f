//! Rows as lines of a table that fits a width.

use super::columns::{Column, Shown, shown_columns};
use super::rows::Row;

/// Least and most width of the ends of a connection.
const ENDS: usize = 20;
const LONGEST: usize = 47;
/// Width of the limit.
const LIMIT: usize = 18;
/// Width by which the course of the rate grows at most.
const MORE: usize = 40;
/// Width of the process.
const PROCESS: usize = 15;

/// Columns that fit a width.
pub struct Layout {
    columns: Vec<(&'static Column, &'static Shown)>,
    ends: usize,
    process: usize,
    /// Width for the course of the rate.
    pub spark: usize,
}

impl Layout {
    /// The columns of a screen of that width; `spark`: width for the course of the rate, which grows where there is room.
    pub fn new(width: usize, spark: usize) -> Layout {
        let columns: Vec<(&Column, &Shown)> = shown_columns()
            .filter_map(|own| Some((own, own.shown.as_ref().filter(|own| own.from <= width)?)))
            .collect();
        let numbers: usize = columns.iter().map(|own| own.1.width + 1).sum();
        let gap = |width: usize| if width > 0 { width + 1 } else { 0 };
        let left = width.saturating_sub(numbers + gap(LIMIT) + gap(spark));
        let ends = left.clamp(ENDS, LONGEST);
        let left = left.saturating_sub(ends);
        let process = if left > PROCESS { PROCESS } else { 0 };
        let more = if spark > 0 { left.saturating_sub(gap(process)).min(MORE) } else { 0 };
        Layout { columns, ends, process, spark: spark + more }
    }

    /// Headings.
    pub fn heading(&self) -> String {
        let names = self.columns.iter().map(|own| own.1.heading.to_string());
        self.line("connection", names, "limit", "process")
    }

    /// A row.
    pub fn row(&self, row: &Row) -> String {
        let values = self.columns.iter().map(|(column, shown)| shown.text((column.value)(row)));
        self.line(&row.ends(self.ends), values, row.limit(), row.process())
    }

    /// Cells at their places, each cut to its width.
    fn line(
        &self,
        ends: &str,
        numbers: impl Iterator<Item = String>,
        limit: &str,
        process: &str,
    ) -> String {
        let mut line = padded(ends, self.ends);
        for (text, (_, shown)) in numbers.zip(&self.columns) {
            line += &format!(" {text:>width$}", width = shown.width);
        }
        line += &format!(" {}", padded(limit, LIMIT));
        if self.process > 0 {
            line += &format!(" {}", padded(process, self.process));
        }
        line
    }
}

/// A text of exactly that width.
fn padded(text: &str, width: usize) -> String {
    let cut: String = text.chars().take(width).collect();
    format!("{cut:<width$}")
}
