//! Verdict of a rule about one connection: cause, certainty, evidence, and remedy.

use crate::document::{Confidence, Setting};

/// A cause that the sockets of one host show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Name of the rule that made it.
    pub rule: &'static str,
    /// Code of the cause ([`CAUSES`](crate::rules::CAUSES)).
    pub code: &'static str,
    /// Codes of causes that look the same from here.
    pub twins: Vec<&'static str>,
    /// Fit of the facts to this cause and to no other one (0 to 1).
    pub points: f64,
    /// Share of the main part of the connection's life in which it holds (0 to 1).
    pub share: f64,
    /// Subject of the sentence.
    pub who: String,
    /// Verb of the sentence.
    pub does: &'static str,
    /// Facts that speak for it.
    pub evidence: Vec<String>,
    /// Sentence with the remedy.
    pub remedy: Option<String>,
    /// Observation that decides between it and its twins.
    pub would_decide: Option<String>,
    /// Setting that is meant.
    pub setting: Option<Setting>,
    /// True where the path is full, so that nothing is wrong.
    pub is_full: bool,
}

/// Points from which on a verdict is sure.
const SURE: f64 = 0.8;
/// Points below which it explains too little.
const LEAST: f64 = 0.3;

impl Verdict {
    /// A cause that holds the flow for this share of its main part.
    pub fn new(code: &'static str, who: impl Into<String>, share: f64, points: f64) -> Verdict {
        Verdict { code, who: who.into(), does: "holds", share, points, ..Verdict::default() }
    }

    /// With a fact that speaks for it.
    pub fn because(mut self, fact: impl Into<String>) -> Verdict {
        self.evidence.push(fact.into());
        self
    }

    /// Sets the remedy.
    pub fn remedy(mut self, what: impl Into<String>) -> Verdict {
        self.remedy = Some(what.into());
        self
    }

    /// Sets causes that look the same, and the observation that decides between them.
    pub fn twins(mut self, codes: &[&'static str], decide: impl Into<String>) -> Verdict {
        self.twins = codes.to_vec();
        self.would_decide = Some(decide.into());
        self
    }

    /// With the setting that is meant.
    pub fn setting(mut self, setting: Setting) -> Verdict {
        self.setting = Some(setting);
        self
    }

    /// Certainty, from its points.
    pub fn confidence(&self) -> Confidence {
        match self.points {
            points if self.code == super::TOO_SHORT || points < LEAST => Confidence::CannotTell,
            points if points >= SURE => Confidence::Sure,
            _ => Confidence::Likely,
        }
    }
}

/// Points of a value between a bound where it says nothing and one where it says all (0 to 1).
pub fn between(value: f64, nothing: f64, all: f64) -> f64 {
    ((value - nothing) / (all - nothing)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_words() {
        let of = |points| Verdict::new("loss", "", 1.0, points).confidence();
        assert_eq!(of(0.8), Confidence::Sure);
        assert_eq!(of(0.79), Confidence::Likely);
        assert_eq!(of(0.2), Confidence::CannotTell);
        assert_eq!(Verdict::new("too_short", "", 1.0, 1.0).confidence(), Confidence::CannotTell);
    }

    #[test]
    fn points_lie_between_their_bounds() {
        let table = [(0.1, 0.0), (0.2, 0.0), (0.3, 0.5), (0.4, 1.0), (0.9, 1.0)];
        for (value, points) in table {
            assert!((between(value, 0.2, 0.4) - points).abs() < 1e-9, "{value}");
        }
        assert!((between(2.0, 4.0, 1.0) - 2.0 / 3.0).abs() < 1e-9, "bounds may fall");
    }
}
