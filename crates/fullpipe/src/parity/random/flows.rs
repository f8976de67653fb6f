//! The flows of a random scenario: their lengths, their sockets' buffers, and their applications.

use super::draw::{between, often, pick, rarely};
use super::frame::Frame;
use super::programs::Program;
use fullpipe_sim::rng::Rng;
use std::fmt::Write;

/// Most bytes of a short flow.
const SHORT: f64 = 500_000.0;
/// Least of a buffer that the application sets, bytes.
const LEAST_BUFFER: f64 = 20_000.0;
/// Least of a buffer that the application sets, full packets.
const LEAST_PACKETS: f64 = 8.0;

/// Flows that were drawn.
pub struct Flows {
    /// TOML.
    pub text: String,
    /// Names of the forward flows, at least one; of a loop that of its first connection.
    pub forward: Vec<String>,
    /// Up to how many bytes the kernels tune buffers, where that is not their default.
    pub tuned_up_to: Option<u64>,
}

/// Uncommon congestion controls, of 6.1 and later.
const UNCOMMON: [&str; 6] = ["illinois", "vegas", "veno", "yeah", "westwood", "hybla"];

/// Which buffers applications set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fixed {
    Neither,
    Both,
    Sndbuf,
    Rcvbuf,
}

/// One to eight flows. Those after the first one begin in the first third of the run, and may go backward where the
/// path has a link for it. The numbers of uncommon congestion controls have the stream `other` of their own, so that
/// flows of common ones stay as they are.
pub fn flows(rng: &mut Rng, other: &mut Rng, frame: &Frame) -> Flows {
    use Fixed::{Both, Neither, Rcvbuf, Sndbuf};

    // Values repeat in the lists to be drawn more often.
    let count = pick(rng, &[1, 1, 1, 1, 2, 2, 4, 8]).max(if frame.two_way { 2 } else { 1 });
    let fixed =
        pick(rng, &[Neither, Neither, Neither, Neither, Neither, Both, Both, Both, Sndbuf, Rcvbuf]);
    let tuned_up_to = (fixed == Neither && often(rng, 0.5)).then(|| between(rng, 1e6, 64e6) as u64);
    let (mut text, mut forward) = (String::new(), Vec::new());
    let mut answers = None;
    for index in 0..count {
        // The second flow goes backward where the path was drawn for both ways.
        let backward = frame.two_way && index > 0 && (index == 1 || often(rng, 0.5));
        let program = frame.program.as_ref().filter(|_| index == 0);
        if !backward {
            let copy = if program.is_some_and(Program::has_size) { "-1" } else { "" };
            forward.push(format!("flow{index}{copy}"));
        }

        // Later flows begin while the first one has grown, and have time left.
        let start = match index {
            0 => 0,
            _ => (frame.duration_ms as f64 * rng.unit() / 3.0) as u64 + 1,
        };

        // The order of draws is part of the seed: a new draw goes last.
        let common = pick(rng, &["reno", "cubic", "bic"]);
        let congestion = if rarely(other) { pick(other, &UNCOMMON) } else { common };
        head(&mut text, congestion, index, start, backward);
        if program.is_none_or(|program| !program.has_size()) {
            let lasts = program.is_some();
            length(&mut text, rng, frame.duration_ms - start, lasts);
        }
        buffers(&mut text, rng, frame, fixed, count);
        if let Some(program) = program {
            text += program.lines();
            answers = program.answers(congestion);
            continue;
        }
        let before = text.len();
        applications(&mut text, rng, frame.rate / f64::from(count));
        let own = text[before..].contains("write = ");
        if let Some(write) = frame.tunnel.and_then(|tunnel| tunnel.write).filter(|_| !own) {
            let _ = writeln!(text, "write = \"{write}B\"");
        }
    }
    text.extend(answers);
    Flows { text, forward, tuned_up_to }
}

fn head(text: &mut String, congestion: &str, index: u32, start_ms: u64, backward: bool) {
    let _ = write!(text, "\n[[flow]]\nname = \"flow{index}\"\ncongestion = \"{congestion}\"\n");
    if backward {
        *text += "direction = \"backward\"\n";
    }
    let _ = writeln!(text, "start = \"{start_ms}ms\"");
}

/// A short flow, or one that lasts until the run ends, as a flow with a program does.
fn length(text: &mut String, rng: &mut Rng, left_ms: u64, lasts: bool) {
    let _ = match often(rng, 0.3) && !lasts {
        true => writeln!(text, "bytes = \"{}B\"", between(rng, 200.0, SHORT) as u64),
        false => writeln!(text, "duration = \"{left_ms}ms\""),
    };
}

/// 0.1 to 6 of a flow's share of the bandwidth-delay product.
fn buffers(text: &mut String, rng: &mut Rng, frame: &Frame, fixed: Fixed, count: u32) {
    let key = match fixed {
        Fixed::Neither => return,
        Fixed::Both => "socket_buffer",
        Fixed::Sndbuf => "sndbuf",
        Fixed::Rcvbuf => "rcvbuf",
    };
    let least = LEAST_BUFFER.max(LEAST_PACKETS * f64::from(frame.mtu));
    let bytes = frame.bdp() / f64::from(count) * between(rng, 0.1, 6.0);
    let _ = writeln!(text, "{key} = \"{}B\"", bytes.clamp(least, 256e6) as u64);
}

/// Uncommon applications: one that writes at a rate, below its share of the link or above it; one that writes little at
/// a time; one that reads slowly. `share` is in bits per second.
fn applications(text: &mut String, rng: &mut Rng, share: f64) {
    if often(rng, 0.15) {
        // From a trickle to more than the share.
        let rate = between(rng, share * 0.02, share * 1.5).round();
        let write = pick(rng, &[300, 1_448, 4_096, 65_536, 262_144]);
        let _ = write!(
            text,
            "app = {{ kind = \"rate\", rate = \"{rate}bit\" }}\nwrite = \"{write}B\"\n"
        );
    } else if rarely(rng) {
        let write = pick(rng, &[200, 1_000, 1_448, 2_000, 4_096, 10_000, 300_000]);
        let _ = writeln!(text, "write = \"{write}B\"");
    }
    if rarely(rng) {
        let rate = between(rng, share * 0.1, share).round();
        let read = pick(rng, &[1_000, 4_096, 16_384, 65_536, 1_000_000]);
        let _ = writeln!(text, "reader = {{ rate = \"{rate}bit\", read = \"{read}B\" }}");
    }
}
