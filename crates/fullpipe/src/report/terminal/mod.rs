//! A document as text for a terminal: first its headline in one line, then per flow a table of its intervals, then where packets were
//! dropped, the published figures beside the simulated ones, the expectations; then what differs between
//! engines, and last a verdict for each variant.
//!
//! Everything but the headline fits the width that is given, 80 columns at least; from 120 on the tables say more.

mod apart;
pub(in crate::report) mod cells;
pub(in crate::report) mod company;
mod compared;
mod counters;
mod crowd;
mod datagrams;
mod dropped;
mod flow;
pub(in crate::report) mod grid;
mod judged;
mod names;
mod nfs;
mod paint;
mod parity;
mod picture;
mod shared;
mod slow_start;
mod spread;
mod swept;
mod twins;
mod verdict;
pub(in crate::report) mod versus;

pub use cells::{MOST_LINES, cells};
pub use company::company;
pub use compared::compare;
pub use paint::Style;
pub use parity::{parity, parity_head, so_much, value};
pub use spread::spreads;
pub use swept::swept;
pub use twins::twins;
pub use versus::versus;

use super::together::{self, EACH, Shown};
use crate::analysis::document::{Document, Run};
use grid::wrap;

/// The whole document, ending in a newline. Of more than [`EACH`] alike flows it shows their sum and the extremes.
pub fn render(document: &Document, style: Style) -> String {
    with_each_of(EACH, document, style)
}

/// The same with each flow, however many there are.
pub fn render_every_flow(document: &Document, style: Style) -> String {
    with_each_of(usize::MAX, document, style)
}

/// Where there are no more than `most` alike flows, each is shown.
fn with_each_of(most: usize, document: &Document, style: Style) -> String {
    let mut lines = Vec::new();
    // One line whatever the width: programs and people read the first line alone.
    lines.extend(document.headline.as_ref().map(|own| style.bold(&own.text)));
    title(&mut lines, document, style);
    for run in &document.runs {
        self::run(&mut lines, run, most, style);
    }
    for pair in &document.comparisons {
        lines.push(String::new());
        lines.extend(compared::pair(pair, style));
    }
    lines.extend(slow_start::lines(document, style));
    lines.extend(verdict::lines(document, most, style));
    lines.join("\n") + "\n"
}

fn title(lines: &mut Vec<String>, document: &Document, style: Style) {
    let scenario = &document.scenario;
    let text = format!("{} ({}, seed {})", scenario.title, scenario.name, scenario.seed);
    lines.extend(wrap(&text, "", style.columns()).iter().map(|line| style.bold(line)));
    if document.partial {
        let mut text =
            "PARTIAL: interrupted, or runs failed; everything is whole up to the last interval shown".to_string();
        if !document.missing.is_empty() {
            text += &format!("; missing: {}", document.missing.join("; "));
        }
        lines.extend(wrap(&text, "", style.columns()).iter().map(|line| style.bad(line)));
    }
}

fn run(lines: &mut Vec<String>, run: &Run, most: usize, style: Style) {
    for flows in together::shown(run, most) {
        lines.push(String::new());
        lines.extend(match flows {
            Shown::Each(flow) => flow::lines(run, flow, style),
            Shown::Crowd(flows) => crowd::lines(run, &flows, style),
        });
    }
    lines.extend(shared::lines(run, style));
    lines.extend(datagrams::lines(run, style));
    lines.extend(nfs::lines(run, style));
    lines.extend(picture::lines(run, style));
    lines.extend(dropped::lines(run, style));
    lines.extend(counters::lines(run, style));
    if let Some(published) = &run.published {
        lines.push(String::new());
        lines.extend(judged::published(published, style));
    }
    lines.extend(judged::expectations(&run.expectations, style));
}

#[cfg(test)]
pub(super) mod sample;
#[cfg(test)]
mod tests;
