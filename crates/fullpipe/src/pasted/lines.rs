//! Lines of a text that show a verdict.

use super::Named;
use serde::Serialize;

/// Characters of a line that are shown.
const LONGEST: usize = 160;

/// A line of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1 on.
    pub line: usize,
    /// Its words.
    pub text: String,
}

impl Quote {
    /// That line of a text.
    pub fn of(own: &Named, line: usize) -> Quote {
        let plain = line.checked_sub(1).and_then(|at| own.plain.lines().nth(at));
        let words: Vec<&str> = plain.unwrap_or_default().split_whitespace().collect();
        let mut text = words.join(" ");
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).chain(" ...".chars()).collect();
        }
        Quote { file: own.name.clone(), line, text }
    }
}
