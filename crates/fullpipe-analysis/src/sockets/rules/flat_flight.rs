//! As much is in flight in each round trip, or each burst empties the socket, though no window holds the flow: the sending
//! host does.
//!
//! A congestion control adds packets in each round trip until something stops it (RFC 5681, 3.1). Where neither a loss
//! nor the receiver's window does, the program, its buffer, a pace or the card stops it.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::{Rule, window};
use crate::numbers::share;
use crate::pasted::Column;

pub const RULE: Rule = Rule { name: "flat-flight", needs: &[Column::Rtt, Column::InFlight], find };

/// Spread of the packets in flight below which they are as many in each round trip.
const EVEN: f64 = 0.06;
/// Growth of the packets in flight below which no congestion control adds any.
const GROWS: f64 = 1.02;
/// Growth from which on a congestion control adds packets, where bursts make single round trips uneven.
const ADDS: f64 = 1.05;
/// Round trips from which on these two mean something: reno adds 2 % to 50 packets in one.
const LEAST: usize = 5;
/// RTT over its least from which on a queue holds the flow.
const QUEUE: f64 = 1.2;
/// Share of bursts behind an ACK from which on the buffer holds the flow: an ACK frees it, and wakes the writer.
const CLOCKED: f64 = 0.45;
/// Share of pauses before which the socket was empty, from which on the program holds the flow. Calibrated: 0.32 or more with
/// `iperf3 -b` on Linux, 0.02 or less with a small send buffer there.
const WRITTEN: f64 = 0.3;
/// Part of the most packets in flight to which they fall where a buffer is filled again: Linux wakes the writer when a third
/// is free.
const DIPS: f64 = 0.7;
/// Part below which the sender rests between its bursts: a buffer that is filled again never runs that empty.
pub const RESTS: f64 = 0.25;
/// Packets in flight from which on a fall is no single packet.
const MANY: f64 = 8.0;

/// Share of packets below a full segment from which on a socket runs empty: a program that always has more to write fills
/// every segment.
const EMPTIES: f64 = 0.01;
/// Observation that separates the causes.
const SOCKET: &str =
    "`ss -tinm` of the sender while it sends: notsent, sndbuf_limited, skmem, pacing_rate";

/// Remedy of a send buffer whose size nothing shows.
const LARGER_BUFFER: &str = "Raise the maximum of net.ipv4.tcp_wmem of the sender, and let its program ask for no SO_SNDBUF";
/// Remedy of a program that writes little.
const MORE_DATA: &str = "Let the program write more, or in larger pieces";

/// Most points where the window is not known: it may as well be the cause.
const UNKNOWN: f64 = 0.25;

fn find(facts: &Facts) -> Option<Verdict> {
    let found = named(facts)?;
    if facts.pasted.wire.is_some_and(|own| own.knows_windows) {
        return Some(found);
    }
    let twins = [&["rwnd_auto", "rwnd_fixed"], &found.twins[..]].concat();
    Some(found.twins(&twins, SOCKET))
}

/// The verdict, with those twins that do not depend on the window.
fn named(facts: &Facts) -> Option<Verdict> {
    let wire = facts.pasted.wire?;
    let dips = wire.flight_dips < DIPS && facts.cwnd.median >= MANY;
    let (even, grows) = if dips { (2.0 * EVEN, ADDS) } else { (EVEN, GROWS) };
    let is_even = wire.flight_spread < even && wire.flight_growth < grows;

    // What a window or a buffer holds back would fill the last segment.
    let written = wire.emptied.filter(|own| dips && *own >= WRITTEN);
    let is_flat = (is_even || written.is_some()) && wire.rounds >= LEAST;

    // A queue that a burst makes and that drains in each round trip holds nothing.
    let has_queue = facts.inflation() >= QUEUE && !dips;
    if !is_flat || has_queue || window::stops(facts) >= window::STOPS {
        return None;
    }
    if facts.loss.main_retransmitted > 0 {
        return None;
    }
    let found = |code, who: &str, points: f64| {
        let held = match wire.knows_windows {
            true => "neither a window nor a loss holds it",
            false => "no loss holds it; windows are not known",
        };
        let points = if wire.knows_windows { points } else { points.min(UNKNOWN) };
        let own = Verdict::new(code, who, 1.0 - window::stops(facts), points);
        match is_even {
            true => own.because(format!(
                "as much is in flight in each of {} round trips, and {held}",
                wire.rounds
            )),
            false => own.because(held),
        }
    };
    let certain = between(wire.flight_spread, even, even / 3.0);
    let buffer = |points| found("sndbuf", "The send buffer", points).remedy(LARGER_BUFFER);
    let program = |points| found("app_write", "The sending program", points).remedy(MORE_DATA);
    let [fall, partial] = [wire.flight_dips, wire.partial].map(share);
    if let Some(written) = written {
        let why = "of its bursts end within a segment: the program had no more data";
        let own = program(0.6 + 0.2 * certain).because(format!("{} {why}", share(written)));
        return Some(own.twins(&["turns", "sndbuf"], SOCKET));
    }
    Some(match wire.clocked.filter(|own| *own >= CLOCKED) {
        _ if dips && wire.flight_dips < RESTS => program(0.5 + 0.2 * certain)
            .because(format!("it sends in bursts: in the median round trip packets in flight fall to {fall} of their most"))
            .twins(&["cpu_sender", "turns"], SOCKET),
        _ if dips => buffer(0.6 + 0.2 * certain)
            .because(format!("in the median round trip packets in flight fall to {fall} of their most, and are filled up again"))
            .twins(&["tx_ring", "app_write"], SOCKET),
        Some(clocked) => buffer(0.45)
            .because(format!("{} of the bursts begin right behind an ACK", share(clocked)))
            .twins(&["tx_ring", "nic"], SOCKET),
        None if wire.partial >= EMPTIES => program(0.5 + 0.15 * certain)
            .because(format!("{partial} of the packets are below a full segment: the socket runs empty"))
            .twins(&["cpu_sender", "pacing"], SOCKET),
        None => found("pacing", "A pace, or the card of the sender,", 0.45 + 0.1 * certain)
            .because("every packet is a full segment: the socket does not run empty")
            .remedy("Look at the sender for a pace (pacing_rate in `ss -tin`, fq maxrate, tc), and at the speed of its card (ethtool)")
            .twins(&["nic", "tx_ring", "cpu_sender"], SOCKET),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pasted::{Pasted, Wire};
    use crate::sockets::facts::{Cwnd, Losses, Shares};

    /// A flow with as much in flight in each of 100 round trips, without a queue.
    fn flat(wire: Wire) -> Facts {
        let wire = Wire {
            flight_growth: 1.0,
            rounds: 100,
            flight_dips: 0.95,
            knows_windows: true,
            ..wire
        };
        Facts {
            pasted: Pasted { wire: Some(wire), ..Pasted::default() },
            cwnd: Cwnd { median: 60.0, in_flight: 60.0, ..Cwnd::default() },
            min_rtt_us: 20_000.0,
            rtt_us: 20_500.0,
            ..Facts::default()
        }
    }

    fn with(change: impl Fn(&mut Wire)) -> Facts {
        let mut facts = flat(Wire::default());
        facts.pasted.wire.iter_mut().for_each(&change);
        facts
    }

    fn code(facts: &Facts) -> Option<&'static str> {
        find(facts).map(|own| own.code)
    }

    #[test]
    fn the_shape_of_flights_and_segments_names_who_stops() {
        let dips = with(|own| own.flight_dips = 0.42);
        assert_eq!(code(&dips), Some("sndbuf"));
        assert_eq!(code(&with(|own| own.flight_dips = 0.1)), Some("app_write"));
        assert_eq!(code(&with(|own| own.clocked = Some(0.8))), Some("sndbuf"));
        assert_eq!(code(&with(|own| own.partial = 0.03)), Some("app_write"));
        assert_eq!(code(&with(|own| own.clocked = Some(0.1))), Some("pacing"));

        // Uneven bursts that empty the socket are the program's; those that end in full segments say nothing.
        let bursts = |emptied| {
            move |own: &mut Wire| {
                (own.flight_dips, own.flight_spread, own.emptied) = (0.42, 0.3, Some(emptied));
            }
        };
        assert_eq!(code(&with(bursts(0.9))), Some("app_write"));
        assert_eq!(code(&with(bursts(0.1))), None);

        // A burst makes a queue that drains; a queue that stands is the path's.
        let queue = |facts: Facts| Facts { rtt_us: 30_000.0, ..facts };
        assert_eq!(code(&queue(dips)), Some("sndbuf"));
        assert_eq!(code(&queue(with(|_| {}))), None);
    }

    #[test]
    fn flights_that_grow_vary_or_are_held_stay_quiet() {
        assert_eq!(code(&with(|own| own.flight_growth = 1.05)), None);
        assert_eq!(code(&with(|own| own.flight_spread = 0.1)), None);
        assert_eq!(code(&with(|own| own.rounds = 4)), None);
        let main = Shares { rwnd: 0.5, ..Shares::default() };
        assert_eq!(code(&Facts { main, ..with(|_| {}) }), None);
        let loss = Losses { main_retransmitted: 3, ..Losses::default() };
        assert_eq!(code(&Facts { loss, ..with(|_| {}) }), None);
        assert_eq!(code(&Facts { pasted: Pasted::default(), ..with(|_| {}) }), None);
    }

    #[test]
    fn an_unknown_window_may_be_the_cause() {
        let own = find(&with(|own| own.knows_windows = false)).expect("a verdict");
        assert!(own.points <= UNKNOWN && own.twins.contains(&"rwnd_auto"), "{own:?}");
    }

    #[test]
    fn few_packets_that_fall_by_one_are_no_dip() {
        let mut own = with(|own| own.flight_dips = 0.5);
        own.cwnd.median = 2.0;
        assert_ne!(code(&own), Some("sndbuf"));
    }
}
