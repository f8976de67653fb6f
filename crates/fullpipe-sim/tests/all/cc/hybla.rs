//! TCP Hybla against figures worked out by hand from its paper: rho is the RTT over 25 ms.

use super::*;
use fullpipe_sim::cc::{OPEN, RECOVERY};

const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// A flow limited by its window, after a handshake of this RTT.
fn begun(parameters: &[(&str, i64)], kernel: &str, rtt_us: u32) -> Congestion {
    let parameters: Vec<_> = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
    let mut flow = Congestion::new("hybla", &parameters, kernel, 250, 1).expect("valid arguments");
    flow.sock_mut().jiffies = EPOCH;
    flow.sock_mut().is_cwnd_limited = 1;
    flow.sock_mut().srtt_us = rtt_us << 3;
    flow.init();
    flow
}

/// A flow in avoidance at `cwnd`, after a handshake of this RTT.
fn grown(parameters: &[(&str, i64)], kernel: &str, rtt_us: u32, cwnd: u32) -> Congestion {
    let mut flow = begun(parameters, kernel, rtt_us);
    flow.sock_mut().snd_ssthresh = 2;
    set_cwnd(&mut flow, cwnd);
    flow
}

/// rho packets, of at most 65,535.
#[test]
fn a_flow_begins_with_rho_packets() {
    let table = [(1000, 1), (25_000, 1), (49_999, 1), (50_000, 2), (100_000, 4), (600_000, 24)];
    for kernel in KERNELS {
        for (rtt_us, cwnd) in table {
            let flow = begun(&[], kernel, rtt_us);
            let sock = flow.sock();
            assert_eq!((sock.snd_cwnd, sock.snd_cwnd_clamp), (cwnd, 65_535), "{kernel}, {rtt_us}");
        }
    }
}

/// 2^rho - 1 packets per ACK, in eighths of rho: 2^1.5 = 2.83, 2^1.125 = 2.18.
#[test]
fn slow_start_adds_2_to_the_rho_less_one() {
    // RTT in us; packets that 128 ACKs of one packet add
    let table = [(25_000, 128), (50_000, 384), (100_000, 1920), (37_500, 234), (28_125, 150)];
    for kernel in KERNELS {
        for (rtt_us, packets) in table {
            let mut flow = begun(&[], kernel, rtt_us);
            set_cwnd(&mut flow, 100);
            (0..128).for_each(|_| flow.cong_avoid(0, 1));
            assert_eq!(flow.sock().snd_cwnd - 100, packets, "{kernel}, {rtt_us} us");

            // As the paper has it, to a digit of the 128ths.
            let rho = f64::from(rtt_us) / 25_000.0;
            let of_paper = 128.0 * (rho.exp2() - 1.0);
            assert!((f64::from(packets) - of_paper).abs() < 2.0, "{rtt_us} us: {of_paper}");
        }
    }
}

/// rho^2 / cwnd packets per ACK, in 128ths rounded down. Below one 128th it is a packet per window.
#[test]
fn avoidance_adds_rho_squared_over_cwnd() {
    // RTT in us, cwnd; ACKs until it has grown
    let table = [
        (25_000, 100, 128), // 1 / 128 packet per ACK; 100 of the paper
        (25_000, 128, 128),
        (25_000, 200, 200), // less than 1 / 128: Reno
        (100_000, 16, 1),
        (100_000, 160, 11),  // 12 / 128
        (100_000, 1000, 64), // 2 / 128; 62.5
        (100_000, 3000, 3000),
        (250_000, 1000, 11), // 12 / 128; 10
    ];
    for kernel in KERNELS {
        for (rtt_us, cwnd, acks) in table {
            let mut flow = grown(&[], kernel, rtt_us, cwnd);
            assert_eq!(acks_to_grow(&mut flow), acks, "{kernel}, {rtt_us} us at {cwnd}");
        }
    }
    let mut flow = grown(&[], "6.12", 100_000, 4);
    flow.cong_avoid(0, 1);
    assert_eq!(flow.sock().snd_cwnd, 8, "16 / 4 at once");
}

/// An ACK counts once, whatever it acknowledges.
#[test]
fn an_ack_counts_once() {
    let mut flow = grown(&[], "6.12", 100_000, 160);
    (0..10).for_each(|_| flow.cong_avoid(0, 50));
    assert_eq!(flow.sock().snd_cwnd, 160);
    flow.cong_avoid(0, 50);
    assert_eq!(flow.sock().snd_cwnd, 161);
}

#[test]
fn rtt0_is_the_rtt_to_be_as_fast_as() {
    for (rtt0, acks) in [(100, 128), (50, 32), (25, 8), (10, 2)] {
        let mut flow = grown(&[("rtt0", rtt0)], "6.12", 100_000, 128);
        assert_eq!(acks_to_grow(&mut flow), acks, "{rtt0} ms"); // 128 / rho^2, from 1.28 up
    }
}

/// Only a smoothed RTT below all former ones changes rho.
#[test]
fn rho_follows_the_least_rtt() {
    for (rtt_us, acks) in [(100_000, 8), (200_000, 8), (50_000, 32)] {
        let mut flow = grown(&[], "6.12", 100_000, 128);
        flow.sock_mut().srtt_us = rtt_us << 3;
        assert_eq!(acks_to_grow(&mut flow), acks, "{rtt_us} us");
    }
}

#[test]
fn slow_start_stops_at_ssthresh_and_at_the_clamp() {
    let mut flow = begun(&[], "6.12", 100_000);
    flow.sock_mut().snd_ssthresh = 10;
    flow.cong_avoid(0, 1);
    assert_eq!(flow.sock().snd_cwnd, 10, "4 + 15 are more");
    let mut flow = begun(&[], "6.12", 600_000);
    flow.cong_avoid(0, 1);
    assert_eq!(flow.sock().snd_cwnd, 65_535, "24 + 2^16 - 1");
}

/// Outside of Open it is Reno, and a loss takes half.
#[test]
fn losses_are_renos() {
    let mut flow = grown(&[], "6.12", 100_000, 1000);
    assert_eq!(flow.ssthresh(), 500);
    flow.set_state(RECOVERY);
    assert_eq!(acks_to_grow(&mut flow), 1000);
    flow.set_state(OPEN);
    set_cwnd(&mut flow, 1000);
    assert_eq!(acks_to_grow(&mut flow), 64);
}
