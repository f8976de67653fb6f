//! The receiver's window is too small a buffer: scaling off, a fixed buffer, or the maximum of autotuning.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::{Rule, reader, send_buffer};
use crate::words::{bytes, percent};

pub const RULE: Rule = Rule { name: "small-window", needs: &[], find };

/// Share of time in which the window stops the flow from which on it is the cause. A paced congestion control meets it
/// in half of the looks only.
pub const STOPS: f64 = 0.3;
/// Largest window without scaling, bytes.
const UNSCALED: f64 = 65_535.0;
/// Growth of a window over the connection's life from which on it was autotuned.
const GREW: f64 = 1.5;

/// Segments of an ACK from which on the receiver joins packets that wait: it may be slow, though its window stays.
const BUNCHED: f64 = 5.0;
/// Steps of the window's scale below which a window does not show unread data.
const COARSE: f64 = 9.0;
/// RTT over its least at which packets wait for such a receiver.
const WAITS: f64 = 1.2;
/// RTT over its least from which on a window does not hold the flow: half of it would carry as much. A queue does.
pub const QUEUE: f64 = 2.0;
/// RTT over its least from which on packets of a capture show a queue that stands: the link behind it always has work.
const STANDS: f64 = 1.2;
/// Bunches of ACKs up to which RTT shows no queue, but interrupts.
const BUNCHES: f64 = 3.0;

/// Share of the main part in which the window stops the flow.
pub fn stops(facts: &Facts) -> f64 {
    facts.main.rwnd.max(facts.main.window_full)
}

fn find(facts: &Facts) -> Option<Verdict> {
    let share = stops(facts);

    // A queue of the path fills windows, too. Packets measure RTT in each round trip, so a shorter one shows.
    let long = if facts.pasted.wire.is_some() { STANDS } else { QUEUE };
    let queue = facts.inflation() >= long && facts.queue() >= BUNCHES;
    if share < STOPS || queue || facts.main.recovery >= 0.25 || reader::reads_slowly(facts) {
        return None;
    }
    // Of two buffers of about one size the one that Linux charges is the smaller one.
    let own = &facts.main;
    if own.sndbuf >= send_buffer::STOPS && own.rwnd < own.sndbuf {
        return None;
    }

    // A receiver that joins packets, or a coarse scale, may hide a slow reader.
    let bunched = between(facts.acks.segments, BUNCHED, 2.0 * BUNCHED)
        * between(facts.inflation(), 1.0, WAITS);
    let scaled = facts.wscale && facts.window.largest < COARSE * facts.window_step;
    let unseen = bunched.max(f64::from(u8::from(scaled)));
    let points = 0.7 + 0.3 * between(share, STOPS, 0.6) - 0.25 * unseen;

    let window = bytes(facts.window.largest as u64);
    let named = |code| {
        Verdict::new(code, "The receive window", share, points)
            .because(format!("it is full {} of the time, at {window}", percent(share)))
    };

    // Without scaling the window ends below any buffer.
    if !facts.wscale && facts.window.largest <= UNSCALED {
        return Some(
            named("wscale_off")
                .because("window scaling was not agreed")
                .remedy("Set net.ipv4.tcp_window_scaling to 1 on both hosts"),
        );
    }
    let decide = "`ss -m` of the receiver: rb is constant where the program asked for it";

    // A window that has grown was tuned by the kernel.
    let grew = facts.window.largest >= GREW * facts.window.first;
    let (code, twin) = if grew { ("rwnd_auto", "rwnd_fixed") } else { ("rwnd_fixed", "rwnd_auto") };
    let raise = "Raise the maximum of net.ipv4.tcp_rmem of the receiver, and let its program ask for no SO_RCVBUF";
    Some(named(code).remedy(raise).twins(&[twin], decide))
}
