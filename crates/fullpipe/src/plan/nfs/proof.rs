//! What a plan gains: a file written and read with the settings of today and with the planned ones.

use super::settings::Settings;
use super::{Plan, Question, scenario};
use crate::analysis::document::Run;
use crate::analysis::{self, Made, RunMeta};
use crate::engine::{Engine, Failed};
use crate::scenario::{Source, load};
use crate::trace::recording::Recording;
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
    let text = scenario::scenario(q, settings);
    let source = Source::text("nfs-plan.toml", &text);
    let bug = |problem: String| Failed::Scenario(format!("the plan's own scenario: {problem}"));
    let scenario = load(&source, &[], &[]).map_err(|wrong| bug(wrong.to_string()))?;
    let mut runs = Vec::new();
    for plan in scenario.plans() {
        let mut recording = Recording::default();
        let outcome = engine.run(&plan.resolved, &mut recording, control)?;
        if !outcome.complete {
            return Ok(None);
        }
        let meta = RunMeta::from_plan(&scenario, plan, Made::default());
        runs.push(proven(&plan.name(), &analysis::run(&meta, &recording)));
    }
    Ok(Some(runs))
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

/// What held the connections that carry data back for most of their time, on average, and for which share.
fn held_back(run: &Run) -> (String, f64) {
    let share = |limit: &str| {
        let shares = run.flows.iter().map(|flow| flow.limits.get(limit).copied().unwrap_or(0.0));
        shares.sum::<f64>() / run.flows.len().max(1) as f64
    };
    let names = run.flows.iter().flat_map(|flow| flow.limits.keys());
    let most = names.max_by(|a, b| share(a).total_cmp(&share(b)));
    most.map_or((String::new(), 0.0), |most| (most.clone(), share(most)))
}
