//! Limits that held a flow back, over time.

use super::figure::{Axis, Figure, Layout, Prominence, Role, Series, TIME};
use super::subject::{Subject, extremes, subjects};
use crate::shares;
use fullpipe_analysis::document::Document;
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let subjects = subjects(document);
    Figure {
        name: "limits",
        title: title(&subjects),
        description: "Share of each bucket by the predicate that stopped the sender from sending; \
                      each column adds up to 100 %."
            .to_string(),
        prominence: Prominence::Main,
        layout: Layout::Strip,
        x: TIME,
        y: Axis { label: "held back by", unit: "%", from_zero: true, log_offered: false },
        series: subjects.iter().flat_map(series).collect(),
        annotations: Vec::new(),
        moments: Vec::new(),
        ticks: Vec::new(),
    }
}

/// Series of each limit that ever held this flow, in the fixed order of limits.
fn series(subject: &Subject) -> Vec<Series> {
    let columns = &subject.flow.series.limits;
    let mut names: Vec<&String> = columns
        .iter()
        .filter(|(_, shares)| shares.iter().any(|share| *share > 0.0))
        .map(|(name, _)| name)
        .collect();
    names.sort_by_key(|name| (limits::place(name), name.as_str()));
    names.into_iter().map(|name| share(subject, name)).collect()
}

fn share(subject: &Subject, name: &str) -> Series {
    let key = name.replace('~', "~0").replace('/', "~1");
    let gauge = subject.gauge(name, Role::Share, &format!("limits/{key}"), 100.0);
    Series {
        x_start: Some(subject.times_after("series/end_s", -subject.flow.series.bucket_s)),
        ..gauge
    }
}

fn title(subjects: &[Subject]) -> String {
    let held = |s: &Subject| shares::ranked(&s.flow.limits).first().map(|(_, share)| *share);
    if extremes(subjects, held).is_none() {
        return "Nothing is known of what held the flows back".to_string();
    }

    // Runs with extreme rates explain the difference best.
    let Some([(slow, _), (fast, _)]) = extremes(subjects, |s| held(s).map(|_| s.flow.mean_mbit))
    else {
        return "Nothing is known of what held the flows back".to_string();
    };
    let clause = |s: &Subject| {
        shares::ranked(&s.flow.limits).first().map_or(String::new(), |(name, share)| {
            format!(
                "{} held back {} for {} of its life",
                limits::label(name),
                s.label,
                numbers::share(*share)
            )
        })
    };

    // A single flow is both the slowest and the fastest.
    if std::ptr::eq(slow, fast) {
        clause(slow)
    } else {
        format!("{}; {}", clause(slow), clause(fast))
    }
}
