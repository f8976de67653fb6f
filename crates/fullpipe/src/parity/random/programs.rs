//! The program of a random scenario's first flow: uncommonly it asks in requests, has a window of its own, sends messages that are
//! answered, or opens one connection after another.

use super::draw::{between, often, pick};
use fullpipe_sim::rng::Rng;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Probability of a program.
const PROGRAMS: f64 = 0.2;
/// Bytes of a message or a request: least and most.
const SIZES: RangeInclusive<f64> = 200.0..=300_000.0;
/// Bytes of a connection of a loop: least and most.
const FILES: RangeInclusive<f64> = 2_000.0..=1_000_000.0;
/// Writes of a message at most.
const MOST_WRITES: f64 = 40.0;
/// Socket options of programs that send messages; half of them set none.
const OPTIONS: [&str; 6] = ["", "", "", "TCP_NODELAY = 1", "TCP_NODELAY = 1", "TCP_CORK = 1"];

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Lines of the flow's section.
    Alone(String),
    /// Lines of the flow's section, and those of the flow that answers it.
    Answered([String; 2]),
}

/// Connections one after another: they have a size of their own.
const LOOP: &str = "again = ";

impl Program {
    /// A program for scenario `number`. Its numbers have a stream of their own, so that scenarios without a program stay as
    /// they are.
    pub fn draw(seed: u64, number: u64) -> Option<Program> {
        let mut rng = Rng::new(seed, &format!("parity program {number}"));
        if !often(&mut rng, PROGRAMS) {
            return None;
        }
        let draw = pick(&mut rng, &[requests, window, loops, messages, messages, messages]);
        Some(draw(&mut rng))
    }

    /// Whether the peer's program sends something back, which needs a link there.
    pub fn goes_back(&self) -> bool {
        !self.has_size()
    }

    /// Lines of the flow's own section.
    pub fn lines(&self) -> &str {
        match self {
            Program::Alone(lines) | Program::Answered([lines, _]) => lines,
        }
    }

    /// Whether the flow's section has its size.
    pub fn has_size(&self) -> bool {
        self.lines().contains(LOOP)
    }

    /// Section of the flow that answers `flow0`.
    pub fn answers(&self, congestion: &str) -> Option<String> {
        let Program::Answered([_, lines]) = self else { return None };
        Some(format!(
            "\n[[flow]]\nname = \"answers\"\nreply_to = \"flow0\"\ncongestion = \"{congestion}\"\n{lines}"
        ))
    }
}

/// Requests in flight.
fn requests(rng: &mut Rng) -> Program {
    let count = pick(rng, &[1, 2, 4, 8, 16, 64]);
    let size = whole(rng, &SIZES);
    Program::Alone(format!("app = {{ requests = {count}, size = \"{size}B\" }}\n"))
}

/// A window of the program's own.
fn window(rng: &mut Rng) -> Program {
    let window = between(rng, 2e4, 4e6) as u64;
    Program::Alone(format!("app = {{ window = \"{window}B\" }}\n"))
}

/// One connection after another, with a pause at times.
fn loops(rng: &mut Rng) -> Program {
    let (bytes, count) = (whole(rng, &FILES), pick(rng, &[2, 3, 5, 8]));
    let pause = match often(rng, 0.3) {
        true => format!(", pause = \"{}ms\"", between(rng, 1.0, 300.0) as u64),
        false => String::new(),
    };
    Program::Alone(format!("bytes = \"{bytes}B\"\n{LOOP}{{ count = {count}{pause} }}\n"))
}

/// Messages, and answers to them.
fn messages(rng: &mut Rng) -> Program {
    let mut paced = String::new();
    if often(rng, 0.5) {
        let _ = write!(paced, ", period = \"{}ms\"", between(rng, 5.0, 400.0) as u64);
    }
    if often(rng, 0.5) {
        let _ = write!(paced, ", in_flight = {}", pick(rng, &[2, 4, 8]));
    }
    Program::Answered([message(rng, &paced), message(rng, "")])
}

/// Lines of a flow of messages. `paced`: period and number of messages in flight.
fn message(rng: &mut Rng, paced: &str) -> String {
    let size = whole(rng, &SIZES);
    let parts = between(rng, 1.0, MOST_WRITES).min(size as f64);
    let write = (size as f64 / parts).ceil() as u64;
    let cork = if often(rng, 0.2) { ", cork = true" } else { "" };
    let mut text = format!(
        "app = {{ kind = \"messages\", size = \"{size}B\"{paced}{cork} }}\nwrite = \"{write}B\"\n"
    );

    let option = pick(rng, &OPTIONS);
    if !option.is_empty() {
        let _ = writeln!(text, "sockopt = {{ {option} }}");
    }
    if often(rng, 0.15) {
        text += "quickack = \"each-read\"\n";
    }
    text
}

/// A whole number of bytes.
fn whole(rng: &mut Rng, bytes: &RangeInclusive<f64>) -> u64 {
    between(rng, *bytes.start(), *bytes.end()) as u64
}
