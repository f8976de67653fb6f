//! YeAH-TCP against figures worked out by hand from its rule, on a path of 100 ms.
//!
//! cwnd (RTT - 100) / RTT packets wait in the queue: more than 80 are too many, and so is a delay of more than 12.5 ms.

use super::*;
use fullpipe_sim::cc::Event;

const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// Linux counts a microsecond more than it measures.
fn rtt(flow: &mut Congestion, us: i32, times: u32) {
    for _ in 0..times {
        flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: us - 1, in_flight: 0 });
    }
}

/// A flow at `cwnd` that knows the path.
fn known(kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding("yeah", &[], kernel, cwnd);
    rtt(&mut flow, 100_000, 1);
    flow.cong_avoid(1, 1);
    set_cwnd(&mut flow, cwnd);
    flow
}

/// cwnd after a round trip at `cwnd`.
fn round(flow: &mut Congestion, cwnd: u32, rtt_us: i32) -> u32 {
    set_cwnd(flow, cwnd);
    rtt(flow, rtt_us, 3);
    flow.cong_avoid(1, 1);
    flow.sock().snd_cwnd
}

/// A packet per 100 packets while the queue is short, per window while it is long.
#[test]
fn growth_is_scalable_or_renos() {
    // cwnd, RTT in us; cwnd after the round trip, packets until it grows
    let table = [
        (1000, 100_000, 1000, 100),
        (1000, 108_500, 1000, 100), // 78 packets
        (1000, 109_000, 918, 918),  // 82 packets leave
        (100, 112_500, 100, 100),
        (100, 113_000, 100, 100), // 13 ms, 11 packets: Reno
        (300, 112_500, 300, 100), // 33 packets
        (300, 113_000, 300, 300),
        (50, 100_000, 50, 50),
    ];
    for kernel in KERNELS {
        for (cwnd, rtt_us, after, acks) in table {
            let mut flow = known(kernel, cwnd);
            assert_eq!(round(&mut flow, cwnd, rtt_us), after, "{kernel}, {cwnd} at {rtt_us} us");
            set_cwnd(&mut flow, after);
            assert_eq!(acks_to_grow(&mut flow), acks, "{kernel}, {cwnd} at {rtt_us} us");
        }
    }
}

/// All that waits leaves, half of cwnd at most, and ssthresh goes with it.
#[test]
fn too_long_a_queue_leaves_at_once() {
    // cwnd, RTT in us; cwnd after it
    let table = [(2000, 125_000, 1600), (1000, 300_000, 500), (300, 137_000, 219)];
    for (cwnd, rtt_us, after) in table {
        let mut flow = known("6.12", cwnd);
        assert_eq!(round(&mut flow, cwnd, rtt_us), after, "{cwnd} at {rtt_us} us");
        assert_eq!(flow.sock().snd_ssthresh, after, "{cwnd} at {rtt_us} us");
    }
}

/// Reno's window starts at half of cwnd in the first slow round trip, and grows by one in each.
#[test]
fn cwnd_does_not_fall_below_renos() {
    let mut flow = known("6.12", 1000);
    assert_eq!(round(&mut flow, 1000, 109_000), 918, "Reno's is 459");
    assert_eq!(round(&mut flow, 500, 150_000), 459, "166 packets would leave 334; Reno's is 460");
    assert_eq!(round(&mut flow, 500, 150_000), 460);
}

/// 51 fast round trips show that no Reno flow competes.
#[test]
fn fast_round_trips_forget_renos_window() {
    for (fast, after) in [(50, 90), (51, 50)] {
        let mut flow = known("6.12", 180);
        assert_eq!(round(&mut flow, 180, 115_000), 180, "Reno's is 90");
        (0..fast).for_each(|_| _ = round(&mut flow, 180, 100_000));

        // 83 of 100 packets wait: half of them leave.
        assert_eq!(round(&mut flow, 100, 600_000), after, "{fast}");
    }
}

/// The queue of the last round trip, an eighth at least, half at most.
#[test]
fn a_loss_takes_what_waited() {
    // cwnd, RTT in us; kept
    let table = [
        (1000, 108_500, 875),  // 78; 125 are an eighth
        (1000, 109_000, 804),  // of 918: 82; 114
        (2000, 125_000, 1200), // of 1600: 400
        (1000, 300_000, 250),  // of 500: 666
        (8, 100_000, 7),
        (3, 100_000, 3),
        (2, 100_000, 2),
    ];
    for kernel in KERNELS {
        for (cwnd, rtt_us, kept) in table {
            let mut flow = known(kernel, cwnd);
            round(&mut flow, cwnd, rtt_us);
            assert_eq!(flow.ssthresh(), kept, "{kernel}, {cwnd} at {rtt_us} us");
        }
    }
}

/// After 16 slow round trips in a row Reno flows are taken to compete: half.
#[test]
fn a_loss_takes_half_where_reno_competes() {
    // 100 x 15 / 115 = 13 packets wait
    for (slow, kept) in [(15, 87), (16, 50)] {
        let mut flow = known("6.12", 100);
        (0..slow).for_each(|_| _ = round(&mut flow, 100, 115_000));
        assert_eq!(flow.ssthresh(), kept, "{slow}");
        round(&mut flow, 100, 100_000);
        assert_eq!(flow.ssthresh(), 88, "a fast round trip ends it");
    }
}

#[test]
fn two_samples_are_too_few() {
    let mut flow = known("6.12", 1000);
    rtt(&mut flow, 300_000, 2);
    flow.cong_avoid(1, 1);
    assert_eq!(flow.sock().snd_cwnd, 1000);
}

/// Nothing of the path is known after idle time: RTTs of 300 ms are those without a queue.
#[test]
fn idle_time_forgets_the_path() {
    for (event, after) in [(Event::TxStart, 1000), (Event::CwndRestart, 1000), (Event::Loss, 500)] {
        let mut flow = known("6.12", 1000);
        flow.cwnd_event(event);
        assert_eq!(round(&mut flow, 1000, 300_000), after, "{event:?}");
    }
}

/// Packets that slow start leaves over count.
#[test]
fn slow_start_is_renos() {
    let mut flow = known("6.12", 8);
    flow.sock_mut().snd_ssthresh = 10;
    flow.cong_avoid(0, 5);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (10, 3));
}
