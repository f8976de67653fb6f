//! Trials: a run as it is, and with each of its reliefs.

use super::acked::{Acked, Measured};
use super::reliefs::{self, Relief, reliefs};
use crate::engine::{Engine, Failed};
use crate::experiment::{Allowed, objections};
use crate::scenario::{self, Beside, Plan, Scenario, Source};
use crate::threads::each;
use fullpipe_base::trace::Control;
use fullpipe_base::units::Time;

/// A run to make.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Index of the scenario's run that it is made from.
    pub run: usize,
    /// Limit taken away; none for the run as it is.
    pub relief: Option<Relief>,
    /// Run to make.
    pub plan: Plan,
    /// Reason why the relief makes no scenario; the plan is then the unchanged run's.
    pub impossible: Option<String>,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The run finished.
    Made(Measured),
    /// The engine cannot run it, for this reason.
    Refused(String),
    /// The run was stopped, or has not begun.
    Stopped,
}

/// Observer of trials; threads share it.
pub trait Watch: Sync {
    /// Reports another span of simulated time. Returns whether the trials continue.
    fn advance(&self, span: Time) -> bool;

    /// A trial has ended.
    fn ended(&self, _trial: &Trial, _outcome: &Outcome) {}
}

/// All runs of a scenario, each followed by its runs with a relief.
pub fn trials(scenario: &Scenario) -> Vec<Trial> {
    let mut all = Vec::new();
    for (run, plan) in scenario.plans().iter().enumerate() {
        all.push(Trial { run, relief: None, plan: plan.clone(), impossible: None });

        // The resolved run stands alone: no variant and no file beside it.
        let source = Source {
            name: format!("{}.toml", scenario.name),
            text: plan.resolved.to_toml(),
            beside: Beside::Nothing,
            variants: Vec::new(),
        };
        for relief in reliefs(&plan.resolved) {
            let relieved = scenario::load(&source, &relief.sets, &[]);

            // A relief that contradicts the scenario is listed, not tried.
            let (plan, impossible) = match &relieved {
                Ok(relieved) => (relieved.plans().first().unwrap_or(plan).clone(), None),
                Err(wrong) => (plan.clone(), Some(first_line(&wrong.to_string()))),
            };
            all.push(Trial { run, relief: Some(relief), plan, impossible });
        }
    }
    all
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

/// Runs one plan and counts the acknowledged bytes of the judged flows; none where `control` has stopped it.
///
/// # Errors
/// The engine's message.
pub fn measure(
    plan: &Plan,
    engine: &dyn Engine,
    control: &mut dyn Control,
) -> Result<Option<Measured>, Failed> {
    let mut acked = Acked::new(&plan.resolved, &reliefs::judged(&plan.resolved));
    let outcome = engine.run(&plan.resolved, &mut acked, control)?;
    Ok(outcome.complete.then(|| acked.measured()))
}

/// Makes the trials with `jobs` threads, at least one. Outcomes have the trials' order.
///
/// # Errors
/// The machine's failure, of the first trial that had one; no more trials begin then.
pub fn make(
    trials: &[Trial],
    engine: &dyn Engine,
    allowed: Allowed,
    jobs: usize,
    watch: &dyn Watch,
) -> Result<Vec<Outcome>, String> {
    each(trials.len(), jobs, |index| {
        let trial = &trials[index];
        if !watch.advance(Time::ZERO) {
            return Ok(Outcome::Stopped);
        }
        let outcome = one(trial, engine, allowed, watch)?;
        watch.ended(trial, &outcome);
        Ok(outcome)
    })
}

fn one(
    trial: &Trial,
    engine: &dyn Engine,
    allowed: Allowed,
    watch: &dyn Watch,
) -> Result<Outcome, String> {
    if let Some(why) = &trial.impossible {
        return Ok(Outcome::Refused(why.clone()));
    }

    // Checks go from the scenario to the machine.
    let name = || trial.relief.as_ref().map_or("the run as it is", |relief| relief.name);
    let wrong = objections(engine, std::slice::from_ref(&trial.plan), allowed);
    if let Some(why) = wrong.into_iter().next() {
        return Ok(Outcome::Refused(why));
    }
    if let Err(why) = engine.check(&trial.plan.resolved) {
        return Ok(Outcome::Refused(why));
    }

    let mut control = Watched { watch, seen: Time::ZERO };

    // Only a fault of the machine ends all trials.
    match measure(&trial.plan, engine, &mut control) {
        Ok(Some(measured)) => Ok(Outcome::Made(measured)),
        Ok(None) => Ok(Outcome::Stopped),
        Err(Failed::Scenario(why)) => Ok(Outcome::Refused(why)),
        Err(Failed::Machine(why)) => Err(format!("{}: {why}", name())),
    }
}

/// Control of one trial.
struct Watched<'a> {
    watch: &'a dyn Watch,
    seen: Time,
}

impl Control for Watched<'_> {
    fn go_on(&mut self, now: Time) -> bool {
        let span = now.saturating_sub(self.seen);
        self.seen = now;
        self.watch.advance(span)
    }
}
