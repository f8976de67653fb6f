//! Collects problems while a scenario is read, and turns places into lines and columns at the end.

use super::diagnostic::{Diagnostic, Diagnostics};

/// A range of bytes in one of the texts that a [`Context`] knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub source: u32,
    pub start: usize,
    pub end: usize,
}

/// A problem without its text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    place: Place,
    code: &'static str,
    message: String,
    expected: Option<String>,
    near: Vec<String>,
}

impl Problem {
    /// Adds the values that would be right.
    pub fn expected(&mut self, what: impl Into<String>) -> &mut Problem {
        self.expected = Some(what.into());
        self
    }

    /// Offers these values instead of names near the written one.
    pub fn meant(&mut self, values: Vec<String>) -> &mut Problem {
        self.near = values;
        self
    }

    /// Offers the names near `written` among `known`, and all of them as expected ones; for a former name its present
    /// one.
    pub fn names<'a>(
        &mut self,
        written: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> &mut Problem {
        let known: Vec<&str> = known.into_iter().collect();
        if let Some(present) = super::renamed::present(written, &known) {
            self.near = vec![present.into()];
            self.expected = Some(format!("`{present}`, the new name of `{written}`"));
            return self;
        }
        let near = super::near::names(written, known.iter().copied());
        self.near = near.into_iter().map(str::to_string).collect();
        // Where one name looks like a number, all show that they are text.
        let is_number = known.iter().any(|name| name.parse::<f64>().is_ok());
        let quoted: Vec<String> = match is_number {
            true => known.iter().map(|name| format!("\"{name}\"")).collect(),
            false => known.iter().map(|name| quoted(name)).collect(),
        };
        self.expected = Some(one_of(&quoted.iter().map(String::as_str).collect::<Vec<_>>()));
        self
    }
}

/// A name as it can be read in a list: in quotes where it has a comma or a space of its own.
fn quoted(name: &str) -> String {
    if name.contains([',', ' ']) { format!("\"{name}\"") } else { name.into() }
}

/// Longest list of names that is written out.
const LISTED: usize = 24;

/// "one of a, b, c".
pub fn one_of(known: &[&str]) -> String {
    match known {
        [] => "nothing: there are none".into(),
        [only] => (*only).into(),
        many if many.len() > LISTED => {
            format!("one of {}, ... ({} in all)", many[..LISTED].join(", "), many.len())
        }
        many => format!("one of {}", many.join(", ")),
    }
}

/// A text with its name and the beginnings of its lines, by which lines are found without reading it again.
#[derive(Debug)]
struct Text {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

/// A byte of a text: line and column from 1 on, and the line's first byte.
struct Position {
    line: usize,
    column: usize,
    line_start: usize,
}

impl Text {
    fn new(name: &str, text: &str) -> Text {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(after_breaks).collect();
        Text { name: name.into(), text: text.into(), line_starts }
    }

    /// Line and column of a byte that begins a character.
    fn position(&self, at: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let line_start = self.line_starts[line - 1];
        Position { line, column: self.text[line_start..at].chars().count() + 1, line_start }
    }
}

/// The texts, and their problems.
#[derive(Debug, Default)]
pub struct Context {
    texts: Vec<Text>,
    problems: Vec<Problem>,
    reports: usize,
}

/// Problems kept; a file with more is not a scenario.
const KEPT: usize = 1000;

impl Context {
    /// Adds a text; places refer to it by the number returned. One that is known keeps its number.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        let is_known = |own: &Text| own.name == name && own.text == text;
        if let Some(known) = self.texts.iter().position(is_known) {
            return known as u32;
        }
        self.texts.push(Text::new(name, text));
        self.texts.len() as u32 - 1
    }

    /// Reports a problem; the same one is kept once.
    pub fn error(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.reports += 1;
        let message = message.into();

        // The same problem may show in each variant and at each point.
        let at = match self
            .problems
            .iter()
            .position(|p| p.place == place && p.code == code && p.message == message)
        {
            Some(at) => at,
            None => {
                // More problems than are shown are counted, and not kept.
                self.problems.truncate(KEPT);
                self.problems.push(Problem { place, code, message, expected: None, near: vec![] });
                self.problems.len() - 1
            }
        };
        &mut self.problems[at]
    }

    /// Number of reports, repeated ones included.
    pub fn reports(&self) -> usize {
        self.reports
    }

    /// Number of problems.
    pub fn count(&self) -> usize {
        self.problems.len()
    }

    /// `value`, or everything that is wrong.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Diagnostics> {
        self.problems.sort_by_key(|p| p.place);
        let items = self.problems.iter().map(|p| self.locate(p)).collect::<Vec<_>>();
        match value {
            Some(value) if items.is_empty() => Ok(value),
            _ => Err(Diagnostics { items }),
        }
    }

    /// A place as it is shown: "my.toml:12:3".
    pub fn shown(&self, place: Place) -> String {
        let text = &self.texts[place.source as usize];
        let Position { line, column, .. } = text.position(floor(&text.text, place.start));
        format!("{}:{line}:{column}", text.name)
    }

    fn locate(&self, problem: &Problem) -> Diagnostic {
        let Place { source, start, end } = problem.place;
        let of_file = &self.texts[source as usize];
        let text = &of_file.text;

        // Offsets come from parsers: they may lie inside a character.
        let start = floor(text, start);
        let Position { line, column, line_start } = of_file.position(start);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);

        // The caret stays within the line, however long the value is.
        let end = floor(text, end.clamp(start, to));
        Diagnostic {
            code: problem.code,
            message: problem.message.clone(),
            file: of_file.name.clone(),
            line,
            column,
            source: text[line_start..to].trim_end_matches('\r').to_string(),
            width: text[start..end].chars().count().max(1),
            expected: problem.expected.clone(),
            near: problem.near.clone(),
        }
    }
}

/// The largest character boundary of `text` up to `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
