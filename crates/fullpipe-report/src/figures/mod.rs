//! Figures as neutral data: one file each, and one list.
//!
//! A figure reads the document and returns a [`Figure`]: its finding as a sentence, axes with units,
//! and series that point into the document. How it looks is the renderers' business.

mod bandwidth;
mod cwnd;
mod drops;
mod figure;
mod limits;
mod over_time;
mod parting;
mod queue;
mod queues;
mod rounds;
mod rtt;
mod subject;
mod throughput;
mod windows;

pub use figure::{
    Annotation, Axis, Column, Figure, Layout, Line, Mark, Prominence, Role, Series, Tick,
};

use fullpipe_analysis::document::Document;

/// Every figure, in the order in which a report shows them.
const FIGURES: [fn(&Document) -> Figure; 9] = [
    throughput::figure,
    limits::figure,
    cwnd::figure,
    windows::figure,
    rtt::figure,
    queue::figure,
    bandwidth::figure,
    queues::figure,
    drops::figure,
];

/// All figures of a document. Each is there even when the document has nothing to draw in it: then
/// its title says so.
#[must_use]
pub fn all(document: &Document) -> Vec<Figure> {
    FIGURES.iter().map(|figure| figure(document)).collect()
}
