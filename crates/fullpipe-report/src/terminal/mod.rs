//! A document as text for a terminal: headline, then the runs in few lines ([`summary`]). The full text adds a table of
//! intervals for each flow, the path, where packets were dropped, published figures and expectations.
//!
//! Everything but the headline fits the width that is given, 80 columns at least; from 120 on the tables say more.

mod apart;
pub mod compared;
mod counters;
mod crowd;
mod datagrams;
mod dropped;
mod emulated;
mod findings;
mod flow;
pub mod grid;
mod held_back;
mod judged;
mod messages;
pub mod names;
mod nfs;
mod paint;
mod picture;
mod runs;
mod sections;
mod shared;
mod slow_start;
mod summary;

pub use compared::{compare, compare_short};
pub use paint::Style;

use super::aggregate::{self, Shown};
use fullpipe_analysis::document::{Document, Run};

/// Extent of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A line for each run.
    Brief,
    /// The answer and its grounds, in at most 60 lines together with the command's own lines.
    Short,
    /// Intervals, the path and all drops besides; alike flows together.
    Full,
    /// As [`Detail::Full`], with a line for each flow, however many there are.
    EveryFlow,
}

/// The document in few lines, ending in a newline.
pub fn render(document: &Document, style: Style) -> String {
    render_as(document, Detail::Short, style)
}

/// The document in that extent, ending in a newline.
pub fn render_as(document: &Document, detail: Detail, style: Style) -> String {
    let most = if detail == Detail::EveryFlow { usize::MAX } else { 1 };
    let lines = match detail {
        Detail::Brief => document.runs.iter().map(brief).collect(),
        Detail::Short => summary::short(document, style),
        Detail::Full | Detail::EveryFlow => full(document, most, style),
    };
    lines.join("\n") + "\n"
}

/// A run in one line, however long: its name and its headline.
fn brief(run: &Run) -> String {
    let answer = run.headline.as_ref().map_or("", |headline| &headline.text);
    format!("{}: {answer}", run.variant)
}

/// Everything; where there are no more than `most` alike flows, each is shown.
fn full(document: &Document, most: usize, style: Style) -> Vec<String> {
    let mut lines = summary::whole(document, style);

    // The summary of many runs leaves these parts out.
    let many = document.runs.len() > summary::EACH;
    for run in &document.runs {
        self::run(&mut lines, run, most, style);
        if many {
            lines.extend(shared::lines(run, style));
        }
    }
    if many {
        lines.extend(slow_start::lines(document, style));
        lines.push(String::new());
        lines.extend(held_back::each(document, true, style).into_iter().flatten());
    }
    lines
}

fn run(lines: &mut Vec<String>, run: &Run, most: usize, style: Style) {
    lines.extend(findings::lines(run, style));
    for flows in aggregate::shown(run, most) {
        lines.push(String::new());
        lines.extend(match flows {
            Shown::Each(flow) => flow::lines(run, flow, style),
            Shown::Crowd(flows) => crowd::lines(run, &flows, style),
        });
    }
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
mod tests;
