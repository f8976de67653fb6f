//! The reference page and the JSON Schema of scenarios are what the parser's tables say.

use fullpipe::scenario::reference::{json_schema, markdown};
use fullpipe::scenario::{Source, load};
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

/// Links lead to headings of the page.
#[test]
fn links_of_the_reference_lead_somewhere() {
    let page = markdown();
    let kept = |c: &char| c.is_ascii_alphanumeric() || " -_".contains(*c);
    let anchors: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect();
    let links: Vec<&str> =
        page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 10);
    for link in links {
        assert!(anchors.iter().any(|anchor| anchor == link), "#{link}");
    }
}
