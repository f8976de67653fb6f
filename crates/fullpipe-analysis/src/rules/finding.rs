//! Finding of a rule: cause, place, reason and cure.

use crate::document::{AskedBy, Setting};

/// A cause in words, its setting, and its cure. A headline writes it as "WHO DOES the flow N % of its life: BECAUSE. CURE."
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name of the rule that made it; empty where no rule fires.
    pub rule: &'static str,
    /// Code of the cause ([`CAUSES`](super::CAUSES)); empty where no rule fires.
    pub code: &'static str,
    /// Subject of the sentence.
    pub who: String,
    /// Verb of the sentence.
    pub does: &'static str,
    /// Share of the flow's life, where it is not its cause's (0 to 1).
    pub share: Option<f64>,
    /// Reason, behind the colon.
    pub because: Option<String>,
    /// Sentence with the cure.
    pub cure: Option<String>,
    /// Stage or host.
    pub place: Option<String>,
    /// Setting that is meant.
    pub setting: Option<Setting>,
    /// Time that packets wait in a standing queue, ms.
    pub queue_ms: Option<f64>,
    /// Whether the flow is as fast as the scenario asks for.
    pub as_asked: bool,
    /// Whether the flow still grows, so that a longer transfer is faster.
    pub grows: bool,
}

impl Default for Finding {
    fn default() -> Finding {
        Finding {
            rule: "",
            code: "",
            who: String::new(),
            does: "stops",
            share: None,
            because: None,
            cure: None,
            place: None,
            setting: None,
            queue_ms: None,
            as_asked: false,
            grows: false,
        }
    }
}

impl Finding {
    /// Something at a place stops the flow.
    pub fn new(who: impl Into<String>, place: Option<String>) -> Finding {
        Finding { who: who.into(), place, ..Finding::default() }
    }

    /// With a reason.
    pub fn because(mut self, why: impl Into<String>) -> Finding {
        self.because = Some(why.into());
        self
    }

    /// Sets the cure.
    pub fn cure(mut self, what: impl Into<String>) -> Finding {
        self.cure = Some(what.into());
        self
    }

    /// With the code of its cause, where that is not its rule's.
    pub fn code(mut self, code: &'static str) -> Finding {
        self.code = code;
        self
    }

    /// Sets the rule; the code is the rule's, unless the finding has one.
    pub(super) fn by(mut self, rule: &'static str, code: &'static str) -> Finding {
        self.rule = rule;
        if self.code.is_empty() {
            self.code = code;
        }
        self
    }

    /// With the setting that is meant.
    pub fn setting(mut self, setting: Setting) -> Finding {
        self.setting = Some(setting);
        self
    }
}

/// A setting without values.
pub fn setting(name: &str, host: &str, set_by: AskedBy) -> Setting {
    Setting { name: name.into(), host: host.into(), value: None, needed: None, set_by }
}

/// A setting with its value and the value that the path needs.
pub fn valued(
    name: &str,
    host: &str,
    value: String,
    needed: Option<String>,
    set_by: AskedBy,
) -> Setting {
    Setting { value: Some(value), needed, ..setting(name, host, set_by) }
}
