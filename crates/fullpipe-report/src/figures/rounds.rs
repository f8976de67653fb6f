//! Rounds of slow start, as strokes through the line of a window.

use super::figure::Tick;
use super::subject::Subject;

/// Least growth of cwnd from one stroke to the next: rounds at one height would be a smear.
const GROWTH: f64 = 1.001;

/// A stroke at the beginning of each round of slow start, on the drawn line of cwnd. Rounds after slow start, and
/// rounds in which cwnd does not grow, have none.
pub(super) fn ticks(subject: &Subject) -> Vec<Tick> {
    let flow = subject.flow;

    // Slow start that never ended has strokes to the run's end.
    let end = flow.slow_start.map_or(f64::INFINITY, |own| own.ended_s.unwrap_or(f64::INFINITY));
    let rounds = flow.slow_start_rounds.as_deref().unwrap_or_default();
    let rounds = rounds.iter().zip(1..).take_while(|(round, _)| round.start_s <= end);
    let mut highest = 0.0;
    let mut ticks = Vec::new();
    for (round, number) in rounds {
        // A round without growth has its stroke left out: strokes would cover each other.
        let Some(cwnd) = cwnd(subject, round.start_s).filter(|cwnd| *cwnd >= highest * GROWTH)
        else {
            continue;
        };
        highest = cwnd;
        ticks.push(Tick {
            run: subject.run_index,
            flow: subject.flow_index,
            x: round.start_s + subject.delay_s(),
            y: cwnd,
            label: number.to_string(),
        });
    }
    ticks
}

/// cwnd at a time, interpolated between the ends of two buckets; before the first end its own.
fn cwnd(subject: &Subject, time: f64) -> Option<f64> {
    let series = &subject.flow.series;
    let after = series.end_s.partition_point(|end| *end < time);
    let at =
        |bucket: usize| Some((*series.end_s.get(bucket)?, f64::from(*series.cwnd.get(bucket)?)));
    let Some((to, high)) = at(after) else { return Some(at(after.checked_sub(1)?)?.1) };
    let Some((from, low)) = after.checked_sub(1).and_then(at) else { return Some(high) };
    Some(low + (high - low) * (time - from) / (to - from))
}
