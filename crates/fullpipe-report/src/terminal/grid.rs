//! Columns of text: headings with units, numbers on the right, words on the left.

use super::names::{self, Name};

/// A column.
#[derive(Clone)]
pub struct Column {
    /// Contents of the column.
    pub label: &'static str,
    /// Unit of its numbers; empty for words and plain counts.
    pub unit: &'static str,
    /// Whether the column has words, on the left; numbers are on the right.
    pub words: bool,
}

/// A column of numbers.
pub const fn number(label: &'static str, unit: &'static str) -> Column {
    Column { label, unit, words: false }
}

/// A column of words.
pub const fn words(label: &'static str) -> Column {
    Column { label, unit: "", words: true }
}

/// Rows under their columns, with the columns' meaning.
pub struct Table {
    /// Heading above the table; may be empty.
    pub heading: String,
    /// The columns.
    pub columns: &'static [Column],
    /// The rows, all of them.
    pub rows: Vec<Vec<String>>,
    /// Meaning of the columns.
    pub about: &'static str,
}

/// Two lines of headings, and one line per row. Where the width asks for it, gaps shrink from two
/// spaces to one, and numbers lose their commas.
pub fn lay_out(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let widths = widths(columns, rows);
    let least = widths.iter().sum::<usize>() + widths.len();
    if least > width && rows.iter().flatten().any(|cell| is_grouped(cell)) {
        return lay_out(columns, &ungrouped(rows), width);
    }
    let gap = if least + widths.len() <= width { 2 } else { 1 };
    let heading = |part: fn(&Column) -> &'static str| {
        columns.iter().map(|c| part(c).to_string()).collect::<Vec<_>>()
    };
    let headings = [heading(|c| c.label), heading(|c| c.unit)];
    headings.iter().chain(rows).map(|row| self::line(columns, row, &widths, gap)).collect()
}

/// Lines of a table with these names in its first column, with variants shortened where lines would be too long.
pub fn fitted(
    columns: &[Column],
    mut rows: Vec<Vec<String>>,
    names: &[Name],
    width: usize,
) -> Vec<String> {
    let lines = lay_out(columns, &rows, width);

    // Names give way first: numbers cannot be shortened.
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let widest = rows.iter().filter_map(|row| row.first()).map(|name| name.chars().count()).max();
    let Some(room) = widest.and_then(|widest| (widest + width).checked_sub(longest)) else {
        return lines;
    };

    // The rows fit already.
    if longest <= width {
        return lines;
    }
    for (row, name) in rows.iter_mut().zip(names::fitted(names, room)) {
        if let Some(first) = row.first_mut().filter(|first| !first.is_empty()) {
            *first = name;
        }
    }
    lay_out(columns, &rows, width)
}

fn is_grouped(cell: &str) -> bool {
    cell.contains(',') && cell.chars().all(|c| c.is_ascii_digit() || ",.".contains(c))
}

fn ungrouped(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut rows = rows.to_vec();
    for cell in rows.iter_mut().flatten().filter(|cell| is_grouped(cell)) {
        *cell = cell.replace(',', "");
    }
    rows
}

fn widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for (n, column) in columns.iter().enumerate() {
        let heading = column.label.chars().count().max(column.unit.chars().count());
        let cells = rows.iter().filter_map(|row| row.get(n)).map(|text| text.chars().count());
        widths.push(cells.max().unwrap_or(0).max(heading));
    }
    widths
}

fn line(columns: &[Column], row: &[String], widths: &[usize], gap: usize) -> String {
    let mut out = String::new();
    for ((column, text), width) in columns.iter().zip(row).zip(widths) {
        out.push_str(&" ".repeat(gap));
        out += &match column.words {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        };
    }
    out.trim_end().to_string()
}

/// Units that stay in the line of their number.
const UNITS: &[&str] = &[
    "%", "s", "ms", "us", "ns", "b/s", "kb/s", "Mb/s", "Gb/s", "KiB/s", "bytes", "kB", "MB", "GB",
    "KiB", "MiB", "GiB",
];

/// Words of a text. A number and its unit are one.
pub fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        match words.last_mut() {
            Some(number)
                if UNITS.contains(&unit) && number.ends_with(|c: char| c.is_ascii_digit()) =>
            {
                *number += &format!(" {word}");
            }
            _ => words.push(word.into()),
        }
    }
    words
}

/// Breaks `text` at spaces into lines of at most `width`, each beginning with `indent`. A word longer
/// than that is cut, and a number stays with its unit.
pub fn wrap(text: &str, indent: &str, width: usize) -> Vec<String> {
    let room = width - indent.chars().count();
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in words_of(text) {
        for piece in pieces(&word, room) {
            let fits = current.chars().count() + 1 + piece.chars().count() <= room;
            if !current.is_empty() && !fits {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current += &piece;
        }
    }
    lines.push(current);
    lines.iter().map(|line| format!("{indent}{line}")).collect()
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(room).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let columns = [number("n", "s"), words("what")];
        let rows = vec![vec!["1".into(), "a".into()], vec!["100".into(), "bc".into()]];
        assert_eq!(lay_out(&columns, &rows, 80), ["    n  what", "    s", "    1  a", "  100  bc"]);
    }

    #[test]
    fn names_are_cut_where_a_line_is_too_long() {
        let columns = [words("name"), number("n", "")];
        let rows =
            || vec![vec!["a very long name".into(), "1".into()], vec!["b".into(), "22".into()]];
        let names = ["a very long name", "b"].map(|name| Name::new(name, &Map::new()));
        assert_eq!(fitted(&columns, rows(), &names, 40)[2], "  a very long name   1");
        let cut = fitted(&columns, rows(), &names, 14);
        assert_eq!(cut[2..], [" a ver…name  1", " b          22"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        let text = "connecting 0.5 %, and half of them within 25.3 ms.";
        assert_eq!(
            wrap(text, "", 16),
            ["connecting", "0.5 %, and half", "of them within", "25.3 ms."]
        );
    }

    #[test]
    fn gaps_shrink_before_a_line_gets_too_long() {
        let columns = [number("aaaa", ""), number("bbbb", "")];
        assert_eq!(lay_out(&columns, &[], 12)[0], "  aaaa  bbbb");
        assert_eq!(lay_out(&columns, &[], 11)[0], " aaaa bbbb");
    }

    #[test]
    fn numbers_lose_their_commas_where_one_space_is_too_much() {
        let columns = [number("n", ""), words("w")];
        let rows = vec![vec!["1,234,567.5".into(), "a,b".into()]];
        assert_eq!(lay_out(&columns, &rows, 16)[2], " 1,234,567.5 a,b");
        assert_eq!(lay_out(&columns, &rows, 15)[2], " 1234567.5 a,b");
    }

    #[test]
    fn text_breaks_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", "  ", 9), ["  one two", "  three"]);
        assert_eq!(wrap("abcdefgh", " ", 5), [" abcd", " efgh"]);
        assert_eq!(wrap("", "", 80), [""]);
    }
}
