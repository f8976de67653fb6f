//! The document of `cells.json`, written while cells are made. Each cell is a line.

use crate::sweep::Merged;
use crate::sweep::cells::{Cell, each};
use crate::sweep::competition::Company;
use crate::sweep::manifest::Axis;
use crate::sweep::versus::Judged;
use crate::trace::Error;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::cell::RefCell;
use std::io::{self, Write};

/// Version of the format.
const FORMAT: u32 = 1;

/// The document `cells.json` while it is written.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    format: u32,
    name: &'a str,
    title: &'a str,
    engine: &'a str,
    axes: &'a [Axis],
    runs: u64,
    failed: u64,
    missing: u64,
    cells: Cells<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    competition: &'a [Company],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    versus: &'a [Judged],
}

/// The function that sees each cell.
type See<'a> = &'a mut dyn FnMut(&Cell);

/// The cells, made when they are written.
struct Cells<'a> {
    merged: &'a Merged,
    see: RefCell<See<'a>>,
}

impl<'a> Document<'a> {
    pub fn new(
        merged: &'a Merged,
        see: See<'a>,
        competition: &'a [Company],
        versus: &'a [Judged],
    ) -> Document<'a> {
        let manifest = &merged.manifest;
        Document {
            format: FORMAT,
            name: &manifest.name,
            title: &manifest.title,
            engine: &manifest.engine,
            axes: &manifest.axes,
            runs: merged.runs() - merged.failed(),
            failed: merged.failed(),
            missing: merged.missing(),
            cells: Cells { merged, see: RefCell::new(see) },
            competition,
            versus,
        }
    }

    pub fn write(&self, out: &mut impl Write) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Serializer::with_formatter(out, Lines::default());
        self.serialize(&mut json)?;
        json.into_inner().write_all(b"\n").map_err(serde_json::Error::io)
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Cells are written one by one: all together may exceed the memory.
        let mut list = serializer.serialize_seq(None)?;
        let mut see = self.see.borrow_mut();
        let mut wrong = None;
        let written = each(self.merged, |cell| {
            see(&cell);

            // The error of the serializer is kept: the reader knows only its own kind.
            list.serialize_element(&cell).map_err(|e| {
                wrong = Some(e);
                Error::new(std::path::Path::new(super::CELLS), "cannot be written")
            })
        });
        wrong.map_or(Ok(()), Err)?;
        written.map_err(S::Error::custom)?;
        list.end()
    }
}

/// A line for each key of the document, and for each element of its lists.
#[derive(Default)]
struct Lines {
    depth: usize,
}

/// Depth of the document's keys.
const KEYS: usize = 1;
/// Depth of the elements of lists in it.
const ELEMENTS: usize = 2;

impl Lines {
    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        out.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < KEYS {
            out.write_all(b"\n")?;
        }
        out.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&self, out: &mut W, first: bool, own: usize) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth == own { out.write_all(b"\n") } else { Ok(()) }
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first, ELEMENTS)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first, KEYS)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use serde::Serialize;
    use serde_json::{Serializer, Value, json};

    #[test]
    fn an_element_is_a_line() {
        let value = json!({
            "format": 1,
            "axes": [{ "name": "a", "points": [[1], [2]] }],
            "cells": [{ "at": { "a": 1 } }, { "at": { "a": 2 } }],
            "none": [],
        });
        let mut text = Vec::new();
        let mut json = Serializer::with_formatter(&mut text, Lines::default());
        value.serialize(&mut json).expect("memory");
        let text = String::from_utf8(text).expect("UTF-8");
        let expected = r#"{
"format":1,
"axes":[
{"name":"a","points":[[1],[2]]}],
"cells":[
{"at":{"a":1}},
{"at":{"a":2}}],
"none":[]
}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
