//! Limited slow start and HyStart++ against figures worked out by hand from their RFCs.

use super::*;
use fullpipe_sim::cc::INFINITE_SSTHRESH;

/// The algorithms with which each slow start composes; cubic without the HyStart of its own.
const WITH: [Algorithm; 3] = [
    Algorithm { name: "reno", parameters: &[] },
    Algorithm { name: "bic", parameters: &[] },
    Algorithm { name: "cubic", parameters: &[("hystart", 0)] },
];

/// A congestion control, or a slow start, with its parameters.
#[derive(Clone, Copy)]
pub struct Algorithm<'a> {
    pub name: &'a str,
    pub parameters: &'a [(&'a str, i64)],
}

/// A flow of `name` with that slow start, past `init`.
pub fn starting(control: Algorithm, kernel: &str, slow_start: Algorithm) -> Congestion {
    let owned = |list: &[(&str, i64)]| -> Vec<_> {
        list.iter().map(|&(name, value)| (name.to_string(), value)).collect()
    };
    let flow = Congestion::new(control.name, &owned(control.parameters), kernel, 250, 1)
        .expect("an algorithm");
    let mut flow =
        flow.with_slow_start(slow_start.name, &owned(slow_start.parameters)).expect("a slow start");
    flow.sock_mut().jiffies = EPOCH;
    flow.sock_mut().is_cwnd_limited = 1;
    flow.init();
    flow
}

/// RFC 3742, section 2: up to max_ssthresh an ACK adds a packet, then 1/K of one, K = int(cwnd / (0.5 x 100)).
#[test]
fn limited_slow_start_adds_a_share_beyond_max_ssthresh() {
    let table = [(10, 1), (100, 1), (101, 2), (149, 2), (150, 3), (1000, 20), (100_000, 2000)];
    for with in WITH {
        for (cwnd, acks) in table {
            let mut flow = starting(with, "6.12", Algorithm { name: "limited", parameters: &[] });
            set_cwnd(&mut flow, cwnd);
            assert_eq!(acks_to_grow(&mut flow), acks, "{} at {cwnd}", with.name);
        }
    }
}

/// The RFC's bound: a round trip adds max_ssthresh / 2 packets. 1000 ACKs at K = 20 make 50.
#[test]
fn limited_slow_start_adds_half_of_max_ssthresh_per_round_trip() {
    // With 1000 the first ACK counts in full; from 1001 to 1499 K is 2.
    for (own, expected) in [(100, 1050), (200, 1100), (1000, 1001 + 999 / 2)] {
        let mut flow = starting(
            WITH[0],
            "6.12",
            Algorithm { name: "limited", parameters: &[("max_ssthresh", own)] },
        );
        set_cwnd(&mut flow, 1000);
        (0..1000).for_each(|_| flow.cong_avoid(0, 1));
        assert_eq!(flow.sock().snd_cwnd, expected, "max_ssthresh {own}");
    }
}

/// Of ten packets that one ACK acknowledges at a cwnd of 95, six count in full. The other four make two at K = 2.
/// Packets beyond ssthresh are left to congestion avoidance.
#[test]
fn a_stretch_ack_is_divided_at_max_ssthresh() {
    for (ssthresh, cwnd, left) in [(INFINITE_SSTHRESH, 103, 0), (102, 102, 1), (98, 98, 7)] {
        let mut flow = starting(WITH[0], "6.12", Algorithm { name: "limited", parameters: &[] });
        set_cwnd(&mut flow, 95);
        flow.sock_mut().snd_ssthresh = ssthresh;
        flow.cong_avoid(0, 10);
        let sock = flow.sock();
        assert_eq!((sock.snd_cwnd, sock.snd_cwnd_cnt), (cwnd, left), "{ssthresh}");
    }
}

/// An ACK is one event up to 3.12 here too.
#[test]
fn limited_slow_start_counts_acks_where_the_kernel_does() {
    let mut flow = starting(WITH[0], "2.6.20", Algorithm { name: "limited", parameters: &[] });
    set_cwnd(&mut flow, 1000);
    (0..19).for_each(|_| flow.cong_avoid(0, 44));
    assert_eq!(flow.sock().snd_cwnd, 1000);
    flow.cong_avoid(0, 44);
    assert_eq!(flow.sock().snd_cwnd, 1001);
}

/// A sender with rounds of twenty ACKs, each of one packet. The first ACK ends the round in which the connection
/// started.
struct Rounds {
    flow: Congestion,
    acked: u32,
}

impl Rounds {
    fn new(with: Algorithm, own: &[(&str, i64)]) -> Rounds {
        let mut rounds = Rounds {
            flow: starting(with, "6.12", Algorithm { name: "hystart++", parameters: own }),
            acked: 0,
        };
        set_cwnd(&mut rounds.flow, 20);
        rounds
    }

    /// ACKs of packets sent `rtt_us` ago; how far cwnd grows.
    fn acks(&mut self, count: u32, rtt_us: i32) -> u32 {
        let before = self.flow.sock().snd_cwnd;
        for _ in 0..count {
            self.acked += 1;
            let sock = self.flow.sock_mut();
            (sock.snd_una, sock.snd_nxt) = (self.acked, self.acked + 20);
            self.flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us, in_flight: 0 });
            self.flow.cong_avoid(self.acked, 1);
        }
        self.flow.sock().snd_cwnd - before
    }

    /// The connection's first ACK and a round at `least_us`.
    fn begun(with: Algorithm, own: &[(&str, i64)], least_us: i32) -> Rounds {
        let mut rounds = Rounds::new(with, own);
        assert_eq!(rounds.acks(21, least_us), 21);
        rounds
    }
}

/// RttThresh is an eighth of the last round's least RTT, but 4 to 16 ms; it has to be reached. The eighth sample
/// decides: in a round of twenty, 7 ACKs count in full, 13 make 13 / 4 packets.
#[test]
fn a_rise_of_the_rtt_begins_conservative_slow_start() {
    let table = [
        (100_000, 112_499, false), // 100 + 12.5 ms
        (100_000, 112_500, true),
        (10_000, 13_999, false), // 10 + 4
        (10_000, 14_000, true),
        (400_000, 415_999, false), // 400 + 16
        (400_000, 416_000, true),
    ];
    for with in WITH {
        for (least, next, css) in table {
            let grown = Rounds::begun(with, &[], least).acks(20, next);
            assert_eq!(grown, if css { 7 + 3 } else { 20 }, "{}: {least}, {next}", with.name);
        }
    }
    // One early sample among the eight hides the rise until the round is over.
    let mut rounds = Rounds::begun(WITH[0], &[], 100_000);
    assert_eq!(rounds.acks(3, 150_000) + rounds.acks(1, 100_000) + rounds.acks(16, 150_000), 20);
    assert_eq!(rounds.acks(20, 150_000), 7 + 3);
    // Fewer samples than eight decide nothing.
    let mut rounds = Rounds::begun(WITH[0], &[("n_rtt_sample", 21)], 100_000);
    assert_eq!(rounds.acks(20, 150_000), 20);
}

/// Five rounds of CSS, including the one in the middle of which it starts; then ssthresh is cwnd.
#[test]
fn conservative_slow_start_lasts_five_rounds() {
    for with in WITH {
        let mut rounds = Rounds::begun(with, &[], 100_000);
        rounds.acks(5 * 20 - 1, 120_000);
        assert_eq!(rounds.flow.sock().snd_ssthresh, INFINITE_SSTHRESH, "{}", with.name);
        let cwnd = rounds.flow.sock().snd_cwnd;
        assert_eq!(cwnd, 20 + 21 + 7 + (13 + 79) / 4);
        rounds.acks(1, 120_000);
        assert_eq!(rounds.flow.sock().snd_ssthresh, cwnd);
    }
}

/// A round with a least RTT below that at the start of CSS: the rise was jitter. Its eighth sample decides.
#[test]
fn slow_start_resumes_after_jitter() {
    let mut rounds = Rounds::begun(WITH[0], &[], 100_000);
    assert_eq!(rounds.acks(20, 120_000), 7 + 3);
    // One more is left over of the thirteen; 1 + 7 make two.
    assert_eq!(rounds.acks(7, 119_999), 2);
    assert_eq!(rounds.acks(13, 119_999), 13);
    // The next rise is compared with that round: 119.999 + 14.999 ms, then 134.997 + 16 ms.
    assert_eq!(rounds.acks(20, 134_997), 20);
    assert_eq!(rounds.acks(20, 150_997), 7 + 3);
}

/// L packets of an ACK count: 8 without pacing. CSS divides what counts.
#[test]
fn an_ack_counts_for_eight_packets() {
    for (limit, grown) in [(8, 8), (0, 40), (16, 16)] {
        let mut flow = starting(
            WITH[2],
            "6.12",
            Algorithm { name: "hystart++", parameters: &[("limit", limit)] },
        );
        set_cwnd(&mut flow, 100);
        flow.cong_avoid(0, 40);
        assert_eq!(flow.sock().snd_cwnd, 100 + grown, "L = {limit}");
    }
    let mut rounds = Rounds::begun(WITH[0], &[], 100_000);
    rounds.acks(8, 120_000);
    let cwnd = rounds.flow.sock().snd_cwnd;
    rounds.flow.cong_avoid(0, 40);
    // The eighth of these eight left one over.
    assert_eq!(rounds.flow.sock().snd_cwnd, cwnd + (1 + 8) / 4);
}

/// Slow start is the kernel's after the first reduction.
#[test]
fn it_acts_until_the_first_reduction() {
    let mut rounds = Rounds::begun(WITH[0], &[], 100_000);
    rounds.flow.sock_mut().snd_ssthresh = 1000;
    assert_eq!(rounds.acks(20, 150_000), 20);
    rounds.flow.cong_avoid(0, 40);
    assert_eq!(rounds.flow.sock().snd_cwnd, 20 + 21 + 20 + 40);
}

/// RTTs in microseconds are asked for where jiffies are longer than a millisecond.
#[test]
fn what_measures_rtts_asks_for_exact_ones() {
    for (name, asks) in [("limited", false), ("hystart++", true), ("search", true)] {
        assert_eq!(
            starting(WITH[0], "3.14", Algorithm { name, parameters: &[] }).wants_us(),
            asks,
            "{name}"
        );
    }
}
