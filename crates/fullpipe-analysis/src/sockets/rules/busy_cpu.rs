//! The CPU of the sending host is busy.
//!
//! Limits:
//! - The CPU is that of the process's busiest thread, which need not be the one that writes. So a reader that holds the window
//!   goes first.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::{Rule, reader};
use crate::words::percent;

pub const RULE: Rule = Rule { name: "busy-sender", needs: &[], find };

/// Share of time that the CPU works from which on work waits for it. Queues of work get long well below 1, and it rests in
/// recovery. Whatever stops the flow, cwnd included, then waits for the CPU as well.
const BUSY: f64 = 0.7;
/// Share from which on nothing else explains it.
const FULL: f64 = 0.9;

fn find(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.own.cpu.filter(|cpu| *cpu >= BUSY && !reader::stops(facts))?;
    let share = (facts.main.idle + facts.main.held).clamp(0.0, 1.0).max(cpu.min(1.0));
    let points = 0.7 + 0.3 * between(cpu, BUSY, FULL);
    Some(
        Verdict::new("cpu_sender", format!("The CPU of {}", facts.host), share, points)
            .because(format!("it works {} of the time", percent(cpu.min(1.0))))
            .remedy("Let the program write more at a time, or use a faster CPU, offloads, or larger packets"),
    )
}
