//! What the terminal can show.

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
    pub(super) fn columns(self) -> usize {
        if self.wide() { WIDE } else { NARROW }
    }

    /// Whether there is room for more.
    pub(super) fn wide(self) -> bool {
        self.width >= WIDE
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint(text, "1")
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(text, "2")
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint(text, "32")
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint(text, "31")
    }

    fn paint(self, text: &str, code: &str) -> String {
        match self.color {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
