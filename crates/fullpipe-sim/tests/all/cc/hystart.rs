//! HyStart: slow start of CUBIC ends when ACK trains are as long as the path, or when delays grow.

use super::*;
use fullpipe_sim::cc::{INFINITE_SSTHRESH, LOSS};

/// A sender in slow start: every ACK covers one packet.
struct SlowStart {
    flow: Congestion,
    now_us: u64,
    acked: u32,
    /// ACKs in a round.
    round: u32,
}

impl SlowStart {
    /// Slow start with a cwnd of 20 at time 0 and rounds of so many ACKs.
    fn new(kernel: &str, parameters: &[(&str, i64)], round: u32) -> SlowStart {
        let mut flow = flow("cubic", parameters, kernel);
        set_cwnd(&mut flow, 20);
        SlowStart { flow, now_us: 0, acked: 0, round }
    }

    /// An ACK `after_us` the one before, of a packet sent `rtt_us` ago; whether slow start is over.
    fn ack(&mut self, after_us: u64, rtt_us: i32) -> bool {
        self.now_us += after_us;
        self.acked += 1;
        let sock = self.flow.sock_mut();
        sock.now_us = self.now_us;
        sock.jiffies = EPOCH + (self.now_us / 4000) as u32;
        sock.snd_una = self.acked;
        sock.snd_nxt = self.acked + self.round - 1;
        self.flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us, in_flight: 0 });
        let over = self.flow.sock().snd_ssthresh < INFINITE_SSTHRESH;
        self.flow.cong_avoid(self.acked, 1);
        over
    }

    /// The first of up to 100 ACKs, evenly spaced and equally late, that ends slow start.
    fn ends_at(&mut self, after_us: u64, rtt_us: i32) -> Option<u32> {
        (1..=100).find(|_| self.ack(after_us, rtt_us))
    }

    /// A round of twenty ACKs far apart and `rtt_ms` late.
    fn round(&mut self, rtt_us: i32) -> Option<u32> {
        (1..=20).find(|_| self.ack(50_000, rtt_us))
    }
}

/// ACKs every millisecond from 101 ms on, an RTT of 100 ms. The first ACK starts the round. The bound is half the RTT,
/// 50 ms, to be exceeded. Before 2.6.39 it is 12 jiffies of 4 ms, to be reached, from 100 to 148 ms.
#[test]
fn a_train_ends_slow_start_after_half_an_rtt() {
    for (kernel, ack) in [("3.14", 52), ("2.6.39", 52), ("2.6.32", 48), ("2.6.29", 48)] {
        let mut slow = SlowStart::new(kernel, &[], 1000);
        slow.now_us = 100_000;
        assert_eq!(slow.ends_at(1000, 100_000), Some(ack), "{kernel}");
        assert_eq!(slow.flow.sock().snd_ssthresh, 20 + ack - 1, "{kernel}");
    }
}

/// A gap of more than 2 ms breaks the train. Before 2.6.39 at 250 jiffies per second, a gap of more than a jiffy does.
#[test]
fn a_gap_breaks_a_train() {
    let found = |kernel, parameters: &[(&str, i64)], gap_us| {
        SlowStart::new(kernel, parameters, 1000).ends_at(gap_us, 100_000).is_some()
    };
    for (kernel, gap_us, expected) in [
        ("3.14", 2000, true),
        ("3.14", 3000, false),
        ("2.6.32", 3000, true),
        ("2.6.32", 4000, true),
        ("2.6.32", 8000, false),
    ] {
        assert_eq!(found(kernel, &[], gap_us), expected, "{kernel} {gap_us}");
    }
    assert!(found("3.14", &[("hystart_ack_delta", 3)], 3000));
}

/// The ninth delay of a round is compared with the least of the first eight. The bound is a sixteenth above the least
/// RTT, but 4 to 16 ms. Before 2.6.39 it is 2 to 16 jiffies, with RTTs rounded up to jiffies.
#[test]
fn a_delay_ends_slow_start() {
    // kernel, least RTT, RTT of the next round, us; found
    let table = [
        ("3.14", 100_000, 106_000, false), // 848 > 800 + 50 ?
        ("3.14", 100_000, 107_000, true),
        ("3.14", 10_000, 14_000, false), // 112 > 80 + 32 ?
        ("3.14", 10_000, 14_200, true),
        ("3.14", 400_000, 416_000, false), // 3328 > 3200 + 128 ?
        ("3.14", 400_000, 416_200, true),
        ("2.6.32", 10_000, 20_000, false), // 3 jiffies; 5 > 3 + 2 ?
        ("2.6.32", 10_000, 20_100, true),  // 6
        ("2.6.32", 400_000, 424_000, false), // 100 jiffies; 106 > 100 + 6.25 ?
        ("2.6.32", 400_000, 428_000, true),
        ("2.6.32", 2_000_000, 2_064_000, false), // 500 jiffies; 516 > 500 + 16 ?
        ("2.6.32", 2_000_000, 2_068_000, true),
    ];
    for (kernel, least, next, found) in table {
        let mut slow = SlowStart::new(kernel, &[("hystart_detect", 2)], 20);
        assert_eq!(slow.round(least), None);
        let over = slow.round(next);
        assert_eq!(over.is_some(), found, "{kernel}: {least} and {next}");
    }
}

/// A delay of an eighth above the least RTT is too late with a clock in us, but 4 to 16 ms (6.12
/// `HYSTART_DELAY_THRESH`). The eighth counts between RTTs of 32 and 128 ms.
#[test]
fn a_delay_ends_slow_start_by_the_clock_in_us() {
    // Least RTT, and the largest rise that is no sign of a queue, us.
    let table = [
        (20_000, 4_000), // an eighth would be 2.5 ms
        (40_000, 5_000),
        (100_000, 12_500),
        (120_000, 15_000),
        (140_000, 16_000), // an eighth would be 17.5 ms
        (160_000, 16_000), // 20 ms
        (200_000, 16_000), // 25 ms
    ];
    for (least, rise) in table {
        for (next, found) in [(least + rise, false), (least + rise + 1, true)] {
            let mut slow = SlowStart::new("6.12", &[("hystart_detect", 2)], 20);
            assert_eq!(slow.round(least), None);
            let over = slow.round(next);
            assert_eq!(over.is_some(), found, "{least} and {next}");
        }
    }
}

/// The ACK that begins a round still belongs to the last one. Eight samples are taken, and the ninth ACK
/// sees that they are late. One early one among them hides it.
#[test]
fn eight_samples_make_a_delay() {
    let ninth = |early: Option<u32>| {
        let mut slow = SlowStart::new("3.14", &[("hystart_detect", 2)], 1);
        // A round of one ACK, which gives the least RTT, and one of twenty.
        slow.ack(50_000, 100_000);
        slow.round = 20;
        (1..=12).find(|&i| slow.ack(50_000, if Some(i) == early { 100_000 } else { 120_000 }))
    };
    assert_eq!(ninth(None), Some(10));
    assert_eq!(ninth(Some(2)), None);
    assert_eq!(ninth(Some(9)), None);
    assert_eq!(ninth(Some(1)), Some(10));
    assert_eq!(ninth(Some(10)), Some(10));
}

/// A round ends with the first ACK beyond what was out when it began (`after`): the 21st. That is the
/// last one of its round too, so that the eight samples of the next one begin with the 22nd.
#[test]
fn a_round_ends_beyond_what_was_out() {
    let mut slow = SlowStart::new("3.14", &[("hystart_detect", 2)], 20);
    let over = (1..=40).find(|&ack| slow.ack(50_000, if ack <= 20 { 100_000 } else { 120_000 }));
    assert_eq!(over, Some(21 + 8 + 1));
}

#[test]
fn parameters_choose_what_is_watched() {
    let trains = |parameters: &[(&str, i64)], kernel| {
        SlowStart::new(kernel, parameters, 1000).ends_at(1000, 100_000).is_some()
    };
    assert!(trains(&[("hystart_detect", 1)], "3.14"));
    assert!(!trains(&[("hystart_detect", 2)], "3.14"));
    assert!(!trains(&[("hystart", 0)], "3.14"));
    assert!(!trains(&[], "2.6.28"));
    assert!(trains(&[("hystart", 1)], "2.6.28"));
    // The third ACK is at a cwnd of 22, 2 ms after the train began. A train first seen later is none.
    assert!(trains(&[("hystart_low_window", 22)], "3.14"));
    assert!(!trains(&[("hystart_low_window", 23)], "3.14"));
}

/// A found end of slow start holds until a timeout.
#[test]
fn slow_start_is_left_once() {
    let mut slow = SlowStart::new("3.14", &[], 1000);
    assert!(slow.ends_at(1000, 100_000).is_some());
    let again = |slow: &mut SlowStart| {
        slow.flow.sock_mut().snd_ssthresh = INFINITE_SSTHRESH;
        set_cwnd(&mut slow.flow, 20);
        slow.ends_at(1000, 100_000)
    };
    assert_eq!(again(&mut slow), None);
    slow.flow.set_state(LOSS);
    slow.flow.set_state(0);
    // The round that starts with the timeout continues.
    assert!(again(&mut slow).is_some());
}

/// HyStart decides the end of slow start instead of initial_ssthresh.
#[test]
fn initial_ssthresh_is_for_cubic_without_it() {
    let first = |parameters: &[(&str, i64)]| flow("cubic", parameters, "3.14").sock().snd_ssthresh;
    assert_eq!(first(&[("initial_ssthresh", 50)]), INFINITE_SSTHRESH);
    assert_eq!(first(&[("initial_ssthresh", 50), ("hystart", 0)]), 50);
}

/// RTTs in microseconds are asked for below 1000 jiffies per second.
#[test]
fn it_asks_for_exact_rtts() {
    let asks = |name, parameters: &[(&str, i64)], kernel, hz| {
        let parameters: Vec<_> = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
        Congestion::new(name, &parameters, kernel, hz, 1).expect("valid arguments").wants_us()
    };
    assert!(asks("cubic", &[], "3.14", 250));
    assert!(!asks("cubic", &[], "3.14", 1000));
    assert!(!asks("cubic", &[("hystart", 0)], "3.14", 250));
    assert!(!asks("reno", &[], "3.14", 250));
}

/// Growth has a floor again after a timeout, as before the first loss: one packet in twenty (2.6.39).
#[test]
fn a_timeout_forgets_the_maximum() {
    for (kernel, floor) in [("3.14", true), ("2.6.32", false)] {
        let parameters = [("tcp_friendliness", 0), ("hystart", 0)];
        let mut flow = after_loss("cubic", &parameters, kernel, 10_000);
        flow.set_state(LOSS);
        flow.set_state(0);
        flow.sock_mut().snd_ssthresh = 2;
        set_cwnd(&mut flow, 5000);
        // The count of 20 is for one packet per ACK; the ratio begins at two.
        let acks = acks_to_grow(&mut flow);
        assert_eq!(acks == 11, floor, "{kernel}: {acks}");
    }
}
