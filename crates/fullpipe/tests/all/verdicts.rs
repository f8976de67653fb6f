//! docs/verdicts.md: the tables of causes and of rules, and their pages.

use crate::marked;
use fullpipe::analysis::rules::{CAUSES, Known, RULES};
use std::fmt::Write;
use std::path::Path;

/// Folder of the pages, from `docs/`.
const PAGES: &str = "../crates/fullpipe-analysis/src/rules/pages";

fn row(own: &Known) -> String {
    let twins: Vec<String> = own.twins.iter().map(|code| format!("`{code}`")).collect();
    let (code, group, title) = (own.code, own.group, own.title);
    format!("| [`{code}`]({PAGES}/{code}.md) | {group} | {title} | {} |\n", twins.join(", "))
}

#[test]
fn causes_of_the_page() {
    let mut table = "| code | group | cause | looks the same |\n|---|---|---|---|\n".to_string();
    for own in CAUSES {
        table.push_str(&row(own));
    }
    marked::committed("docs/verdicts.md", "causes", &table);
}

#[test]
fn rules_of_the_page() {
    let mut table = "| rule | cause |\n|---|---|\n".to_string();
    for rule in RULES {
        let _ = writeln!(table, "| `{}` | `{}` |", rule.name, rule.code);
    }
    marked::committed("docs/verdicts.md", "rules", &table);
}

/// A page without a row would never be shown.
#[test]
fn each_page_has_a_cause() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(PAGES);
    for entry in std::fs::read_dir(folder).expect("the pages") {
        let name = entry.expect("a page").file_name().into_string().expect("a name");
        let code = name.strip_suffix(".md").expect("Markdown");
        assert!(CAUSES.iter().any(|own| own.code == code), "{name}");
    }
}
