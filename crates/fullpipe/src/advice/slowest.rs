//! The flow of a trial that has the least of its part of the path.

use super::case::{Case, part};
use crate::analysis::numbers;
use crate::analysis::words::percent;
use crate::scenario::{Flow, Resolved};
use crate::trace::recording::Recording;
use fullpipe_base::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flow among others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowest {
    /// Its name.
    pub flow: String,
    /// Acknowledged payload once it has grown, Mb/s (10^6).
    pub mbit: f64,
    /// Its part of the path, or what its program asks for, if less; Mb/s.
    pub part_mbit: f64,
}

impl Slowest {
    /// Share of its part that it has.
    pub fn share(&self) -> f64 {
        self.mbit / self.part_mbit.max(1e-9)
    }

    /// "Flow two has 38 % of its part, 90 of 235 Mb/s".
    pub fn in_words(&self) -> String {
        let [own, part] = [numbers::short(self.mbit), numbers::rate(self.part_mbit)];
        format!("Flow {} has {} of its part, {own} of {part}", self.flow, percent(self.share()))
    }
}

/// The flow with the least of its part in a span, among flows that send all the time.
pub(super) fn slowest(
    case: &Case,
    run: &Resolved,
    counts: &[bool],
    recording: &Recording,
    [from, until]: [Time; 2],
) -> Option<Slowest> {
    let lives = |flow: &Flow| {
        let ends = flow.duration.map_or(run.duration, |lasts| flow.start + lasts);
        flow.bytes.is_none() && flow.start <= from && ends >= until
    };
    let counted = || (0..counts.len()).filter(|flow| counts[*flow]);
    let allowed = case.allowed.as_ref()?;
    if counted().count() < 2 || until <= from {
        return None;
    }
    let all = counted().filter(|flow| lives(&run.flow[*flow])).map(|flow| {
        let about = &run.flow[flow];
        let mbit = acked_mbit(recording, flow, [from, until]);
        let part_mbit = part(run, allowed, about);
        Slowest { flow: about.name.clone(), mbit, part_mbit }
    });
    all.min_by(|a, b| a.share().total_cmp(&b.share()))
}

/// Rate at which data of a flow was acknowledged in a span, Mb/s (10^6).
pub(super) fn acked_mbit(recording: &Recording, flow: usize, [from, until]: [Time; 2]) -> f64 {
    let samples = recording.flows.iter().filter(|own| usize::from(own.flow) == flow);
    let at = |end: Time| {
        let before = samples.clone().take_while(|own| own.time <= end);
        before.last().map_or(0, |own| own.bytes_acked)
    };
    (at(until) - at(from)) as f64 * 8.0 / until.saturating_sub(from).as_secs_f64() / 1e6
}
