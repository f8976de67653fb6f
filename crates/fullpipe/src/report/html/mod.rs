//! One self-contained HTML file: verdict first, then the evidence, then tables.
//!
//! The file needs no network (a content security policy forbids it) and no library. Cards and tables
//! are plain HTML, there without scripts; figures are drawn as SVG by the scripts in `assets/`, from
//! two JSON elements:
//!
//! - `fullpipe-data`: the document, as in `summary.json`;
//! - `fullpipe-figures`: the figures of [`figures::all`], whose columns point into the document.
//!
//! Whoever tests or scripts the page finds `window.fullpipe` (see `assets/api.js`):
//! `points(figure, series)` reads back what is drawn.

mod cards;
mod escape;
mod evidence;
mod page;
mod table;

use super::{figures, tables};
use crate::analysis::document::Document;

/// How many runs are drawn until the reader asks for others.
const DRAWN_AT_FIRST: usize = 6;

/// The report as one HTML file. Equal documents give equal bytes.
#[must_use]
pub fn render(document: &Document) -> String {
    let figures = figures::all(document);
    let tables = tables::all(document);
    page::page(document, &figures, &tables)
}
