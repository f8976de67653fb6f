//! Each field of a kernel profile does what it says: flipped, it changes a conversation.

use crate::conversation::{host, profile, receiver, sender};
use fullpipe_sim::tcp::profile::{InitialCwnd, PktsAcked, Profile};

fn sender_with(change: impl Fn(&mut Profile)) -> sender::Setup {
    sender::Setup { profile: profile(change), ..sender::Setup::default() }
}

fn tso_sender_with(change: impl Fn(&mut Profile)) -> sender::Setup {
    let mut host = host();
    host.tso = true;
    sender::Setup { host, ..sender_with(change) }
}

/// Two to four segments by their size, or ten.
#[test]
fn initial_cwnd() {
    sender_with(|_| {}).check(
        "
          ms | event          | cwnd ssthresh flight state | sent
           0 | established 64 | 4 - 0 Open                 |
           0 | write 12       | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
        ",
    );
    sender_with(|p| p.initial_cwnd = InitialCwnd::Ten).check(
        "
          ms | event          | cwnd ssthresh flight state | sent
           0 | established 64 | 10 - 0 Open                |
           0 | write 12       | 10 - 10 Open               | 0..1 1..2 2..3 3..4 4..5 5..6 6..7 7..8 8..9 9..10
        ",
    );
}

/// Packets that CUBIC counts for an ACK of an skb of four segments: one, or four. It divides its growth by the mean.
#[test]
fn pkts_acked() {
    let cubic = |change: fn(&mut Profile)| {
        let parameters = vec![("initial_ssthresh".into(), 2)];
        sender::Setup { congestion: "cubic", parameters, ..tso_sender_with(change) }
    };
    cubic(|_| {}).check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 8    | 4 2 0 Open                 |
            0 | write 400        | 4 2 4 Open                 | 0..4
          100 | acks 0..160 by 4 | 5 2 5 Open                 | 55 skbs up to 164..165
        ",
    );
    cubic(|p| p.pkts_acked = PktsAcked::Segments).check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 8    | 4 2 0 Open                 |
            0 | write 400        | 4 2 4 Open                 | 0..4
          100 | acks 0..160 by 4 | 6 2 6 Open                 | 57 skbs up to 164..166
        ",
    );
}

/// A segment that raises rcv_ssthresh is acknowledged at once, or after a second one.
#[test]
fn quick_ack_on_growth() {
    let receiver = |change: fn(&mut Profile)| receiver::Setup {
        profile: profile(change),
        ..receiver::Setup::default()
    };
    receiver(|_| {}).check(
        "
          ms | event       | readable rcv_ssthresh memory | sent
           0 | stream 0..4 | 0 12 0                       | 4 acks: ack 4 window 12.288
           0 | data 4..5   | 1 14 1.256                   | ack 5 window 14.336
           0 | data 5..6   | 2 16 2.512                   | ack 6 window 16.384
        ",
    );
    receiver(|p| p.quick_ack_on_growth = false).check(
        "
          ms | event       | readable rcv_ssthresh memory | sent
           0 | stream 0..4 | 0 12 0                       | 3 acks: ack 4 window 12.288
           0 | data 4..5   | 1 14 1.256                   |
           0 | data 5..6   | 2 16 2.512                   | ack 6 window 16.384
        ",
    );
}

/// An skb is at most half of the largest window seen, or as large as the card takes.
#[test]
fn size_goal_half_window() {
    tso_sender_with(|_| {}).check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 6   | 4 - 0 Open                 |
            0 | write 20        | 4 - 4 Open                 | 0..3 3..4
          100 | ack 4 window 64 | 5 - 5 Open                 | 4..7 7..9
        ",
    );
    tso_sender_with(|p| p.size_goal_half_window = false).check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 6   | 4 - 0 Open                 |
            0 | write 20        | 4 - 4 Open                 | 0..4
          100 | ack 4 window 64 | 5 - 5 Open                 | 4..9
        ",
    );
}

/// Cwnd after a dubious ACK is at most the packets in flight and three more, or stays.
#[test]
fn moderate_cwnd() {
    sender_with(|_| {}).check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 64  | 4 - 0 Open                 |
            0 | write 40        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1  | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..6 | 8 - 8 Disorder             | 12..13
          200 | ack 12          | 4 - 4 Open                 | 13..14 14..15 15..16
        ",
    );
    sender_with(|p| p.moderate_cwnd = false).check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 64  | 4 - 0 Open                 |
            0 | write 40        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1  | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..6 | 8 - 8 Disorder             | 12..13
          200 | ack 12          | 9 - 9 Open                 | 13..14 14..15 15..16 16..17 17..18 18..19 19..20 20..21
        ",
    );
}

/// Distance of the highest SACK above the hole at which the hole is a loss.
#[test]
fn reordering() {
    sender_with(|_| {}).check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 64  | 4 - 0 Open                 |
            0 | write 40        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1  | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..7 | 8 - 8 Disorder             | 12..13 13..14
          200 | ack 4 sack 5..8 | 7 4 7 Recovery             | R4..5
          200 | ack 4 sack 5..9 | 6 4 6 Recovery             |
        ",
    );
    let mut four = host();
    four.sysctl.tcp_reordering = 4;
    sender::Setup { host: four, ..sender_with(|_| {}) }.check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 64  | 4 - 0 Open                 |
            0 | write 40        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1  | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..7 | 8 - 8 Disorder             | 12..13 13..14
          200 | ack 4 sack 5..8 | 8 - 8 Disorder             | 14..15
          200 | ack 4 sack 5..9 | 7 4 7 Recovery             | R4..5
        ",
    );
}

/// The least retransmission timeout.
#[test]
fn rto_min() {
    sender_with(|_| {}).check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 1        | 4 - 1 Open                 | 0..1
          201 | timer          | 1 2 1 Loss                 | R0..1
        ",
    );
    sender_with(|p| p.rto_min_ms = 500).check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 1        | 4 - 1 Open                 | 0..1
          501 | timer          | 1 2 1 Loss                 | R0..1
        ",
    );
}

/// A window with TSO of which less than a third, or a tenth, is unused still grows.
#[test]
fn tso_win_divisor() {
    tso_sender_with(|_| {}).check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 12       | 4 - 4 Open                 | 0..4
          100 | acks 0..4 by 1 | 8 - 8 Open                 | 4..6 6..8 8..10 10..12
          200 | ack 12         | 9 - 0 Open                 |
          210 | write 7        | 9 - 7 Open                 | 12..19
          300 | ack 19         | 10 - 0 Open                |
        ",
    );
    tso_sender_with(|p| p.tso_win_divisor = 10).check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 12       | 4 - 4 Open                 | 0..4
          100 | acks 0..4 by 1 | 8 - 8 Open                 | 4..6 6..8 8..10 10..12
          200 | ack 12         | 9 - 0 Open                 |
          210 | write 7        | 9 - 7 Open                 | 12..19
          300 | ack 19         | 9 - 0 Open                 |
        ",
    );
}
