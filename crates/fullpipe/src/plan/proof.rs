//! Proof by a run: a scenario's variants one after the other, and the rate that each reaches.

use super::scenario::{self, PLANNED, TODAY};
use super::{Advice, Demand};
use crate::analysis::document::Run;
use crate::analysis::{self, Made, RunMeta};
use crate::engine::{Engine, Failed};
use crate::response::ENOUGH_LOSSES;
use crate::scenario::{Source, load, notes};
use crate::sizing::sizes::MOST_STREAMS;
use crate::trace::recording::Recording;
use fullpipe_base::trace::Control;
use fullpipe_base::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Both settings on one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Engine that made the runs.
    pub engine: String,
    /// Queue of the bottleneck, bytes.
    pub queue_bytes: u64,
    /// The path's highest rate of payload, Mb/s (10^6).
    pub payload_mbit: f64,
    /// The runs.
    pub runs: Vec<Proven>,
    /// Notes about the scenario, such as the profile that stands for the kernel.
    pub notes: Vec<String>,
}

/// A run of the path with some settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proven {
    /// "today", "planned", "N flows" or "planned, N flows".
    pub settings: String,
    /// How long the flows sent, s.
    pub seconds: f64,
    /// Acknowledged payload of all flows in the second half of the run, Mb/s (10^6), at most the path's.
    pub mbit: f64,
    /// The limit that held the flows back for most of their time.
    pub held_back_by: String,
    /// For which share of it (0 to 1).
    pub share: f64,
    /// For which share of it a socket buffer of either end did (0 to 1).
    pub buffers: f64,
    /// Segments that the path lost by chance, where it loses any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<u64>,
}

/// Limits that socket buffers set.
const BUFFERS: [&str; 2] = ["send_buffer", "receive_window"];
/// A buffer that holds the flows back for a smaller share of their time is large enough.
const HOLDS: f64 = 0.1;

impl Proven {
    /// Whether larger buffers would let the flows send more.
    pub fn lacks_buffers(&self) -> bool {
        self.buffers >= HOLDS
    }
}

impl Proof {
    /// The rate with these settings, Mb/s.
    pub fn mbit(&self, settings: &str) -> Option<f64> {
        self.run(settings).map(|run| run.mbit)
    }

    /// The run with these settings.
    pub fn run(&self, settings: &str) -> Option<&Proven> {
        self.runs.iter().find(|run| run.settings == settings)
    }

    /// The fewest losses of a run that no buffer holds back, where these are too few for a rate.
    pub fn too_few_losses(&self) -> Option<u64> {
        let bound_by_loss = self.runs.iter().filter(|run| !run.lacks_buffers());
        bound_by_loss.filter_map(|run| run.losses).min().filter(|n| *n < ENOUGH_LOSSES)
    }
}

/// Proves advice on an engine; `None` where `control` has stopped a run.
///
/// # Errors
/// The engine's message.
pub fn proof(
    demand: &Demand,
    advice: &Advice,
    engine: &dyn Engine,
    control: &mut dyn Control,
) -> Result<Option<Proof>, Failed> {
    let mut run = |advice: &Advice, names: &[String]| {
        let source = scenario::source(demand, advice);
        variants(&source, names, engine, control, |name, run, recording| {
            proven(demand, name, run, recording)
        })
    };

    // Without changes the second run would repeat the first.
    let one_flow = match advice.changes() {
        true => vec![TODAY.to_string(), PLANNED.to_string()],
        false => vec![TODAY.to_string()],
    };
    let Some(made) = run(advice, &one_flow)? else { return Ok(None) };
    let mut proof = Proof {
        engine: engine.name().into(),
        queue_bytes: demand.outline().queue_bytes(),
        payload_mbit: demand.payload_mbit(),
        runs: made.made,
        notes: made.notes,
    };

    // Parallel flows have the settings that are left when the others are judged.
    let judged = advice.clone().judged(demand, &proof);
    if let Some(n) = judged.streams.filter(|n| *n <= MOST_STREAMS) {
        let Some(made) = run(&judged, &[scenario::streams_name(&judged, n)])? else {
            return Ok(None);
        };
        proof.runs.extend(made.made);
    }
    Ok(Some(proof))
}

/// A run's rate, and its limit.
fn proven(demand: &Demand, name: &str, run: &Run, recording: &Recording) -> Proven {
    let (held_back_by, share) = held_back(run);

    // Streams have a duration of their own: they grow in less time.
    let lasts = match name == TODAY || name == PLANNED {
        true => demand.outline().lasts(),
        false => scenario::streams_last(demand),
    };
    let dropped = run.stages.iter().filter(|own| own.kind == "loss").map(|own| own.dropped);
    Proven {
        settings: name.into(),
        seconds: lasts.as_secs_f64(),
        // A queue that drains acknowledges a little more than the path carries meanwhile.
        mbit: second_half(recording, lasts).min(demand.payload_mbit()),
        held_back_by,
        share,
        buffers: BUFFERS.iter().map(|limit| mean_share(run, limit)).sum(),
        losses: (demand.loss > 0.0).then(|| dropped.sum()),
    }
}

/// Results of a scenario's variants.
pub struct Variants<T> {
    /// Something of each, in the scenario's order.
    pub made: Vec<T>,
    /// Notes about the scenario.
    pub notes: Vec<String>,
}

/// Runs the named variants of a scenario of ours, all if none is named, and keeps the result of `of` for each; `None`
/// where `control` has stopped a run.
///
/// # Errors
/// The engine's message.
pub fn variants<T>(
    source: &Source,
    names: &[String],
    engine: &dyn Engine,
    control: &mut dyn Control,
    mut of: impl FnMut(&str, &Run, &Recording) -> T,
) -> Result<Option<Variants<T>>, Failed> {
    let scenario = load(source, &[], names)
        .map_err(|wrong| Failed::Scenario(format!("the plan's own scenario: {wrong}")))?;
    let mut made = Vec::new();
    for plan in scenario.plans() {
        let mut recording = Recording::default();
        let outcome = engine.run(&plan.resolved, &mut recording, control)?;

        // An interrupted proof says nothing.
        if !outcome.complete {
            return Ok(None);
        }
        let meta = RunMeta::from_plan(&scenario, plan, Made::default());
        made.push(of(&plan.name(), &analysis::run(&meta, &recording), &recording));
    }
    Ok(Some(Variants { made, notes: notes(&scenario) }))
}

/// The limit that held the connections back for most of their time, on average, and for which share.
pub fn held_back(run: &Run) -> (String, f64) {
    let names = run.flows.iter().flat_map(|flow| flow.limits.keys());
    let most = names.max_by(|a, b| mean_share(run, a).total_cmp(&mean_share(run, b)));
    most.map_or((String::new(), 0.0), |most| (most.clone(), mean_share(run, most)))
}

/// Share of the flows' time in which a limit held them back, on average.
fn mean_share(run: &Run, limit: &str) -> f64 {
    let shares = run.flows.iter().map(|flow| flow.limits.get(limit).copied().unwrap_or(0.0));
    shares.sum::<f64>() / run.flows.len().max(1) as f64
}

/// Acknowledged payload of all flows in the second half of `lasts`, Mb/s.
fn second_half(recording: &Recording, lasts: Time) -> f64 {
    let from = Time(lasts.0 / 2);
    let acked = |until: Time| {
        let flows = recording.flows.iter().map(|sample| sample.flow).max().map_or(0, |n| n + 1);
        let mut last = vec![0; usize::from(flows)];
        for sample in recording.flows.iter().filter(|sample| sample.time <= until) {
            last[usize::from(sample.flow)] = sample.bytes_acked;
        }
        last.iter().sum::<u64>()
    };
    let seconds = lasts.saturating_sub(from).as_secs_f64();
    (acked(lasts) - acked(from)) as f64 * 8.0 / seconds / 1e6
}
