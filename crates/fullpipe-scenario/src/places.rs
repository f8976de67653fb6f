//! Places of a run's keys, for messages after the scenario has been read.

use super::format::context::{Context, Place};
use super::format::node::{Node, Value};
use std::collections::BTreeMap;

/// Prefix of elements in engines' names for keys, in both directions.
const ELEMENT: &str = "path, element ";
/// Prefixes of their keys in a scenario.
const WAYS: [&str; 2] = ["path.forward.", "path.back."];

/// The keys that were written, dotted, with file, line and column: "my.toml:12:3".
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, String>);

/// Places are no part of the meaning: the same scenario in another file is equal.
impl PartialEq for Places {
    fn eq(&self, _other: &Places) -> bool {
        true
    }
}

impl Places {
    /// Places of all keys of a tree, after later changes have replaced earlier values.
    pub(super) fn of(root: &Node, cx: &Context) -> Places {
        let mut places = Places::default();
        places.below("", root, cx);
        places
    }

    /// Place of a key, as engines name keys; for a key that was not written, the table that it would be in.
    pub fn of_key(&self, key: &str) -> Option<&str> {
        match key.strip_prefix(ELEMENT) {
            None => self.nearest(key),
            Some(rest) => {
                let rest = rest.replace(", ", ".");
                let both = WAYS.map(|way| format!("{way}{rest}"));
                let exact = both.iter().find_map(|key| self.nearest_below(key));
                exact.or_else(|| self.nearest("path"))
            }
        }
    }

    /// Place of a key as the last line of a message; empty where nothing is known.
    pub fn line(&self, key: &str) -> String {
        self.of_key(key).map_or_else(String::new, |place| format!("\n         --> {place}"))
    }

    fn nearest(&self, key: &str) -> Option<&str> {
        let mut key = key;
        loop {
            if let Some(place) = self.0.get(key) {
                return Some(place);
            }
            key = key.rsplit_once('.')?.0;
        }
    }

    /// Place of an element or of its key, never that of a whole direction.
    fn nearest_below(&self, key: &str) -> Option<&str> {
        let name = key.splitn(4, '.').take(3).collect::<Vec<_>>().join(".");
        self.0.contains_key(&name).then(|| self.nearest(key))?
    }

    fn below(&mut self, prefix: &str, node: &Node, cx: &Context) {
        match &node.value {
            Value::Table(table) => {
                for entry in &table.entries {
                    let key = format!("{prefix}{}", entry.key);
                    self.add(&key, entry.place, cx);
                    self.below(&format!("{key}."), &entry.node, cx);
                }
            }
            // The names of tables in a list distinguish them.
            Value::List(items) => {
                for item in items {
                    let Some(name) = name(item) else { continue };
                    self.add(&format!("{prefix}{name}"), item.place, cx);
                    self.below(&format!("{prefix}{name}."), item, cx);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, key: &str, place: Place, cx: &Context) {
        self.0.entry(key.into()).or_insert_with(|| cx.shown(place));
    }
}

fn name(item: &Node) -> Option<&str> {
    let Value::Table(table) = &item.value else { return None };
    table.get("name")?.node.as_text()
}

#[cfg(test)]
mod tests {
    use crate::{SetOption, Source, load};

    const TEXT: &str = "duration = \"1s\"
[path]
forward = [
    { kind = \"link\", name = \"wire\", rate = \"1Gbit\" },
    { kind = \"delay\", name = \"far\", delay = \"5ms\" },
]
back = []
[hosts.sender]
kernel = \"3.14\"
sysctl = { \"net.ipv4.tcp_ecn\" = 1 }
[hosts.receiver]
kernel = \"3.14\"
[[flow]]
name = \"bulk\"
duration = \"1s\"
";

    #[test]
    fn keys_have_the_place_where_they_were_written() {
        let source = Source::text("my.toml", TEXT);
        let sets = [SetOption("hosts.sender.hz=250".into())];
        let scenario = load(&source, &sets, &[]).unwrap_or_else(|e| panic!("{e}"));
        let places = &scenario.plans()[0].places;
        for (key, place) in [
            ("hosts.sender.kernel", "my.toml:9:1"),
            ("hosts.sender.sysctl.net.ipv4.tcp_ecn", "my.toml:10:12"),
            ("hosts.sender.hz", "--set #1:1:1"),
            // Not written: the table.
            ("hosts.sender.tx_ring", "my.toml:8:8"),
            ("path, element wire, queue.discipline", "my.toml:4:5"),
            ("path, element far", "my.toml:5:5"),
            ("path.forward.far.delay", "my.toml:5:37"),
            ("flow.bulk.congestion", "my.toml:13:1"),
            ("flow.bulk.duration", "my.toml:15:1"),
        ] {
            assert_eq!(places.of_key(key), Some(place), "{key}");
        }
        assert_eq!(places.of_key("report.sample"), None);
    }
}
