//! The runs of a document in rows: the rate of each, and its limit.
//!
//! Limits:
//! - The text's table of many alike flows joins intervals by where most of each lies. Intervals of flows that start
//!   apart are up to half an interval off.

use super::aggregate::{Shown, is_beside, mbit, shown, udp};
use crate::shares;
use fullpipe_analysis::document::{Datagrams, Document, Flow, Run};

/// Number of alike flows from which on a row stands for all of them.
const ALONE: usize = 1;

/// A row of the table.
pub struct Row<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its rate and others: of datagrams, of all flows of the run, or of some alike ones.
    pub of: Of<'a>,
}

/// Subject of a row.
pub enum Of<'a> {
    /// Datagrams of one program.
    Datagrams(&'a Datagrams),
    /// All flows of the run, where several rows follow.
    All(Vec<&'a Flow>),
    /// One flow, or flows that differ only by their names.
    Alike(Vec<&'a Flow>),
}

/// All rows of a document.
pub fn rows(document: &Document) -> Vec<Row<'_>> {
    document.runs.iter().flat_map(of_run).collect()
}

/// The rows of a run: datagrams, then all flows together where these are of several kinds, then each kind. Flows that
/// are negligible next to datagrams have none.
pub fn of_run(run: &Run) -> Vec<Row<'_>> {
    let mut all: Vec<Of> = udp(run).map(Of::Datagrams).collect();
    let kinds = shown(run, ALONE).into_iter().map(|flows| match flows {
        Shown::Each(flow) => vec![flow],
        Shown::Crowd(flows) => flows,
    });

    // A kind may lose all its flows, and then has no row.
    let kinds = kinds.map(|mut flows| {
        flows.retain(|flow| !is_beside(run, flow));
        flows
    });
    let kinds: Vec<Vec<&Flow>> = kinds.filter(|flows| !flows.is_empty()).collect();

    // The sum of one kind is that kind.
    if kinds.len() > 1 {
        all.push(Of::All(kinds.iter().flatten().copied().collect()));
    }
    all.extend(kinds.into_iter().map(Of::Alike));
    all.into_iter().map(|of| Row { run, of }).collect()
}

impl<'a> Row<'a> {
    /// Its flows; none of datagrams.
    pub fn flows(&self) -> &[&'a Flow] {
        match &self.of {
            Of::Datagrams(_) => &[],
            Of::All(flows) | Of::Alike(flows) => flows,
        }
    }

    /// Name within the run; empty where the run has one kind of flows.
    pub fn name(&self) -> String {
        match &self.of {
            Of::Datagrams(own) => own.name.clone(),
            Of::All(_) => String::new(),
            Of::Alike(flows) if flows.len() == self.run.flows.len() => String::new(),
            Of::Alike(flows) => match &flows[..] {
                [one] => one.name.clone(),
                several => format!("{} … {}", several[0].name, several[several.len() - 1].name),
            },
        }
    }

    /// Whether the row is a part of the one above it.
    pub fn is_part(&self) -> bool {
        matches!(&self.of, Of::Alike(flows) if flows.len() < self.run.flows.len())
    }

    /// Rate of payload, Mb/s: for one flow its mean, for all flows of a run its headline's, else their sum.
    pub fn rate_mbit(&self) -> Option<f64> {
        let of_run = self.run.headline.as_ref().filter(|_| !self.is_part() && self.is_alone());
        match (&self.of, self.flows()) {
            (Of::Datagrams(own), _) => own.mean_mbit,
            (_, []) => None,
            (_, [one]) => Some(one.mean_mbit),
            (_, several) => of_run.and_then(|own| own.rate_mbit).or(Some(mbit(several))),
        }
    }

    /// Share of the path's rate (0 to 1). A part of a run has none. Datagrams have none where flows have a row.
    pub fn share(&self) -> Option<f64> {
        let is_subject = match self.flows() {
            [] => of_run(self.run).iter().all(|row| row.flows().is_empty()),
            _ => !self.is_part(),
        };
        share(self.run).filter(|_| is_subject)
    }

    /// Whether the run has neither datagrams nor flows the other way: its headline is about these flows.
    fn is_alone(&self) -> bool {
        let mut flows = self.run.flows.iter();
        let first = flows.next().map(|flow| flow.backward);
        udp(self.run).next().is_none() && flows.all(|flow| Some(flow.backward) == first)
    }

    /// Least, median and most of the rates of several alike flows, Mb/s.
    pub fn spread_mbit(&self) -> Option<[f64; 3]> {
        let Of::Alike(flows) = &self.of else { return None };
        let mut rates: Vec<f64> = flows.iter().map(|flow| flow.mean_mbit).collect();
        rates.sort_by(f64::total_cmp);
        let [least, .., most] = rates[..] else { return None };
        // The lower of two middle values.
        Some([least, rates[(rates.len() - 1) / 2], most])
    }

    /// Segments sent again.
    pub fn resent(&self) -> u64 {
        self.flows().iter().map(|flow| flow.retransmitted_segments).sum()
    }

    /// Limits of the flows with their shares of all their lives, largest first.
    pub fn limits(&self) -> Vec<(&'a str, f64)> {
        ranked(self.flows())
    }
}

/// Limits of flows with their mean shares, largest first.
pub fn ranked<'a>(flows: &[&'a Flow]) -> Vec<(&'a str, f64)> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for (name, share) in flows.iter().flat_map(|flow| shares::ranked(&flow.limits)) {
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += share,
            None => sums.push((name, share)),
        }
    }
    let sent = flows.iter().filter(|flow| !shares::ranked(&flow.limits).is_empty()).count();
    sums.iter_mut().for_each(|(_, sum)| *sum /= sent.max(1) as f64);
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    sums
}

/// Rate of a run, Mb/s: its headline's, else the sum of its first row.
pub fn rate_mbit(run: &Run) -> Option<f64> {
    let of_headline = run.headline.as_ref().and_then(|headline| headline.rate_mbit);
    of_headline.or_else(|| of_run(run).first().and_then(Row::rate_mbit))
}

/// Share of the path's rate that a run reached (0 to 1); none where it is not known.
pub fn share(run: &Run) -> Option<f64> {
    run.headline.as_ref().and_then(|headline| headline.share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::document::{Grade, sample};
    use std::collections::BTreeMap;

    /// Four flows with rates of 10, 20, 30 and 80 Mb/s.
    fn crowd() -> Run {
        let mut run = sample::document().runs.remove(1);
        let flow = run.flows.remove(0);
        let rates = [30.0, 10.0, 80.0, 20.0].into_iter().enumerate();
        let flows = rates.map(|(n, mbit)| {
            let mut flow = flow.clone();
            (flow.name, flow.mean_mbit, flow.retransmitted_segments) =
                (format!("bulk-{n}"), mbit, 2);
            flow
        });
        run.flows = flows.collect();
        run
    }

    #[test]
    fn alike_flows_are_one_row_with_least_median_and_most() {
        let run = crowd();
        let rows = of_run(&run);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].spread_mbit(), Some([10.0, 20.0, 80.0]));
        assert_eq!((rows[0].resent(), &*rows[0].name()), (8, ""));
    }

    #[test]
    fn flows_of_several_kinds_have_a_sum_and_a_row_each() {
        let mut run = crowd();
        run.flows[1].congestion = "bbr".into();
        let rows = of_run(&run);
        let names: Vec<String> = rows.iter().map(Row::name).collect();
        assert_eq!(names, ["", "bulk-0 … bulk-3", "bulk-1"]);
        assert_eq!(rows.iter().map(Row::is_part).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(rows[0].flows().len(), 4);
    }

    /// The headline's share is the flow's, or the datagrams' where the flow is negligible next to them.
    #[test]
    fn a_share_stands_in_the_row_that_the_headline_is_about() {
        let mut beside = sample::with_datagrams().runs.remove(0);
        beside.headline = Some(sample::headline(Grade::Below, 0.36, 471.0));
        let (all, share) = (of_run(&beside), Some(0.36));
        assert_eq!(all.iter().map(Row::share).collect::<Vec<_>>(), [share]);
        let mut both = beside.clone();
        both.datagrams[0].sent = 1;
        let all = of_run(&both);
        assert_eq!(all.iter().map(Row::share).collect::<Vec<_>>(), [None, share]);
        assert_eq!(all[1].flows().len(), 1);
    }

    #[test]
    fn shares_of_several_flows_are_means() {
        let mut run = crowd();
        run.flows.truncate(2);
        run.flows[0].limits = BTreeMap::from([("link".into(), 1.0)]);
        run.flows[1].limits = BTreeMap::from([("link".into(), 0.5), ("idle".into(), 0.5)]);
        assert_eq!(of_run(&run)[0].limits(), [("link", 0.75), ("idle", 0.25)]);
    }
}
