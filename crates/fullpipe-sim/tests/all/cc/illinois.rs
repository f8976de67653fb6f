//! TCP-Illinois against the curves of its paper, in Linux's fractions.
//!
//! With the least RTT at 100 ms and the greatest at 200 ms, delays go from 0 to 100 ms. Growth is 10 packets per round trip up to
//! a delay of 1 ms, and 0.3 at 100 ms. A loss takes an eighth up to 10 ms, and half from 80 ms on.

use super::*;
use fullpipe_sim::cc::{LOSS, OPEN, RECOVERY};

const KERNELS: [&str; 2] = ["6.1", "6.12"];

fn rtt(flow: &mut Congestion, ms: i32, times: u32) {
    for _ in 0..times {
        flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: ms * 1000, in_flight: 0 });
    }
}

/// Ends a round trip with an ACK that does not grow the window.
fn end_round(flow: &mut Congestion) {
    flow.sock_mut().is_cwnd_limited = 0;
    flow.cong_avoid(1, 1);
    flow.sock_mut().is_cwnd_limited = 1;
}

/// A flow at `cwnd` that has seen the least and the greatest delay. Their mean was low, at 0.5 ms.
fn seen(parameters: &[(&str, i64)], kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding("illinois", parameters, kernel, cwnd);
    rtt(&mut flow, 100, 199);
    rtt(&mut flow, 200, 1);
    end_round(&mut flow);
    flow
}

/// A flow at `cwnd` after a round trip of this mean delay.
fn delayed(kernel: &str, cwnd: u32, delay_ms: i32) -> Congestion {
    let mut flow = seen(&[], kernel, cwnd);
    rtt(&mut flow, 100 + delay_ms, 1);
    end_round(&mut flow);
    flow
}

/// Linux's least growth is 38 / 128 packet. So growth at a delay of d ms is 1280 x 99 / (99 + 1242 (d - 1) / 38) of 1/128
/// packet, rounded down. A window of 1000 grows after 128,000 / growth ACKs.
#[test]
fn growth_falls_with_the_mean_delay() {
    // delay in ms; growth in 1/128 packet, ACKs; ACKs of the paper's curve
    let table = [
        (0, 1280, 100, 100.0),
        (1, 1280, 100, 100.0),
        (10, 322, 398, 393.9),
        (50, 74, 1730, 1700.3),
        (100, 38, 3369, 3333.3),
    ];
    for kernel in KERNELS {
        for (delay, growth, acks, paper) in table {
            let mut flow = delayed(kernel, 1000, delay);
            assert_eq!(acks_to_grow(&mut flow), acks, "{kernel}, {delay} ms: {growth}");
            assert!((0.97..1.03).contains(&(f64::from(acks) / paper)), "{delay} ms: {paper}");
        }
    }
}

/// The share is (24 d + 320) / 70 of 1/64 at d ms, rounded down: 20 at 45 ms, 31 at 79 ms.
#[test]
fn a_loss_takes_more_with_the_mean_delay() {
    // delay in ms; kept of 1024
    let table = [(0, 896), (10, 896), (45, 704), (79, 528), (80, 512), (100, 512)];
    for kernel in KERNELS {
        for (delay, kept) in table {
            assert_eq!(delayed(kernel, 1024, delay).ssthresh(), kept, "{kernel}, {delay} ms");
        }
    }
}

/// The first round trip grows by ten, and a loss in it takes half.
#[test]
fn a_flow_begins_with_the_largest_growth() {
    let mut flow = avoiding("illinois", &[], "6.12", 1000);
    assert_eq!(flow.ssthresh(), 500);
    acked(&mut flow, 1, 1);
    assert_eq!(acks_to_grow(&mut flow), 100);
}

/// After a higher delay the fifth round trip of a low one brings the largest growth back.
#[test]
fn low_delays_count_only_after_theta_round_trips() {
    for (theta, rounds) in [(5, 5), (1, 1), (0, 1)] {
        let mut flow = seen(&[("theta", theta)], "6.12", 1000);
        rtt(&mut flow, 150, 1);
        end_round(&mut flow);
        for round in 1..=rounds {
            assert_eq!(acks_to_grow(&mut flow), 1730, "{theta}, before round {round}");
            set_cwnd(&mut flow, 1000);
            rtt(&mut flow, 100, 1);
            end_round(&mut flow);
        }
        assert_eq!(acks_to_grow(&mut flow), 100, "{theta}");
    }
}

#[test]
fn small_windows_are_renos() {
    // 10 packets per round trip at 15: 2 ACKs; a loss takes 8 / 64 of 15 there, which is 1.
    for (threshold, cwnd, acks, kept) in [(15, 14, 14, 7), (15, 15, 2, 14), (100, 99, 99, 50)] {
        let mut flow = seen(&[("win_thresh", threshold)], "6.12", cwnd);
        assert_eq!(flow.ssthresh(), kept, "{cwnd}");
        assert_eq!(acks_to_grow(&mut flow), acks, "{cwnd}");
    }
}

/// A timeout makes it Reno until the next round trip has been measured; a fast recovery does not.
#[test]
fn a_timeout_forgets_the_delays() {
    for (state, acks, kept) in [(RECOVERY, 100, 875), (LOSS, 1000, 500)] {
        let mut flow = delayed("6.12", 1000, 0);
        flow.set_state(state);
        flow.set_state(OPEN);
        assert_eq!(flow.ssthresh(), kept);
        assert_eq!(acks_to_grow(&mut flow), acks);
    }
}

/// Packets of a callback count once. ACKs without a callback count for one packet.
#[test]
fn an_ack_counts_for_the_packets_of_its_callback() {
    let mut flow = avoiding("illinois", &[], "6.12", 1000);
    acked(&mut flow, 50, 1);
    flow.cong_avoid(0, 50);
    flow.cong_avoid(0, 50);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (1000, 51));
    acked(&mut flow, 50, 1);
    flow.cong_avoid(0, 50);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (1001, 0), "10 x 101 > 1000");

    // 10 x 60 / 100 packets at once, and what slow start leaves over is lost.
    set_cwnd(&mut flow, 100);
    acked(&mut flow, 60, 1);
    flow.cong_avoid(0, 60);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (106, 0));
    flow.sock_mut().snd_ssthresh = 10;
    set_cwnd(&mut flow, 8);
    flow.cong_avoid(0, 5);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (10, 0));
}

#[test]
fn kernels_that_nobody_compared_are_refused() {
    for kernel in ["3.14", "5.9", "6.18"] {
        let error = Congestion::new("illinois", &[], kernel, 250, 1).err().expect("an error");
        let known = format!("illinois does not know kernel \"{kernel}\"; known: 6.1.0 to 6.12");
        assert_eq!(error.to_string(), known);
    }
}
