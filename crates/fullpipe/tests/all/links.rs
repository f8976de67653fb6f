//! Links of Markdown pages lead to files of a fresh clone, and to headings that are there.

use fullpipe::results::formats;
use fullpipe::scenario::reference;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

/// Targets of a page's links, without links to other sites and links in blocks of code.
fn targets(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let links = prose.flat_map(|text| text.split("](").skip(1));
    let targets = links.filter_map(|rest| rest.split([')', ' ', '\n']).next());
    targets.filter(|target| !target.contains(':')).collect()
}

/// Broken links of a page in `folder`.
fn dangling(folder: &Path, page: &str, ignored: &BTreeSet<PathBuf>) -> Vec<String> {
    let leads_somewhere = |target: &str| {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = folder.join(path);
        let of_a_clone = fs::canonicalize(&file).is_ok_and(|file| !ignored.contains(&file));
        if !path.is_empty() && !of_a_clone {
            return false;
        }

        if anchor.is_empty() {
            return true;
        }
        match path {
            "" => anchors(page).contains(anchor),
            _ => fs::read_to_string(&file).is_ok_and(|page| anchors(&page).contains(anchor)),
        }
    };
    targets(page).into_iter().filter(|target| !leads_somewhere(target)).map(String::from).collect()
}

#[test]
fn links_of_committed_pages_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ignored = fs::read_to_string(root.join(".gitignore")).expect(".gitignore");
    let ignored: BTreeSet<PathBuf> = ignored
        .lines()
        .filter_map(|line| fs::canonicalize(root.join(line.trim_start_matches('/'))).ok())
        .collect();

    let mut count = 0;
    for folder in [".", "docs", "benches", "cc"].map(|folder| root.join(folder)) {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_page = path.extension().is_some_and(|extension| extension == "md");
            if !is_page || fs::canonicalize(&path).is_ok_and(|path| ignored.contains(&path)) {
                continue;
            }

            let page = fs::read_to_string(&path).expect("a page");
            let dangling = dangling(&folder, &page, &ignored);
            assert!(dangling.is_empty(), "{}: {dangling:?}", path.display());
            count += targets(&page).len();
        }
    }
    assert!(count > 50, "{count} links");
}

/// The pages that `make docs` writes.
#[test]
fn links_of_generated_pages_lead_somewhere() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (page, least) in [(reference::markdown(), 10), (formats::markdown(), 1)] {
        assert!(targets(&page).len() >= least);
        let dangling = dangling(&docs, &page, &BTreeSet::new());
        assert!(dangling.is_empty(), "{dangling:?}");
    }
}

/// Paths in backquotes that name a file or folder from the root; `<name>` is a placeholder for a new one.
fn paths(page: &str) -> impl Iterator<Item = &str> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains('/') && !text.contains([' ', '<', '*', ':']))
}

#[test]
fn paths_of_the_touch_lists_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let at = |folder: &str, path: &str| root.join(folder).join(path);
    let below_crates = |path: &str| ["", "crates"].iter().any(|own| at(own, path).exists());
    // The page on the simulator names files of its source, some without their ending.
    let below_simulator = |path: &str| {
        let own =
            ["crates/fullpipe-sim/src", "crates/fullpipe-sim/src/tcp"].map(|own| at(own, path));
        own.iter().any(|path| path.exists() || path.with_extension("rs").exists())
    };

    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/adding.md", "docs/simulator.md"] {
        let is_simulator = name == "docs/simulator.md";
        let is_there = |path: &&str| below_crates(path) || is_simulator && below_simulator(path);
        let page = fs::read_to_string(root.join(name)).expect("the page");
        let missing: Vec<&str> = paths(&page).filter(|path| !is_there(path)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        assert!(paths(&page).count() > 10, "{name} names its files");
    }
}
