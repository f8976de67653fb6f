//! Tables that tests write into pages, each between marks of its own:
//! `<!-- NAME -->` and `<!-- /NAME -->`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Tables are rewritten one at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares the table called `name` of a page (from the repository's root), or rewrites it when
/// UPDATE_EXPECT is set.
pub fn committed(page: &str, name: &str, table: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return rewritten(page, name, table);
    }
    let (_, current, _) = parts(page, name);
    assert_eq!(current, table, "{page}: UPDATE_EXPECT=1 rewrites the table");
}

/// Whether tests make all rows of a study, not only its sample: with UPDATE_EXPECT, or with FULLPIPE_STUDIES (`make
/// studies`).
pub fn all_rows() -> bool {
    ["UPDATE_EXPECT", "FULLPIPE_STUDIES"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The rows of a study to make: all of them, or the sample's, by number.
pub fn rows<T: Copy>(all: &[T], sample: &[usize]) -> Vec<T> {
    match all_rows() {
        true => all.to_vec(),
        false => sample.iter().map(|at| all[*at]).collect(),
    }
}

/// Compares the rows that were made with the table called `name` of a page: each has to be there, in this order, under
/// the same heading. All rows together are the table.
pub fn sampled(page: &str, name: &str, table: &str) {
    if all_rows() {
        return committed(page, name, table);
    }
    let (_, current, _) = parts(page, name);
    let mut known = current.lines();
    assert!(table.lines().count() > HEADING, "{page}: a sample of {name} without a row");
    assert!(current.lines().take(HEADING).eq(table.lines().take(HEADING)), "{page}: another head");
    for row in table.lines() {
        assert!(known.any(|own| own == row), "{page}: `make studies` would find another\n{row}");
    }
}

/// Lines above the rows of a table.
const HEADING: usize = 2;

/// The table called `name` of a page, as it is.
pub fn current(page: &str, name: &str) -> String {
    parts(page, name).1
}

/// Rewrites the table called `name` of a page.
pub fn rewritten(page: &str, name: &str, table: &str) {
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let (before, _, after) = parts(page, name);
    let text = format!("{before}{table}{after}");
    std::fs::write(path(page), text).unwrap_or_else(|e| panic!("{page}: {e}"));
}

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)
}

/// Text before the table, the table, and the text behind it.
fn parts(page: &str, name: &str) -> (String, String, String) {
    let text = std::fs::read_to_string(path(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- /{name} -->"));
    let (before, rest) = text.split_once(&begin).expect("where the table begins");
    let (current, after) = rest.split_once(&end).expect("where the table ends");
    (format!("{before}{begin}"), current.into(), format!("{end}{after}"))
}
