//! A flow of a run as the subject of a finding.

use super::figure::{Column, Role, Series};
use fullpipe_analysis::document::{Document, Flow, Run};

/// A flow of a run, and its name in texts.
pub(super) struct Subject<'a> {
    pub run_index: usize,
    pub flow_index: usize,
    pub run: &'a Run,
    pub flow: &'a Flow,
    /// The variant's name, and the flow's where a run of the document has several.
    pub label: String,
}

/// All flows of all runs.
pub(super) fn subjects(document: &Document) -> Vec<Subject<'_>> {
    // Flow names are shown only where some run has several flows.
    let several = document.runs.iter().any(|run| run.flows.len() > 1);
    let mut all = Vec::new();
    for (run_index, run) in document.runs.iter().enumerate() {
        for (flow_index, flow) in run.flows.iter().enumerate() {
            let label = if several {
                format!("{} · {}", run.variant, flow.name)
            } else {
                run.variant.clone()
            };
            all.push(Subject { run_index, flow_index, run, flow, label });
        }
    }
    all
}

impl Subject<'_> {
    /// JSON pointer to a field of the flow.
    pub fn pointer(&self, field: &str) -> String {
        format!("/runs/{}/flows/{}/{field}", self.run_index, self.flow_index)
    }

    /// A column of times on the flow's interval clock, moved onto the clock that started first in its run. So flows
    /// that start at different times have their own places on the axis.
    pub fn times(&self, field: &str) -> Column {
        self.times_after(field, 0.0)
    }

    /// As [`Subject::times`], `seconds` later.
    pub fn times_after(&self, field: &str, seconds: f64) -> Column {
        Column::Document { from: self.pointer(field), scale: 1.0, offset: self.delay_s() + seconds }
    }

    /// See [`delay_s`].
    pub fn delay_s(&self) -> f64 {
        delay_s(self.run, self.flow)
    }

    /// A gauge from the flow's fine series.
    pub fn gauge(&self, name: &str, role: Role, field: &str, scale: f64) -> Series {
        Series {
            id: format!("r{}.f{}.{field}", self.run_index, self.flow_index),
            run: self.run_index,
            flow: Some(self.flow_index),
            line: None,
            name: name.to_string(),
            role,
            x: self.times("series/end_s"),
            x_start: None,
            y: Column::scaled(self.pointer(&format!("series/{field}")), scale),
            y_high: None,
            absent: "",
        }
    }
}

/// Time from the first interval clock of the run to the flow's, s.
pub(super) fn delay_s(run: &Run, flow: &Flow) -> f64 {
    flow.clock_start_s - first_clock_s(run)
}

/// When the run's first interval clock starts, simulated seconds; 0 without flows.
pub(super) fn first_clock_s(run: &Run) -> f64 {
    let first = run.flows.iter().map(|flow| flow.clock_start_s).reduce(f64::min);
    first.unwrap_or(0.0)
}

/// The subjects with the least and the greatest value; values that are not finite do not count.
pub(super) fn extremes<'a, 'b, V>(
    subjects: &'b [Subject<'a>],
    value: V,
) -> Option<[(&'b Subject<'a>, f64); 2]>
where
    V: Fn(&Subject<'a>) -> Option<f64>,
{
    let mut valued: Vec<(&Subject<'a>, f64)> = subjects
        .iter()
        .filter_map(|subject| Some((subject, value(subject).filter(|v| v.is_finite())?)))
        .collect();
    valued.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some([*valued.first()?, *valued.last()?])
}
