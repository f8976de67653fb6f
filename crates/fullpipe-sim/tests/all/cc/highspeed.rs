//! HighSpeed TCP against the tables of RFC 3649.

use super::*;

const KERNELS: [&str; 3] = ["2.6.20", "3.14", "6.12"];

/// Rows of appendix B: w packets, a(w) packets per round trip, b(w).
const TABLE: [(u32, u32, f64); 9] = [
    (38, 1, 0.50),
    (118, 2, 0.44),
    (221, 3, 0.41),
    (347, 4, 0.38),
    (1058, 8, 0.33),
    (5036, 20, 0.25),
    (10_661, 30, 0.21),
    (84_035, 71, 0.10),
    (89_053, 72, 0.10),
];

/// A flow at `cwnd` that has had an ACK there.
fn at(kernel: &str, cwnd: u32) -> Congestion {
    let mut flow = avoiding("highspeed", &[], kernel, cwnd);
    flow.cong_avoid(0, 1);
    flow
}

/// ACKs of one packet until a window of w has grown by one: w / a(w), rounded up.
#[test]
fn growth_per_round_trip_is_that_of_the_table() {
    let acks = [38, 59, 74, 87, 133, 252, 356, 1184, 1237];
    for kernel in KERNELS {
        for ((cwnd, growth, _), acks) in TABLE.into_iter().zip(acks) {
            let mut flow = avoiding("highspeed", &[], kernel, cwnd);
            assert_eq!(acks_to_grow(&mut flow), acks, "{kernel}: {growth} per {cwnd}");
        }
    }
}

/// The table has two digits, Linux 256ths, both of the share and of the packets rounded down.
#[test]
fn a_loss_takes_the_share_of_the_table() {
    for kernel in KERNELS {
        for (cwnd, _, share) in TABLE {
            let kept = f64::from(at(kernel, cwnd).ssthresh()) / f64::from(cwnd);
            let over = kept - (1.0 - share);
            let least = 1.0 / 256.0 + 1.0 / f64::from(cwnd);
            assert!((-0.005..0.005 + least).contains(&over), "{kernel}: {kept} of {cwnd}");
        }
    }
}

/// A row holds up to its window: beyond 38 packets that of 118 does, and beyond the last one the last.
#[test]
fn a_row_holds_up_to_its_window() {
    // cwnd; ACKs of one packet until it grows: cwnd / a(w) of the row at or above it
    let table =
        [(10, 10), (38, 38), (39, 20), (118, 59), (119, 40), (89_054, 1237), (720_000, 10_000)];
    for (cwnd, acks) in table {
        let mut flow = avoiding("highspeed", &[], "6.12", cwnd);
        assert_eq!(acks_to_grow(&mut flow), acks, "{cwnd}");
    }
}

/// The program of RFC 3649, appendix B: windows at which a(w) has grown by one, with b(w).
fn rows_of_the_rfc() -> Vec<(u32, f64)> {
    let (mut rows, mut grown) = (vec![(38, 0.5)], 1.0);
    for packets in 38..100_000 {
        let w = f64::from(packets);
        let decrease = (0.1 - 0.5) * (w.ln() - 38_f64.ln()) / (83_000_f64.ln() - 38_f64.ln()) + 0.5;
        let increase = w * w * 2.0 * decrease / ((2.0 - decrease) * w.powf(1.2) * 12.8);
        if increase > grown + 1.0 {
            grown = increase;
            rows.push((packets, decrease));
        }
    }
    rows
}

/// Linux has 72 of the 73 rows. It keeps b(w) in 256ths, rounded down, and rounds down the packets that a loss takes.
#[test]
fn all_rows_are_those_of_the_rfcs_program() {
    let rows = rows_of_the_rfc();
    assert_eq!(rows.len(), 73);
    for (row, (cwnd, decrease)) in rows.into_iter().take(72).enumerate() {
        let growth = row as u32 + 1;
        let mut flow = avoiding("highspeed", &[], "6.12", cwnd);
        assert_eq!(acks_to_grow(&mut flow), cwnd.div_ceil(growth), "a({cwnd})");
        let taken = u64::from(cwnd) * (256.0 * decrease) as u64 / 256;
        assert_eq!(u64::from(at("6.12", cwnd).ssthresh()), u64::from(cwnd) - taken, "b({cwnd})");
    }
}

/// Growth and loss follow the window down as well; a loss goes by the last window at which an ACK arrived.
#[test]
fn rows_follow_the_window_down() {
    let mut flow = at("6.12", 10_661);
    set_cwnd(&mut flow, 1024);
    assert_eq!(flow.ssthresh(), 1024 - 4 * 52, "52 / 256 of 10,661 packets: 0.21 of the table");
    flow.cong_avoid(0, 1);
    assert_eq!(flow.ssthresh(), 1024 - 4 * 83, "83 / 256 of 1058 packets: 0.33");
}

/// An ACK counts once in avoidance, and what slow start leaves over of it is lost.
#[test]
fn an_ack_counts_once() {
    for kernel in KERNELS {
        let mut flow = avoiding("highspeed", &[], kernel, 1058);
        flow.cong_avoid(0, 250);
        assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (1058, 8), "{kernel}");
    }
    let mut flow = flow("highspeed", &[], "6.12");
    flow.sock_mut().snd_ssthresh = 10;
    set_cwnd(&mut flow, 8);
    flow.cong_avoid(0, 5);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_cwnd_cnt), (10, 0));
}

/// A loss in the first slow start takes half. Without an undo of its own it goes back as Reno does.
#[test]
fn the_first_loss_and_its_undo_are_renos() {
    for kernel in KERNELS {
        let mut flow = after_loss("highspeed", &[], kernel, 1000);
        flow.sock_mut().prior_cwnd = 1000;
        assert_eq!(flow.sock().snd_ssthresh, 500, "{kernel}");
        set_cwnd(&mut flow, 500);
        assert_eq!(flow.undo_cwnd(), 1000, "{kernel}");
        assert_eq!(flow.min_cwnd(), 250, "{kernel}: half of ssthresh");
    }
}
