//! Rules that read when ACKs arrive.

use super::*;

#[test]
fn bunches_of_acks_tell_of_a_receive_ring() {
    let bunches = |segments| Facts {
        acks: Acks { rate: 200.0, segments, ..full().acks },
        main_mbit: 85.0,
        rtt_us: 22_000.0,
        rtt_p95_us: 25_000.0,
        loss: losses(&[(30, 1.1, 300.0), (4, 1.1, 290.0)]),
        ..full()
    };
    check("rx_drop", &bunches(20.0), &bunches(2.0));

    let single = Facts { loss: losses(&[(1, 1.1, 300.0), (1, 1.1, 150.0)]), ..bunches(20.0) };
    check("rx_drop", &bunches(20.0), &single);
    let queue = Facts { loss: full().loss, ..bunches(20.0) };
    check("rx_drop", &bunches(20.0), &queue);
}

#[test]
fn a_long_rtt_is_the_receiver_or_the_way_back() {
    let long = |segments| Facts {
        rtt_us: 90_000.0,
        rtt_p95_us: 100_000.0,
        loss: Losses::default(),
        acks: Acks { segments, ..full().acks },
        ..full()
    };
    check("cpu_receiver", &long(8.0), &long(2.0));
    check("ack_path", &long(1.9), &Facts { rtt_p95_us: 35_000.0, ..long(1.9) });
    // A queue of data overflows.
    let queue = |loss| Facts { loss, rtt_us: 40_000.0, rtt_p95_us: 50_000.0, ..long(1.9) };
    check("ack_path", &queue(Losses::default()), &queue(full().loss));
}

#[test]
fn steady_acks_for_varying_data_are_the_clock() {
    let clock = |spread, data_spread| Facts {
        rtt_us: 90_000.0,
        rtt_p95_us: 100_000.0,
        acks: Acks { segments: 4.0, spread, data_spread, ..full().acks },
        ..full()
    };
    check("ack_path", &clock(0.05, 0.4), &clock(0.35, 0.4));
    // A link of data that never runs empty is steady, and so are its ACKs.
    check("ack_path", &clock(0.05, 0.4), &clock(0.01, 0.03));
    let short = Facts { rtt_us: 30_000.0, ..clock(0.05, 0.4) };
    check("ack_path", &clock(0.05, 0.4), &short);

    // Slow start ended early, but ACKs are what holds the flow.
    let cwnd = Cwnd { early_ssthresh: Some(60.0), growth: 2.0, ..full().cwnd };
    let early = |acks| Facts { cwnd, mbit: 40.0, acks, ..clock(0.05, 0.4) };
    assert_eq!(code(&early(clock(0.05, 0.4).acks)), "ack_path");
    assert_eq!(code(&early(full().acks)), "ss_short");
}
