//! The receiving program, or its CPU, takes data slowly: the window shrinks.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::{Rule, window};
use crate::pasted::Column;
use crate::words::percent;

pub const RULE: Rule =
    Rule { name: "slow-reading", needs: &[Column::Window, Column::InFlight], find };

/// Share of looks at which the window is clearly smaller than once before, from which on data stays unread. Out of
/// recovery and without memory pressure only unread data makes a window smaller: its right edge stays (RFC 9293,
/// 3.8.6).
pub const SHRUNK: f64 = 0.1;
/// Share of looks from which on that is no single stall of the reader.
const OFTEN: f64 = 0.5;
/// Share of looks at which the window is another one than before. A buffer that is too small stays; each read of unread data
/// moves the window.
const MOVES: f64 = 0.3;
/// Part of the largest window above which its low end shows rounding, and the memory of an odd skb.
const ROUNDED: f64 = 0.98;
/// Steps of the window's scale within which rounding moves it.
const STEPS: f64 = 2.0;

/// True where the window closes, shrinks, or moves by more than rounding.
pub fn reads_slowly(facts: &Facts) -> bool {
    let window = &facts.window;
    let spans = window.high - window.low > STEPS * facts.window_step;
    let moves = window.changes >= MOVES && window.low < ROUNDED * window.high && spans;
    window.shrunk >= SHRUNK || window.low <= 0.0 || moves
}

/// True where a window with unread data behind it stops the flow.
pub fn stops(facts: &Facts) -> bool {
    window::stops(facts) >= window::STOPS && facts.main.recovery < 0.25 && reads_slowly(facts)
}

fn find(facts: &Facts) -> Option<Verdict> {
    let share = window::stops(facts);

    stops(facts).then(|| {
        let shrunk = facts.window.shrunk;
        let points = 0.6 + 0.4 * between(shrunk, 0.0, OFTEN);
        Verdict::new("app_read", "The receiving program", share, points)
            .because(format!("the window stops the flow {} of the time", percent(share)))
            .because(format!("it is smaller than before {} of the time", percent(shrunk)))
            .remedy("Let the program read faster")
            .twins(&["cpu_receiver"], "CPU of the receiver, and Recv-Q in `ss -tm` there")
    })
}
