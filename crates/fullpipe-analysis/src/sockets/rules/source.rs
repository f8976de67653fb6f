//! The sending program makes too little data.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::pasted::Column;
use crate::words::percent;

pub const RULE: Rule =
    Rule { name: "slow-source", needs: &[Column::InFlight, Column::Unsent], find };

/// Share of looks at which nothing waits to be sent though the windows have room.
const STARVES: f64 = 0.5;
/// Causes that look like a slow program where the other host answers.
const ANSWERED: [&str; 2] = ["app_window", "turns"];
/// Observation that parts these from a slow program.
const CALLS: &str = "the calls of the writer (`strace -f -r -e trace=read,write -p PID`): it writes when it has read an answer";
/// Share of looks with bytes from the other host from which on the program may wait for answers.
const OFTEN: f64 = 0.2;
/// Share of time that a CPU works below which it is not.
const FREE: f64 = 0.7;
/// Share of time that Linux itself charges to the send buffer from which on it, or a queue behind it, stops the program.
const BLOCKED: f64 = 0.3;

fn find(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.own.cpu.unwrap_or(0.0);
    let idle = facts.main.idle;
    // A writer that the buffer blocks has more to write, and so has one that always writes.
    if facts.pasted.always_writes || idle < STARVES || facts.main.sndbuf >= BLOCKED {
        return None;
    }
    let works = format!("the CPU of {} works {} of the time", facts.host, percent(cpu));
    let nothing = format!("nothing waits to be sent {} of the time", percent(idle));

    // Answers of the peer between writes point to a dialogue.
    let is_answered = facts.answered >= OFTEN;
    let is_free = cpu < FREE && facts.own.cpu.is_some();
    let points = 0.6 + if is_answered { 0.0 } else { 0.4 * between(idle, STARVES, 0.8) };
    let own = Verdict::new("app_write", "The sending program", idle, points)
        .because(nothing)
        .remedy("Let the program write more, or in larger pieces. A server that waits for requests needs a client that asks for more at a time");
    let own = if is_free { own.because(works) } else { own };

    const CPU: &str = "CPU of the thread that writes (`top -H`)";

    // Who waits and whether the CPU is free decide which causes look alike.
    Some(match (is_answered, is_free) {
        (false, true) => own,
        (false, false) => own.twins(&["cpu_sender"], CPU),
        (true, true) => own.twins(&ANSWERED, CALLS),
        (true, false) => {
            own.twins(&[&ANSWERED[..], &["cpu_sender"]].concat(), format!("{CALLS}, and {CPU}"))
        }
    })
}
