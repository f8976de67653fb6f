//! TCP Veno against figures worked out by hand from its rule, on a path of 100 ms.
//!
//! cwnd (1 - 100 / RTT) packets wait in the queue. Linux counts them in halves, rounded up; six of them are too many.

use super::*;
use fullpipe_sim::cc::{Event, OPEN, RECOVERY};

const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// An ACK of one packet with its RTT. Linux counts a microsecond more than it measures.
fn ack(flow: &mut Congestion, rtt_us: i32) {
    flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: rtt_us - 1, in_flight: 0 });
    flow.cong_avoid(0, 1);
}

/// A flow at `cwnd` that knows the path.
fn known(kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding("veno", &[], kernel, cwnd);
    (0..3).for_each(|_| ack(&mut flow, 100_000));
    set_cwnd(&mut flow, cwnd);
    flow
}

fn acks_to_grow_at(flow: &mut Congestion, rtt_us: i32) -> u32 {
    let before = flow.sock().snd_cwnd;
    let grows = |_: &u32| {
        ack(flow, rtt_us);
        flow.sock().snd_cwnd > before
    };
    (1..10_000).find(grows).expect("a window that grows")
}

/// At 100 packets: 200 x 100 / 102.5 = 195.1, so five halves wait; / 103 = 194.2, which are six.
#[test]
fn with_a_queue_growth_takes_every_second_window() {
    for kernel in KERNELS {
        for rtt_us in [100_000, 102_000, 102_500] {
            let mut flow = known(kernel, 100);
            let acks = [(); 2].map(|()| acks_to_grow_at(&mut flow, rtt_us));
            assert_eq!(acks, [100, 101], "{kernel}, {rtt_us} us");
        }
        for rtt_us in [103_000, 104_000, 200_000] {
            let mut flow = known(kernel, 100);
            let acks = [(); 3].map(|()| acks_to_grow_at(&mut flow, rtt_us));

            // The ACK after a window of ACKs grows cwnd, and the next one like it does not.
            assert_eq!(acks, [101, 204, 206], "{kernel}, {rtt_us} us");
        }
    }
}

#[test]
fn a_loss_takes_a_fifth_without_a_queue_and_half_with_one() {
    // RTT in us; kept of 1000. 2000 x 100 / 100.2 = 1996.0, / 100.25 = 1995.01, / 100.3 = 1994.02
    let table = [(100_000, 800), (100_200, 800), (100_250, 800), (100_300, 500), (200_000, 500)];
    for kernel in KERNELS {
        for (rtt_us, kept) in table {
            let mut flow = known(kernel, 1000);
            ack(&mut flow, rtt_us);
            assert_eq!(flow.ssthresh(), kept, "{kernel}, {rtt_us} us");
        }
    }
    assert_eq!(known("6.12", 4).ssthresh(), 3, "16 / 5");
    assert_eq!(known("6.12", 2).ssthresh(), 2, "at least two packets");
}

/// Each ACK is judged by its own RTT. One without an RTT counts as one of a long queue.
#[test]
fn the_last_ack_decides() {
    let mut flow = known("6.12", 1000);
    ack(&mut flow, 200_000);
    ack(&mut flow, 100_000);
    assert_eq!(flow.ssthresh(), 800);
    flow.cong_avoid(0, 1);
    assert_eq!(flow.ssthresh(), 500);
}

/// Slow start goes on whatever waits. What it leaves over counts in avoidance.
#[test]
fn slow_start_is_renos() {
    for rtt_us in [100_000, 200_000] {
        let mut flow = known("6.12", 8);
        flow.sock_mut().snd_ssthresh = 10;
        flow.pkts_acked(&AckSample { pkts_acked: 5, rtt_us: rtt_us - 1, in_flight: 0 });
        flow.cong_avoid(0, 5);
        assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (10, 3), "{rtt_us} us");
    }
}

/// Two samples in the life of a flow are too few; outside of Open it is Reno.
#[test]
fn it_is_reno_before_three_samples_and_in_recovery() {
    let mut flow = avoiding("veno", &[], "6.12", 100);
    ack(&mut flow, 100_000);
    ack(&mut flow, 300_000);
    set_cwnd(&mut flow, 100);
    assert_eq!(acks_to_grow(&mut flow), 100);

    let mut flow = known("6.12", 100);
    flow.set_state(RECOVERY);
    assert_eq!(acks_to_grow_at(&mut flow, 200_000), 100);
    flow.set_state(OPEN);
    set_cwnd(&mut flow, 100);
    assert_eq!(acks_to_grow_at(&mut flow, 200_000), 101);
}

/// Nothing of the path is known after idle time: RTTs of 200 ms are those without a queue.
#[test]
fn idle_time_forgets_the_path() {
    for event in [Event::TxStart, Event::CwndRestart] {
        let mut flow = known("6.12", 100);
        flow.cwnd_event(event);
        assert_eq!(acks_to_grow_at(&mut flow, 200_000), 100, "{event:?}");
    }
}

#[test]
fn a_window_that_is_not_the_limit_stays() {
    let mut flow = known("6.12", 100);
    flow.sock_mut().is_cwnd_limited = 0;
    (0..1000).for_each(|_| ack(&mut flow, 100_000));
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (100, 0));
}
