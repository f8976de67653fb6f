//! Compound TCP against figures worked out by hand from the paper.
//!
//! Windows are fourth powers, with whole 3/4 powers: 256 (64), 625 (125), 4096 (512), 10000 (1000).

use super::*;
use fullpipe_sim::cc::{LOSS, OPEN, RECOVERY};

const MSS: u32 = 1000;
const BASE_US: i32 = 100_000;

/// A sender that always has a window out.
struct Path {
    flow: Congestion,
}

impl Path {
    /// A path in avoidance at this window, after a first round trip that measured the path's RTT.
    fn new(parameters: &[(&str, i64)], cwnd: u32) -> Path {
        let mut path = Path { flow: avoiding("compound", parameters, "6.12", cwnd) };
        path.flow.sock_mut().mss_cache = MSS;
        path.send();
        path.flow.set_state(OPEN);
        path
    }

    fn send(&mut self) {
        let sock = self.flow.sock_mut();
        sock.snd_nxt = sock.snd_una.wrapping_add(sock.snd_cwnd * MSS);
    }

    /// All that is out is acknowledged, a packet each: cwnd after it.
    fn round(&mut self, rtt_us: i32) -> u32 {
        let window = self.flow.sock().snd_cwnd;
        (0..window).for_each(|_| self.ack(rtt_us));
        self.flow.sock().snd_cwnd
    }

    fn ack(&mut self, rtt_us: i32) {
        let sock = self.flow.sock_mut();
        sock.snd_una = sock.snd_una.wrapping_add(MSS);
        self.flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us, in_flight: 0 });
        self.flow.cong_avoid(0, 1);
        self.send();
    }

    /// A round and an ACK, which evaluates it.
    fn judged(&mut self, rtt_us: i32) -> u32 {
        self.round(rtt_us);
        self.ack(rtt_us);
        self.flow.sock().snd_cwnd
    }
}

/// A round trip of Reno makes 256 of 255. In the next one dwnd grows by 64 / 8 - 1 packets. Reno's window grows by not
/// quite one, because the window that contains it grows.
#[test]
fn the_second_window_grows_with_the_first_ones_power() {
    // cwnd, alpha; packets in the round trip
    let table = [
        (256, 128, 7),
        (625, 128, 14), // 15.6 - 1
        (4096, 128, 63),
        (10_000, 128, 124),
        (256, 256, 15),
        (256, 0, 1), // Reno's alone
        (256, 8, 1), // 0.5 - 1
    ];
    for (cwnd, alpha, grows) in table {
        let mut path = Path::new(&[("alpha", alpha)], cwnd - 1);
        assert_eq!(path.judged(BASE_US), cwnd, "{cwnd}: Reno's round trip");
        assert_eq!(path.judged(BASE_US) - cwnd, grows, "{cwnd}, alpha {alpha}");
    }
}

/// Below 38 packets Reno's window is alone.
#[test]
fn small_windows_are_renos() {
    for (cwnd, low_window, grows) in [(36, 38, 1), (255, 257, 1), (255, 256, 7)] {
        let mut path = Path::new(&[("low_window", low_window)], cwnd);
        let from = path.judged(BASE_US);
        assert_eq!(path.judged(BASE_US) - from, grows, "{cwnd}");
    }
}

/// Half of the window acknowledged: half of the growth.
#[test]
fn growth_is_spread_over_the_round_trip() {
    let mut path = Path::new(&[], 9999);
    assert_eq!(path.judged(BASE_US), 10_000);
    (0..5010).for_each(|_| path.ack(BASE_US));
    assert_eq!(path.flow.sock().snd_cwnd, 10_000 + 62);
}

/// dwnd grows with fewer than 30 packets in the queue; with 30 or more it shrinks by as many.
#[test]
fn packets_in_the_queue_make_it_give_way() {
    // RTT in us; packets in the queue of the 295 with which the round trip began
    for (rtt, queued) in [(110_000, 26), (111_000, 29), (112_000, 31), (113_000, 33)] {
        let mut path = Path::new(&[], 255);
        let window = (0..6).map(|_| path.judged(BASE_US)).last().expect("six round trips");
        // dwnd by 7.0 to 7.7 in five of them, Reno's by a packet in four, and in the first to 256.
        assert_eq!(window, 296);
        // While the round trip lasts dwnd grows by 71.4 / 8 - 1 = 7.9 packets, Reno's by one.
        let gives_way = if queued < 30 { 0 } else { queued };
        assert_eq!(path.judged(rtt), window + 9 - gives_way, "{rtt} us");
    }
}

/// A queue of a third of the window is more than dwnd. Reno's window remains, which has grown by a packet per round
/// trip.
#[test]
fn dwnd_gives_way_as_a_whole_at_most() {
    let mut path = Path::new(&[], 255);
    let grown = (0..6).map(|_| path.judged(BASE_US)).last().expect("six rounds");
    assert!(grown > 255 + 30, "{grown}");
    (0..2).for_each(|_| _ = path.judged(140_000));
    let left = path.flow.sock().snd_cwnd;
    assert!((258..=263).contains(&left), "{left}");
    assert_eq!(path.judged(140_000), left + 1);
}

/// Half of both windows, and what is left is half dwnd: it is given back whole where the loss was none.
#[test]
fn a_loss_halves_both_and_undo_restores_them() {
    for (beta, kept) in [(512, 500), (256, 750)] {
        let mut path = Path::new(&[("beta", beta)], 1000);
        path.judged(BASE_US);
        (0..5).for_each(|_| _ = path.round(BASE_US));
        set_cwnd(&mut path.flow, 1000);
        assert_eq!(path.flow.ssthresh(), kept, "beta {beta}");
        path.flow.set_state(RECOVERY);
        set_cwnd(&mut path.flow, kept);
        assert_eq!(path.flow.undo_cwnd(), 1000);
        set_cwnd(&mut path.flow, 1);
        assert_eq!(path.flow.ssthresh(), 2);
    }
}

/// A queue of 40 ms at the loss takes 285 packets of a window of 1000 (only Reno's): 1000 x 40 / 140. The value of
/// gamma moves a quarter of the way to 3/4 of them, and is limited to 30. After a queue of 1 % it falls: 30 x 3/4 + 9 x
/// 3/4 / 4 = 24.
#[test]
fn gamma_follows_what_reno_would_have_in_the_queue() {
    // RTT in us at the loss; the packets in the queue (of 1000) up to which the flow then grows
    for (rtt, gamma) in [(140_000, 30), (101_000, 24)] {
        for (queued, grows) in [(gamma - 1, true), (gamma + 1, false)] {
            let mut path = Path::new(&[], 1000);
            path.ack(BASE_US);
            path.judged(rtt);
            path.judged(rtt);
            path.flow.ssthresh();
            path.flow.set_state(RECOVERY);
            set_cwnd(&mut path.flow, 1000);
            path.send();
            path.flow.set_state(OPEN);
            let waits = BASE_US * queued / (1000 - queued);
            path.judged(BASE_US + waits);
            let from = path.flow.sock().snd_cwnd;
            path.round(BASE_US);
            let grown = path.flow.sock().snd_cwnd as i32 - from as i32;
            assert_eq!(grown > 2, grows, "gamma {gamma}, {queued} in the queue: {grown}");
        }
    }
}

/// A timeout leaves Reno's window alone, and takes the smoothed RTT for the path's.
#[test]
fn a_timeout_begins_anew() {
    let mut path = Path::new(&[], 1000);
    path.judged(BASE_US);
    (0..5).for_each(|_| _ = path.round(140_000));
    path.flow.ssthresh();
    path.flow.set_state(LOSS);
    set_cwnd(&mut path.flow, 256);
    path.send();
    path.flow.set_state(OPEN);
    path.flow.sock_mut().snd_ssthresh = 2;
    // 140 ms are now the path's RTT: no queue, and growth as at the start.
    path.judged(140_000);
    let from = path.flow.sock().snd_cwnd;
    assert_eq!(path.judged(140_000) - from, 7);
}
