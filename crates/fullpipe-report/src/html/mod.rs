//! One self-contained HTML file: verdict first, then the evidence, the path, and tables. The verdict on many runs is a
//! matrix, and the rest of the page shows the runs that the reader chooses.
//!
//! The file needs no network (a content security policy forbids it) and no library. Cards and tables
//! are plain HTML, there without scripts; figures are drawn as SVG by the scripts in `assets/`, from
//! two JSON elements:
//!
//! - `fullpipe-data`: the document, as in `summary.json`; a large one is deflated (RFC 1951) and in base64;
//! - `fullpipe-figures`: the figures of [`figures::all`]; their columns point into the document.
//!
//! Tests and scripts use `window.fullpipe` (see `assets/api.js`): `points(figure, series)` reads back what is drawn.

mod cards;
mod drawn;
mod evidence;
mod matrix;
mod page;
mod picture;
mod table;

use super::{figures, tables, time_sequence};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::trace::folders::folders;

/// The report as one HTML file. Equal documents give equal bytes.
#[must_use]
pub fn render(document: &Document) -> String {
    rendered(document, false, "")
}

/// Report for a file in the results' directory, with links to the time-sequence graphs of its runs. `above` is a
/// section of HTML above the verdict, or empty.
#[must_use]
pub fn render_in_place(document: &Document, above: &str) -> String {
    rendered(document, true, above)
}

fn rendered(document: &Document, in_place: bool, above: &str) -> String {
    let figures = figures::all(document);
    let tables = tables::all(document);
    page::page(document, &figures, &tables, &graphs(document, in_place), above)
}

/// Addresses of the runs' time-sequence graphs; none of a run that has none.
fn graphs(document: &Document, in_place: bool) -> Vec<Option<String>> {
    let names: Vec<String> = document.runs.iter().map(|run| run.variant.clone()).collect();
    document
        .runs
        .iter()
        .zip(folders(&names))
        .map(|(run, folder)| {
            let there = in_place && run.packets.is_some();
            there.then(|| format!("{folder}/{}", time_sequence::FILE))
        })
        .collect()
}
