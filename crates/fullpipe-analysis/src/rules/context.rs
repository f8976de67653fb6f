//! Input of rules: the run, its trace and its settings.

use super::cause::{Cause, SATISFIED, wanting};
use super::subject::{One, Subject, at_once, overlap};
use crate::document::{Datagrams, Grade, Run, Stage};
use crate::lookup::{Lives, Traces};
use crate::meta::RunMeta;
use crate::numbers;
use crate::pauses::{Pauses, pauses};
use crate::sizing::sizes::PACED_SHARE;
use fullpipe_base::units::Time;
use fullpipe_scenario::are_copies;

/// Share of the allowed rate from which on a path counts as full.
pub const FULL: f64 = 0.9;

/// All that a rule may look at.
pub struct Context<'a> {
    /// Settings of the run and of its flows.
    pub meta: &'a RunMeta,
    /// Samples and events.
    pub traces: &'a Traces<'a>,
    /// When each flow began and ended.
    pub lives: &'a Lives,
    /// The other parts of the document.
    pub run: &'a Run,
    /// The flows that the verdict is about.
    pub subject: &'a Subject<'a>,
    /// Grade of the run, before any rule.
    pub grade: Grade,
}

impl Context<'_> {
    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.run.stages.iter().find(|stage| stage.name == name)
    }

    /// The flow with the largest share of a cause.
    pub fn most<'s>(&'s self, cause: &Cause) -> &'s One<'s> {
        // A cut is found by its place, any other cause by its limit.
        let share = |one: &One| {
            let limits = if cause.is_cut { &one.flow.reductions } else { &one.flow.limits };
            let name = if cause.is_cut { cause.place.as_deref() } else { Some(&cause.limit[..]) };
            name.and_then(|name| limits.get(name)).copied().unwrap_or(0.0)
        };
        let all = wanting(&self.subject.flows);
        // If all flows have the rate that they ask for, the first one counts.
        if let Some(first) = all.first().filter(|first| share(first) >= SATISFIED) {
            return first;
        }
        let flows = all.into_iter();
        let largest = flows.reduce(|a, b| if share(b) > share(a) { b } else { a });
        largest.expect("a subject has a flow")
    }

    /// Whether the flow with the largest share of a cause is a connection of a mount.
    pub fn is_of_mount(&self, cause: &Cause) -> bool {
        self.meta.is_of_mount(self.most(cause).index)
    }

    /// Pauses of the program that sends a flow's data.
    pub fn pauses(&self, one: &One) -> Pauses {
        let round_trip = one.meta.base_rtt.unwrap_or(Time::ZERO);
        pauses(&self.traces.flows[one.index], round_trip, one.flow.completion_s.is_some())
    }

    /// Share of the path that flows other than the first one and its copies take, while it lives; none where there are
    /// none.
    pub fn others(&self) -> Option<f64> {
        let allowed = self.subject.allowed_mbit().filter(|mbit| *mbit > 0.0)?;
        let first = self.subject.flows.iter().min_by_key(|one| one.index)?;
        let others: f64 = self
            .subject
            .flows
            .iter()
            .filter(|one| !are_copies(&first.meta.name, &one.meta.name))
            .filter(|one| overlap(first, one, self.lives))
            .map(|o| o.flow.mean_mbit)
            .sum();
        (others > 0.0).then_some((others / allowed).min(1.0))
    }

    /// Share of the path that datagrams of UDP take on the way of the judged flows (0 to 1).
    pub fn datagrams(&self) -> f64 {
        let Some(allowed) = self.subject.allowed else { return 0.0 };
        self.udp().map(|(own, mbit)| mbit / allowed.datagram_mbit(own.size)).sum::<f64>().min(1.0)
    }

    /// Datagrams of UDP on the way of the judged flows, each with the payload that was read, Mb/s.
    pub fn udp(&self) -> impl Iterator<Item = (&Datagrams, f64)> {
        let way = self.subject.flows.first().is_some_and(|one| one.flow.backward);
        let there = self.run.datagrams.iter().filter(move |own| own.backward == way);
        there.filter_map(|own| Some((own, own.mean_mbit?)))
    }

    /// Whether the qdisc of an end of the judged flows is fq.
    pub fn has_fq(&self, host: &str) -> bool {
        let mut ends = self
            .subject
            .flows
            .iter()
            .flat_map(|one| one.meta.hosts.iter().zip(&one.meta.settings.hosts));
        ends.any(|(name, own)| name == host && own.qdisc == "fq")
    }

    /// Window that the path needs for all flows that share it, bytes; none where the path is out of the planner's bounds.
    pub fn window(&self, cause: &Cause) -> Option<u64> {
        self.most(cause).needs.map(|needs| needs.window.saturating_mul(needs.sharing))
    }

    /// That window in full packets.
    pub fn packets(&self, cause: &Cause) -> Option<u64> {
        self.window(cause).map(|window| window.div_ceil(u64::from(self.meta.mss.max(1))))
    }

    /// The pace that `fullpipe plan` advises, too: each flow's part of the path in payload, and a little less.
    pub fn paced(&self) -> String {
        let subject = self.subject;
        let whose = if subject.flows.len() == 1 { "the flow" } else { "each flow" };

        // A pace that is set and still too fast gets no figure.
        if subject.flows.iter().all(|one| one.meta.settings.pace.is_some()) {
            return format!("pace {whose} more slowly than today");
        }
        // No one pace fits a path that varies.
        let allowed = subject.allowed_mbit().filter(|_| !subject.varies());

        // Flows that have what their programs take leave the rest to the others.
        let wanting = wanting(&subject.flows);
        let mbit = |flows: &[&One]| flows.iter().map(|one| one.flow.mean_mbit).sum::<f64>();
        let all: Vec<&One> = subject.flows.iter().collect();
        let taken = mbit(&all) - mbit(&wanting);
        let whose = match &wanting[..] {
            [one] if subject.flows.len() > 1 => &one.flow.name,
            _ => whose,
        };
        let rate = allowed.map_or("just below its part of the path".into(), |allowed| {
            let rest = (PACED_SHARE * allowed - taken).max(0.0);
            // Connections of a loop take turns.
            let sharing = at_once(wanting.iter().copied(), self.lives).max(1);
            format!("at {} of payload", numbers::rate(rest / sharing as f64))
        });
        format!("pace {whose} {rate} (SO_MAX_PACING_RATE)")
    }
}
