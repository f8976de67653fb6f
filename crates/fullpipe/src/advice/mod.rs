//! Advice on the settings of hosts: sizes, the files that set them, their undo, and the proof by a run.
//!
//! `fullpipe plan` and `fullpipe plan --nfs` share this module. [`advise`] is arithmetic alone; [`proof`] simulates
//! the path with the settings of today and with the advised ones, and [`answer`] is the sentence that follows.

pub mod answer;
pub mod files;
pub mod hints;
pub mod proof;
pub mod scenario;
pub mod sizing;
pub mod text;

use crate::plan::{OutOfRange, Question};
use crate::scenario::{Outline, profile_of};
use files::File;
use hints::Hint;
use proof::Proof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sizing::Buffers;

/// A path, its hosts, and what shall fill it.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Path and kernel.
    pub path: Question,
    /// Parallel flows that share the path (at least 1).
    pub flows: u32,
    /// Probability that the path loses a data segment, each independently.
    pub loss: f64,
    /// Queue of the bottleneck, bytes; `None`: not known.
    pub queue: Option<u64>,
    /// Congestion control; `None`: the kernel's default, cubic.
    pub congestion: Option<String>,
}

/// Why a setting is as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The setting, as its file calls it.
    pub setting: String,
    /// Today's value.
    pub today: String,
    /// The planned one.
    pub planned: String,
    /// Why.
    pub why: String,
}

/// Settings for a path, without their proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Maximum of the socket buffers today, where nothing was set, bytes.
    pub today: Buffers,
    /// The advised maximum, bytes; never below today's.
    pub advised: Buffers,
    /// Rate at which each socket paces (SO_MAX_PACING_RATE), bytes of payload per second, where pacing is advised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_bytes_per_s: Option<u64>,
    /// Parallel flows that fill the path, where those asked for cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// Highest rate of payload that the flows can have together, Mb/s (10^6): the path's, or less by TCP's largest window.
    pub reachable_mbit: f64,
    /// Each setting that changes, with its reason.
    pub reasons: Vec<Reason>,
    /// Files that make the settings permanent, and their undo.
    pub files: Vec<File>,
    /// What else matters on this path: pacing, qdisc, MTU, streams, rings.
    pub hints: Vec<Hint>,
}

impl Demand {
    /// The scenario's path, hosts and flows.
    pub fn outline(&self) -> Outline {
        let kernel = self.path.kernel.to_string();
        Outline {
            mtu: self.path.mtu,
            framing: self.path.framing,
            queue: self.queue,
            loss: self.loss,
            flows: self.flows,
            timestamps: self.path.timestamps,
            congestion: self.congestion.clone(),
            ..Outline::new(self.path.rate, self.path.rtt, &kernel)
        }
    }

    /// Highest rate of payload on the path, Mb/s (10^6).
    pub fn payload_mbit(&self) -> f64 {
        let share = f64::from(self.path.mss()) / f64::from(self.path.packet());
        self.path.rate.0 as f64 * share / 1e6
    }

    /// Whether the simulator runs the profile of this very version.
    pub fn has_own_profile(&self) -> bool {
        profile_of(&self.path.kernel.to_string()).is_some_and(|(_, own)| own)
    }
}

impl Advice {
    /// Whether any setting changes.
    pub fn changes(&self) -> bool {
        self.advised != self.today || self.pacing_bytes_per_s.is_some()
    }

    /// Withdraws settings that the proof shows to be superfluous: today's fill the path, or the advised ones gain nothing.
    /// A proof with too few losses judges nothing.
    pub fn judged(self, demand: &Demand, proof: &Proof) -> Advice {
        if proof.too_few_losses().is_some() {
            return self;
        }
        let today = proof.mbit(scenario::TODAY).unwrap_or(0.0);
        let planned = proof.mbit(scenario::PLANNED).unwrap_or(today);

        let is_full = today.max(planned) >= FULL * proof.payload_mbit;
        let streams = self.streams.filter(|_| !is_full);
        let is_needless = today >= FULL * self.reachable_mbit || planned <= GAIN * today;
        if !is_needless {
            let hints = hints::hints(demand, self.advised, streams);
            return Advice { streams, hints, ..self };
        }
        Advice {
            advised: self.today,
            pacing_bytes_per_s: None,
            streams,
            reasons: Vec::new(),
            files: Vec::new(),
            hints: hints::hints(demand, self.today, streams),
            ..self
        }
    }
}

/// From this share of the reachable rate on a path is full.
pub const FULL: f64 = 0.97;
/// A setting that gains less than 2 % is withdrawn.
pub const GAIN: f64 = 1.02;

/// Sizes buffers, pacing and streams for a path.
///
/// # Errors
/// A quantity beyond its bounds.
pub fn advise(demand: &Demand) -> Result<Advice, OutOfRange> {
    crate::plan::check(&demand.path)?;
    let out = |wrong: crate::scenario::OutOfRange| OutOfRange {
        what: wrong.what,
        expected: wrong.expected,
    };
    demand.outline().check().map_err(out)?;

    let sizes = sizing::sizes(demand);
    let streams = sizing::streams(demand);
    Ok(Advice {
        today: sizes.today,
        advised: sizes.advised,
        pacing_bytes_per_s: sizing::pacing(demand),
        streams,
        reachable_mbit: sizing::reachable_mbit(demand),
        reasons: sizing::reasons(demand, &sizes),
        files: files::buffers("both", files::PATH, demand.path.kernel, sizes.today, sizes.advised)
            .into_iter()
            .collect(),
        hints: hints::hints(demand, sizes.advised, streams),
    })
}
