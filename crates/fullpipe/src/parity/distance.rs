//! Distances between two tables of a case, by congestion control: the values that bars are about.

use super::case::Case;
use super::grid;
use super::messages::Messages;
use super::table::{Row, Table};
use crate::analysis::distance::{apart, relative};
use crate::scenario::{Element, Resolved};
use serde::Serialize;

/// Two values of cwnd are one where they differ by no more packets than that, or by no more than this share.
pub const SAME_CWND: (f64, f64) = (1.0, 0.01);

/// The flows of one congestion control in one run, on real Linux and in the simulator. Pairs are Linux's value and the
/// simulator's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Unit {
    /// Name of the case.
    pub run: String,
    /// Name without the seed, where the case is one of several with other seeds.
    pub of: String,
    /// The congestion control.
    pub congestion: String,
    /// Flows that have it.
    pub flows: usize,
    /// Whether all flows of the run have it.
    pub alone: bool,
    /// None where nothing was acknowledged.
    pub throughput: Option<Throughput>,
    /// None without samples of both sides.
    pub cwnd: Option<Cwnd>,
    /// Whether the run lost and retransmitted nothing, on both sides.
    pub loss_free: bool,
    /// Bytes acknowledged by the end.
    pub acked: [u64; 2],
    /// Segments sent again.
    pub retransmitted: [u64; 2],
    /// Completions of flows that end with their last byte on at least one side.
    pub completions: Vec<Completion>,
    /// Times of messages of flows that have read some on at least one side.
    pub messages: Vec<Messages>,
    /// Command that shows it.
    pub command: String,
}

/// Bytes acknowledged at the sender in intervals of 100 ms of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Sum of the differences over the sum of the larger values: a share of acknowledged bytes, 0 to 1.
    pub mean: f64,
    /// Median of the intervals' relative differences, 0 to 1.
    pub median: f64,
    /// The largest of them.
    pub worst: f64,
    /// End of that interval, s.
    pub worst_at_s: f64,
    /// Intervals of all flows in which at least one side had something acknowledged.
    pub intervals: usize,
}

/// cwnd at equal moments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cwnd {
    /// Share of moments at which it is the same but for a packet or a hundredth.
    pub same: f64,
    /// Median of the relative differences.
    pub median: f64,
    /// The largest of them.
    pub worst: f64,
    /// When that was, s.
    pub worst_at_s: f64,
    /// Moments.
    pub samples: usize,
}

/// The end of a flow with a fixed number of bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Completion {
    /// Name of the flow.
    pub flow: String,
    /// Seconds from connect() until all was read; none: not before the run's end.
    pub seconds: [Option<f64>; 2],
    /// The path's round trip without queues, s.
    pub round_trip_s: f64,
}

impl Unit {
    /// The run, with the congestion control where it has several.
    pub fn name(&self) -> String {
        match self.alone {
            true => self.run.clone(),
            false => format!("{}, {}", self.run, self.congestion),
        }
    }

    /// The completion that is most round trips apart.
    pub fn furthest(&self) -> Option<&Completion> {
        self.completions.iter().max_by(|a, b| a.round_trips().total_cmp(&b.round_trips()))
    }
}

impl Completion {
    /// Distance in round trips; infinite where one side is not done.
    pub fn round_trips(&self) -> f64 {
        match self.seconds {
            [Some(a), Some(b)] if self.round_trip_s > 0.0 => (a - b).abs() / self.round_trip_s,
            [Some(a), Some(b)] if a == b => 0.0,
            _ => f64::INFINITY,
        }
    }
}

/// Triples of time and two values.
type Pairs = Vec<(f64, f64, f64)>;

/// The distances between the results of real Linux and of the simulator for a case.
///
/// # Errors
/// A table is not of this case.
pub fn units(case: &Case, linux: &Table, sim: &Table) -> Result<Vec<Unit>, String> {
    let run = &case.plan.resolved;

    // A table of other flows would be compared silently with the wrong ones.
    for table in [linux, sim] {
        if table.complete.len() != run.flow.len() {
            let (has, asks) = (table.complete.len(), run.flow.len());
            return Err(format!("{}: a table of {has} flows, for {asks}", case.name));
        }
    }

    // Flows of one congestion control make a unit.
    let mut names: Vec<&String> = Vec::new();
    for flow in &run.flow {
        if !names.contains(&&flow.congestion.name) {
            names.push(&flow.congestion.name);
        }
    }
    Ok(names.iter().map(|name| unit(case, name, names.len() == 1, linux, sim)).collect())
}

fn unit(case: &Case, congestion: &str, alone: bool, linux: &Table, sim: &Table) -> Unit {
    let run = &case.plan.resolved;
    let (mut gains, mut windows) = (Pairs::new(), Pairs::new());
    let (mut resent, mut acked) = ([0, 0], [0, 0]);
    let (mut completions, mut messages) = (Vec::new(), Vec::new());
    let own = run.flow.iter().enumerate().filter(|(_, flow)| flow.congestion.name == congestion);
    for (index, flow) in own.clone() {
        let both = [linux.flow(index), sim.flow(index)];
        for side in [0, 1] {
            let last = both[side].last();
            resent[side] += last.map_or(0, |row| row.retransmitted);
            acked[side] += last.map_or(0, |row| row.acked);
        }

        // Rows after the last acknowledged byte of both sides would only add zeros.
        let both = alive(both);
        gains.extend(self::gains(&both));
        windows.extend(self::windows(&both));
        let (flow, round_trip_s) = (flow.name.clone(), round_trip_s(run, &flow.name));
        let seconds = [linux.complete[index].1, sim.complete[index].1];
        let times = [linux, sim].map(|table| table.messages(&flow));

        // A flow that completes on neither side has no time to compare, nor has one without messages.
        if times != [None; 2] {
            messages.push(Messages { flow: flow.clone(), times, round_trip_s });
        }
        if seconds != [None; 2] {
            completions.push(Completion { flow, seconds, round_trip_s });
        }
    }
    Unit {
        run: case.name.clone(),
        of: case.of.clone(),
        congestion: congestion.into(),
        flows: own.count(),
        alone,
        throughput: throughput(gains),
        cwnd: cwnd(windows),
        loss_free: linux.loss_free(),
        acked,
        retransmitted: resent,
        completions,
        messages,
        command: super::both::command(case),
    }
}

/// Delays of the path, and of this flow alone.
fn round_trip_s(run: &Resolved, flow: &str) -> f64 {
    run.path
        .forward
        .iter()
        .chain(&run.path.back)
        .map(|element| match element {
            Element::FlowDelay(own) if own.flow == flow => own.delay.as_secs_f64(),
            Element::FlowDelay(_) => 0.0,
            other => other.delay().as_secs_f64(),
        })
        .sum()
}

/// The rows of both sides up to the first at which both have had acknowledged all that they ever get.
fn alive([a, b]: [Vec<&Row>; 2]) -> [Vec<&Row>; 2] {
    let until = |rows: &[&Row]| {
        let all = rows.last().map_or(0, |row| row.acked);
        rows.iter().position(|row| row.acked == all).map_or(0, |last| last + 1)
    };
    let count = until(&a).max(until(&b));
    [a, b].map(|rows| rows.into_iter().take(count).collect())
}

/// Bytes acknowledged in each interval, by its end.
fn gains([a, b]: &[Vec<&Row>; 2]) -> Pairs {
    let step_s = match a[..] {
        [first, second, ..] => second.time_s - first.time_s,
        _ => 1.0,
    };
    let (rows, mut before) = (grid::of_interval(step_s), (0, 0));
    let mut gains = Pairs::new();
    for (n, (x, y)) in a.iter().zip(b).enumerate() {
        if (n + 1) % rows == 0 || n + 1 == a.len().min(b.len()) {
            let gain = |now: u64, then: u64| now.saturating_sub(then) as f64;
            gains.push((x.time_s, gain(x.acked, before.0), gain(y.acked, before.1)));
            before = (x.acked, y.acked);
        }
    }
    gains.retain(|(_, a, b)| a.max(*b) > 0.0);
    gains
}

/// cwnd at moments at which both sides have sent something.
fn windows([a, b]: &[Vec<&Row>; 2]) -> Pairs {
    let sending = a.iter().zip(b).filter(|(x, y)| x.sent > 0 && y.sent > 0);
    sending.map(|(x, y)| (x.time_s, f64::from(x.cwnd), f64::from(y.cwnd))).collect()
}

fn throughput(gains: Pairs) -> Option<Throughput> {
    let sum = |of: fn(&(f64, f64, f64)) -> f64| gains.iter().map(of).sum::<f64>();
    let mean = sum(|(_, a, b)| (a - b).abs()) / sum(|(_, a, b)| a.max(*b));
    let found = apart(gains)?;
    Some(Throughput {
        mean,
        median: found.median,
        worst: found.worst,
        worst_at_s: found.worst_at_s,
        intervals: found.pairs,
    })
}

fn cwnd(windows: Pairs) -> Option<Cwnd> {
    let same = windows.iter().filter(|(_, a, b)| is_same(*a, *b)).count();
    let found = apart(windows)?;
    Some(Cwnd {
        same: same as f64 / found.pairs as f64,
        median: found.median,
        worst: found.worst,
        worst_at_s: found.worst_at_s,
        samples: found.pairs,
    })
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_CWND.0 || relative(a, b) <= SAME_CWND.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_s: f64, cwnd: u32, acked: u64) -> Row {
        Row { time_s, cwnd, acked, sent: 1, ..Row::default() }
    }

    #[test]
    fn rows_after_the_end_of_both_do_not_count() {
        let a = [row(0.1, 10, 100), row(0.2, 20, 300), row(0.3, 20, 300), row(0.4, 20, 300)];
        let b = [row(0.1, 10, 100), row(0.2, 10, 200), row(0.3, 40, 300), row(0.4, 80, 300)];
        let both = alive([a.iter().collect(), b.iter().collect()]);
        assert_eq!((both[0].len(), both[1].len()), (3, 3));
        let gains = gains(&both);
        assert_eq!(gains, [(0.1, 100.0, 100.0), (0.2, 200.0, 100.0), (0.3, 0.0, 100.0)]);
        let found = throughput(gains).expect("intervals");
        assert_eq!((found.mean, found.median, found.worst), (0.5, 0.5, 1.0));
        let found = cwnd(windows(&both)).expect("moments");
        assert_eq!((found.same, found.worst, found.worst_at_s), (1.0 / 3.0, 0.5, 0.2));
    }

    #[test]
    fn intervals_are_100_ms_long_where_moments_are_closer() {
        let a: Vec<Row> = (1..=12).map(|n| row(f64::from(n) * 0.05, 10, 10 * n as u64)).collect();
        let both = [a.iter().collect::<Vec<_>>(), a.iter().take(11).collect()];
        let ends: Vec<f64> = gains(&both).iter().map(|gain| (gain.0 * 1e3).round()).collect();
        assert_eq!(ends, [100.0, 200.0, 300.0, 400.0, 500.0, 550.0]);
        let last = gains(&both).last().copied().expect("an interval");
        assert_eq!((last.1, last.2), (10.0, 10.0), "the last one may be shorter");
    }

    #[test]
    fn a_packet_or_a_hundredth_is_no_difference_of_cwnd() {
        assert!(is_same(10.0, 11.0) && is_same(1000.0, 1010.0) && is_same(1010.0, 1000.0));
        assert!(!is_same(10.0, 12.0) && !is_same(1000.0, 1011.0));
    }

    #[test]
    fn completions_are_round_trips_apart() {
        let apart = |a, b| {
            let seconds = [a, b];
            Completion { flow: "f".into(), seconds, round_trip_s: 0.5 }.round_trips()
        };
        assert_eq!(apart(Some(1.0), Some(2.0)), 2.0);
        assert_eq!(apart(Some(1.0), None), f64::INFINITY);
    }
}
