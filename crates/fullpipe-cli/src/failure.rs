//! Why the program ends with another code than 0.

use fullpipe::experiment::Unfit;
use fullpipe::trace;
use std::fmt::Display;

/// Failures by exit code.
#[derive(Debug)]
pub enum Failure {
    /// 1: the result is there, but an expectation of the scenario does not hold.
    Expectation,
    /// 2: the request makes no sense; the text says why.
    Input(String),
    /// 3: this machine cannot; the text has the error.
    Environment(String),
    /// 2 or 3, as the first failure: some of several runs failed.
    Runs {
        /// Why, in the scenario's order; at least one.
        failures: Vec<Failure>,
        /// Fate of the other runs.
        others: Option<String>,
    },
    /// 130: stopped by a signal; finished parts were kept.
    Interrupted,
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Failure {
        match unfit {
            Unfit::Input(why) => Failure::Input(why),
            Unfit::Environment(why) => Failure::Environment(why),
        }
    }
}

impl From<trace::Error> for Failure {
    /// Results cannot be written, or not be read again; or a name is taken, and the user names another one.
    fn from(error: trace::Error) -> Failure {
        match error.taken {
            true => Failure::Input(error.to_string()),
            false => Failure::Environment(error.to_string()),
        }
    }
}

impl Failure {
    /// The environment failed while doing `what`.
    pub fn environment(what: impl Display, cause: impl Display) -> Failure {
        Failure::Environment(format!("{what}: {cause}"))
    }

    /// Prints the failure on standard error, and returns the exit code.
    pub fn report(&self) -> u8 {
        match self {
            Failure::Input(text) | Failure::Environment(text) => {
                // Errors of the scenario's parser bring their own heading.
                let start = if text.starts_with("error") { "" } else { "error: " };
                crate::output::note(&format!("{start}{}", text.trim_end()));
            }
            Failure::Runs { failures, others } => {
                for failure in failures {
                    failure.report();
                }
                others.iter().for_each(|text| crate::output::note(text));
            }
            // Tables and notes have shown the reason already.
            Failure::Expectation | Failure::Interrupted => {}
        }
        self.code()
    }

    fn code(&self) -> u8 {
        match self {
            Failure::Expectation => 1,
            Failure::Input(_) => 2,
            Failure::Environment(_) => 3,
            Failure::Runs { failures, .. } => failures.first().map_or(3, Failure::code),
            Failure::Interrupted => 130,
        }
    }
}
