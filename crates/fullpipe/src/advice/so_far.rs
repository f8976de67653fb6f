//! Best changes of a search that was stopped before its end.

use super::Case;
use super::answer::{in_words, listed, within};
use super::change::Change;
use super::document::{FORMAT, Partial};
use super::method::{gains, sooner};
use super::trial::Outcome;
use crate::analysis::numbers;
use crate::analysis::words::rate_of;
use std::sync::{Mutex, PoisonError};

/// Answer of a search that was stopped before the end of its first trial.
const IN_THE_FIRST: &str = "Stopped in the first trial.";

/// Trials that have ended, as far as an answer needs them. A watch of the search keeps it.
#[derive(Default)]
pub struct SoFar(Mutex<Trials>);

#[derive(Default)]
struct Trials {
    /// Lists of settings that were tried.
    count: usize,
    /// Outcome with the settings of today.
    today: Option<Outcome>,
    /// Changes that gain most.
    best: Option<(Vec<Change>, Outcome)>,
}

impl SoFar {
    /// Counts the trial of a list of changes; the first list is empty, and stands for today.
    pub fn tried(&self, changes: &[Change], outcome: &Outcome) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.count += 1;
        let Some(today) = &own.today else {
            own.today = Some(outcome.clone());
            return;
        };
        let most = own.best.as_ref().map_or(today, |(_, most)| most);
        if !changes.is_empty() && gains(outcome, most) {
            own.best = Some((changes.to_vec(), outcome.clone()));
        }
    }

    /// The best changes so far as a document, with the scopes of the scenario's ends.
    pub fn document(&self, case: &Case) -> Partial {
        let answer = self.answer().unwrap_or_else(|| IN_THE_FIRST.into());
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes = own.best.as_ref().map_or(Vec::new(), |(changes, _)| changes.clone());
        for change in &mut changes {
            change.scope = change.scope.seen(case.direction);
        }
        let most = own.best.as_ref().map(|(_, most)| most).or(own.today.as_ref());
        Partial {
            format: FORMAT,
            partial: true,
            answer,
            today: own.today.as_ref().map(Into::into),
            advised: most.map(Into::into),
            changes,
            tried: own.count,
        }
    }

    /// The best changes so far, and their gain; none before the end of the first trial.
    pub fn answer(&self) -> Option<String> {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let today = own.today.as_ref()?;
        let lists = if own.count == 1 { "list" } else { "lists" };
        let stopped = format!("Stopped after {} {lists} of settings", own.count);
        let Some((changes, most)) = &own.best else {
            let reached = rate_of(today.mbit, today.allowed_mbit);
            return Some(format!("{stopped}: none gains 2 % or more so far; today {reached}."));
        };
        let changes: Vec<String> = changes.iter().map(in_words).collect();
        let gain = match sooner(most, today) {
            Some(gain) if gain > 0.0 => {
                format!("half of the messages {}", within(today, most, |own| own.message_ms))
            }
            _ => {
                let reached = rate_of(most.mbit, most.allowed_mbit);
                format!("{reached} instead of {}", numbers::short(today.mbit))
            }
        };
        Some(format!(
            "{stopped}; best so far: {}: {gain}. Some of these changes may be needless.",
            listed(&changes)
        ))
    }
}
