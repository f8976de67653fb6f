//! Series over the bins of a run, which belong to lines of its panel and not to flows alone.

use super::figure::{Axis, Column, Figure, Layout, Line, Prominence, Role, Series, TIME};
use super::subject::first_clock_s;
use fullpipe_analysis::document::{Document, Run};

/// A column of a run's bins.
pub(super) struct Binned<'a> {
    pub run: usize,
    pub of: &'a Run,
    /// The flow, where it is one's.
    pub flow: Option<usize>,
    pub line: Line,
    /// Name of the series, equal for all lines.
    pub name: &'static str,
    pub role: Role,
    /// Place in the bins: "sum/sent_mbit".
    pub field: String,
}

impl Binned<'_> {
    pub fn series(self) -> Series {
        let from = |field: &str| format!("/runs/{}/bins/{field}", self.run);

        // Bins count from the run's start; the figures' time is the first flow's clock.
        let offset = -first_clock_s(self.of);
        let time = |field| Column::Document { from: from(field), scale: 1.0, offset };
        Series {
            id: format!("r{}.{}", self.run, self.field.replace('/', ".")),
            run: self.run,
            flow: self.flow,
            line: Some(self.line),
            name: self.name.to_string(),
            role: self.role,
            x: time("end_s"),
            x_start: Some(time("start_s")),
            y: Column::of(from(&self.field)),
            y_high: None,
            absent: "",
        }
    }
}

/// A figure of such series; one without any has only its words.
pub(super) fn figure(
    name: &'static str,
    title: String,
    description: String,
    y: Axis,
    series: Vec<Series>,
) -> Figure {
    Figure {
        name,
        title,
        description,
        prominence: Prominence::Main,
        layout: Layout::Lines,
        x: TIME,
        y,
        series,
        annotations: Vec::new(),
        moments: Vec::new(),
        ticks: Vec::new(),
    }
}

/// Length of the document's bins, in words; from the first run that has some.
pub(super) fn bin(document: &Document) -> String {
    let mut lengths = document.runs.iter().map(|run| run.bins.bin_s).filter(|length| *length > 0.0);
    lengths.next().map_or(String::new(), |length| format!("bins of {length} s"))
}

/// Behind a number of one run: which one, where there are several.
pub(super) fn with(document: &Document, run: &Run) -> String {
    if document.runs.len() > 1 { format!(" with {}", run.variant) } else { String::new() }
}

/// Names of all places in the bins of all runs: their colours, which repeat. Places that dropped something are first,
/// then places with the most waiting units.
pub(super) fn places(document: &Document) -> Vec<&str> {
    let mut places: Vec<(&str, (bool, u64))> = Vec::new();
    for place in document.runs.iter().flat_map(|run| &run.bins.places) {
        let drops = place.dropped.iter().any(|dropped| *dropped > 0);
        let most = (drops, place.peak.iter().copied().max().unwrap_or(0));
        match places.iter_mut().find(|(name, _)| *name == place.stage) {
            Some((_, known)) => *known = most.max(*known),
            None => places.push((&place.stage, most)),
        }
    }
    places.sort_by_key(|(_, most)| std::cmp::Reverse(*most));
    places.into_iter().map(|(name, _)| name).collect()
}

/// The line of a place.
pub(super) fn line(names: &[&str], stage: &str) -> Line {
    let colour = names.iter().position(|name| *name == stage);
    Line { name: stage.to_string(), colour }
}
