//! Scalable TCP against figures worked out by hand from Kelly's rule.

use super::*;

/// An eighth less, rounded up: no window below 8 shrinks.
#[test]
fn a_loss_takes_an_eighth() {
    // cwnd, ssthresh
    let table = [(1000, 875), (999, 875), (16, 14), (8, 7), (7, 7), (3, 3), (1, 2)];
    for kernel in ["2.6.20", "3.14", "6.12"] {
        for (cwnd, ssthresh) in table {
            let mut flow = avoiding("scalable", &[], kernel, cwnd);
            assert_eq!(flow.ssthresh(), ssthresh, "{kernel} at {cwnd}");
        }
    }
}

#[test]
fn a_packet_per_hundred_or_per_fifty_acks() {
    // kernel, cwnd; ACKs of one packet until it grows
    let table = [
        ("2.6.20", 10, 11), // one more than the count, as all do there
        ("2.6.20", 49, 50),
        ("2.6.20", 50, 51),
        ("2.6.20", 100_000, 51),
        ("3.14", 100_000, 51),
        ("4.14", 10, 10),
        ("4.14", 100_000, 50),
        ("5.6", 100_000, 50),
        ("5.7", 100_000, 100),
        ("6.12", 10, 10),
        ("6.12", 99, 99),
        ("6.12", 100_000, 100),
    ];
    for (kernel, cwnd, acks) in table {
        let mut flow = avoiding("scalable", &[], kernel, cwnd);
        assert_eq!(acks_to_grow(&mut flow), acks, "{kernel} at {cwnd}");
    }
}

/// Packets that slow start leaves over count from 5.7 on, too; before, no packet of such an ACK does.
#[test]
fn packets_of_an_ack_count_from_5_7_on() {
    // kernel, cwnd before, packets acknowledged; cwnd and count after. ssthresh is 10.
    let table = [
        ("3.14", 8, 4, 11, 0), // cwnd == ssthresh is slow start there
        ("3.14", 1000, 250, 1000, 1),
        ("5.6", 8, 4, 10, 0),
        ("5.6", 1000, 250, 1000, 1),
        ("6.12", 8, 4, 10, 2),
        ("6.12", 1000, 250, 1002, 50),
    ];
    for (kernel, cwnd, acked, after, count) in table {
        let mut flow = avoiding("scalable", &[], kernel, cwnd);
        flow.sock_mut().snd_ssthresh = 10;
        flow.cong_avoid(0, acked);
        let sock = flow.sock();
        assert_eq!((sock.snd_cwnd, sock.snd_cwnd_cnt), (after, count), "{kernel} from {cwnd}");
    }
}

/// The property that gives the algorithm its name: 1.01^n >= 8 / 7 takes 13.4 round trips, whatever the window.
///
/// In whole packets a round trip at 1000 adds only the whole hundreds. With the remainders there are 14 of them: 875
/// 883 891 899 907 916 925 934 943 952 961 970 979 988 997 1006.
#[test]
fn recovery_takes_the_same_time_from_any_window() {
    for cwnd in [1000, 10_000, 1_000_000] {
        let mut flow = after_loss("scalable", &[], "6.12", cwnd);
        let ssthresh = flow.sock().snd_ssthresh;
        set_cwnd(&mut flow, ssthresh);
        let rounds = (1..100).find(|_| {
            let window = flow.sock().snd_cwnd;
            (0..window).for_each(|_| flow.cong_avoid(0, 1));
            flow.sock().snd_cwnd >= cwnd
        });
        assert_eq!(rounds, Some(14), "{cwnd}");
    }
}

/// Scalable has no undo of its own: it doubles ssthresh where Reno's undo does, which is more than the window was.
#[test]
fn undo_is_renos() {
    for (kernel, window) in [("2.6.20", 1750), ("3.14", 1750), ("6.12", 1000)] {
        let mut flow = after_loss("scalable", &[], kernel, 1000);
        flow.sock_mut().prior_cwnd = 1000;
        set_cwnd(&mut flow, 875);
        assert_eq!(flow.undo_cwnd(), window, "{kernel}");
        assert_eq!(flow.min_cwnd(), 437, "{kernel}: half of ssthresh");
    }
}

#[test]
fn parameters_are_kellys_a_and_b() {
    let mut flow = avoiding("scalable", &[("ai_cnt", 20), ("md_shift", 1)], "6.12", 1000);
    assert_eq!(acks_to_grow(&mut flow), 20);
    set_cwnd(&mut flow, 1000);
    assert_eq!(flow.ssthresh(), 500);
}
