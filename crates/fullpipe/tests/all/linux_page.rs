//! The page of the engine `linux` has a word for every key of a scenario.

use fullpipe::scenario::reference::markdown;
use std::path::Path;

/// Texts between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The rows of the page's table, without its head.
fn rows(page: &str) -> Vec<&str> {
    let table = page.split("## What becomes of a scenario").nth(1).expect("the section");
    let table = table.split("\n## ").next().expect("its end");
    table.lines().filter(|line| line.starts_with("| `")).collect()
}

fn head(row: &str) -> &str {
    row.split('|').nth(1).expect("a first cell")
}

/// A table of the format: its keys, and the words that the head of a row about them has to name.
struct Table {
    title: String,
    keys: Vec<String>,
    place: &'static str,
    kind: Option<String>,
}

/// The keys of a table. Keys that separate tables need no word.
fn keys(section: &str) -> Vec<String> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let keys = rows.filter_map(|row| row.split('`').next()).map(String::from);
    keys.filter(|key| !["kind", "name"].contains(&key.as_str())).collect()
}

/// The kind of an element, by the row of its `kind`.
fn kind(section: &str) -> Option<String> {
    let row = section.lines().find(|line| line.starts_with("| `kind` | a string"))?;
    Some(row.split('"').nth(1)?.to_string())
}

/// The tables of a run's keys, as they are declared.
fn declared() -> Vec<Table> {
    let page = markdown();
    let run = page.split("### What is asked about the run").next().expect("a beginning");
    let sections = run.split("\n### ").skip(1);
    let table = |section: &str| {
        let title = section.lines().next().expect("a title").to_string();
        let place = match title.trim_matches(['`', '[', ']']) {
            "What is run" => return None,
            t if t.starts_with("report") => "`report.",
            "hosts" => return None,
            t if t.starts_with("hosts") => "`hosts.",
            "host" => "`host`",
            "datagrams" | "A reader of datagrams" => "`datagrams`",
            "nfs" => "`nfs`",
            "A qdisc" | "A cpu" => "`hosts.",
            "flow" | "An app" | "A reader" | "A flow before" | "A loop" => "`flow`",
            _ => "`path",
        };
        Some(Table { keys: keys(section), kind: kind(section), title, place })
    };
    sections.filter_map(table).collect()
}

/// Whether a row may speak of a key of the table.
fn is_about(row: &str, table: &Table) -> bool {
    let names = |kind: &String| quoted(head(row)).contains(&kind.as_str());
    head(row).trim_start().starts_with(table.place) && table.kind.as_ref().is_none_or(names)
}

#[test]
fn every_key_stands_in_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/linux-engine.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (rows, tables) = (rows(&page), declared());
    assert!(tables.iter().filter(|table| table.kind.is_some()).count() >= 12, "few elements");
    let mut forgotten = Vec::new();
    for table in &tables {
        assert!(!table.keys.is_empty(), "{} has no keys", table.title);
        let about: Vec<_> = rows.iter().filter(|row| is_about(row, table)).collect();
        for key in &table.keys {
            let is_key = |text: &str| text == key || text.ends_with(&format!(".{key}"));
            if !about.iter().any(|row| quoted(row).into_iter().any(is_key)) {
                forgotten.push(format!("{}: {key}", table.title));
            }
        }
    }
    assert!(forgotten.is_empty(), "no row of docs/linux-engine.md names {forgotten:#?}");
}
