//! `run.json`: when, where and with what a run was made. The one file of a run directory that may
//! differ between equal runs.

use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// A moment in UTC to the second; moments before 1970 become 1970.
pub(crate) fn rfc3339(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        let at = |seconds| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(at(1_178_795_535), "2007-05-10T11:12:15Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
