//! SEARCH against figures worked out by hand.
//!
//! With a first RTT of 100 ms a bin has 35 ms, a window ten bins. Each step below is an ACK just after the
//! end of a bin. Later RTTs of 105 ms are three whole bins.

use super::slow_start::{Algorithm, starting};
use super::*;
use fullpipe_sim::cc::INFINITE_SSTHRESH;

const FIRST_RTT: i32 = 100_000;
const BIN_US: u64 = 35_000;

struct Path {
    flow: Congestion,
    /// Packets sent so far.
    sent: u32,
}

impl Path {
    fn new(own: &[(&str, i64)]) -> Path {
        let mut flow = starting(
            Algorithm { name: "reno", parameters: &[] },
            "6.12",
            Algorithm { name: "search", parameters: own },
        );
        set_cwnd(&mut flow, 10_000);
        let mut path = Path { flow, sent: 0 };
        path.flow.sock_mut().now_us = 1_000_000;
        path.ack(0, FIRST_RTT);
        path.flow.sock_mut().now_us += 1;
        path
    }

    /// An ACK of so many packets.
    fn ack(&mut self, delivered: u32, rtt_us: i32) {
        let sock = self.flow.sock_mut();
        sock.delivered += delivered;
        sock.packets_out = self.sent.saturating_sub(sock.delivered);
        let sample = AckSample { pkts_acked: delivered as i32, rtt_us, in_flight: 0 };
        self.flow.pkts_acked(&sample);
    }

    /// A bin in which so many packets are sent and delivered; cwnd does not grow of itself.
    fn bin(&mut self, sent: u32, delivered: u32, rtt_us: i32) {
        self.flow.sock_mut().now_us += BIN_US;
        self.sent += sent;
        self.ack(delivered, rtt_us);
    }

    /// Whether slow start has been found long enough: cwnd has been set.
    fn found(&self) -> bool {
        self.flow.sock().snd_cwnd < 10_000 || self.flow.sock().snd_ssthresh < INFINITE_SSTHRESH
    }

    /// The bin (of 40) at which it is found, all alike.
    fn found_at(&mut self, sent: u32, delivered: u32, rtt_us: i32) -> Option<u32> {
        (1..=40).find(|_| {
            self.bin(sent, delivered, rtt_us);
            self.found()
        })
    }
}

/// Draining off, so that ssthresh shows the moment.
const STAYS: &[(&str, i64)] = &[("drain", 0)];

/// A window delivers 10 x 100 packets. 26 % less than what was sent an RTT before: than 1352. The first window
/// that ends an RTT ago, and the bin before it that interpolation needs, take 10 + 1 + 3 bins.
#[test]
fn slow_start_ends_when_a_window_delivers_less_than_was_sent() {
    let cases = [(100, None), (135, None), (136, Some(14)), (200, Some(14))];
    for (sent, at) in cases {
        let mut path = Path::new(STAYS);
        assert_eq!(path.found_at(sent, 100, 105_000), at, "{sent} sent per bin");
        if at.is_some() {
            assert_eq!(path.flow.sock().snd_ssthresh, 10_000);
        }
    }
    let later = Path::new(&[("drain", 0), ("thresh", 40)]).found_at(166, 100, 105_000);
    assert_eq!(later, None); // 39.8 %
    let later = Path::new(&[("drain", 0), ("thresh", 40)]).found_at(167, 100, 105_000);
    assert_eq!(later, Some(14)); // 40.1 %
}

/// Slow start continues while each window delivers the packets sent an RTT before, however fast the window grows.
#[test]
fn growth_that_arrives_is_no_end() {
    let mut path = Path::new(STAYS);
    let sent: Vec<u32> = (0..40u32).map(|bin| 100 + 50 * bin).collect();
    for bin in 0..40 {
        // Three bins are the RTT.
        path.bin(sent[bin], if bin < 3 { 100 } else { sent[bin - 3] }, 105_000);
    }
    assert!(!path.found());
}

/// An RTT of two and a half bins: the window then lies half a bin before that of two bins. In one bin, the twelfth, so
/// many packets are sent instead of 100. When the fourteenth bin is over, half of them are in the window: (1900 + n) /
/// 2 >= 1352 (26 % more than 1000, in whole packets). One bin later all of them are.
#[test]
fn windows_are_interpolated() {
    for (burst, at) in [(803, 15), (804, 14)] {
        let mut path = Path::new(STAYS);
        let found = (1..=20).find(|bin| {
            path.bin(if *bin == 12 { burst } else { 100 }, 100, 87_500);
            path.found()
        });
        assert_eq!(found, Some(at), "{burst}");
    }
}

/// An RTT of 15 bins is more than what is kept.
#[test]
fn a_very_long_rtt_is_not_judged() {
    assert_eq!(Path::new(STAYS).found_at(200, 100, 524_999), Some(10 + 1 + 14));
    assert_eq!(Path::new(STAYS).found_at(200, 100, 525_000), None);
}

/// Bins without an ACK repeat the last one; after more than a window of them it begins anew.
#[test]
fn a_pause_longer_than_a_window_begins_anew() {
    for (bins, at) in [(10, 4), (11, 15)] {
        let mut path = Path::new(STAYS);
        path.flow.sock_mut().now_us += (bins - 1) * BIN_US;
        path.bin(1000, 0, 105_000);
        assert_eq!(path.found_at(200, 100, 105_000), Some(at), "{bins} bins");
    }
}

/// The target is what three bins (100 ms, rounded up) last delivered: 300 packets. Until then cwnd is what is
/// in flight and a packet for three that arrive.
#[test]
fn the_queue_is_drained_to_what_an_rtt_delivers() {
    let mut path = Path::new(&[]);
    for _ in 0..14 {
        path.bin(136, 100, 105_000);
    }
    // 504 are in flight. It has been found, and cwnd no longer grows.
    path.flow.cong_avoid(0, 50);
    assert_eq!(path.flow.sock().snd_cwnd, 10_000);
    let mut ack = |delivered: u32, sent: u32| {
        path.sent += sent;
        path.ack(delivered, 105_000);
        (path.flow.sock().snd_cwnd, path.flow.sock().snd_ssthresh)
    };
    assert_eq!(ack(3, 0), (501 + 1, INFINITE_SSTHRESH));
    assert_eq!(ack(2, 1), (500, INFINITE_SSTHRESH));
    assert_eq!(ack(4, 0), (496 + 2, INFINITE_SSTHRESH));
    assert_eq!(ack(196, 2), (302 + 65, INFINITE_SSTHRESH));
    assert_eq!(ack(130, 65), (300, 300));
    // Slow start is over: congestion avoidance from there.
    path.flow.cong_avoid(0, 299);
    assert_eq!(path.flow.sock().snd_cwnd, 300);
    path.flow.cong_avoid(0, 1);
    assert_eq!(path.flow.sock().snd_cwnd, 301);
}

/// Not below the ten packets with which a connection begins.
#[test]
fn draining_goes_no_lower_than_the_first_window() {
    let mut path = Path::new(&[]);
    for _ in 0..15 {
        path.bin(200, 1, 105_000);
    }
    path.ack(2900, 105_000);
    assert_eq!(
        (path.flow.sock().snd_cwnd, path.flow.sock().snd_ssthresh),
        (85 + 967, INFINITE_SSTHRESH)
    );
    path.ack(80, 105_000);
    path.ack(5, 105_000);
    assert_eq!((path.flow.sock().snd_cwnd, path.flow.sock().snd_ssthresh), (10, 10));
}

/// Slow start is the kernel's after the first reduction.
#[test]
fn it_acts_until_the_first_reduction() {
    let mut path = Path::new(STAYS);
    path.flow.sock_mut().snd_ssthresh = 20_000;
    (0..30).for_each(|_| path.bin(200, 100, 105_000));
    assert_eq!(path.flow.sock().snd_ssthresh, 20_000);
    path.flow.cong_avoid(0, 44);
    assert_eq!(path.flow.sock().snd_cwnd, 10_044);
}
