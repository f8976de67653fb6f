//! Advice: settings for the hosts of a case, with their reasons, their costs, and the runs that prove them.
//!
//! [`method`] describes the order of trials. Everything here works on any scenario, and on any engine.

mod answer;
pub mod candidates;
mod case;
mod change;
mod costs;
pub mod cured;
pub mod document;
mod edit;
pub mod elsewhere;
pub mod files;
mod goal;
pub mod method;
pub mod newcomer;
pub mod page;
mod shown;
mod slowest;
mod so_far;
mod spans;
pub mod text;
pub mod trial;

pub use case::{Asked, Case, Sent};
pub use change::{Change, How, Rank, Scope};
pub use document::Advice;
pub use edit::{Edit, edited};
pub use so_far::SoFar;

use crate::analysis::rules::DROPS;
use method::{Allowance, Found};
use trial::{Bench, Stopped};

/// The case of the datagrams beside flows that no setting helps; none where none of them are dropped.
fn dropped(case: &Case, found: &Found) -> Option<Case> {
    let run = &found.today.run;
    let is_about_flows = case.datagrams.is_none() && found.changes.is_empty();
    let drops = run.findings.iter().any(|own| own.rule == DROPS);
    let lost = run.datagrams.iter().filter(|own| own.reading.is_some());
    let most = lost.max_by(|a, b| a.undelivered_share.total_cmp(&b.undelivered_share))?;
    case.of_datagrams(&most.name).filter(|_| is_about_flows && drops)
}

/// Finds advice for a case, and its costs. [`newcomer`] is another cost, which takes longer.
///
/// # Errors
/// A trial has no outcome: a user interrupted it, or the engine failed.
pub fn advise(case: &Case, allowance: &Allowance, bench: &Bench) -> Result<Advice, Stopped> {
    let scopes = allowance.scopes.iter().map(|own| own.seen(case.direction)).collect();
    let mut found = method::find(case, &Allowance { scopes, ..allowance.clone() }, bench)?;

    // Flows that no setting helps leave the datagrams beside them, which a host may drop.
    if let Some(own) = dropped(case, &found) {
        let own = advise(&own, allowance, bench)?;
        if !own.changes.is_empty() {
            return Ok(own);
        }
    }

    // From here on scopes are those of the scenario's ends.
    for own in &mut found.changes {
        own.change.scope = own.change.scope.seen(case.direction);
    }
    let changes: Vec<Change> = found.changes.iter().map(|own| own.change.clone()).collect();

    // Without changes other paths need no trials.
    let sensitivity = match changes.is_empty() {
        true => Vec::new(),
        false => costs::sensitivity(case, &found, bench)?,
    };
    let kernels = case.hosts(0).into_iter().map(|(_, host)| host.config.kernel.clone());
    Ok(Advice {
        format: document::FORMAT,
        answer: answer::answer(case, &found, bench.engine.name()),
        engine: bench.engine.name().into(),
        kernels: kernels.collect(),
        allowed_mbit: found.today.allowed_mbit,
        base_rtt_ms: case.round_trip.as_ns() as f64 / 1e6,
        flows: case.flows.len(),
        today: (&found.today).into(),
        advised: (&found.cured).into(),
        notes: costs::notes(case, &found, bench.engine.name()),
        newcomer: None,
        sensitivity,
        files: files::files(&changes),
        elsewhere: elsewhere::elsewhere(&changes),
        changes: found.changes,
        steps: found.steps,
        tried: found.tried,
        seeds: found.seeds,
        has_turns: case.has_turns(),
    })
}
