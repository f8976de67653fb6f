//! Losses: the new threshold, fast convergence, undo, resets.

use super::*;
use fullpipe_sim::cc::{CWR, LOSS, OPEN, RECOVERY};

#[test]
fn ssthresh_after_a_loss() {
    // algorithm, kernel, cwnd; ssthresh
    let table = [
        ("reno", "2.6.20", 1000, 500),
        ("reno", "6.12", 1000, 500),
        ("reno", "2.6.20", 3, 2),
        ("reno", "2.6.20", 1, 2),
        ("bic", "2.6.20", 1000, 799), // 819 / 1024
        ("bic", "2.6.20", 15, 11),    // 11.998
        ("bic", "2.6.20", 14, 7),     // low window: half
        ("bic", "2.6.20", 3, 2),
        ("cubic", "2.6.20", 1000, 799),
        ("cubic", "2.6.25", 1000, 799),
        ("cubic", "2.6.26", 1000, 700), // 717 / 1024
        ("cubic", "2.6.20", 14, 11),
        ("cubic", "2.6.20", 2, 2),
        ("cubic", "2.6.20", 1, 2),
    ];
    for (name, kernel, cwnd, ssthresh) in table {
        let mut flow = avoiding(name, &[], kernel, cwnd);
        assert_eq!(flow.ssthresh(), ssthresh, "{name} {kernel} at {cwnd}");
    }
}

#[test]
fn fast_convergence_gives_way_to_newcomers() {
    // Losses at 1000 and then at `second`; undo shows what is remembered as the maximum.
    // second, fast_convergence, beta; remembered
    let table = [
        (900, 1, 819, 809), // 900 x 1843 / 2048 = 809.9
        (900, 0, 819, 900),
        (1000, 1, 819, 1000), // not below the first
        (1100, 1, 819, 1100),
        (900, 1, 717, 765), // 900 x 1741 / 2048 = 765.1
    ];
    for name in ["bic", "cubic"] {
        for (second, fast, beta, remembered) in table {
            let parameters = [("fast_convergence", fast), ("beta", beta)];
            let mut flow = after_loss(name, &parameters, "2.6.20", 1000);
            set_cwnd(&mut flow, second);
            flow.ssthresh();
            set_cwnd(&mut flow, 2);
            assert_eq!(flow.undo_cwnd(), remembered, "{name}: {second}, {fast}, {beta}");
        }
    }
}

#[test]
fn undo_goes_back_and_never_down() {
    for (name, kernel, window) in [
        ("reno", "2.6.20", 998), // 2 x ssthresh, of 999
        ("reno", "6.12", 999),
        ("bic", "2.6.20", 999),
        ("cubic", "2.6.20", 999),
    ] {
        let mut flow = after_loss(name, &[], kernel, 999);
        flow.sock_mut().prior_cwnd = 999;
        set_cwnd(&mut flow, 500);
        assert_eq!(flow.undo_cwnd(), window, "{name} {kernel}");
        set_cwnd(&mut flow, 5000);
        assert_eq!(flow.undo_cwnd(), 5000, "{name} {kernel}");
    }
}

#[test]
fn a_timeout_forgets_the_loss_and_a_recovery_does_not() {
    for (name, before_first_loss) in [("bic", 11), ("cubic", 26)] {
        let mut flow = after_loss(name, &[], "2.6.20", 10_000);
        acked(&mut flow, 7, 100);
        for state in [CWR, RECOVERY, OPEN] {
            flow.set_state(state);
            assert_eq!(flow.sock().ca_state, u32::from(state));
        }
        set_cwnd(&mut flow, 9999);
        assert_eq!(flow.undo_cwnd(), 10_000, "{name} remembers");
        flow.set_state(LOSS);
        assert_eq!(flow.undo_cwnd(), 9999, "{name} has forgotten");
        flow.set_state(OPEN);
        flow.sock_mut().snd_ssthresh = 2;
        assert_eq!(acks_to_grow(&mut flow), before_first_loss, "{name}: as at the beginning");
    }
}

#[test]
fn rate_halving_stops_at_half_of_ssthresh_for_reno_alone() {
    for (name, floor) in [("reno", 50), ("bic", 100), ("cubic", 100)] {
        let mut flow = flow(name, &[], "2.6.20");
        flow.sock_mut().snd_ssthresh = 100;
        assert_eq!(flow.min_cwnd(), floor, "{name}");
    }
}

#[test]
fn two_flows_with_different_parameters_do_not_meet() {
    let mut a = avoiding("cubic", &[("beta", 819), ("no_loss_cnt", 50)], "2.6.20", 1000);
    let mut b = avoiding("cubic", &[("beta", 717), ("no_loss_cnt", 100)], "2.6.20", 1000);
    for _ in 0..3 {
        assert_eq!((acks_to_grow(&mut a), acks_to_grow(&mut b)), (26, 51));
    }
    set_cwnd(&mut a, 1000);
    set_cwnd(&mut b, 1000);
    assert_eq!((a.ssthresh(), b.ssthresh()), (799, 700));
}
