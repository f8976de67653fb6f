//! The receiving program, or its CPU, takes data slowly: the window shrinks.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::{Rule, window};
use crate::words::percent;

pub const RULE: Rule = Rule { name: "slow-reading", find };

/// Part of its largest size below which the window's median shows unread data. Linux does not shrink a window otherwise.
const SHRINKS: f64 = 0.9;
/// Part of the largest window below which its low end shows unread data.
const DIPS: f64 = 0.8;
/// Share of looks at which the window is another one than before. A buffer that is too small stays to the byte; each read of
/// unread data moves the window.
const MOVES: f64 = 0.3;

/// True where the window shrinks.
pub fn reads_slowly(facts: &Facts) -> bool {
    let window = &facts.window;
    window.median < SHRINKS * window.largest
        || window.low < DIPS * window.high
        || window.changes >= MOVES
}

fn find(facts: &Facts) -> Option<Verdict> {
    let share = window::stops(facts);
    let shrinks = share >= window::STOPS && facts.main.recovery < 0.25 && reads_slowly(facts);
    shrinks.then(|| {
        let part = facts.window.median / facts.window.largest.max(1.0);
        let points = 0.6 + 0.4 * between(part, SHRINKS, 0.6);
        Verdict::new("app_read", "The receiving program", share, points)
            .because(format!("the window stops the flow {} of the time", percent(share)))
            .because(format!("it shrinks to {} of its largest size", percent(part)))
            .remedy("Let the program read faster")
            .twins(&["cpu_receiver"], "CPU of the receiver, and Recv-Q in `ss -tm` there")
    })
}
