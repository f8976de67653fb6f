//! Lines of a text without what mail programs, terminals and forums add.

/// A line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number, from 1 on.
    pub number: usize,
    /// Its characters, with blanks at its beginning and without those at its end.
    pub text: String,
}

impl Line {
    /// Whether it begins with a blank.
    pub fn is_indented(&self) -> bool {
        self.text.starts_with([' ', '\t'])
    }

    /// Its words.
    pub fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }
}

/// The lines of a text, without quotes and colours.
pub fn clean(text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| Line { number: at + 1, text: plain(line) }).collect()
}

fn plain(line: &str) -> String {
    let without = colourless(line);
    let mut rest = without.as_str();

    // A quote of a quote has several marks, with blanks between them.
    while let Some(inner) = rest.trim_start().strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    short_numbers(&rest.replace('\u{a0}', " ")).trim_end().to_string()
}

/// Most digits of a number: no tool prints more that count, and sums of such numbers do not overflow.
const MOST_DIGITS: usize = 15;

/// The line with no more digits in a row than that. A longer number is a damaged one.
fn short_numbers(line: &str) -> String {
    let mut digits = 0;
    let keeps = |letter: &char| {
        digits = if letter.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= MOST_DIGITS
    };
    line.chars().filter(keeps).collect()
}

/// Smallest number that is too large: it is a damaged one, as are those with too many digits.
const TOO_LARGE: f64 = 1e15;

/// A number of a text: none where it is negative or damaged.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().and_then(bounded)
}

/// The number, where it is one that a tool prints.
pub fn bounded(number: f64) -> Option<f64> {
    (0.0..TOO_LARGE).contains(&number).then_some(number)
}

/// The line without escape sequences of terminals (ECMA-48, CSI).
fn colourless(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        if letters.next() == Some('[') {
            // A letter ends a sequence.
            letters.by_ref().find(|own| ('@'..='~').contains(own));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_colours_are_gone_and_indents_stay() {
        let text =
            "> > ESTAB 0\r\n>> \tcubic rtt:1\n\u{1b}[1;32mroot@a\u{1b}[0m:~# ss\n>\nplain \n";
        let lines = clean(text);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["ESTAB 0", "\tcubic rtt:1", "root@a:~# ss", "", "plain"]);
        assert_eq!(lines[4].number, 5);
        assert!(lines[1].is_indented());
        assert_eq!(clean("\u{1b}[").len(), 1);
        assert_eq!(clean("a 18446744073709551615 b")[0].text, "a 184467440737095 b");
    }
}
