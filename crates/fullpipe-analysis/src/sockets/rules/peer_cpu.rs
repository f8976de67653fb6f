//! The receiving process has no time left: the tool that measures says so.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "busy-peer", needs: &[], find };

/// Share of time that the process works from which on it takes data slowly.
const BUSY: f64 = 0.9;
/// Share from which on nothing else explains it.
const FULL: f64 = 0.97;

fn find(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.pasted.peer_cpu.filter(|cpu| *cpu >= BUSY)?;
    let points = 0.6 + 0.3 * between(cpu, BUSY, FULL);
    Some(
        Verdict::new("cpu_receiver", "The CPU of the receiver", cpu.min(1.0), points)
            .because(format!("the receiving process works {} of the time", percent(cpu.min(1.0))))
            .remedy("Use several streams, a faster CPU, GRO, or larger packets"),
    )
}
