//! Problems of a scenario: the place, the expected value, and the probably intended one.

use std::fmt;

/// A problem. Everything needed to show it is inside; no file has to be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name of the kind of problem, see [`CODES`].
    pub code: &'static str,
    /// The problem, one sentence without a full stop.
    pub message: String,
    /// File as named by the caller, or "--set #1".
    pub file: String,
    /// Line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// Column in characters, from 1; 0 where the whole file is meant.
    pub column: usize,
    /// The line itself.
    pub source: String,
    /// Number of characters that the caret marks, at least 1.
    pub width: usize,
    /// Values that would be right.
    pub expected: Option<String>,
    /// Names close to the written one, nearest first.
    pub near: Vec<String>,
}

/// Every code with its meaning.
pub const CODES: &[(&str, &str)] = &[
    ("bad-encoding", "the file is not UTF-8 text"),
    ("bad-set", "a --set option is not of the form key=value"),
    ("bad-value", "a value that the key does not take"),
    ("cannot-read", "a file could not be read"),
    ("conflict", "two keys that exclude each other"),
    ("duplicate-name", "two things of one name"),
    ("missing-key", "a key without which the scenario has no meaning"),
    ("missing-unit", "a quantity without its unit"),
    ("not-exact", "a quantity finer than the model's resolution"),
    ("out-of-range", "a number beyond its bounds"),
    ("syntax", "not TOML"),
    ("too-large", "a number or a scenario too large to be represented"),
    ("unknown-key", "a key that does not exist"),
    ("unknown-name", "a name that does not exist"),
    ("unknown-unit", "a unit that does not exist, or not for this quantity"),
    ("wrong-type", "a value of another TOML type"),
];

/// Longest part of a source line that is shown.
const SHOWN: usize = 160;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "error[{}]: {}", self.code, self.message)?;
        let (file, line, column) = (&self.file, self.line, self.column);

        // Line 0 stands for the whole file.
        if line == 0 {
            writeln!(f, "{gutter}--> {file}")?;
        } else {
            writeln!(f, "{gutter}--> {file}:{line}:{column}")?;
            let (text, before, width) = self.window();
            writeln!(f, "{gutter} |")?;
            writeln!(f, "{number} | {text}")?;
            writeln!(f, "{gutter} | {}{}", " ".repeat(before), "^".repeat(width))?;
        }
        if let Some(expected) = &self.expected {
            writeln!(f, "{gutter} = expected: {expected}")?;
        }
        if !self.near.is_empty() {
            writeln!(f, "{gutter} = did you mean: {}", self.near.join(", "))?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// The part of the line to show, characters before the caret, and the caret's width.
    fn window(&self) -> (String, usize, usize) {
        let at = self.column.saturating_sub(1);

        // Long lines show the part around the problem.
        let from = at.saturating_sub(SHOWN / 2);
        let mut shown: Vec<char> = self
            .source
            .chars()
            .skip(from)
            .take(SHOWN)
            // Control characters would move the caret.
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let before = at - from;
        let room = shown.len().saturating_sub(before).max(1);
        let cut = self.source.chars().count() > from + shown.len();

        // Dots show where the line was cut.
        if from > 0 {
            shown.iter_mut().take(3).for_each(|c| *c = '.');
        }
        if cut {
            shown.iter_mut().rev().take(3).for_each(|c| *c = '.');
        }
        (shown.into_iter().collect(), before, self.width.clamp(1, room))
    }
}

/// All problems found, in the order of their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// At least one.
    pub items: Vec<Diagnostic>,
}

/// Problems that are written out; a file with more has one cause.
const WRITTEN_OUT: usize = 30;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, item) in self.items.iter().take(WRITTEN_OUT).enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            write!(f, "{item}")?;
        }

        // The count helps only where there are several.
        match self.items.len() {
            0 | 1 => Ok(()),
            n if n > WRITTEN_OUT => {
                writeln!(f, "\n{n} problems, the first {WRITTEN_OUT} are shown")
            }
            n => writeln!(f, "\n{n} problems"),
        }
    }
}

impl std::error::Error for Diagnostics {}
