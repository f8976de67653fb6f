//! Memory that a run can have.
//!
//! Limits:
//! - Only the limit of a control group of version 2 is looked at.

use super::{Check, Problem};
use crate::kernel::needs::gb;
use std::fs;

/// Memory of a run at 10 Gb/s, bytes.
const LEAST: u64 = 1_000_000_000;
const WHY: &str = "a run takes 0.1 to 1 GB, at 100 Gb/s up to 3";

/// Looks at the free memory, and at the limit of this control group.
pub fn check() -> Check {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let free = available(&read("/proc/meminfo"));
    let group = "/sys/fs/cgroup";
    let left =
        left(&read(&format!("{group}/memory.max")), &read(&format!("{group}/memory.current")));
    Check::new("memory", WHY, judge(free, left))
}

fn judge(free: Option<u64>, left: Option<u64>) -> Result<String, Problem> {
    let Some(free) = free else {
        return Err(Problem::new("/proc/meminfo does not tell", "mount /proc"));
    };

    // The tighter of the two bounds counts.
    let (bytes, of) = match left {
        Some(left) if left < free => (left, "left to this control group"),
        _ => (free, "available"),
    };
    let text = format!("{:.1} GB {of}", gb(bytes));
    match bytes >= LEAST {
        true => Ok(text),
        false => {
            Err(Problem::new(text, "end other programs, or raise the limit of this container"))
        }
    }
}

/// MemAvailable in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Rest of the limit of a control group of version 2; none without a limit.
fn left(max: &str, current: &str) -> Option<u64> {
    let (max, current) = (max.trim().parse::<u64>().ok()?, current.trim().parse::<u64>().ok()?);
    Some(max.saturating_sub(current))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_counts() {
        let text = "MemTotal: 9000 kB\nMemAvailable:    2000000 kB\n";
        let free = available(text);
        assert_eq!(free, Some(2_048_000_000));
        assert_eq!(judge(free, left("max\n", "5\n")).ok().as_deref(), Some("2.0 GB available"));
        let small = left("3000000000\n", "2500000000\n");
        let problem = judge(free, small).expect_err("too little");
        assert_eq!(problem.found, "0.5 GB left to this control group");
        assert!(judge(None, None).is_err() && judge(Some(LEAST - 1), None).is_err());
        assert!(judge(Some(LEAST), None).is_ok());
    }
}
