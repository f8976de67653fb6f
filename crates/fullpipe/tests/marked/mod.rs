//! Tables that tests write into pages, each between marks of its own:
//! `<!-- NAME -->` and `<!-- /NAME -->`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Tables are rewritten one at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares the table called `name` of a page (from the repository's root), or rewrites it when
/// FULLPIPE_BLESS is 1.
pub fn committed(page: &str, name: &str, table: &str) {
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{page}: {e}"));
    let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- /{name} -->"));
    let (before, rest) = text.split_once(&begin).expect("where the table begins");
    let (current, after) = rest.split_once(&end).expect("where the table ends");
    if std::env::var_os("FULLPIPE_BLESS").is_some_and(|value| value == "1") {
        let text = format!("{before}{begin}{table}{end}{after}");
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{page}: {e}"));
    } else {
        assert_eq!(current, table, "{page}: FULLPIPE_BLESS=1 rewrites the table");
    }
}
