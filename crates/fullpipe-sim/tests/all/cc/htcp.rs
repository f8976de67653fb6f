//! H-TCP against figures worked out by hand from its formulas, at 250 jiffies per second.
//!
//! f(t) = 1 + 10 (t - 1) + ((t - 1) / 2)^2 from a second after the last congestion on, and 1 before. With beta = 0.5
//! cwnd grows by f(t) packets per round trip. Each packet takes one ACK more than cwnd / f(t), because the ACK that
//! grows cwnd is not counted.

use super::*;
use fullpipe_sim::cc::{CWR, DISORDER, LOSS, OPEN, RECOVERY};

const HZ: u32 = 250;

/// An RTT sample of an ACK that completes `packets`.
fn ack(flow: &mut Congestion, packets: i32, rtt_ms: i32) {
    let rtt_us = rtt_ms * 1000;
    flow.pkts_acked(&AckSample { pkts_acked: packets, rtt_us, in_flight: 0 });
}

/// The clock so many seconds after the flow began.
fn at(flow: &mut Congestion, seconds: u32) {
    flow.sock_mut().jiffies = EPOCH + seconds * HZ;
}

/// ACKs until a window of 1000 grows; growth is computed anew with each packet, so that one goes before.
fn acks_at_1000(flow: &mut Congestion) -> u32 {
    set_cwnd(flow, 3);
    acks_to_grow(flow);
    set_cwnd(flow, 1000);
    acks_to_grow(flow)
}

/// A loss at `cwnd`: the window that is kept, once it is over.
fn loses_at(flow: &mut Congestion, cwnd: u32) -> u32 {
    set_cwnd(flow, cwnd);
    flow.sock_mut().prior_cwnd = cwnd;
    let ssthresh = flow.ssthresh();
    flow.set_state(RECOVERY);
    ack(flow, 0, -1);
    flow.sock_mut().snd_ssthresh = ssthresh;
    flow.set_state(OPEN);
    set_cwnd(flow, ssthresh);
    ssthresh
}

#[test]
fn growth_rises_with_the_time_since_the_last_congestion() {
    // seconds; f(t) rounded down; ACKs
    let table = [
        (0, 1001), // 1
        (1, 1001), // 1
        (2, 92),   // 11.25: 1000 / 11 = 90.9
        (3, 47),   // 22: 45.5
        (11, 9),   // 126: 7.9
        (21, 5),   // 301: 3.3
    ];
    for kernel in ["2.6.20", "2.6.24", "3.14", "6.12"] {
        for (seconds, acks) in table {
            let mut flow = avoiding("htcp", &[], kernel, 2);
            at(&mut flow, seconds);
            assert_eq!(acks_at_1000(&mut flow), acks, "{kernel} after {seconds} s");
        }
    }
}

/// f(t) times 10 min_rtt, which is held between 1 / 10 and 2. Kept in eighths.
#[test]
fn growth_is_that_of_an_rtt_of_100_ms() {
    // RTT in ms, seconds; ACKs
    let table = [
        (100, 2, 92), // 8 / 8: as without
        (40, 2, 251), // 10 jiffies: 20 / 8; 11 x 8 / 20 = 4
        (10, 3, 501), // 3 jiffies: 66 / 8; 22 x 8 / 66 = 2
        (1, 11, 85),  // 1 jiffy: 200, held at 80; 126 x 8 / 80 = 12
        (400, 3, 24), // 100 jiffies: 2, held at 4; 22 x 8 / 4 = 44
    ];
    for (rtt, seconds, acks) in table {
        let mut flow = avoiding("htcp", &[], "6.12", 2);
        ack(&mut flow, 1, rtt);
        at(&mut flow, seconds);
        assert_eq!(acks_at_1000(&mut flow), acks, "{rtt} ms, {seconds} s");
        let mut flow = avoiding("htcp", &[("use_rtt_scaling", 0)], "6.12", 2);
        ack(&mut flow, 1, rtt);
        at(&mut flow, seconds);
        let plain = [0, 0, 92, 47, 0, 0, 0, 0, 0, 0, 0, 9][seconds as usize];
        assert_eq!(acks_at_1000(&mut flow), plain, "{rtt} ms, {seconds} s, not scaled");
    }
}

/// An ACK counts for the packets of its last callback, in state Open; without a callback for one packet.
#[test]
fn an_ack_counts_for_the_packets_it_completes() {
    let mut flow = avoiding("htcp", &[], "6.12", 100);
    let mut acks = 0;
    while flow.sock().snd_cwnd == 100 {
        ack(&mut flow, 10, -1);
        flow.cong_avoid(0, 10);
        acks += 1;
    }
    assert_eq!(acks, 11, "100 / 10, and the one that makes it grow");
    flow.set_state(DISORDER);
    ack(&mut flow, 10, -1);
    flow.cong_avoid(0, 10);
    assert_eq!(flow.sock().snd_cwnd_cnt, 1, "not called in Disorder");
}

/// min_rtt / max_rtt between 0.5 and 0.8, with what the throughput does left out. The first loss takes half.
#[test]
fn what_is_kept_is_the_least_rtt_over_the_largest() {
    // RTTs in ms, in order; kept of 1000
    let table: [(&[i32], u32); 7] = [
        (&[80, 100, 120], 664),      // 20 / 30 jiffies: 85 / 128
        (&[80, 100, 120, 140], 570), // 20 / 35: 73 / 128
        (&[80, 84], 796),            // 0.95: held at 102 / 128
        (&[100, 120, 140, 160, 180, 200, 220], 500),
        (&[80, 104], 796), // more than 20 ms at once is not believed
        (&[12, 20], 500),  // 3 jiffies are no more than 10 ms
        (&[16, 24], 664),  // 4 / 6: 85 / 128
    ];
    for (rtts, kept) in table {
        let mut flow = avoiding("htcp", &[("use_bandwidth_switch", 0)], "6.12", 1000);
        let feed = |flow: &mut Congestion| rtts.iter().for_each(|rtt| ack(flow, 1, *rtt));
        feed(&mut flow);
        assert_eq!(loses_at(&mut flow, 1000), 500, "{rtts:?}: the first loss");
        feed(&mut flow);
        assert_eq!(loses_at(&mut flow, 1000), kept, "{rtts:?}");
    }
}

/// A loss takes a twentieth off the difference of the largest and the least RTT: 20 + 20 x 0.95 = 39 jiffies, then 20 +
/// 19 x 0.95 = 38.
#[test]
fn the_largest_rtt_is_forgotten_slowly() {
    let mut flow = avoiding("htcp", &[("use_bandwidth_switch", 0)], "6.12", 1000);
    [80, 100, 120, 140, 160].iter().for_each(|rtt| ack(&mut flow, 1, *rtt));
    let kept = [(); 4].map(|()| loses_at(&mut flow, 10_000));
    // 64, 20 x 128 / 39 = 65, / 38 = 67, / 37 = 69
    assert_eq!(kept, [5000, 5078, 5234, 5390]);
}

/// Windows of 100 packets, each in an RTT of 100 ms (25 jiffies): 1000 packets per second.
fn round_trips(flow: &mut Congestion, packets: i32, times: u32) {
    for _ in 0..times {
        flow.sock_mut().jiffies += 25;
        set_cwnd(flow, 100);
        ack(flow, packets, 100);
    }
}

/// Half, until throughput was equal twice. Then the RTTs decide (0.8 here). Half again after throughput changes by more
/// than a fifth.
#[test]
fn a_changed_throughput_makes_it_halve() {
    // packets per round trip after three losses at 100; kept of 1000
    let table = [(100, 796), (120, 796), (121, 500), (80, 796), (79, 500)];
    for (packets, kept) in table {
        let mut flow = avoiding("htcp", &[], "6.12", 100);
        for (loss, half) in [true, true, false].into_iter().enumerate() {
            round_trips(&mut flow, 100, 2);
            let expected = if half { 500 } else { 796 };
            assert_eq!(loses_at(&mut flow, 1000), expected, "loss {loss}");
        }
        // Smaller windows than cwnd are no whole round: twice as much in two of them.
        flow.sock_mut().jiffies += 50;
        set_cwnd(&mut flow, 100);
        ack(&mut flow, 2 * packets, 100);
        assert_eq!(loses_at(&mut flow, 1000), kept, "{packets} per round trip");
    }
}

/// In the first three round trips the last one counts: 2000; then the largest of a mean: (3 x 1000 + 2000) / 4 =
/// 1250. Both are too much to be steady; which it was, the same throughput in the next two shows.
#[test]
fn throughput_is_smoothed_after_three_round_trips() {
    for (round_trip, same, other) in [(2, 200, 125), (5, 125, 200)] {
        for (packets, third) in [(same, 796), (other, 500)] {
            let mut flow = avoiding("htcp", &[], "6.12", 100);
            for _ in 0..3 {
                round_trips(&mut flow, 100, 2);
                loses_at(&mut flow, 1000);
            }
            round_trips(&mut flow, 100, round_trip - 1);
            round_trips(&mut flow, 200, 1);
            assert_eq!(loses_at(&mut flow, 1000), 500, "{round_trip}: not steady");
            round_trips(&mut flow, packets, 2);
            assert_eq!(loses_at(&mut flow, 1000), 500, "{round_trip}: not adapted yet");
            round_trips(&mut flow, packets, 2);
            assert_eq!(loses_at(&mut flow, 1000), third, "{round_trip}, {packets}");
        }
    }
}

#[test]
fn time_counts_from_the_end_of_the_congestion() {
    for (state, over) in [(CWR, 47), (RECOVERY, 47), (LOSS, 47)] {
        let mut flow = avoiding("htcp", &[], "6.12", 1000);
        at(&mut flow, 30);
        flow.ssthresh();
        flow.set_state(state);
        at(&mut flow, 40);
        flow.set_state(OPEN);
        at(&mut flow, 43);
        assert_eq!(acks_at_1000(&mut flow), over, "{state}");
    }
    // Mere reordering is no congestion since 2.6.30.
    for (kernel, acks) in [("2.6.24", 47), ("2.6.29", 47), ("2.6.32", 5), ("6.12", 5)] {
        let mut flow = avoiding("htcp", &[], kernel, 1000);
        at(&mut flow, 18);
        flow.set_state(DISORDER);
        flow.set_state(OPEN);
        at(&mut flow, 21);
        assert_eq!(acks_at_1000(&mut flow), acks, "{kernel}");
    }
}

/// An undo gives back the window, the time of the congestion before, and the largest RTT.
#[test]
fn undo_goes_back_to_before_the_congestion() {
    // 999 x 64 / 128 = 499, and back: 499 x 128 / 64 = 998
    for (kernel, window) in [("2.6.32", 998), ("3.14", 998), ("6.12", 999)] {
        let mut flow = after_loss("htcp", &[], kernel, 999);
        flow.sock_mut().prior_cwnd = 999;
        at(&mut flow, 11);
        flow.set_state(RECOVERY);
        set_cwnd(&mut flow, 500);
        assert_eq!(flow.undo_cwnd(), window, "{kernel}");
        set_cwnd(&mut flow, 5000);
        assert_eq!(flow.undo_cwnd(), 5000, "{kernel}: never down");
        flow.set_state(OPEN);
        flow.sock_mut().snd_ssthresh = 2;
        assert_eq!(acks_at_1000(&mut flow), 9, "{kernel}: 11 s since the start");
    }
}

/// The RTT before 2.6.23 is the smoothed one, and the largest counts only after a loss and beyond three RTTs.
#[test]
fn the_smoothed_rtt_counts_until_2_6_22() {
    for (kernel, acks) in [("2.6.20", 251), ("2.6.22", 251), ("2.6.24", 92)] {
        let mut flow = avoiding("htcp", &[], kernel, 2);
        flow.sock_mut().srtt_us = 40_000 << 3;
        at(&mut flow, 2);
        assert_eq!(acks_at_1000(&mut flow), acks, "{kernel}");
    }
}

/// Packets of an ACK that slow start leaves over are lost.
#[test]
fn slow_start_is_the_kernels() {
    let mut flow = flow("htcp", &[], "6.12");
    flow.sock_mut().snd_ssthresh = 10;
    set_cwnd(&mut flow, 8);
    flow.cong_avoid(0, 5);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (10, 0));
    assert_eq!(flow.min_cwnd(), 10, "rate halving goes down to ssthresh");
}
