//! Rounds of slow start, as strokes through the line of a window.

use super::figure::Tick;
use super::subject::Subject;

/// A stroke where each round begins, on the line of cwnd as it is drawn.
pub(super) fn ticks(subject: &Subject) -> Vec<Tick> {
    let rounds = subject.flow.slow_start_rounds.as_deref().unwrap_or_default();
    let tick = |(round, number): (&crate::analysis::document::Round, usize)| {
        Some(Tick {
            run: subject.run_index,
            flow: subject.flow_index,
            x: round.start_s + subject.delay_s(),
            y: cwnd(subject, round.start_s)?,
            label: number.to_string(),
        })
    };
    rounds.iter().zip(1..).filter_map(tick).collect()
}

/// cwnd at a time, between those of two buckets' ends; before the first end that of the first.
fn cwnd(subject: &Subject, time: f64) -> Option<f64> {
    let series = &subject.flow.series;
    let after = series.end_s.partition_point(|end| *end < time);
    let at =
        |bucket: usize| Some((*series.end_s.get(bucket)?, f64::from(*series.cwnd.get(bucket)?)));
    let Some((to, high)) = at(after) else { return Some(at(after.checked_sub(1)?)?.1) };
    let Some((from, low)) = after.checked_sub(1).and_then(at) else { return Some(high) };
    Some(low + (high - low) * (time - from) / (to - from))
}
