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

/// What stands before the table, the table, what stands behind it.
fn parts(page: &str, name: &str) -> (String, String, String) {
    let text = std::fs::read_to_string(path(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- /{name} -->"));
    let (before, rest) = text.split_once(&begin).expect("where the table begins");
    let (current, after) = rest.split_once(&end).expect("where the table ends");
    (format!("{before}{begin}"), current.into(), format!("{end}{after}"))
}
