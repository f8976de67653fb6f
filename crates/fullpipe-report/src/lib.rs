//! Shows a [`Document`](fullpipe_analysis::document::Document), and nothing beyond its contents.
//!
//! [`figures`] and [`tables`] turn the document into neutral data: findings, axes, series, cells.
//! They do not draw. A renderer, for instance [`html`], draws all of them alike. [`time_sequence`] shows a run's packets, and
//! reads their table.

mod aggregate;
pub mod figures;
pub mod happened;
pub mod html;
pub mod labels;
mod matrix;
mod overview;
pub mod page;
mod picture;
pub mod shares;
pub mod tables;
pub mod terminal;
pub mod time_sequence;
pub use aggregate::fate;
