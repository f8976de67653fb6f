//! How far two runs of one flow are apart, and where they part.
//!
//! The *relative difference* of two values is `|a - b| / max(a, b)`: 0 where both are equal, 1 where one
//! of them is 0.

use super::document::{Flow, Series};
use serde::Serialize;

/// Two runs have parted where their cwnd differs by more than this share, and by more packets than that.
const PARTED: (f64, f64) = (0.1, 2.0);
/// Times closer than this are one, s.
const SAME_TIME: f64 = 1e-6;

/// The distance of two runs of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// Of the throughput in the report's intervals that both have.
    pub throughput: Option<Apart>,
    /// Of cwnd at equal times: the ends of the series' buckets.
    pub cwnd: Option<Apart>,
    /// The first moment at which cwnd differs by more than a tenth and by more than two packets.
    pub parted: Option<Parting>,
}

/// Relative differences (0 to 1) of a row of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// Pairs of values.
    pub pairs: usize,
    /// Median.
    pub median: f64,
    /// Largest.
    pub worst: f64,
    /// Where that is: end of its interval or bucket, seconds since the flow's interval clock started.
    pub worst_at_s: f64,
}

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parting {
    /// Seconds since the flow's interval clock started.
    pub at_s: f64,
    /// The first run then.
    pub a: State,
    /// The second one.
    pub b: State,
}

/// A flow at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// Packets.
    pub cwnd: u32,
    /// Packets; null is infinite.
    pub ssthresh: Option<u32>,
    /// Packets.
    pub in_flight: u32,
    /// us; null before the first measurement.
    pub srtt_us: Option<u32>,
    /// Packets in the bottleneck's queue.
    pub queue: u64,
}

impl State {
    fn at(series: &Series, index: usize) -> Option<State> {
        Some(State {
            cwnd: *series.cwnd.get(index)?,
            ssthresh: *series.ssthresh.get(index)?,
            in_flight: *series.in_flight.get(index)?,
            srtt_us: *series.srtt_us.get(index)?,
            queue: *series.queue.get(index)?,
        })
    }
}

/// The distance between `a` and `b`.
pub fn distance(a: &Flow, b: &Flow) -> Distance {
    let same = |x: f64, y: f64| (x - y).abs() < SAME_TIME;
    let intervals = a.intervals.iter().filter_map(|in_a| {
        let in_b = b.intervals.iter().find(|in_b| same(in_a.start_s, in_b.start_s))?;
        same(in_a.end_s, in_b.end_s).then_some((
            in_a.end_s,
            in_a.throughput_mbit,
            in_b.throughput_mbit,
        ))
    });
    let common = common(&a.series, &b.series);
    let cwnd =
        |series: &Series, index: usize| series.cwnd.get(index).copied().map_or(0.0, f64::from);
    let windows = common.iter().map(|&(at, i, j)| (at, cwnd(&a.series, i), cwnd(&b.series, j)));
    let windows: Vec<_> = windows.collect();
    let far = |(_, a, b): &(f64, f64, f64)| relative(*a, *b) > PARTED.0 && (a - b).abs() > PARTED.1;
    let parted = windows.iter().position(far).and_then(|first| {
        let (at_s, i, j) = common[first];
        Some(Parting { at_s, a: State::at(&a.series, i)?, b: State::at(&b.series, j)? })
    });
    Distance { throughput: apart(intervals.collect()), cwnd: apart(windows), parted }
}

/// Ends of buckets that both series have, and their places.
fn common(a: &Series, b: &Series) -> Vec<(f64, usize, usize)> {
    let mut j = 0;
    let mut common = Vec::new();
    for (i, at) in a.end_s.iter().enumerate() {
        while b.end_s.get(j).is_some_and(|end| *end < at - SAME_TIME) {
            j += 1;
        }
        if b.end_s.get(j).is_some_and(|end| *end < at + SAME_TIME) {
            common.push((*at, i, j));
        }
    }
    common
}

/// The relative difference of two values that are not negative.
fn relative(a: f64, b: f64) -> f64 {
    let larger = a.max(b);
    if larger > 0.0 { (a - b).abs() / larger } else { 0.0 }
}

fn apart(values: Vec<(f64, f64, f64)>) -> Option<Apart> {
    let mut differences: Vec<(f64, f64)> =
        values.into_iter().map(|(at, a, b)| (relative(a, b), at)).collect();
    differences.sort_by(|x, y| x.0.total_cmp(&y.0));
    let median = differences.get(differences.len() / 2)?.0;
    // The first of equal ones.
    let worst = differences.last()?.0;
    let worst_at_s =
        differences.iter().filter(|d| d.0 == worst).map(|d| d.1).fold(f64::MAX, f64::min);
    Some(Apart { pairs: differences.len(), median, worst, worst_at_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_relative_to_the_larger_value() {
        let values = vec![
            (1.0, 10.0, 10.0),
            (2.0, 10.0, 9.0),
            (3.0, 0.0, 0.0),
            (4.0, 4.0, 8.0),
            (5.0, 2.0, 1.0),
        ];
        let expected = Apart { pairs: 5, median: 0.1, worst: 0.5, worst_at_s: 4.0 };
        assert_eq!(apart(values), Some(expected));
        assert_eq!(apart(Vec::new()), None);
    }

    #[test]
    fn only_equal_times_are_compared() {
        let series = |ends: &[f64]| Series { end_s: ends.to_vec(), ..Series::default() };
        let found = common(&series(&[0.1, 0.2, 0.3]), &series(&[0.15, 0.2, 0.25, 0.3, 0.35]));
        assert_eq!(found, [(0.2, 1, 1), (0.3, 2, 3)]);
    }
}
