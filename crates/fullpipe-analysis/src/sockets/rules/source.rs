//! The sending program makes too little data.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::words::percent;

pub const RULE: Rule = Rule { name: "slow-source", find };

/// Share of looks at which nothing waits to be sent though the windows have room.
const STARVES: f64 = 0.5;
/// Causes that look the same where the other host answers: the program may wait for that.
const ANSWERED: [&str; 2] = ["app_window", "turns"];
/// Share of time that a CPU works below which it is not.
const FREE: f64 = 0.7;
/// Share of time that Linux itself charges to the send buffer from which on it, or a queue behind it, stops the program.
const BLOCKED: f64 = 0.3;

fn find(facts: &Facts) -> Option<Verdict> {
    let cpu = facts.own.cpu.unwrap_or(0.0);
    let idle = facts.main.idle;
    // A writer that the buffer blocks has more to write.
    if idle < STARVES || facts.main.sndbuf >= BLOCKED {
        return None;
    }
    let works = format!("the CPU of {} works {} of the time", facts.host, percent(cpu));
    let nothing = format!("nothing waits to be sent {} of the time", percent(idle));
    let is_answered = facts.received > 0;
    let points = 0.6 + if is_answered { 0.0 } else { 0.4 * between(idle, STARVES, 0.8) };
    let own = Verdict::new("app_write", "The sending program", idle, points)
        .because(nothing)
        .remedy("Let the program write more, or in larger pieces. A server that waits for requests needs a client that asks for more at a time");
    let is_free = cpu < FREE && facts.own.cpu.is_some();
    let mut twins = if is_answered { ANSWERED.to_vec() } else { Vec::new() };
    if !is_free {
        twins.push("cpu_sender");
    }
    let decide = match is_answered {
        true => {
            "the calls of the writer (`strace -f -r -e trace=read,write -p PID`): a read before each write is a wait for an answer"
        }
        false => "CPU of the thread that writes (`top -H`)",
    };
    let own = if is_free { own.because(works) } else { own };
    Some(if twins.is_empty() { own } else { own.twins(&twins, decide) })
}
