//! Description of a table, before it is laid out.

/// A table: its title, its columns with units, its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name; equal for the tables of one kind.
    pub name: &'static str,
    /// Index of the run it is about; none when it covers all.
    pub run: Option<usize>,
    /// Heading.
    pub title: String,
    /// The finding in a few words, with numbers and units; may be empty.
    pub finding: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// A column's heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Contents of the column.
    pub label: &'static str,
    /// Unit of its numbers; empty for words.
    pub unit: &'static str,
}

/// A column from its label and unit.
pub(super) const fn column(label: &'static str, unit: &'static str) -> Column {
    Column { label, unit }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number in the column's unit.
    Count(u64),
    /// A number in the column's unit.
    Number {
        /// The number.
        value: f64,
        /// Decimals to show.
        decimals: usize,
    },
    /// A relative difference: 0.01 is 1 % more.
    Difference(f64),
    /// A judgement in words.
    Verdict {
        /// Whether it is as it should be.
        good: bool,
        /// The words.
        text: String,
    },
    /// No value, and that is no fault.
    Absent,
}

impl Cell {
    /// Words.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number with decimals; [`Cell::Absent`] when there is none.
    pub(super) fn number(value: Option<f64>, decimals: usize) -> Self {
        value.map_or(Self::Absent, |value| Self::Number { value, decimals })
    }
}
