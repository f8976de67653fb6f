//! Findings of a run: each cause that holds its flows for long, with evidence and cure.

use super::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cause, its evidence and its cure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Code of the cause (`fullpipe explain CODE`).
    pub code: String,
    /// Group of the cause: where in the chain it is.
    pub group: String,
    /// Rule that found it.
    pub rule: String,
    /// Cause in words, with its share of the flows' lives.
    pub cause: String,
    /// Share of the flows' lives in which it holds them; share of the datagrams that it drops (0 to 1).
    pub share_of_time: f64,
    /// Certainty: "sure", "likely" or "cannot_tell".
    pub confidence: Confidence,
    /// Stage or host.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none", default)]
    pub place: Option<String>,
    /// Facts that speak for it, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<String>,
    /// Codes of causes that look the same in this view.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub twins: Vec<String>,
    /// Observation that decides between the cause and its twins; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub would_decide: Option<String>,
    /// Sentence that says what to do; absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<String>,
    /// Setting that is meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub setting: Option<Setting>,
}

/// Certainty of a finding. A blind test measures how often "sure" is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Confidence {
    /// The only explanation of the observations.
    Sure,
    /// One cause explains most of what is seen.
    Likely,
    /// One of several explanations of the observations.
    CannotTell,
}
