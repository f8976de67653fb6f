//! Abilities of the terminal.

/// Narrowest width that is laid out for.
const NARROW: usize = 80;
/// Width from which tables say more.
const WIDE: usize = 120;

/// Width and colour of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; less than 80 counts as 80.
    pub width: usize,
    /// Whether escape sequences for colour are written.
    pub color: bool,
}

impl Style {
    /// Columns to fill: 80 or 120.
    pub fn columns(self) -> usize {
        if self.wide() { WIDE } else { NARROW }
    }

    /// Whether there is room for more.
    pub fn wide(self) -> bool {
        self.width >= WIDE
    }

    /// The text in bold, where colour is on.
    pub fn bold(self, text: &str) -> String {
        self.paint(text, "1")
    }

    /// The text in faint letters, where colour is on.
    pub fn faint(self, text: &str) -> String {
        self.paint(text, "2")
    }

    /// The text in green, where colour is on.
    pub fn good(self, text: &str) -> String {
        self.paint(text, "32")
    }

    /// The text in red, where colour is on.
    pub fn bad(self, text: &str) -> String {
        self.paint(text, "31")
    }

    fn paint(self, text: &str, code: &str) -> String {
        match self.color {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
