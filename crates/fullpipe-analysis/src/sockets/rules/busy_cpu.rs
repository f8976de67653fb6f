//! The CPU of the sending host is busy.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "busy-sender", find };

/// Share of time that the CPU works from which on it leaves no time for more data.
const BUSY: f64 = 0.95;
/// Share of looks at which cwnd is full from which on TCP, and not the CPU, decides.
const FULL: f64 = 0.5;

fn find(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.own.cpu.filter(|cpu| *cpu >= BUSY)?;
    (facts.main.cwnd_full < FULL).then(|| {
        let share = facts.main.idle + facts.main.held;
        Verdict::new("cpu_sender", format!("The CPU of {}", facts.host), share.min(1.0), 0.9)
            .because(format!("it works {} of the time", percent(cpu.min(1.0))))
            .because("cwnd and window have room")
            .remedy("Use a faster CPU, offloads, or larger packets")
    })
}
