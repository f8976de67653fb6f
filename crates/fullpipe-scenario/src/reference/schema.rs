//! The JSON Schema (draft 2020-12) by which editors check and complete scenarios.
//!
//! It follows the parser's tables. Rules about more than one key (references to names, conflicts) are left to the
//! parser.

use super::groups;
use crate::format::keys::{Default, Group, Key, Kind, Section};
use crate::format::quantity::{Dimension, PACKETS, SIZE};
use crate::format::real_sysctl::REAL_SYSCTLS;
use crate::format::sockopt::SIZES;
use crate::format::special::MssClamp;
use crate::format::sysctl::{Field, SYSCTLS};
use crate::written::{Asked, Run};
use crate::{congestion, slow_start};
use fullpipe_base::bounds::Bounds;
use fullpipe_base::sockopt::SOCKOPTS;
use fullpipe_sim::cc::{self, Description};
use fullpipe_sim::tcp::behaviour::BEHAVIOURS;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The schema as text.
pub fn json_schema() -> String {
    let definitions: Map<String, Value> = groups()
        .into_iter()
        .filter(|group| ![Run::GROUP.id, Asked::GROUP.id].contains(&group.id))
        .map(|group| (group.id.to_string(), object(group.doc, group.keys.iter())))
        .collect();
    let mut root =
        object("A scenario of fullpipe", Run::GROUP.keys.iter().chain(Asked::GROUP.keys));
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("fullpipe scenario");
    root["$defs"] = Value::Object(definitions);
    serde_json::to_string_pretty(&root).unwrap_or_default() + "\n"
}

fn object<'k>(doc: &str, keys: impl Iterator<Item = &'k Key> + Clone) -> Value {
    // Keys with a default need not be written.
    let required: Vec<&str> = keys
        .clone()
        .filter(|key| matches!(key.default, Default::Required))
        .map(|key| key.name)
        .collect();
    let properties: Map<String, Value> = keys.map(|key| (key.name.into(), property(key))).collect();
    json!({
        "description": doc.trim(),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let mut value = schema(&key.kind);
    value["description"] = json!(key.doc.trim());
    if let Default::Is(text) = key.default {
        value["default"] = match key.kind {
            Kind::Integer { .. } | Kind::Boolean | Kind::Probability => {
                serde_json::from_str(text).unwrap_or(json!(text))
            }
            _ => json!(text),
        };
    }
    value
}

fn reference(group: &Group) -> Value {
    json!({ "$ref": format!("#/$defs/{}", group.id) })
}

fn schema(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Quantity { dimension, .. } => quantity(&[dimension]),
        Kind::QueueLimit => quantity(&[&SIZE, &PACKETS]),
        Kind::MssClamp => {
            let bytes =
                json!({ "type": "integer", "minimum": MssClamp::LEAST, "maximum": MssClamp::MOST });
            json!({ "anyOf": [bytes, { "const": "pmtu" }] })
        }
        Kind::DelayLimit => json!({ "anyOf": [quantity(&[&PACKETS]), { "const": "unlimited" }] }),
        Kind::Probability => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": format!("^{NUMBER} *%?$") },
        ]}),
        Kind::Choice(names) => json!({ "enum": names }),
        Kind::Table(group) => json!({ "allOf": [reference(group)] }),
        Kind::Short { group, short } => short_form(group, short),
        Kind::Named(group) | Kind::List(group) => {
            json!({ "type": "array", "items": reference(group) })
        }
        // `kind` selects the group, so each alternative fixes it.
        Kind::Elements(groups) => {
            let kinds: Vec<Value> = groups
                .iter()
                .map(|(kind, group)| {
                    json!({ "allOf": [reference(group)], "properties": { "kind": { "const": kind } } })
                })
                .collect();
            json!({ "type": "array", "items": { "oneOf": kinds } })
        }
        Kind::Congestion => {
            let mut algorithms = cc::algorithms();
            algorithms.extend(congestion::of_real_kernels());
            named(&algorithms)
        }
        Kind::SlowStart => named(&slow_start::slow_starts()),
        Kind::Sysctl => sysctl(),
        Kind::Sockopt => sockopt(),
        Kind::Behaviour => behaviour(),
        Kind::Assignments | Kind::Axes => json!({ "type": "object" }),
        Kind::Range => json!({
            "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2,
        }),
        Kind::Integers { min, max } => json!({
            "type": "array", "items": { "type": "integer", "minimum": min, "maximum": max },
        }),
        Kind::Numbers => json!({ "anyOf": [
            { "type": "number" }, { "type": "array", "items": { "type": "number" } },
        ]}),
    }
}

/// A number of at least zero, as the parser reads it.
const NUMBER: &str = r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?";

fn quantity(dimensions: &[&Dimension]) -> Value {
    let units = dimensions.iter().flat_map(|dimension| dimension.units).map(|(name, _)| *name);
    let units: Vec<&str> = units.collect();
    let per_second = if units.contains(&"bit") { "(/s)?" } else { "" };
    let pattern = format!("^ *{NUMBER} *({}){per_second} *$", units.join("|"));
    json!({ "type": "string", "pattern": pattern, "examples": [dimensions[0].example] })
}

/// A table, or the value of one of its keys alone.
fn short_form(group: &Group, short: &str) -> Value {
    let key = group.keys.iter().find(|key| key.name == short);
    let alone = key.map_or(json!({}), |key| schema(&key.kind));
    json!({ "anyOf": [alone, reference(group)] })
}

/// The name of an algorithm, or a table with its parameters.
fn named(algorithms: &[Description]) -> Value {
    // A name may be in several lists: the schema names it once.
    let names: BTreeSet<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
    let tables = algorithms.iter().map(|algorithm| {
        let mut properties = Map::new();
        properties.insert("name".into(), json!({ "const": algorithm.name }));
        for p in &algorithm.parameters {
            let description = format!("{} ({})", p.meaning, p.unit);
            let value = json!({
                "type": "integer", "minimum": p.min, "maximum": p.max, "description": description,
            });
            properties.insert(p.name.into(), value);
        }
        json!({
            "type": "object", "properties": properties, "required": ["name"],
            "additionalProperties": false,
        })
    });

    // The name alone is the short form of the table.
    let forms: Vec<Value> = std::iter::once(json!({ "enum": names })).chain(tables).collect();
    json!({ "anyOf": forms })
}

/// Rows of the kernel profile with their choices.
fn behaviour() -> Value {
    let mut properties = Map::new();
    for row in BEHAVIOURS {
        let choices = (row.choices)();
        let mut value = match choices.as_slice() {
            ["false", "true"] => json!({ "type": "boolean" }),
            names => json!({ "enum": names }),
        };
        value["description"] = json!(row.doc);
        properties.insert(row.name.into(), value);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn sockopt() -> Value {
    let properties: Map<String, Value> = SOCKOPTS
        .iter()
        .map(|option| {
            let Bounds { min, max } = option.bounds;
            let mut value = match SIZES.contains(&option.name) {
                true => size(min, max),
                false => json!({ "type": "integer", "minimum": min, "maximum": max }),
            };
            value["description"] = json!(option.doc);
            (option.name.to_string(), value)
        })
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Bytes, bare or with a unit.
fn size(min: i64, max: i64) -> Value {
    json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, quantity(&[&SIZE])] })
}

/// sysctls by their quoted names; unquoted ones make a table `net`.
fn sysctl() -> Value {
    let mut properties = Map::new();
    properties.insert("net".into(), json!({ "type": "object" }));
    for entry in SYSCTLS {
        let mut value = match entry.field {
            Field::Size(_) => size(1, i32::MAX.into()),
            Field::SizeIfSet(_) => size(0, u32::MAX.into()),
            Field::Triple(_) | Field::PagesIfSet(_) => json!({ "type": "string" }),
            Field::Switch(_) => json!({ "type": "integer", "minimum": 0, "maximum": 1 }),
            Field::Packets(_) => json!({ "type": "integer", "minimum": 1, "maximum": i32::MAX }),
            Field::Scale(_) => json!({ "type": "integer", "minimum": -31, "maximum": 31 }),
            Field::Level(_, min, max) | Field::LevelIfSet(_, min, max) => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
        };
        value["description"] = json!(entry.doc);
        properties.insert(entry.name.into(), value);
    }
    properties.extend(REAL_SYSCTLS.iter().map(|known| {
        let Bounds { min, max } = known.bounds;
        let mut value =
            json!({ "type": "integer", "minimum": min, "description": "of genuine kernels" });
        // The largest integer stands for no bound.
        if max < i64::MAX {
            value["maximum"] = json!(max);
        }
        (known.name.to_string(), value)
    }));
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
