//! What a plan gains: a file written and read with the settings of today and with the planned ones.

use super::settings::Settings;
use super::{Plan, Question, scenario};
use crate::advice::proof::{held_back, variants};
use crate::analysis::document::Run;
use crate::engine::{Engine, Failed};
use crate::scenario::Source;
use fullpipe_sim::trace::Control;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of both settings.
pub const SETTINGS: [&str; 2] = ["today", "planned"];

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

/// Proves a plan on an engine; none where `control` has stopped a run.
///
/// # Errors
/// What the engine says.
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
/// What the engine says.
pub fn runs(
    q: &Question,
    settings: &[(&str, Settings)],
    engine: &dyn Engine,
    control: &mut dyn Control,
) -> Result<Option<Vec<Proven>>, Failed> {
    let source = Source::text("nfs-plan.toml", &scenario::scenario(q, settings));
    let made = variants(&source, engine, control, |name, run, _| proven(name, run))?;
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
