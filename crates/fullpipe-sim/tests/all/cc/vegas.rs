//! TCP Vegas against figures worked out by hand from its rule, on a path of 100 ms.
//!
//! cwnd (RTT - 100) / 100 packets wait in the queue.

use super::*;
use fullpipe_sim::cc::{DISORDER, Event, OPEN};

const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// Samples of the path without a queue, and an RTT for the round trip. Linux counts a microsecond more than it measures.
fn rtt(flow: &mut Congestion, ms: i32, times: u32) {
    for _ in 0..times {
        flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: ms * 1000 - 1, in_flight: 0 });
    }
}

/// A flow at `cwnd` that knows the path, at the beginning of a round trip.
fn known(parameters: &[(&str, i64)], kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding("vegas", parameters, kernel, cwnd);
    rtt(&mut flow, 100, 1);
    flow.cong_avoid(1, 1);
    set_cwnd(&mut flow, cwnd);
    flow.sock_mut().snd_ssthresh = 2;
    flow
}

/// cwnd and ssthresh after a round trip of this RTT.
fn round(flow: &mut Congestion, ms: i32) -> (u32, u32) {
    rtt(flow, ms, 3);
    flow.cong_avoid(1, 1);
    (flow.sock().snd_cwnd, flow.sock().snd_ssthresh)
}

/// Less than two packets: one more; more than four: one less. ssthresh follows at three quarters, each part rounded down.
#[test]
fn two_to_four_packets_may_wait() {
    // RTT in ms; cwnd after a round trip at 100, ssthresh
    let table = [
        (100, 101, 75), // 50 + 25
        (101, 101, 75),
        (102, 100, 75),
        (104, 100, 75),
        (105, 99, 73), // 49 + 24
        (500, 99, 73),
    ];
    for kernel in KERNELS {
        for (ms, cwnd, ssthresh) in table {
            let mut flow = known(&[], kernel, 100);
            assert_eq!(round(&mut flow, ms), (cwnd, ssthresh), "{kernel}, {ms} ms");
        }
    }
}

/// The least RTT of the round trip counts.
#[test]
fn one_packet_without_a_queue_is_enough() {
    let mut flow = known(&[], "6.12", 100);
    rtt(&mut flow, 500, 20);
    assert_eq!(round(&mut flow, 100).0, 101);
}

#[test]
fn parameters_are_packets_in_the_queue() {
    let parameters = [("alpha", 10), ("beta", 20), ("gamma", 30)];
    for (ms, cwnd) in [(109, 101), (110, 100), (120, 100), (121, 99)] {
        let mut flow = known(&parameters, "6.12", 100);
        assert_eq!(round(&mut flow, ms).0, cwnd, "{ms} ms");
    }
    for (ms, cwnd) in [(130, 101), (131, 77)] {
        let mut flow = known(&parameters, "6.12", 100);
        flow.sock_mut().snd_ssthresh = 1000;
        assert_eq!(round(&mut flow, ms).0, cwnd, "{ms} ms: slow start; 100 x 100 / 131 + 1");
    }
}

/// More than one packet in the queue ends slow start at what the path holds, and one more.
#[test]
fn slow_start_ends_with_the_first_queue() {
    // RTT in ms; cwnd at 100, ssthresh
    let table = [
        (101, 101, 1000), // one packet: slow start goes on
        (102, 99, 99),    // 100 x 100 / 102 = 98
        (125, 81, 81),
        (200, 51, 51),
    ];
    for kernel in KERNELS {
        for (ms, cwnd, ssthresh) in table {
            let mut flow = known(&[], kernel, 100);
            flow.sock_mut().snd_ssthresh = 1000;
            assert_eq!(round(&mut flow, ms), (cwnd, ssthresh), "{kernel}, {ms} ms");
        }
    }
}

/// Within a round trip only slow start grows, whatever limits the flow.
#[test]
fn the_window_changes_once_per_round_trip() {
    let mut flow = known(&[], "6.12", 100);
    flow.sock_mut().is_cwnd_limited = 0;
    (0..1000).for_each(|_| flow.cong_avoid(0, 1));
    assert_eq!(flow.sock().snd_cwnd, 100);
    assert_eq!(round(&mut flow, 100).0, 101, "the application limits it");
    flow.sock_mut().snd_ssthresh = 110;
    flow.cong_avoid(0, 4);
    assert_eq!(flow.sock().snd_cwnd, 105);
}

/// Two samples may be of delayed ACKs: Reno counts their ACK.
#[test]
fn two_samples_are_too_few() {
    for (samples, cwnd, count) in [(2, 100, 7), (3, 99, 0)] {
        let mut flow = known(&[], "6.12", 100);
        rtt(&mut flow, 200, samples);
        flow.cong_avoid(1, 7);
        assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (cwnd, count));
    }
}

/// Nothing of the path is known after idle time: RTTs of 200 ms are those without a queue.
#[test]
fn idle_time_forgets_the_path() {
    for event in [Event::TxStart, Event::CwndRestart] {
        let mut flow = known(&[], "6.12", 100);
        flow.cwnd_event(event);
        assert_eq!(round(&mut flow, 200).0, 101, "{event:?}");
    }
    let mut flow = known(&[], "6.12", 100);
    flow.cwnd_event(Event::Loss);
    assert_eq!(round(&mut flow, 200).0, 99);
}

/// Outside of Open it is Reno. Samples taken there do not count afterwards.
#[test]
fn it_is_reno_while_losses_are_repaired() {
    let mut flow = known(&[], "6.12", 100);
    flow.set_state(DISORDER);
    assert_eq!(acks_to_grow(&mut flow), 100);
    rtt(&mut flow, 200, 3);
    flow.set_state(OPEN);
    set_cwnd(&mut flow, 100);
    flow.cong_avoid(1, 1);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (100, 1));
    assert_eq!(round(&mut flow, 200).0, 99, "the path is still known");
}

#[test]
fn the_window_keeps_two_packets() {
    let mut flow = known(&[("beta", 0)], "6.12", 2);
    assert_eq!(round(&mut flow, 300).0, 2);
    assert_eq!(flow.ssthresh(), 2);
    set_cwnd(&mut flow, 100);
    assert_eq!(flow.ssthresh(), 50, "a loss takes half");
}
