//! Files of lines that an element names, relative to the scenario.

use super::Whole;
use crate::format::context::{Context, Place};
use crate::format::keys::At;

/// The text of the file `at` names, and the number by which places refer to it.
pub(super) fn read(at: &At<String>, whole: &Whole, cx: &mut Context) -> Option<(String, u32)> {
    let (name, bytes) = match whole.source.beside(&at.value) {
        Ok(found) => found,
        Err(why) => {
            cx.error("cannot-read", at.place, format!("cannot read \"{}\": {why}", at.value))
                .expected("a file beside the scenario");
            return None;
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => {
            // The text becomes a source of its own, so that errors point into it.
            let source = cx.add(&name, &text);
            Some((text, source))
        }
        Err(_) => {
            cx.error("bad-encoding", at.place, format!("\"{}\" is not UTF-8", at.value))
                .expected("a text file");
            None
        }
    }
}

/// The lines of a text with their places; empty ones and comments are passed over.
pub(super) struct Lines<'a> {
    rest: &'a str,
    source: u32,
    start: usize,
}

impl Lines<'_> {
    pub(super) fn of(text: &str, source: u32) -> Lines<'_> {
        Lines { rest: text, source, start: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (&'a str, Place);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            // A last line may lack its end.
            let length = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
            let (line, rest) = self.rest.split_at(length);

            // The place begins behind the indent.
            let start = self.start + (line.len() - line.trim_start().len());
            self.rest = rest;
            self.start += length;
            let line = line.trim();

            // Empty lines and comments are skipped.
            if !line.is_empty() && !line.starts_with('#') {
                let place = Place { source: self.source, start, end: start + line.len() };
                return Some((line, place));
            }
        }
        None
    }
}
