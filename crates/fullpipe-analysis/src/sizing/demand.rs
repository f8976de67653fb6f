//! The demand that sizes and advice answer: a path, its hosts, and the flows that shall fill it.

use super::Question;
use fullpipe_scenario::{Outline, profile_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    /// This demand with another number of parallel flows.
    pub fn with_flows(&self, flows: u64) -> Demand {
        Demand { flows: u32::try_from(flows).unwrap_or(u32::MAX), ..self.clone() }
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
