//! The reference page and the JSON Schema of scenarios equal the parser's tables.

use expect_test::expect_file;
use fullpipe::scenario::reference::{json_schema, markdown};
use fullpipe::scenario::{Source, load};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares a committed file with its generated text, or rewrites it when asked to.
fn committed(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    expect_file![path].assert_eq(text);
}

/// The words of scenarios for the fuzzer (libFuzzer's dictionaries: a quoted word per line).
#[test]
fn the_fuzzers_dictionary_is_generated() {
    let schema: Value = serde_json::from_str(&json_schema()).expect("JSON");
    let mut words = BTreeSet::from(
        ["%", "true", "false", "[[", "]]", "[", "]", "{", "}", " = ", "\"\"", "\n"]
            .map(String::from),
    );
    collect(&schema, &mut words);
    assert!(words.len() > 200);
    let quoted = words.iter().map(|word| match word.as_str() {
        "\n" => "\"\\x0a\"\n".to_string(),
        word => format!("\"{}\"\n", word.replace('\\', "\\\\").replace('"', "\\\"")),
    });
    let head = "# Generated from the declarations of the keys: `make bless` rewrites it.\n";
    committed("fuzz/scenario.dict", &(head.to_string() + &quoted.collect::<String>()));
}

/// Keys, fixed values, and the units that end a pattern: "... *(ns|us|ms) *$".
fn collect(schema: &Value, words: &mut BTreeSet<String>) {
    let text = |value: &Value| value.as_str().map(str::to_string);
    if let Some(Value::Object(keys)) = schema.get("properties") {
        words.extend(keys.keys().cloned());
    }
    words.extend(
        schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(text),
    );
    words.extend(schema.get("const").and_then(text));
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or("");
    let units = pattern.rsplit_once(" *(").and_then(|(_, rest)| rest.split(')').next());
    words.extend(units.into_iter().flat_map(|units| units.split('|')).map(str::to_string));
    match schema {
        Value::Object(map) => map.values().for_each(|inner| collect(inner, words)),
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, words)),
        _ => {}
    }
}

#[test]
fn examples_of_the_reference_are_right() {
    let page = markdown();
    let blocks: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("a block ends"))
        .collect();
    let [smallest, variants] = blocks.as_slice() else { panic!("{} examples", blocks.len()) };
    let runs = |text: &str| match load(&Source::text("example.toml", text), &[], &[]) {
        Ok(scenario) => scenario.plans().len(),
        Err(problems) => panic!("{problems}"),
    };
    assert_eq!(runs(smallest), 1);
    assert_eq!(runs(&format!("{smallest}{variants}")), 3);
}
