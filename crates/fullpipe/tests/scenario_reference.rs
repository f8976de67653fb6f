//! The reference page and the JSON Schema of scenarios are what the parser's tables say.

use fullpipe::scenario::reference::{json_schema, markdown};
use std::path::Path;

/// Compares a committed page with its generated text, or rewrites it when asked to.
fn committed(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("FULLPIPE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).expect("docs can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let line = found.lines().zip(text.lines()).position(|(found, wanted)| found != wanted);
    assert!(found == text, "docs/{name} differs at line {line:?}: run with FULLPIPE_BLESS=1");
}

#[test]
fn scenario_reference_is_generated() {
    committed("scenario.md", &markdown());
}

#[test]
fn scenario_schema_is_generated() {
    committed("scenario.schema.json", &json_schema());
}
