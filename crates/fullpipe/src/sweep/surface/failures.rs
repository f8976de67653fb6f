//! Why runs failed, as a table.

use crate::numbers::count;
use crate::report::page::escape::text;
use crate::scenario::unquoted;
use crate::sweep::{Merged, Record};
use crate::trace::Error;
use std::fmt::Write;

/// The most runs that are listed with their reasons.
const MOST: usize = 20;

/// Runs that failed.
#[derive(Debug, Default)]
pub struct Failures {
    /// All of them.
    pub total: u64,
    /// The first ones.
    pub first: Vec<Record>,
}

impl Failures {
    /// Failures of a sweep.
    ///
    /// # Errors
    /// Records cannot be read.
    pub fn of(merged: &Merged) -> Result<Failures, Error> {
        Ok(Failures { total: merged.failed(), first: merged.failures(MOST)? })
    }

    /// The table under its heading; nothing where no run failed.
    pub(super) fn html(&self) -> String {
        if self.total == 0 {
            return String::new();
        }
        let mut out = format!(
            "<section aria-labelledby=\"f\" id=\"failed\"><h2 id=\"f\">Runs that failed</h2><div class=\"scroll\"><table>{HEAD}<tbody>"
        );
        for record in self.first.iter().take(MOST) {
            let at = record.at.iter().map(|(key, value)| format!("{key}={}", unquoted(value)));
            let why = record.failed.as_deref().unwrap_or_default();
            let _ = write!(
                out,
                "<tr><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"why\">{}</td></tr>",
                record.run,
                text(&record.variant),
                text(&at.collect::<Vec<_>>().join(", ")),
                record.seed,
                text(why.trim_end()),
            );
        }
        out += "</tbody></table></div>";

        // The table keeps the first failures; the rest are counted.
        let more = self.total - self.first.len().min(MOST) as u64;
        if more > 0 {
            let _ = write!(
                out,
                "<p class=\"quiet\">{} more: <code>failed</code> in results.csv</p>",
                count(more)
            );
        }
        out + "</section>"
    }
}

const HEAD: &str = "<thead><tr><th scope=\"col\" class=\"n\">run</th><th scope=\"col\">variant</th><th scope=\"col\">point</th>\
    <th scope=\"col\" class=\"n\">seed</th><th scope=\"col\">why</th></tr></thead>";
