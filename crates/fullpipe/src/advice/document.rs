//! What advice says, as one document: the answer, the changes with their proof, files, costs and notes.

use super::change::Change;
use super::edit::Edit;
use super::elsewhere::Elsewhere;
use super::files::Files;
use super::method::{Kept, Step};
use super::newcomer::Newcomer;
use super::slowest::Slowest;
use super::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the JSON that [`Advice`] serialises to.
pub const FORMAT: u32 = 1;

/// Advice for a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Version of this format.
    pub format: u32,
    /// The answer: what to set and what it gains.
    pub answer: String,
    /// Engine of all trials.
    pub engine: String,
    /// Kernels of the sending hosts.
    pub kernels: Vec<String>,
    /// Rate of payload that the path allows, Mb/s (10^6); absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed_mbit: Option<f64>,
    /// Longest round trip without queues, ms.
    pub base_rtt_ms: f64,
    /// Flows that share the path.
    pub flows: usize,
    /// As it is today.
    pub today: Result,
    /// With all changes; as today where nothing is advised.
    pub advised: Result,
    /// Changes, in the order in which they act; empty: set nothing.
    pub changes: Vec<Kept>,
    /// Costs and conditions, one sentence each.
    pub notes: Vec<String>,
    /// A flow that joins later. It is absent without a proof at full length, and where a flow has a fixed size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newcomer: Option<Newcomer>,
    /// Rate with the changes on a path that is a little different.
    pub sensitivity: Vec<Sensitivity>,
    /// Files that make the changes, and their undo.
    pub files: Files,
    /// Settings of other systems with the same effect, which no run proves.
    pub elsewhere: Vec<Elsewhere>,
    /// Every trial, in its order.
    pub steps: Vec<Step>,
    /// Lists of settings that were tried.
    pub tried: usize,
    /// Runs of each trial, of which the worst one counts; 1 where chance does not decide.
    pub seeds: u64,
    /// Whether a flow has answers or messages, so that delayed ACKs are a part of each `queue_ms`; absent where none has.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_turns: bool,
}

/// The best that a search has found until it was stopped. Fields have the names of [`Advice`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AdviceSoFar")]
pub struct Partial {
    /// Version of this format.
    pub format: u32,
    /// True: the search was stopped before its end. [`Advice`] lacks this field.
    pub partial: bool,
    /// The answer: what gains most so far.
    pub answer: String,
    /// As it is today; absent where the first trial was stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub today: Option<Result>,
    /// With the best changes so far; as today where none gains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advised: Option<Result>,
    /// The best changes so far, some of which may be needless.
    pub changes: Vec<Change>,
    /// Lists of settings that were tried.
    pub tried: usize,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AdviceResult")]
pub struct Result {
    /// Acknowledged payload of all flows once they have grown, Mb/s (10^6); the worst of several runs.
    pub mbit: f64,
    /// Share of the allowed rate (0 to 1); absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<f64>,
    /// Queueing delay: median smoothed round trip less that without queues, ms.
    pub queue_ms: f64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Median time of messages, ms: of the flow with the longest; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_ms: Option<f64>,
    /// Time that a twentieth of the messages takes or exceeds, ms: of the flow with the longest; absent without messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_p95_ms: Option<f64>,
    /// The flow that has the least of its part; absent where no flow shares a path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowest: Option<Slowest>,
    /// Least rate of the runs over the largest (0 to 1).
    pub evenness: f64,
    /// Verdict of the worst run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<String>,
}

/// Rate on a path that is a little different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    /// The difference, in words.
    pub what: String,
    /// Rate, Mb/s (10^6).
    pub mbit: f64,
    /// Share of what that path allows (0 to 1); absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<f64>,
}

impl Advice {
    /// Edits of all changes, in their order.
    pub fn edits(&self) -> Vec<&Edit> {
        self.changes.iter().flat_map(|own| &own.change.edits).collect()
    }

    /// The changes alone.
    pub fn list(&self) -> Vec<Change> {
        self.changes.iter().map(|own| own.change.clone()).collect()
    }
}

impl From<&Outcome> for Result {
    fn from(own: &Outcome) -> Result {
        Result {
            mbit: own.mbit,
            share: own.share(),
            queue_ms: own.queue_ms,
            retransmitted: own.retransmitted,
            message_ms: own.message_ms,
            message_p95_ms: own.message_p95_ms,
            slowest: own.slowest.clone(),
            evenness: own.evenness,
            verdict: own.headline.as_ref().map(|headline| headline.text.clone()),
        }
    }
}
