//! Distance between two runs of one flow, and the moments at which they part.
//!
//! The *relative difference* of two values is `|a - b| / max(a, b)`: 0 where both are equal, 1 where one
//! of them is 0.

use super::document::{Flow, Moment, Series};
use super::losses::losses;
pub use crate::document::distance::{
    Apart, Difference, Distance, IntervalPair, Parting, State, relative,
};

/// Share and packets by which the cwnd of two runs must differ, at two buckets in a row, for the runs to have parted.
/// One bucket alone is the same step of cwnd a moment earlier or later.
const PARTED: (f64, f64) = (0.1, 2.0);
/// Round trips before a parting in which its causes are looked for.
const ROUND_TRIPS: f64 = 2.0;
/// The most moments that are reported for one side of a parting; the last ones are kept.
const MOST_MOMENTS: usize = 8;
/// Times closer than this are one, s.
const SAME_TIME: f64 = 1e-6;

/// The distance between `a` and `b`.
pub fn distance(a: &Flow, b: &Flow) -> Distance {
    let intervals = intervals(a, b);
    let values = |value: fn(&IntervalPair) -> [f64; 2]| {
        intervals.iter().map(|pair| (pair.end_s, value(pair)[0], value(pair)[1])).collect()
    };

    // cwnd compares at the buckets that both series have.
    let common = common(&a.series, &b.series);
    let cwnd =
        |series: &Series, index: usize| series.cwnd.get(index).copied().map_or(0.0, f64::from);
    let windows =
        common.iter().map(|end| (end.at_s, cwnd(&a.series, end.in_a), cwnd(&b.series, end.in_b)));
    let windows: Vec<_> = windows.collect();

    // One bucket apart may be a shift in time: two in a row make a parting.
    let lasting = windows.windows(2).position(|pair| {
        pair.iter().all(|(_, a, b)| relative(*a, *b) > PARTED.0 && (a - b).abs() > PARTED.1)
    });
    let diverged = lasting.and_then(|first| parting(a, b, &common[first]));
    let resent = |flow: &Flow| flow.retransmitted_segments as f64;

    // The earlier of the two cuts bounds what both runs know.
    let known_until_s = known_until(a).into_iter().chain(known_until(b)).reduce(f64::min);
    Distance {
        throughput: apart(values(|pair| pair.throughput_mbit)),
        retransmitted: apart(values(|pair| pair.retransmitted_segments.map(|n| n as f64))),
        cwnd: apart(windows),
        retransmissions: Difference::new(resent(a), resent(b)),
        completion_s: a.completion_s.zip(b.completion_s).map(|(a, b)| Difference::new(a, b)),
        losses: losses(a, b, known_until_s),
        known_until_s,
        intervals,
        diverged,
    }
}

/// The time of the last moment that is kept of a flow, where others are left out: some of them may be of the same time.
fn known_until(flow: &Flow) -> Option<f64> {
    flow.moments.last().filter(|_| flow.moments_left_out > 0).map(|moment| moment.at_s)
}

fn intervals(a: &Flow, b: &Flow) -> Vec<IntervalPair> {
    let same = |x: f64, y: f64| (x - y).abs() < SAME_TIME;
    let pairs = a.intervals.iter().filter_map(|a| {
        let b =
            b.intervals.iter().find(|b| same(a.start_s, b.start_s) && same(a.end_s, b.end_s))?;
        Some(IntervalPair {
            end_s: a.end_s,
            throughput_mbit: [a.throughput_mbit, b.throughput_mbit],
            retransmitted_segments: [a.retransmitted_segments, b.retransmitted_segments],
            cwnd: [a.cwnd, b.cwnd],
        })
    });
    pairs.collect()
}

/// The parting at a common bucket, with the moments there.
fn parting(a: &Flow, b: &Flow, bucket_end: &CommonEnd) -> Option<Parting> {
    let &CommonEnd { at_s, in_a, in_b } = bucket_end;
    let states = (State::at(&a.series, in_a)?, State::at(&b.series, in_b)?);
    let srtt_us = states.0.srtt_us.max(states.1.srtt_us).unwrap_or(0);
    let bucket = a.series.bucket_s.max(b.series.bucket_s);

    // The cause precedes its effect on cwnd by a few round trips.
    let from_s = at_s - bucket - ROUND_TRIPS * f64::from(srtt_us) / 1e6;
    let happened = |flow: &Flow| {
        let all: Vec<Moment> = flow
            .moments
            .iter()
            .filter(|m| m.at_s >= from_s && m.at_s < at_s + SAME_TIME)
            .copied()
            .collect();

        // The latest moments explain most.
        all[all.len().saturating_sub(MOST_MOMENTS)..].to_vec()
    };
    let (events_a, events_b) = (happened(a), happened(b));
    Some(Parting { at_s, a: states.0, b: states.1, from_s, events_a, events_b })
}

/// End of a bucket that both series have.
#[derive(Debug, PartialEq)]
struct CommonEnd {
    at_s: f64,
    /// Index of the bucket in either series.
    in_a: usize,
    in_b: usize,
}

/// Ends of buckets that both series have.
fn common(a: &Series, b: &Series) -> Vec<CommonEnd> {
    let mut j = 0;
    let mut common = Vec::new();
    for (i, at) in a.end_s.iter().enumerate() {
        while b.end_s.get(j).is_some_and(|end| *end < at - SAME_TIME) {
            j += 1;
        }
        if b.end_s.get(j).is_some_and(|end| *end < at + SAME_TIME) {
            common.push(CommonEnd { at_s: *at, in_a: i, in_b: j });
        }
    }
    common
}

/// The relative differences of pairs of values that are not negative, each with its time; none without pairs.
pub fn apart(values: Vec<(f64, f64, f64)>) -> Option<Apart> {
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
    use crate::document::Happened;

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
    fn moments_are_known_until_the_first_run_has_no_more_of_them() {
        let flow = |times: &[f64], moments_left_out: u64| Flow {
            moments: times
                .iter()
                .map(|at_s| Moment { at_s: *at_s, what: Happened::Retransmitted, value: 1 })
                .collect(),
            moments_left_out,
            ..Flow::default()
        };
        let whole = flow(&[1.0, 2.0, 3.0, 4.0], 0);
        let distance = |a: &Flow, b: &Flow| {
            let distance = distance(a, b);
            (distance.known_until_s, distance.losses.a, distance.losses.b)
        };
        assert_eq!(distance(&whole, &whole), (None, 4, 4));
        assert_eq!(distance(&whole, &flow(&[1.0, 2.0, 3.0], 7)), (Some(3.0), 2, 2));
        assert_eq!(distance(&flow(&[1.0, 2.0], 1), &flow(&[1.0, 3.0], 1)), (Some(2.0), 1, 1));
    }

    #[test]
    fn only_equal_times_are_compared() {
        let series = |ends: &[f64]| Series { end_s: ends.to_vec(), ..Series::default() };
        let found = common(&series(&[0.1, 0.2, 0.3]), &series(&[0.15, 0.2, 0.25, 0.3, 0.35]));
        let end = |at_s, in_a, in_b| CommonEnd { at_s, in_a, in_b };
        assert_eq!(found, [end(0.2, 1, 1), end(0.3, 2, 3)]);
    }
}
