//! Puts a value at a dotted key of the tree, and refuses keys that do not exist.

use super::context::Context;
use super::dotted::Dotted;
use super::keys::{Group, Kind};
use super::node::{Entry, Node, Table, Value};
use super::special::lengthen;
use super::sysctl::flatten;

/// Sets `key` in `root`, a table described by `group`. Reports errors at the key.
pub fn set(root: &mut Node, group: &Group, key: &Dotted, value: &Node, cx: &mut Context) {
    let mut setter = Setter { key, value, cx };
    setter.table(root, group, 0);
}

struct Setter<'a> {
    key: &'a Dotted,
    value: &'a Node,
    cx: &'a mut Context,
}

impl Setter<'_> {
    /// The value at `depth` parts of the key.
    fn step(&mut self, node: &mut Node, kind: &Kind, depth: usize) {
        if depth == self.key.parts.len() {
            *node = self.value.clone();
            return;
        }

        // Each kind says which keys may follow.
        match *kind {
            Kind::Table(group) => self.table(node, group, depth),
            // A short value becomes a table, so that one key of it can change.
            Kind::Short { group, short } => {
                lengthen(node, short, short);
                self.table(node, group, depth);
            }
            Kind::Congestion | Kind::SlowStart => {
                lengthen(node, "name", "name");
                self.leaf(node, depth);
            }
            Kind::Behaviour | Kind::Sysctl | Kind::Sockopt => self.leaf(node, depth),
            Kind::Named(group) => {
                if let Some(item) = self.item(node, depth) {
                    self.inside(item, group, depth);
                }
            }
            Kind::Elements(groups) => {
                if let Some(item) = self.item(node, depth)
                    && let Some(group) = element_group(item, groups)
                {
                    self.inside(item, group, depth);
                }
            }
            // Plain values end a key.
            _ => {
                let (before, key) = (self.before(depth), self.key.text());
                self.cx
                    .error("unknown-key", self.key.place, format!("`{key}` does not exist"))
                    .expected(format!("`{before}`, which has no keys of its own"));
            }
        }
    }

    /// A key of a table that the scenario may have left out.
    fn table(&mut self, node: &mut Node, group: &Group, depth: usize) {
        let Some(part) = self.key.parts.get(depth) else {
            return;
        };
        let Some(key) = group.keys.iter().find(|key| key.name == *part) else {
            return self.unknown(depth, group.keys.iter().map(|key| key.name));
        };

        // A list has names: one of its items must be meant.
        if depth + 1 == self.key.parts.len() && matches!(key.kind, Kind::Named(_)) {
            let message =
                format!("`{}` is a list, which cannot be set as a whole", self.key.text());
            self.cx
                .error("unknown-key", self.key.place, message)
                .expected(format!("{}.NAME.KEY", self.key.text()));
            return;
        }

        // Tables that the scenario left out are made on the way.
        let empty = Node::new(Value::Table(Table::default()), self.key.place);
        if let Some(entry) = entry(node, part, &empty) {
            self.step(&mut entry.node, &key.kind, depth + 1);
        }
    }

    /// Keys of an item of a list, or the message that the item cannot be set as a whole.
    fn inside(&mut self, item: &mut Node, group: &Group, depth: usize) {
        if depth + 1 < self.key.parts.len() {
            return self.table(item, group, depth + 1);
        }
        let key = self.key.text();
        self.cx
            .error("unknown-key", self.key.place, format!("`{key}` cannot be set as a whole"))
            .expected(format!("one of its keys, such as {key}.{}", group.keys[1].name));
    }

    /// The item of that name in an array of tables.
    fn item<'n>(&mut self, node: &'n mut Node, depth: usize) -> Option<&'n mut Node> {
        let items = match &mut node.value {
            Value::List(items) => items,
            Value::Table(table) if table.entries.is_empty() => return self.missing(depth, &[]),
            _ => return None,
        };
        let names: Vec<String> = items.iter().map(|item| name(item).to_string()).collect();
        match names.iter().position(|name| *name == self.key.parts[depth]) {
            Some(at) => items.get_mut(at),
            None => self.missing(depth, &names),
        }
    }

    fn missing<'n>(&mut self, depth: usize, names: &[String]) -> Option<&'n mut Node> {
        self.unknown(depth, names.iter().map(String::as_str));
        None
    }

    /// Sets the rest of the key, joined, in a table that may hold anything.
    fn leaf(&mut self, node: &mut Node, depth: usize) {
        let Value::Table(table) = &mut node.value else {
            return;
        };

        // The rest of the key may be written with dots or as nested tables.
        let rest = self.key.parts[depth..].join(".");
        let leaves = flatten(table, "");
        let mut entries: Vec<Entry> = leaves
            .into_iter()
            // The old value goes, however it was written.
            .filter(|(key, _, _)| *key != rest)
            .map(|(key, place, node)| Entry { key, place, node: node.clone() })
            .collect();
        entries.push(Entry { key: rest, place: self.key.place, node: self.value.clone() });
        table.entries = entries;
    }

    fn before(&self, depth: usize) -> String {
        self.key.parts[..depth].join(".")
    }

    /// Reports a key that is not one of `known`.
    fn unknown<'k>(&mut self, depth: usize, known: impl Iterator<Item = &'k str>) {
        let prefix = match depth {
            0 => String::new(),
            _ => format!("{}.", self.before(depth)),
        };
        let known: Vec<String> = known.map(|name| format!("{prefix}{name}")).collect();
        let written = format!("{prefix}{}", self.key.parts[depth]);
        let key = self.key.text();
        self.cx
            .error("unknown-key", self.key.place, format!("`{key}` does not exist"))
            .names(&written, known.iter().map(String::as_str));
    }
}

/// The entry of a table, made from `empty` if it is not there.
fn entry<'n>(node: &'n mut Node, key: &str, empty: &Node) -> Option<&'n mut Entry> {
    let Value::Table(table) = &mut node.value else {
        return None;
    };
    if table.get(key).is_none() {
        let entry = Entry { key: key.into(), place: empty.place, node: empty.clone() };
        table.entries.push(entry);
    }
    table.get_mut(key)
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    match &node.value {
        Value::Table(table) => table.get(key)?.node.as_text(),
        _ => None,
    }
}

fn name(item: &Node) -> &str {
    text(item, "name").unwrap_or_default()
}

fn element_group(item: &Node, groups: &[(&str, &'static Group)]) -> Option<&'static Group> {
    let kind = text(item, "kind")?;
    groups.iter().find(|(name, _)| *name == kind).map(|(_, group)| *group)
}
