//! `run.json`: when, where and with what a run was made. The one file of a run directory that may
//! differ between equal runs.

use crate::trace::rfc3339::rfc3339;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};

/// Contents of `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of fullpipe.
    pub fullpipe: String,
    /// Command line, where there was one.
    pub command: Vec<String>,
    /// Start by the machine's clock, UTC, RFC 3339.
    pub started: String,
    /// Wall-clock seconds that all runs took together.
    pub elapsed_s: f64,
    /// The machine.
    pub machine: Machine,
}

/// The machine of a run; empty where it could not be found out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system, for instance "linux".
    pub os: String,
    /// Architecture, for instance "x86_64".
    pub arch: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu: String,
    /// Hardware threads that the program may use.
    pub threads: usize,
}

impl Provenance {
    /// Describes a run on this machine.
    pub fn here(command: Vec<String>, started: SystemTime, elapsed: Duration) -> Provenance {
        Provenance {
            fullpipe: env!("CARGO_PKG_VERSION").into(),
            command,
            started: rfc3339(started),
            elapsed_s: elapsed.as_secs_f64(),
            machine: Machine::here(),
        }
    }
}

impl Machine {
    fn here() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpus = read("/proc/cpuinfo");
        let model = cpus.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(':'));
        Machine {
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            kernel: read("/proc/sys/kernel/osrelease").trim().into(),
            cpu: model.map_or_else(String::new, |(_, name)| name.trim().into()),
            threads: std::thread::available_parallelism().map_or(0, usize::from),
        }
    }
}
