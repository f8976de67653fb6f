//! Names that users write and read: keys of scenarios, columns of tables, fields of documents.
//!
//! `tests/golden/public_names.txt` has a line for each, so that a change of the public interface shows in a diff
//! (`UPDATE_EXPECT=1` rewrites it). The pages and schemas themselves are printed by `fullpipe schema` and not kept.

use expect_test::expect_file;
use fullpipe::results::formats;
use fullpipe::scenario::reference;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Columns of the pages' tables with the possible values.
const TYPES: [&str; 5] = ["value", "values", "type", "choices", "unit of `within`"];

/// The cells of a row of a Markdown table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
    Some(row.split(" | ").map(str::trim).collect())
}

/// Text in which links are their words: "see [`[path]`](#path)" is "see `[path]`".
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](#") {
        plain += before;
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }

    plain += rest;
    plain.replace("[`", "`")
}

/// The headings of a page, and below each its table's names with their types.
fn names(page: &str) -> String {
    let mut text = String::new();
    let mut heading = "";
    let mut kind: Option<Option<usize>> = None;
    let mut lines = page.lines().peekable();

    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            heading = line.trim_start_matches(['#', ' ']);
        }
        let Some(row) = cells(line) else {
            kind = None;
            continue;
        };
        let Some(kind) = kind else {
            // A table's head, and the line of dashes below it.
            lines.next();
            kind = Some(row.iter().position(|title| TYPES.contains(title)));
            let _ = writeln!(text, "{}{heading}", if text.is_empty() { "" } else { "\n" });
            continue;
        };
        let of = kind.map(|at| without_links(row[at])).unwrap_or_default();
        let _ = writeln!(text, "  {} {of}", row[0].replace('`', "").trim_end());
    }

    text.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
}

#[test]
fn public_names_change_knowingly() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/public_names.txt");
    let now = format!(
        "# Scenarios: fullpipe schema scenario --markdown\n\n{}\n# Results: fullpipe schema --markdown\n\n{}",
        names(&reference::markdown()),
        names(&formats::markdown()),
    );
    expect_file![path].assert_eq(&now);
}

/// Calls `visit` with each property of a schema: its name and its description.
fn properties(schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    if let Some(Value::Object(all)) = schema.get("properties") {
        all.iter().for_each(|(name, property)| visit(name, property));
    }
    match schema {
        Value::Object(map) => map.values().for_each(|inner| properties(inner, visit)),
        Value::Array(list) => list.iter().for_each(|inner| properties(inner, visit)),
        _ => {}
    }
}

/// Each property of the schema has a meaning and a row of the page. The exceptions are a fixed value (`kind`), `net`,
/// which is a level of dotted names, and socket options by the kernel's names, which the page does not list.
fn is_documented(schema: &str, page: &str, least: usize) {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");

    let mut count = 0;
    properties(&schema, &mut |name, property| {
        if property.get("const").is_some() || name == "net" {
            return;
        }
        count += 1;

        let meaning = property["description"].as_str().unwrap_or_default();
        assert!(!meaning.is_empty(), "{name} has no meaning");
        let is_socket_option = name.starts_with(char::is_uppercase);
        let has_row = page.contains(&format!("| `{name}` |"));
        assert!(is_socket_option || has_row, "{name} is not on the page");
    });
    assert!(count > least, "{count} properties");
}

#[test]
fn every_key_is_documented() {
    is_documented(&reference::json_schema(), &reference::markdown(), 150);
}

#[test]
fn every_field_of_documents_is_documented() {
    is_documented(&formats::json_schema(), &formats::markdown(), 150);
}

#[test]
fn pages_and_schemas_are_the_same_each_time() {
    assert!(reference::markdown() == reference::markdown());
    assert!(reference::json_schema() == reference::json_schema());
    assert!(formats::markdown() == formats::markdown());
    assert!(formats::json_schema() == formats::json_schema());
}

/// A reference into the schema's definitions names one of them.
#[test]
fn references_of_the_schemas_lead_somewhere() {
    for text in [reference::json_schema(), formats::json_schema()] {
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        let references = text.split("\"$ref\": \"#/$defs/").skip(1);
        let names = references.map(|rest| rest.split('"').next().expect("a name"));
        let mut count = 0;
        for name in names {
            assert!(schema["$defs"].get(name).is_some(), "{name}");
            count += 1;
        }
        assert!(count > 20, "{count} references");
    }
}
