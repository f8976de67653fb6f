//! Settings of an NFS mount over a long path, for both ends: sizes of requests, slots, connections, threads and socket
//! buffers, each with its reason and its cost in memory.
//!
//! [`plan`] is arithmetic alone. [`scenario`] makes the scenario that proves a plan: a mount with today's settings and
//! with the planned ones, run one after the other.
//!
//! Limits:
//! - docs/nfs.md lists the promises of plans, and their gaps.

pub mod files;
pub mod memory;
pub mod proof;
pub mod scenario;
pub mod settings;
pub mod text;

use crate::scenario::{NfsVersion, Version};
use crate::sizing::{Plan as PathPlan, Question as PathQuestion, window};
use fullpipe_base::units::Time;
use memory::Memory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Reason, Settings};
use std::fmt;

/// The kernel with a modelled client and server: both ends have it.
pub const KERNEL: Version = Version::new(6, 12, 0);
/// Bounds of numbers of clients.
pub const MOST_CLIENTS: u32 = 100_000;
/// Least memory of a server, bytes: nfsd bottoms out at 32 MiB (6.12 `nfsd_get_default_max_blksize`).
pub const LEAST_MEMORY: u64 = 32 << 20;

/// Highest probability of losses.
pub const MOST_LOSS: f64 = 0.1;

/// Largest file of a proof, bytes.
const MOST_FILE: u64 = 1 << 40;

/// A path, its clients and their server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The path of the far clients, its kernel [`KERNEL`].
    pub path: PathQuestion,
    /// Probability that the path loses a packet, each for itself (0 to [`MOST_LOSS`]).
    pub loss: f64,
    /// Version of the protocol.
    pub version: NfsVersion,
    /// Clients at the far end of the path (at least 1), which share it.
    pub clients: u32,
    /// Clients at the server's end of the path.
    pub near: u32,
    /// Their round-trip time without queues, at most the path's.
    pub near_rtt: Time,
    /// Memory of the server, bytes (at least 32 MiB).
    pub server_memory: u64,
    /// Time for which the server works on a request: its disk's time, with export `sync` of writes.
    pub service: Time,
    /// Bytes of the file that a proof writes and reads (1 byte to 1 TiB), see [`scenario::file`].
    pub file: u64,
}

/// The answer, without its proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// The path as a plan for one flow has it.
    pub path: crate::sizing::PathFacts,
    /// Payload that the path holds, bytes: what has to be under way of requests and windows.
    pub under_way_bytes: u64,
    /// What the kernel does where nothing is set.
    pub today: Settings,
    /// What to set.
    pub settings: Settings,
    /// Why, setting by setting, those that stay as they are too.
    pub reasons: Vec<Reason>,
    /// What that costs.
    pub memory: Memory,
    /// What the settings cannot mend.
    pub bounds: Vec<String>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A quantity beyond its bounds.
    OutOfRange(crate::sizing::OutOfRange),
    /// Another kernel than [`KERNEL`].
    Kernel(Version),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::OutOfRange(wrong) => wrong.fmt(f),
            Wrong::Kernel(version) => {
                write!(f, "NFS is planned for Linux {KERNEL} alone, not for {version}")
            }
        }
    }
}
impl std::error::Error for Wrong {}

impl Question {
    /// # Errors
    /// See [`Wrong`].
    fn check(&self) -> Result<PathPlan, Wrong> {
        let out = |what, expected: String| {
            Err(Wrong::OutOfRange(crate::sizing::OutOfRange { what, expected }))
        };

        // Sizes of calls and buffers are known for this kernel alone.
        if self.path.kernel != KERNEL {
            return Err(Wrong::Kernel(self.path.kernel));
        }
        let path = crate::sizing::plan(&self.path).map_err(Wrong::OutOfRange)?;
        if !(0.0..=MOST_LOSS).contains(&self.loss) {
            return out("loss", format!("a probability of 0 to {MOST_LOSS}"));
        }
        if !(1..=MOST_CLIENTS).contains(&self.clients) {
            return out("number of clients", format!("1 to {MOST_CLIENTS}"));
        }
        if self.near > MOST_CLIENTS {
            return out("number of near clients", format!("0 to {MOST_CLIENTS}"));
        }

        // Near clients are nearer than the far ones, by definition.
        if self.near_rtt == Time::ZERO || self.near_rtt > self.path.rtt {
            return out("near rtt", format!("1ns to the far clients' rtt, {}", self.path.rtt));
        }
        if self.server_memory < LEAST_MEMORY {
            return out("memory of the server", "at least 32MiB".into());
        }
        if !(1..=MOST_FILE).contains(&self.file) {
            return out("file", "1B to 1TiB".into());
        }
        if self.service > crate::sizing::MOST_RTT {
            return out("service time", "0s to 1000s".into());
        }
        Ok(path)
    }
}

/// Plans sizes, slots, connections, threads and buffers.
///
/// # Errors
/// A quantity beyond its bounds, or another kernel.
pub fn plan(question: &Question) -> Result<Plan, Wrong> {
    let path = question.check()?;
    let window = window::window(&question.path);
    let (settings, reasons, bounds) = settings::planned(question, &window);
    Ok(Plan {
        format: crate::sizing::FORMAT,
        path: path.path,
        under_way_bytes: window.needed_bytes,
        today: settings::today(question),
        memory: memory::memory(question, &settings),
        settings,
        reasons,
        bounds,
    })
}
