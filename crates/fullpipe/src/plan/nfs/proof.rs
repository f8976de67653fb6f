//! Proof of a plan: a file written and read with today's settings and with the planned ones.

use super::settings::Settings;
use super::{Plan, Question, scenario};
use crate::analysis::document::Run;
use crate::engine::{Engine, Failed};
use crate::numbers;
use crate::plan::GAIN;
use crate::plan::proof::{held_back, variants};
use crate::scenario::Source;
use fullpipe_base::trace::Control;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of both settings.
pub const SETTINGS: [&str; 2] = ["today", "planned"];

/// Operations of a client.
const OPERATIONS: [&str; 2] = ["write", "read"];

/// Both settings, each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Engine that made the runs.
    pub engine: String,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// The path's highest rate of payload, Mb/s (10^6).
    pub payload_mbit: f64,
    /// The runs.
    pub runs: Vec<Proven>,
}

/// A run of one client alone on the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proven {
    /// "today" or "planned".
    pub settings: String,
    /// "write" or "read".
    pub operation: String,
    /// Bytes of the file over the time from its open to its close, Mb/s (10^6); none: not done within the run.
    pub mbit: Option<f64>,
    /// What held its connections back for most of their time.
    pub held_back_by: String,
    /// For which share of it (0 to 1).
    pub share: f64,
}

impl Proof {
    /// Rates of an operation with today's and with the planned settings, Mb/s; 0 where a file was not done.
    fn rates(&self, operation: &str) -> [f64; 2] {
        SETTINGS.map(|settings| {
            let mut runs = self.runs.iter();
            let run = runs.find(|run| run.settings == settings && run.operation == operation);
            run.and_then(|run| run.mbit).unwrap_or(0.0)
        })
    }

    /// Whether the planned settings make an operation faster, by at least 2 %.
    fn gains(&self, operation: &str) -> bool {
        let [today, planned] = self.rates(operation);
        planned >= GAIN * today && planned > 0.0
    }

    /// Whether the planned settings make an operation slower, by at least 2 %.
    fn costs(&self, operation: &str) -> bool {
        let [today, planned] = self.rates(operation);
        today >= GAIN * planned && today > 0.0
    }

    /// Whether the planned settings are worth setting: they make an operation faster.
    pub fn is_worth_it(&self) -> bool {
        OPERATIONS.iter().any(|operation| self.gains(operation))
    }

    /// The answer in one sentence or two: the gain of the settings, and their cost.
    pub fn answer(&self) -> String {
        let rates = |operation: &str| {
            let [today, planned] = self.rates(operation).map(numbers::short);
            format!("{operation} {planned} instead of {today}")
        };
        let all: Vec<String> = OPERATIONS.iter().map(|operation| rates(operation)).collect();
        let of = format!("{} of {} (simulated)", all.join(", "), numbers::rate(self.payload_mbit));

        // An operation may become slower while the other gains.
        let slower: Vec<&str> =
            OPERATIONS.into_iter().filter(|operation| self.costs(operation)).collect();
        match (self.is_worth_it(), slower.is_empty()) {
            (false, _) => format!("Set nothing: the planned settings gain nothing: {of}."),
            (true, true) => format!("Set what is planned: {of}."),
            (true, false) => format!(
                "Set what is planned only if that matters more than to {}, which becomes slower: {of}.",
                slower.join(" and to ")
            ),
        }
    }
}

/// Proves a plan on an engine; none where `control` has stopped a run.
///
/// # Errors
/// The engine's error.
pub fn proof(
    q: &Question,
    plan: &Plan,
    engine: &dyn Engine,
    control: &mut dyn Control,
) -> Result<Option<Proof>, Failed> {
    let settings = [(SETTINGS[0], plan.today), (SETTINGS[1], plan.settings)];
    let runs = runs(q, &settings, engine, control)?;
    Ok(runs.map(|runs| Proof {
        engine: engine.name().into(),
        file_bytes: q.file,
        payload_mbit: plan.path.payload_mbit,
        runs,
    }))
}

/// A write and a read with each of these settings, in order.
///
/// # Errors
/// The engine's error.
pub fn runs(
    q: &Question,
    settings: &[(&str, Settings)],
    engine: &dyn Engine,
    control: &mut dyn Control,
) -> Result<Option<Vec<Proven>>, Failed> {
    let source = Source::text("nfs-plan.toml", &scenario::scenario(q, settings));
    let made = variants(&source, &[], engine, control, |name, run, _| proven(name, run))?;
    Ok(made.map(|variants| variants.made))
}

fn proven(name: &str, run: &Run) -> Proven {
    let (settings, operation) = name.split_once(", ").unwrap_or((name, ""));
    let (held_back_by, share) = held_back(run);
    Proven {
        settings: settings.into(),
        operation: operation.into(),
        mbit: run.nfs.first().and_then(|own| own.mean_mbit),
        held_back_by,
        share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proof with these rates: today's write and read, the planned ones.
    fn proof(rates: [f64; 4]) -> Proof {
        let names =
            [("today", "write"), ("today", "read"), ("planned", "write"), ("planned", "read")];
        Proof {
            engine: "sim".into(),
            file_bytes: 1,
            payload_mbit: 941.0,
            runs: names
                .into_iter()
                .zip(rates)
                .map(|((settings, operation), mbit)| Proven {
                    settings: settings.into(),
                    operation: operation.into(),
                    mbit: Some(mbit),
                    held_back_by: "cwnd".into(),
                    share: 1.0,
                })
                .collect(),
        }
    }

    #[test]
    fn a_plan_that_its_proof_shows_slower_is_not_praised() {
        let table = [
            ([30.0, 30.0, 900.0, 850.0], "Set what is planned: write 900 instead of 30", true),
            ([90.0, 80.0, 60.0, 80.0], "Set nothing", false),
            (
                [90.0, 30.0, 60.0, 80.0],
                "only if that matters more than to write, which becomes",
                true,
            ),
        ];
        for (rates, start, worth) in table {
            let proof = proof(rates);
            assert!(proof.answer().contains(start), "{}", proof.answer());
            assert_eq!(proof.is_worth_it(), worth);
        }
    }
}
