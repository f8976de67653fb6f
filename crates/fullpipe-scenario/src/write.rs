//! A resolved scenario as a scenario file.

use super::resolved::Resolved;
use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, Formatted, InlineTable, Item, Table, Value as Toml};

impl Resolved {
    /// The scenario file that says exactly this, with every default written out. Loading it gives
    /// one plan with an equal `Resolved`.
    pub fn to_toml(&self) -> String {
        serde_json::to_value(self).map_or_else(|_| String::new(), |json| toml(&json))
    }
}

/// A scenario file with these keys, as a resolved scenario serialises to them. Keys that are null are left out.
pub fn toml(scenario: &Json) -> String {
    let mut document = DocumentMut::new();
    if let Json::Object(map) = scenario {
        fill(document.as_table_mut(), map, true);
    }
    document.to_string()
}

/// Puts the keys of `map` into `table`; `sections`: objects get a header of their own.
fn fill(table: &mut Table, map: &Map<String, Json>, sections: bool) {
    for (key, value) in map {
        match value {
            Json::Object(inner) if sections => {
                let mut section = Table::new();

                // `hosts` holds only tables, so it needs no header of its own.
                let nested = key == "hosts";
                section.set_implicit(nested);
                fill(&mut section, inner, nested);
                table.insert(key, Item::Table(section));
            }
            // An array of objects becomes [[tables]].
            Json::Array(items) if !items.is_empty() && items.iter().all(Json::is_object) => {
                table.insert(key, Item::ArrayOfTables(items.iter().filter_map(element).collect()));
            }
            // Null has no value in TOML: it is left out.
            value => {
                if let Some(value) = inline(value) {
                    table.insert(key, Item::Value(value));
                }
            }
        }
    }
}

fn element(value: &Json) -> Option<Table> {
    let mut table = Table::new();
    fill(&mut table, value.as_object()?, false);
    Some(table)
}

/// A value on one line; none for null.
fn inline(value: &Json) -> Option<Toml> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(b) => Toml::from(*b),
        // TOML separates integers from floats, JSON does not.
        Json::Number(n) => match n.as_i64() {
            Some(n) => Toml::from(n),
            None => Toml::Float(Formatted::new(n.as_f64()?)),
        },
        Json::String(text) => Toml::from(text.as_str()),
        Json::Array(items) => Toml::Array(items.iter().filter_map(inline).collect::<Array>()),
        Json::Object(map) => {
            let pairs = map.iter().filter_map(|(key, value)| Some((key, inline(value)?)));
            Toml::InlineTable(pairs.collect::<InlineTable>())
        }
    })
}
