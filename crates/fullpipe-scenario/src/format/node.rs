//! A TOML file as a tree in which everything knows its place in the text.
//!
//! Variants, sweep points and `--set` options replace parts of the tree. The new parts keep their own places, so that a
//! problem is shown where it was written.

use super::context::{Context, Place};
use serde_json::Value as Json;
use toml_edit::{Document, Item, TableLike, Value as TomlValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub place: Place,
    /// The text of a scalar for which no quotes of TOML were required (`--set`, defaults).
    pub bare: Option<String>,
    /// The key that was written, where this value stands for one of its keys.
    pub called: Option<String>,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    Integer(i64),
    /// The number as written.
    Float(String),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

/// A table; `dotted` where it is the left part of a dotted key.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
    pub dotted: bool,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub place: Place,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

impl Node {
    pub fn new(value: Value, place: Place) -> Node {
        Node { value, place, bare: None, called: None }
    }

    /// A scalar written without quotes: `true`, `12`, `0.5`, otherwise text.
    pub fn bare(text: &str, place: Place) -> Node {
        let value = if let Ok(b) = text.parse() {
            Value::Boolean(b)
        } else if let Ok(n) = text.parse() {
            Value::Integer(n)
        } else {
            Value::Text(text.into())
        };
        Node { value, place, bare: Some(text.into()), called: None }
    }

    /// TOML's name for the value's type, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    /// The text of a string, or of a scalar that needed no quotes.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::List(_) | Value::Table(_) => None,
            _ => self.bare.as_deref(),
        }
    }

    /// The value as JSON, for the document of a run.
    pub fn json(&self) -> Json {
        match &self.value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Integer(n) => Json::from(*n),
            Value::Float(text) => text.parse::<f64>().map_or(Json::Null, Json::from),
            Value::Boolean(b) => Json::from(*b),
            Value::Date => self.bare.clone().map_or(Json::Null, Json::from),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Table(table) => {
                Json::Object(table.entries.iter().map(|e| (e.key.clone(), e.node.json())).collect())
            }
        }
    }
}

/// Parses `text`, which `cx` knows as `source`. Reports syntax errors and returns none then.
pub fn parse(text: &str, source: u32, cx: &mut Context) -> Option<Node> {
    match Document::parse(text) {
        Ok(document) => {
            let maker = Maker { text, source };
            let place = Place { source, start: 0, end: 0 };
            Some(Node::new(Value::Table(maker.table(document.as_table(), false)), place))
        }
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let place = Place { source, start: span.start, end: span.end };
            syntax(error.message(), text, place, cx);
            None
        }
    }
}

/// Reports the TOML parser's message, or a clearer one for the most common mistakes.
fn syntax(message: &str, text: &str, place: Place, cx: &mut Context) {
    // Spaces around the place hide what stands there.
    let rest = text.get(place.start..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let before = text.get(..place.start).unwrap_or_default().trim_end_matches([' ', '\t']);

    // The parser joins problem and expectation in one sentence.
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));

    // The most common mistakes get clearer words than the parser's.
    let (code, what, expected) = match what {
        "recursion limit" => ("too-large", "keys are nested too deeply", "fewer levels"),
        _ if what.contains("overflowed") => {
            ("too-large", what, "a number that fits 64 bits; quantities are strings with a unit")
        }
        "duplicate key" => ("syntax", what, "each key once"),
        _ if before.ends_with('=') && (rest.is_empty() || rest.starts_with(['\n', '\r', '#'])) => {
            ("syntax", "there is no value after `=`", "a value such as 1, true or \"10ms\"")
        }
        _ if before.ends_with('=') && rest.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            ("syntax", "not a value of TOML", "quotes around it: quantities and names are strings")
        }
        _ if expected.is_empty() => ("syntax", what, "TOML"),
        _ => ("syntax", what, expected),
    };
    cx.error(code, place, what).expected(expected);
}

/// Makes nodes of one text.
struct Maker<'a> {
    text: &'a str,
    source: u32,
}

impl Maker<'_> {
    fn place(&self, span: Option<std::ops::Range<usize>>) -> Place {
        let span = span.unwrap_or(0..0);
        Place { source: self.source, start: span.start, end: span.end }
    }

    fn table(&self, table: &dyn TableLike, dotted: bool) -> Table {
        let entries = table.iter().filter_map(|(key, item)| {
            let place = self.place(table.key(key).and_then(|k| k.span()));
            Some(Entry { key: key.into(), place, node: self.item(item, place)? })
        });
        Table { entries: entries.collect(), dotted }
    }

    /// None for an empty item, which a parsed document does not contain.
    fn item(&self, item: &Item, key: Place) -> Option<Node> {
        Some(match item {
            Item::None => return None,
            Item::Value(value) => self.value(value),
            Item::Table(table) => {
                // An implicit table has no span: its key stands for it.
                let place = table.span().map_or(key, |span| self.place(Some(span)));
                Node::new(Value::Table(self.table(table, table.is_dotted())), place)
            }
            Item::ArrayOfTables(tables) => {
                let nodes = tables
                    .iter()
                    .map(|t| Node::new(Value::Table(self.table(t, false)), self.place(t.span())));
                Node::new(Value::List(nodes.collect()), key)
            }
        })
    }

    fn value(&self, value: &TomlValue) -> Node {
        let place = self.place(value.span());
        let value = match value {
            TomlValue::String(text) => Value::Text(text.value().clone()),
            TomlValue::Integer(n) => Value::Integer(*n.value()),
            TomlValue::Float(_) => {
                // Floats keep their text: 0.1 has no exact value.
                let written = self.text.get(place.start..place.end).unwrap_or_default();
                Value::Float(written.replace('_', ""))
            }
            TomlValue::Boolean(b) => Value::Boolean(*b.value()),
            TomlValue::Datetime(_) => Value::Date,
            TomlValue::Array(items) => Value::List(items.iter().map(|v| self.value(v)).collect()),
            TomlValue::InlineTable(table) => Value::Table(self.table(table, table.is_dotted())),
        };
        Node::new(value, place)
    }
}

/// The value in `text` at `place`: TOML, or else a string without quotes.
pub fn fragment(text: &str, place: Place) -> Node {
    // Option values reach here without quotes: "10ms" is no TOML.
    let trimmed = text.trim();
    let value = format!("v = {trimmed}");
    let bare = || Node::bare(trimmed, place);
    let Ok(document) = Document::parse(value.as_str()) else {
        return bare();
    };
    let maker = Maker { text: &value, source: place.source };
    let mut entries = maker.table(document.as_table(), false).entries;

    // Text with a line break could hold further keys: it is a string, then.
    match (entries.pop(), entries.is_empty()) {
        (Some(entry), true) if entry.key == "v" => {
            let scalar = !matches!(entry.node.value, Value::List(_) | Value::Table(_));
            let mut node = entry.node;
            move_to(&mut node, place);

            // A scalar keeps its text: the key may want a string.
            node.bare = scalar.then(|| trimmed.to_string());
            node
        }
        _ => bare(),
    }
}

/// Gives a node and everything in it one place.
fn move_to(node: &mut Node, place: Place) {
    node.place = place;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_to(item, place)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.place = place;
                move_to(&mut entry.node, place);
            }
        }
        _ => {}
    }
}
