//! Times of messages: how long answers take on real Linux and in the simulator, or messages that nobody answers.

use super::distance::Unit;
use crate::analysis::document;
use crate::trace::recording::Recording;
use fullpipe_base::trace::EventKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// Times are alike within this share of Linux's, or within one round trip.
pub const ALIKE: f64 = 0.05;

/// Share of Linux's messages that the simulator may have more or fewer: the bar of a run's throughput.
pub const AS_MANY: f64 = 0.1;

/// Times of a flow's messages in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Messages that were read; requests that were answered.
    pub count: u64,
    /// Median, ms.
    pub median_ms: f64,
    /// Time that a twentieth of them takes or exceeds, ms.
    pub p95_ms: f64,
}

/// Times of a flow's messages on real Linux and in the simulator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Messages {
    /// Name of the flow.
    pub flow: String,
    /// Linux's times and the simulator's; none: nothing was read.
    pub times: [Option<Times>; 2],
    /// The path's round trip without queues, s.
    pub round_trip_s: f64,
}

/// Runs with messages, and those of them that keep to the bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Runs with messages.
    pub runs: usize,
    /// Runs in which all messages are alike.
    pub kept: usize,
    /// Name of the run that is furthest apart.
    pub worst_run: String,
    /// The flow in it.
    pub worst: Messages,
}

impl Times {
    /// The times as the head of a table has them.
    pub(super) fn text(&self) -> String {
        let Times { count, median_ms, p95_ms } = self;
        format!("{count}, median {median_ms} ms, p95 {p95_ms} ms")
    }

    /// Reads [`Times::text`]; none of another text.
    pub(super) fn read(text: &str) -> Option<Times> {
        let (count, rest) = text.split_once(", median ")?;
        let (median, rest) = rest.split_once(" ms, p95 ")?;
        let ms = |text: &str| text.parse().ok().filter(|ms: &f64| ms.is_finite());
        Some(Times {
            count: count.parse().ok()?,
            median_ms: ms(median)?,
            p95_ms: ms(rest.strip_suffix(" ms")?)?,
        })
    }
}

impl Messages {
    /// Distance of the median, of the 95th percentile, or of the number of messages as a multiple of the allowed one, the
    /// largest of them. Infinite where one side has none.
    pub fn excess(&self) -> f64 {
        let [Some(linux), Some(sim)] = self.times else { return f64::INFINITY };
        let of = |linux: f64, sim: f64| {
            let allowed = (self.round_trip_s * 1e3).max(linux * ALIKE);
            if linux == sim { 0.0 } else { (linux - sim).abs() / allowed }
        };
        let times = of(linux.median_ms, sim.median_ms).max(of(linux.p95_ms, sim.p95_ms));

        // One message more or less may be under way at the end.
        let fewer = linux.count.abs_diff(sim.count).saturating_sub(1) as f64;
        times.max(fewer / (linux.count as f64 * AS_MANY).max(1.0))
    }
}

impl Summary {
    /// Summary of these units; none where they have no messages.
    pub fn of<'a>(units: impl IntoIterator<Item = &'a Unit>) -> Option<Summary> {
        let mut runs: BTreeMap<&str, &Messages> = BTreeMap::new();
        for unit in units {
            for messages in &unit.messages {
                let worst = runs.entry(&unit.run).or_insert(messages);
                if messages.excess() > worst.excess() {
                    *worst = messages;
                }
            }
        }
        let furthest = runs.iter().max_by(|a, b| a.1.excess().total_cmp(&b.1.excess()));
        let (run, worst) = furthest?;
        Some(Summary {
            runs: runs.len(),
            kept: runs.values().filter(|messages| messages.excess() <= 1.0).count(),
            worst_run: (*run).into(),
            worst: (*worst).clone(),
        })
    }
}

/// Times of the messages of each flow that has some, by its index.
pub(super) fn times(recording: &Recording) -> BTreeMap<usize, Times> {
    let mut all: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for event in &recording.events {
        if [EventKind::Answered, EventKind::MessageRead].contains(&event.kind) {
            all.entry(event.flow.into()).or_default().push(event.value);
        }
    }
    let times = all.into_iter().filter_map(|(flow, times)| {
        let document::Messages { count, median_ms, p95_ms, .. } = document::Messages::of(times)?;
        Some((flow, Times { count, median_ms, p95_ms }))
    });
    times.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages([linux, sim]: [[f64; 2]; 2]) -> Messages {
        let times = |[median_ms, p95_ms]: [f64; 2]| Some(Times { count: 9, median_ms, p95_ms });
        Messages { flow: "calls".into(), times: [times(linux), times(sim)], round_trip_s: 0.02 }
    }

    #[test]
    fn a_round_trip_or_a_twentieth_is_allowed() {
        for (linux, sim, excess) in [
            ([100.0, 200.0], [100.0, 200.0], 0.0),
            ([100.0, 200.0], [120.0, 200.0], 1.0),
            ([100.0, 200.0], [100.0, 230.0], 1.5),
            // A twentieth of 1 s is more than a round trip.
            ([1000.0, 1000.0], [950.0, 1000.0], 1.0),
            ([1000.0, 1000.0], [1000.0, 1100.0], 2.0),
        ] {
            assert_eq!(messages([linux, sim]).excess(), excess, "{linux:?}, {sim:?}");
        }
        let with = |count| {
            let own = messages([[100.0; 2]; 2]);
            let times = own.times.map(|own| own.map(|own| Times { count: 100, ..own }));
            let [linux, sim] = times;
            Messages { times: [linux, sim.map(|own| Times { count, ..own })], ..own }
        };
        for (count, excess) in [(100, 0.0), (99, 0.0), (89, 1.0), (49, 5.0)] {
            assert_eq!(with(count).excess(), excess, "{count} of 100 messages");
        }
        let one =
            Messages { times: [None, messages([[1.0; 2]; 2]).times[1]], ..messages([[1.0; 2]; 2]) };
        assert_eq!(one.excess(), f64::INFINITY);
    }

    #[test]
    fn a_run_keeps_to_the_bar_with_all_its_flows() {
        let unit = |run: &str, sim: &[f64]| Unit {
            run: run.into(),
            messages: sim.iter().map(|sim| messages([[100.0; 2], [*sim; 2]])).collect(),
            ..Unit::default()
        };
        let units = [unit("a", &[100.0, 160.0]), unit("b", &[110.0]), unit("none", &[])];
        let found = Summary::of(&units).expect("messages");
        assert_eq!((found.runs, found.kept, &found.worst_run[..]), (2, 1, "a"));
        assert_eq!(found.worst.excess(), 3.0);
        assert_eq!(Summary::of(&units[2..]), None);
    }

    #[test]
    fn what_is_no_text_of_times_is_not_read() {
        let times = messages([[22.5, 31.25], [1.0; 2]]).times[0].expect("times");
        assert_eq!(Times::read(&times.text()), Some(times));
        for text in ["", "9", "9, median x ms, p95 1 ms", "9, median NaN ms, p95 1 ms"] {
            assert_eq!(Times::read(text), None, "{text}");
        }
    }
}
