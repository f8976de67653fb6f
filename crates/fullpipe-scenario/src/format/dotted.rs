//! Dotted keys with values: the changes of variants, sweeps and `--set`.

use super::context::{Context, Place};
use super::keys::{Kind, Read, wrong_type};
use super::node::{Node, Table, Value};
use toml_edit::Key;

/// A dotted key in its parts, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dotted {
    pub parts: Vec<String>,
    pub place: Place,
}

impl Dotted {
    /// Splits a dotted key; its parts may be quoted.
    pub fn parse(text: &str, place: Place, cx: &mut Context) -> Option<Dotted> {
        match Key::parse(text) {
            Ok(keys) => {
                Some(Dotted { parts: keys.iter().map(|k| k.get().to_string()).collect(), place })
            }
            Err(_) => {
                cx.error("bad-value", place, format!("\"{text}\" is not a dotted key"))
                    .expected("a key such as path.delay.forward");
                None
            }
        }
    }

    /// The parts with dots between them.
    pub fn text(&self) -> String {
        self.parts.join(".")
    }
}

/// Dotted keys, each with a value.
#[derive(Clone, Debug)]
pub struct Assignments(pub Vec<(Dotted, Node)>);

impl Read for Assignments {
    const KIND: Kind = Kind::Assignments;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        assignments(node, key, &Self::KIND, cx).map(Assignments)
    }
}

fn assignments(
    node: &Node,
    key: &str,
    kind: &Kind,
    cx: &mut Context,
) -> Option<Vec<(Dotted, Node)>> {
    let Value::Table(table) = &node.value else {
        wrong_type(node, key, kind, cx);
        return None;
    };
    let mut found = Vec::new();
    gather(table, &[], &mut found, cx)?;
    Some(found)
}

/// Follows tables that are the left part of a dotted key.
fn gather(
    table: &Table,
    before: &[String],
    found: &mut Vec<(Dotted, Node)>,
    cx: &mut Context,
) -> Option<()> {
    let mut whole = Some(());
    for entry in &table.entries {
        // Only the outermost key may be quoted with dots inside.
        let dotted = match before {
            [] => Dotted::parse(&entry.key, entry.place, cx),
            _ => Some(Dotted { parts: vec![entry.key.clone()], place: entry.place }),
        };
        let Some(dotted) = dotted else {
            whole = None;
            continue;
        };
        let parts = [before, &dotted.parts].concat();

        // A dotted table continues the key; a written table is its value.
        match &entry.node.value {
            Value::Table(inner) if inner.dotted => {
                whole = gather(inner, &parts, found, cx).and(whole);
            }
            _ => found.push((Dotted { parts, place: entry.place }, entry.node.clone())),
        }
    }
    whole
}
