//! Goals of advice: a full path, and further demands on an outcome; and the changes that may serve them.

use super::change::Scope;
use super::trial::Outcome;

/// A round trip under load of no more than this times the least one is short.
const SHORT: f64 = 1.25;
/// A round trip that is long already may become this much longer.
const LONGER: f64 = 1.1;
/// Share of the rate that a short queue or equal parts may cost.
pub const PRICE: f64 = 0.05;
/// From this share of its part on the slowest flow is not held back by others.
pub const EVEN: f64 = 0.8;
/// Part of its share that the slowest flow has to gain for a change to be worth it.
const CLOSER: f64 = 0.1;
/// Part of its share that the slowest flow may lose when a change is taken away.
const LOST: f64 = 0.05;

/// Aim of the advice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The path is full, and no flow of it gets nothing because its packets are too large.
    #[default]
    Rate,
    /// The path is full, and its queue short: up to [`PRICE`] of the rate is paid for that.
    Delay,
    /// The path is full, and each flow has its part of it: up to [`PRICE`] of the rate is paid for that.
    Fair,
}

impl Goal {
    /// Whether an outcome of a full path meets the goal.
    pub(super) fn is_met(self, outcome: &Outcome) -> bool {
        match self {
            Goal::Rate => !outcome.loses_a_flow(),
            Goal::Delay => outcome.inflation <= SHORT,
            Goal::Fair => outcome.least_part() >= EVEN,
        }
    }

    /// Whether an outcome is so much closer to the goal than another one that a change is worth it.
    pub(super) fn is_closer(self, own: &Outcome, than: &Outcome) -> bool {
        match self {
            Goal::Rate => than.loses_a_flow() && !own.loses_a_flow(),
            Goal::Delay => own.inflation * LONGER < than.inflation,
            Goal::Fair => own.least_part() >= than.least_part() + CLOSER,
        }
    }

    /// Distance from the goal, by which outcomes are put in order.
    pub(super) fn distance(self, outcome: &Outcome) -> f64 {
        match self {
            Goal::Rate => f64::from(u8::from(outcome.loses_a_flow())),
            Goal::Delay => outcome.inflation,
            Goal::Fair => 1.0 - outcome.least_part(),
        }
    }

    /// Whether an outcome has no longer queue than another, loses no flow, and has equal parts for [`Goal::Fair`].
    pub(super) fn keeps(self, own: &Outcome, best: &Outcome) -> bool {
        let is_fair = self != Goal::Fair || own.least_part() >= best.least_part() - LOST;
        let loses = own.loses_a_flow() && !best.loses_a_flow();
        own.inflation <= longest(best) && is_fair && !loses
    }
}

/// Changes that are allowed, and their goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Owners of the settings that may change.
    pub scopes: Vec<Scope>,
    /// Their aim.
    pub goal: Goal,
}

impl Allowance {
    /// Whether a setting must stay that may change unless the user says otherwise.
    pub(super) fn is_bound(&self) -> bool {
        Allowance::default().scopes.iter().any(|own| !self.scopes.contains(own))
    }
}

impl Default for Allowance {
    fn default() -> Allowance {
        let scopes = vec![Scope::Sender, Scope::Receiver, Scope::Application];
        Allowance { scopes, goal: Goal::Rate }
    }
}

/// Longest round trip under load that another list may have, over the least one.
fn longest(best: &Outcome) -> f64 {
    SHORT.max(best.inflation * LONGER)
}
