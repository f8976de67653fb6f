//! Where cwnd was cut: the places that made it small by drops and marks.
//!
//! A *cut* begins with the first sample that shows the flow in CWR, Recovery or Loss, or a lower ssthresh. It ends with
//! the first sample that shows neither. The lower ssthresh counts because a short recovery may lie between two samples.
//! Its causes are the packets that places on the data's way have dropped or marked since the cut before ended, each
//! place in proportion to its number. A fall of ssthresh without drops or marks is no cut (HyStart's end of slow
//! start). A cut without them (a needless timeout) leaves the blame where it was. The time in which cwnd held the flow
//! back belongs to the causes of the latest cut, after a link and the receiver's CPU have had their share. Before the
//! first cut, cwnd is as small as it began: that is nobody's fault.
//!
//! Where packets overtake each other, TCP takes some late ones for lost. Such a place counts retransmissions beyond the
//! dropped packets. With SACK, D-SACKs show that this happens: without any D-SACK such a place counts nothing.
//!
//! Places count drops without the flow: where flows share a place, a drop may be another flow's. A reduction that is
//! undone stays a cut until the next one.

use super::FlowMeta;
use super::attribution::Attribution;
use super::lookup::{FlowTrace, StageTrace, Traces};
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use std::collections::BTreeMap;
use std::ops::Range;

/// Kinds of elements in which packets overtake each other.
const OVERTAKES: [&str; 2] = ["reorder", "jitter"];

/// A place on the data's way that may have cut cwnd.
struct Cutter<'a> {
    name: &'a str,
    trace: &'a StageTrace<'a>,
    /// Packets overtake each other there.
    overtakes: bool,
}

impl Cutter<'_> {
    /// Packets that it has dropped and marked by then.
    fn by(&self, time: Time) -> u64 {
        let sample = self.trace.at(time);
        sample.dropped.saturating_add(sample.marked)
    }
}

/// The places on a flow's way that have dropped or marked packets, or in which they overtake each other.
fn cutters<'a>(about: &FlowMeta, traces: &'a Traces) -> Vec<Cutter<'a>> {
    let passed = traces.on_the_way(about.direction, &about.hosts);
    let found = passed.map(|(info, trace)| Cutter {
        name: &info.name,
        trace,
        overtakes: OVERTAKES.contains(&info.kind),
    });
    found.filter(|cutter| cutter.overtakes || cutter.by(Time::NEVER) > 0).collect()
}

/// Counts of each place: drops and marks, or the flow's retransmissions where packets overtake each other.
fn counted(cutters: &[Cutter], sample: &FlowSample) -> Vec<u64> {
    cutters
        .iter()
        .map(|cutter| match cutter.overtakes {
            true => sample.segments_retransmitted,
            false => cutter.by(sample.time),
        })
        .collect()
}

/// Share of the time between two samples in which cwnd, cut at a place, held the flow back; by place.
pub fn reductions(
    about: &FlowMeta,
    traces: &Traces,
    trace: &FlowTrace,
    attribution: &Attribution,
    sack: bool,
    within: Range<usize>,
) -> BTreeMap<String, f64> {
    let Range { start: from, end: to } = within;
    // D-SACKs show that packets arrived late; without SACK nothing shows it.
    let comes_late = !sack || trace.last().sender.dsack_dups > 0;
    let mut cutters = cutters(about, traces);
    cutters.retain(|cutter| comes_late || !cutter.overtakes);
    if cutters.is_empty() {
        return BTreeMap::new();
    }
    // Drops of other flows before the flow began did not cut its cwnd.
    let overtakes = cutters.iter().map(|cutter| cutter.overtakes).collect();
    let mut cause = Cause::new(counted(&cutters, trace.before(from)), overtakes);
    let mut spent = vec![0.0; cutters.len()];

    // Causes are followed from the start: a cut holds long after its drop.
    for count in 1..=trace.samples.len().min(to) {
        let (before, after) = (trace.before(count - 1), trace.before(count));
        if count > from && cause.total > 0 {
            let held = attribution.by_cwnd(count) as f64 / cause.total as f64;
            spent.iter_mut().zip(&cause.counts).for_each(|(ns, n)| *ns += held * *n as f64);
        }
        cause.look(before, after, || counted(&cutters, after));
    }

    // Shares refer to the whole time that the limits explain.
    let life = attribution.spent(from, to).iter().map(|ns| *ns as f64).sum::<f64>();
    let shares = cutters.iter().zip(spent).filter(|(_, ns)| *ns > 0.0);
    shares.map(|(cutter, ns)| (cutter.name.to_string(), ns / life)).collect()
}

/// Cause of the latest cut.
struct Cause {
    /// Counts of each place when the previous cut ended.
    base: Vec<u64>,
    /// Counts of each place from there to the end of this cut.
    counts: Vec<u64>,
    total: u64,
    /// Whether packets overtake each other at a place, so that it counts retransmissions; by place.
    overtakes: Vec<bool>,
    /// Whether the cut continues.
    open: bool,
}

impl Cause {
    /// `base`: count of each place when the flow began.
    fn new(base: Vec<u64>, overtakes: Vec<bool>) -> Cause {
        Cause { counts: vec![0; base.len()], base, total: 0, overtakes, open: false }
    }

    /// Looks at the changes between two samples; at the later one the places have `counted` so much.
    fn look(
        &mut self,
        before: &FlowSample,
        after: &FlowSample,
        counted: impl FnOnce() -> Vec<u64>,
    ) {
        // A cut shows as CWR or worse, or as a lower ssthresh.
        let cut = after.ca_state >= CaState::Cwr as u8 || after.ssthresh < before.ssthresh;
        if !cut && !self.open {
            return;
        }
        let counted = counted();
        let mut counts: Vec<u64> =
            counted.iter().zip(&self.base).map(|(now, base)| now.saturating_sub(*base)).collect();
        // Retransmissions beyond the dropped packets were late, not lost.
        let both = || self.overtakes.iter().copied();
        let dropped = counts.iter().zip(both()).filter(|(_, overtakes)| !overtakes);
        let dropped = dropped.fold(0, |sum: u64, (n, _)| sum.saturating_add(*n));
        for (count, _) in counts.iter_mut().zip(both()).filter(|(_, overtakes)| *overtakes) {
            *count = count.saturating_sub(dropped);
        }
        let total = counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));

        // A cut without a drop keeps the causes of the one before.
        if total > 0 {
            (self.counts, self.total) = (counts, total);
            self.open = true;
        }

        // The next cut counts drops anew from here on.
        if self.open && !cut {
            self.open = false;
            self.base = counted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_trace::schema::Row;

    /// Blame after samples of (state, ssthresh, counts of two places).
    fn blamed(samples: &[(CaState, u32, [u64; 2])]) -> Vec<u64> {
        let mut cause = Cause::new(vec![0; 2], vec![false; 2]);
        let mut before = FlowSample { ssthresh: u32::MAX, ..FlowSample::blank() };
        for (state, ssthresh, counted) in samples {
            let after =
                FlowSample { ca_state: *state as u8, ssthresh: *ssthresh, ..before.clone() };
            cause.look(&before, &after, || counted.to_vec());
            before = after;
        }
        cause.counts
    }

    #[test]
    fn a_cut_is_blamed_on_what_was_dropped_since_the_one_before() {
        use CaState::{Cwr, Open, Recovery};
        let first = [(Open, 99, [0, 0]), (Recovery, 50, [3, 0]), (Recovery, 50, [5, 1])];
        assert_eq!(blamed(&first[..1]), [0, 0], "slow start ended by itself");
        assert_eq!(blamed(&first[..2]), [3, 0]);
        assert_eq!(blamed(&first), [5, 1], "until it ends");
        let second = [(Open, 50, [5, 2]), (Open, 50, [5, 4]), (Cwr, 25, [5, 4])];
        let all: Vec<_> = first.into_iter().chain(second).collect();
        assert_eq!(blamed(&all[..5]), [5, 2], "what no cut has followed yet is not to blame");
        assert_eq!(blamed(&all), [0, 2]);
    }

    #[test]
    fn a_recovery_between_two_samples_is_seen_and_one_without_drops_blames_nobody() {
        use CaState::{Loss, Open};
        let hidden = [(Open, 100, [0, 0]), (Open, 50, [1, 0]), (Open, 50, [1, 0])];
        assert_eq!(blamed(&hidden), [1, 0]);
        let needless = [(Loss, 25, [1, 0]), (Open, 25, [1, 0]), (Open, 12, [1, 1])];
        let all: Vec<_> = hidden.into_iter().chain(needless).collect();
        assert_eq!(blamed(&all[..5]), [1, 0]);
        assert_eq!(blamed(&all), [0, 1]);
    }
}
