//! docs/congestion.md: the cards with which the sources of congestion controls begin.

use crate::marked;
use fullpipe_sim::cc::{Description, algorithms};
use std::fmt::Write;
use std::path::Path;

/// Beginnings of the parts of a card.
const PARTS: [&str; 3] = ["Source:", "Deviations:", "Parameters"];

/// The lines of the card of `cc/NAME.c`: its first comment after the licence.
fn card(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../cc/{name}.c"));
    let text = std::fs::read_to_string(path).expect("a source");
    let comment = text.split("/*\n").nth(1).and_then(|rest| rest.split(" */").next());
    let lines = comment.expect("a card").lines();
    lines.map(|line| line.trim_start_matches(" *").trim().to_string()).collect()
}

/// A text as a sentence begins.
fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// A card as Markdown, without its parameters, which the reference of scenarios lists.
fn section(one: &Description) -> String {
    let mut text =
        format!("## {}\n\n{}. Kernels: {}.\n", one.name, one.title, one.kernels.join(", "));
    let mut lines = card(one.name).into_iter().peekable();
    let first = format!("{}:", one.name);
    let is_part = |line: &String| PARTS.iter().any(|part| line.starts_with(part));
    let _ = writeln!(text);
    while let Some(line) = lines.next_if(|line| !is_part(line)) {
        let _ = match line.strip_prefix(&first) {
            Some(rest) => writeln!(text, "{}", capital(rest.trim_start())),
            None => writeln!(text, "{line}"),
        };
    }
    for line in lines.take_while(|line| !line.starts_with(PARTS[2])) {
        match PARTS.iter().find_map(|part| Some((part, line.strip_prefix(part)?))) {
            Some((part, rest)) => _ = writeln!(text, "- **{part}**{rest}"),
            None => _ = writeln!(text, "  {line}"),
        }
    }
    text
}

#[test]
fn cards_of_congestion_controls() {
    let sections: Vec<String> = algorithms().iter().map(section).collect();
    for (section, one) in sections.iter().zip(algorithms()) {
        for part in &PARTS[..2] {
            assert!(section.contains(part), "{}: {section}", one.name);
        }
        assert!(!section.contains("_PARAMS"), "{section}");
    }
    marked::committed("docs/congestion.md", "cards", &sections.join("\n"));
}
