//! Growth per ACK: slow start, Reno, BIC, and CUBIC before its first loss.

use super::*;
use fullpipe_sim::cc::{INFINITE_SSTHRESH, RECOVERY};

#[test]
fn slow_start_adds_one_packet_per_ack() {
    for name in ["reno", "bic", "cubic"] {
        let mut flow = flow(name, &[], "2.6.20");
        flow.sock_mut().snd_ssthresh = 100;
        set_cwnd(&mut flow, 3);
        for cwnd in 4..=101 {
            flow.cong_avoid(0, 7);
            assert_eq!(flow.sock().snd_cwnd, cwnd, "{name}: an ACK of 7 packets counts once");
        }
        assert!(acks_to_grow(&mut flow) > 1, "{name}: 101 is beyond ssthresh");
    }
}

#[test]
fn initial_ssthresh_ends_slow_start_until_2_6_22() {
    // kernel, ssthresh after init
    let table = [("2.6.20", 100), ("2.6.21", 100), ("2.6.22", INFINITE_SSTHRESH)];
    for name in ["bic", "cubic"] {
        for (kernel, ssthresh) in table {
            assert_eq!(flow(name, &[], kernel).sock().snd_ssthresh, ssthresh, "{name} {kernel}");
        }
        assert_eq!(flow(name, &[("initial_ssthresh", 40)], "2.6.24").sock().snd_ssthresh, 40);
        let unset = flow(name, &[("initial_ssthresh", 0)], "2.6.20");
        assert_eq!(unset.sock().snd_ssthresh, INFINITE_SSTHRESH);
    }
    assert_eq!(flow("reno", &[], "2.6.20").sock().snd_ssthresh, INFINITE_SSTHRESH);
}

#[test]
fn reno_adds_one_packet_per_window_plus_one_acks() {
    let mut old = avoiding("reno", &[], "2.6.20", 3);
    // cwnd, ACKs until cwnd + 1
    for (cwnd, acks) in [(3, 4), (4, 5), (5, 6), (6, 7)] {
        assert_eq!((old.sock().snd_cwnd, acks_to_grow(&mut old)), (cwnd, acks));
    }
    let mut new = avoiding("reno", &[], "6.12", 3);
    for (cwnd, acks) in [(3, 3), (4, 4), (5, 5), (6, 6)] {
        assert_eq!((new.sock().snd_cwnd, acks_to_grow(&mut new)), (cwnd, acks));
    }
}

#[test]
fn reno_counts_the_packets_of_an_ack_from_4_14_on() {
    // kernel, cwnd before, packets acknowledged; cwnd and count after. ssthresh is 10.
    let table = [
        ("2.6.20", 8, 4, 9, 0),
        ("2.6.20", 10, 4, 11, 0), // at ssthresh: slow start
        ("2.6.20", 20, 4, 20, 1), // 1 ACK of 21
        ("6.12", 8, 4, 10, 2),    // 2 in slow start, 2 left for avoidance
        ("6.12", 10, 4, 10, 4),   // at ssthresh: avoidance
        ("6.12", 20, 50, 22, 10), // 50 = 2 x 20 + 10
    ];
    for (kernel, cwnd, acked, after, count) in table {
        let mut flow = avoiding("reno", &[], kernel, cwnd);
        flow.sock_mut().snd_ssthresh = 10;
        flow.cong_avoid(0, acked);
        let sock = flow.sock();
        assert_eq!((sock.snd_cwnd, sock.snd_cwnd_cnt), (after, count), "{kernel} from {cwnd}");
    }
}

#[test]
fn bic_before_the_first_loss() {
    // cwnd; ACKs per packet at an ACK ratio of 32/16 and 31/16
    let table = [
        (14, 15, 15),   // low window: cnt 14, not scaled
        (15, 2, 2),     // cnt 3 x 15 / 15 = 3, scaled 1
        (40, 2, 2),     // cnt 3 x 40 / 40 = 3
        (160, 6, 6),    // cnt 160 / 16 = 10, scaled 5
        (336, 11, 11),  // cnt min(21, 20), scaled 10 (320 / 31 = 10.3)
        (5000, 11, 11), // cnt min(312, 20)
    ];
    for (cwnd, at_32, at_31) in table {
        let mut flow = avoiding("bic", &[], "2.6.20", cwnd);
        assert_eq!(acks_to_grow(&mut flow), at_32, "{cwnd}");
        let mut flow = avoiding("bic", &[], "2.6.20", cwnd);
        acked(&mut flow, 1, 1);
        assert_eq!(acks_to_grow(&mut flow), at_31, "{cwnd} at 31");
    }
}

#[test]
fn bic_searches_for_the_last_maximum() {
    // The last loss was at 1000. cwnd; ACKs per packet at an ACK ratio of 2.
    let table = [
        (800, 26),    // dist 50 > 16: 800 / 16 = 50, scaled 25
        (930, 30),    // dist 17 > 16: 930 / 16 = 58
        (940, 32),    // dist 15: 940 / 15 = 62
        (980, 99),    // dist 5: 980 / 5 = 196
        (992, 249),   // dist 2: 992 / 2 = 496
        (995, 2488),  // dist 1: 995 x 20 / 4 = 4975
        (1000, 2501), // at the maximum: 1000 x 20 / 4 = 5000
        (1003, 2508), // 1003 x 5 = 5015
        (1004, 377),  // 3 x 1004 / 4 = 753
        (1010, 152),  // 3 x 1010 / 10 = 303
        (1047, 34),   // 3 x 1047 / 47 = 66
        (1048, 33),   // beyond + 48: 1048 / 16 = 65
        (1060, 34),   // 1060 / 16 = 66
        (2000, 63),   // 2000 / 16 = 125
    ];
    for (cwnd, acks) in table {
        let mut flow = after_loss("bic", &[], "2.6.20", 1000);
        flow.sock_mut().snd_ssthresh = 2;
        set_cwnd(&mut flow, cwnd);
        assert_eq!(acks_to_grow(&mut flow), acks, "{cwnd}");
    }
}

#[test]
fn cubic_before_the_first_loss() {
    // The ACK ratio settles at 31/16 when each ACK is of one skb: cnt 50 x 16 / 31 = 25.
    for cwnd in [101, 1000, 20_000] {
        let mut flow = avoiding("cubic", &[], "2.6.20", cwnd);
        acked(&mut flow, 1, 100);
        for _ in 0..10 {
            assert_eq!(acks_to_grow(&mut flow), 26, "{cwnd}");
        }
    }
}

#[test]
fn ack_ratio_follows_the_skbs_per_ack() {
    // kernel, skbs per ACK; ratio in 1/16 where the average stops; ACKs per packet of CUBIC and BIC,
    // 800 / ratio + 1 and 320 / ratio + 1
    let table = [
        ("2.6.20", 1, 31, 26, 11),
        ("2.6.20", 2, 32, 26, 11),
        ("2.6.20", 3, 48, 17, 7),
        ("2.6.20", 7, 112, 8, 3),
        ("2.6.20", 1000, 16_000, 2, 2), // at least 1, + 1
        ("2.6.20", 0, 32, 26, 11),      // not counted
        ("2.6.24", 0, 15, 54, 22),      // counted
    ];
    for (kernel, skbs, ratio, cubic, bic) in table {
        for (name, acks, at_32) in [("cubic", cubic, 26), ("bic", bic, 11)] {
            let mut flow = avoiding(name, &[], kernel, 5000);
            acked(&mut flow, skbs, 1000);
            assert_eq!(acks_to_grow(&mut flow), acks, "{name} {kernel}: {skbs}, ratio {ratio}");
            let mut flow = avoiding(name, &[], kernel, 5000);
            flow.set_state(RECOVERY);
            acked(&mut flow, skbs, 1000);
            assert_eq!(acks_to_grow(&mut flow), at_32, "{name}: only in state Open");
        }
    }
}

#[test]
fn count_is_kept_for_a_thirty_second_of_a_second() {
    // HZ / 32 = 7 jiffies. ACKs of 100 skbs raise the ratio to 130/16: CUBIC's count falls from 25
    // to 800 / 130 = 6, BIC's from 10 to 320 / 130 = 2.
    for (name, first_count) in [("cubic", 10), ("bic", 5)] {
        let mut flow = avoiding(name, &[], "2.6.20", 5000);
        flow.cong_avoid(0, 1);
        acked(&mut flow, 100, 1);
        flow.sock_mut().snd_cwnd_cnt = first_count;
        flow.sock_mut().jiffies = EPOCH + 7;
        flow.cong_avoid(0, 1);
        assert_eq!(flow.sock().snd_cwnd, 5000, "{name}: the old count holds");
        flow.sock_mut().jiffies = EPOCH + 8;
        flow.cong_avoid(0, 1);
        assert_eq!(flow.sock().snd_cwnd, 5001, "{name}: a new count");
    }
}

#[test]
fn a_window_that_is_not_the_limit_or_at_its_clamp_stays() {
    for name in ["reno", "bic", "cubic"] {
        for kernel in ["2.6.20", "2.6.28"] {
            for ssthresh in [2, 1000] {
                let mut flow = avoiding(name, &[], kernel, 50);
                flow.sock_mut().snd_ssthresh = ssthresh;
                flow.sock_mut().is_cwnd_limited = 0;
                (0..20_000).for_each(|_| flow.cong_avoid(0, 1));
                assert_eq!(flow.sock().snd_cwnd, 50, "{name}");
                flow.sock_mut().is_cwnd_limited = 1;
                flow.sock_mut().snd_cwnd_clamp = 52;
                (0..20_000).for_each(|_| flow.cong_avoid(0, 1));
                assert_eq!(flow.sock().snd_cwnd, 52, "{name}");
            }
        }
    }
}
