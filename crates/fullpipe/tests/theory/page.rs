//! docs/theory.md: one section per test, each between marks of its own.

use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

/// Sections are rewritten one at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// A row: what it is, what theory says, what was simulated.
pub struct Row {
    pub what: String,
    pub predicted: f64,
    pub simulated: f64,
}

impl Row {
    pub fn error(&self) -> f64 {
        self.simulated / self.predicted - 1.0
    }
}

/// Compares the section's table with the page (or rewrites it), and each row with the tolerance.
pub fn check(section: &str, unit: &str, tolerance: f64, rows: &[Row]) {
    let mut table =
        format!("| | theory, {unit} | simulated, {unit} | difference |\n|---|--:|--:|--:|\n");
    for Row { what, predicted, simulated } in rows {
        let off = (simulated / predicted - 1.0) * 100.0;
        let _ = writeln!(table, "| {what} | {predicted:.2} | {simulated:.2} | {off:+.1} % |");
    }
    for row in rows {
        assert!(row.error().abs() <= tolerance, "{section}, {}: off by more\n{table}", row.what);
    }
    committed(section, &table);
}

fn committed(section: &str, table: &str) {
    let _one = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/theory.md");
    let page = std::fs::read_to_string(&path).expect("docs/theory.md");
    let (begin, end) = (format!("<!-- {section} -->\n\n"), format!("\n<!-- /{section} -->"));
    let (before, rest) = page.split_once(&begin).expect("where the table begins");
    let (current, after) = rest.split_once(&end).expect("where the table ends");
    if std::env::var_os("FULLPIPE_BLESS").is_some_and(|value| value == "1") {
        let page = format!("{before}{begin}{table}{end}{after}");
        std::fs::write(&path, page).expect("docs can be written");
    } else {
        assert_eq!(current, table, "docs/theory.md: FULLPIPE_BLESS=1 rewrites the table");
    }
}
