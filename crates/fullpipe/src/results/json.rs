//! JSON documents as this program writes them: one key a line, but lists of numbers on one, for a summary has thousands of them.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Writes a document and a line end. Floats are written so that they read back equal.
///
/// # Errors
/// The error of `out`.
pub fn write(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut json = Serializer::with_formatter(out, Lines::default());
    value.serialize(&mut json)?;
    json.into_inner().write_all(b"\n")
}

/// Open objects and arrays around the place of writing.
#[derive(Default)]
struct Lines {
    /// Whether each open list and object has filled a line of its own: then its end is on an own line, too.
    open: Vec<bool>,
    /// Whether the next value is an element of a list: a list or an object begins on a new line.
    element: bool,
}

impl Lines {
    fn line<W: ?Sized + Write>(&mut self, out: &mut W, depth: usize) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..depth).try_for_each(|_| out.write_all(b"  "))
    }

    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.element) {
            if let Some(list) = self.open.last_mut() {
                *list = true;
            }
            self.line(out, self.open.len())?;
        }
        self.open.push(false);
        out.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        if self.open.pop() == Some(true) {
            self.line(out, self.open.len())?;
        }
        out.write_all(bracket)
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
        self.element = true;
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.element = false;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if let Some(object) = self.open.last_mut() {
            *object = true;
        }
        if !first {
            out.write_all(b",")?;
        }
        self.line(out, self.open.len())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.element = false;
        out.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::write;
    use serde_json::json;

    #[test]
    fn a_list_of_numbers_is_a_line_and_everything_else_has_its_own() {
        let value = json!({
            "empty": [[], {}],
            "lists": [[1, 2.5], []],
            "mixed": [1, {"a": null}, "x"],
            "numbers": [0.1, 20],
            "object": {},
        });
        let mut text = Vec::new();
        write(&mut text, &value).expect("memory");
        let expected = r#"{
  "empty": [
    [],
    {}
  ],
  "lists": [
    [1,2.5],
    []
  ],
  "mixed": [1,
    {
      "a": null
    },"x"
  ],
  "numbers": [0.1,20],
  "object": {}
}
"#;
        let text = String::from_utf8(text).expect("UTF-8");
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
