//! Part of the path of a flow that joins when the other flows have it.
//!
//! Larger buffers keep a full path full, so a newcomer has to push the others aside. Congestion controls take tens of
//! seconds for that on a long path: a shorter run would call slow convergence a starved flow.

use super::case::{Case, part};
use super::edit::Edit;
use super::slowest::acked_mbit;
use super::trial::{Bench, Stopped, changed};
use crate::scenario::{Flow, Resolved, Until};
use crate::threads::each;
use fullpipe_base::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time that a newcomer has for its growth.
pub const GROWS: Time = Time::secs(60);
/// Last part of that time, in which its rate is taken.
const TAKEN: Time = Time::secs(10);
/// Samples of a run.
const SAMPLE: Time = Time::ms(100);
const NAME: &str = "newcomer";

/// A newcomer's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Newcomer {
    /// Time after its start, s.
    pub after_s: f64,
    /// Rate with the changes, Mb/s (10^6).
    pub mbit: f64,
    /// Rate with today's settings, Mb/s.
    pub today_mbit: f64,
    /// Its part of the path, or what its program asks for, if less; Mb/s.
    pub part_mbit: f64,
}

/// Rate of a copy of the first flow that joins, with the changes and with today's settings.
///
/// There is none where a flow has a fixed size, and on a path without a rate.
///
/// # Errors
/// A run has no outcome.
pub fn newcomer(case: &Case, edits: &[&Edit], bench: &Bench) -> Result<Option<Newcomer>, Stopped> {
    let Some(allowed) = case.allowed.as_ref().filter(|_| case.datagrams.is_none()) else {
        return Ok(None);
    };

    // The advised settings first, then today's.
    let mut runs = Vec::new();
    for edits in [edits, &[]] {
        let own = changed(&case.today, edits.iter().copied())?;
        let Some(run) = joined(case, &own.plans()[0].resolved) else { return Ok(None) };
        runs.push(changed(&run, [])?.plans()[0].resolved.clone());
    }

    // The newcomer joins when the others have grown, and gets a minute.
    bench.watch.step("a flow that joins later, for 60 s", runs.len(), case.least() + GROWS);
    let rates = each(runs.len(), bench.jobs, |n| rate(&runs[n], bench))?;
    let flows = &runs[0].flow;
    Ok(Some(Newcomer {
        after_s: GROWS.as_secs_f64(),
        mbit: rates[0],
        today_mbit: rates[1],
        part_mbit: part(&runs[0], allowed, &flows[flows.len() - 1]),
    }))
}

/// The run with a newcomer, which starts when the others have grown; none where a flow has a fixed size.
fn joined(case: &Case, run: &Resolved) -> Option<Resolved> {
    let mut run = run.clone();
    let joins = case.least();
    let end = joins + GROWS;
    let first = run.flow.iter().find(|flow| flow.direction == case.direction)?;
    let mut own = Flow { name: NAME.into(), start: joins, ..first.clone() };
    // A program that asks or answers has another one at the other end.
    if let Some(other) = run.reverse_flow(first) {
        let name = format!("{NAME}-{}", other.name);
        let reply_to = other.reply_to.as_ref().map(|_| NAME.to_string());
        own.reply_to = own.reply_to.map(|_| name.clone());
        let other = Flow { name, start: joins, reply_to, ..other.clone() };
        run.flow.push(other);
    }
    run.flow.push(own);

    // All flows last to the end; a flow of fixed size could not.
    for flow in &mut run.flow {
        flow.duration.filter(|_| flow.bytes.is_none())?;
        flow.duration = Some(end.saturating_sub(flow.start));
    }
    run.duration = end;

    // The rate of the newcomer needs all of its time, and few samples.
    run.report.until = Until::End;
    run.report.sample = run.report.sample.max(SAMPLE);
    run.report.packets = None;
    run.nfs.is_empty().then_some(run)
}

/// Rate of the last flow at the end of a run, Mb/s.
fn rate(run: &Resolved, bench: &Bench) -> Result<f64, Stopped> {
    let recording = bench.recorded(run)?;
    let from = run.duration.saturating_sub(TAKEN);
    Ok(acked_mbit(&recording, run.flow.len() - 1, [from, run.duration]))
}
