//! The flows of a random scenario.

use super::Frame;
use super::draw::{between, often, pick};
use fullpipe_sim::rng::Rng;
use std::fmt::Write;

/// Most bytes of a short flow.
const SHORT: f64 = 500_000.0;
/// Least of a fixed buffer, bytes.
const LEAST_BUFFER: f64 = 30_000.0;

/// What was drawn.
pub struct Flows {
    /// TOML.
    pub text: String,
    /// How many there are.
    pub count: u32,
    /// Up to how many bytes the kernels tune buffers, where that is not their default.
    pub tuned_up_to: Option<u64>,
}

/// One to eight flows; those after the first one begin in the first third of the run.
pub fn flows(rng: &mut Rng, frame: &Frame) -> Flows {
    let count = pick(rng, &[1, 1, 1, 1, 2, 2, 4, 8]);
    let fixed = often(rng, 0.5);
    let tuned_up_to = (!fixed && often(rng, 0.5)).then(|| between(rng, 1e6, 64e6) as u64);
    let mut text = String::new();
    for index in 0..count {
        let buffer = fixed.then(|| buffer(rng, frame, count));
        flow(&mut text, rng, frame, index, count, buffer);
    }
    Flows { text, count, tuned_up_to }
}

/// A share of what the path holds, and of twice that.
fn buffer(rng: &mut Rng, frame: &Frame, count: u32) -> u64 {
    let share = frame.room / f64::from(count) * between(rng, 0.3, 2.0);
    share.clamp(LEAST_BUFFER, 256e6) as u64
}

fn flow(
    text: &mut String,
    rng: &mut Rng,
    frame: &Frame,
    index: u32,
    count: u32,
    buffer: Option<u64>,
) {
    let congestion = pick(rng, &["reno", "cubic", "bic"]);
    let start = match index {
        0 => 0,
        _ => (frame.duration_ms as f64 * rng.unit() / 3.0) as u64 + 1,
    };
    let _ = write!(text, "\n[[flow]]\nname = \"flow{index}\"\ncongestion = \"{congestion}\"\n");
    let _ = writeln!(text, "start = \"{start}ms\"");
    match often(rng, 0.3) {
        true => drop(writeln!(text, "bytes = \"{}B\"", between(rng, 200.0, SHORT) as u64)),
        false => drop(writeln!(text, "duration = \"{}ms\"", frame.duration_ms - start)),
    }
    if let Some(bytes) = buffer {
        let _ = writeln!(text, "socket_buffer = \"{bytes}B\"");
    }
    if often(rng, 0.25) {
        application(text, rng, frame.rate / f64::from(count));
    }
}

/// An application that writes at a rate, below its share of the link or above it; with large writes it pauses between
/// them.
fn application(text: &mut String, rng: &mut Rng, share: f64) {
    let rate = between(rng, share * 0.02, share * 1.5).round();
    let write = pick(rng, &["4KiB", "64KiB", "256KiB"]);
    let _ =
        write!(text, "app = {{ kind = \"rate\", rate = \"{rate}bit\" }}\nwrite = \"{write}\"\n");
}
