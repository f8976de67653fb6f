//! Golden conversations with the sending endpoint of Linux 2.6.20: cwnd and what it lets go.

use crate::conversation::host;
use crate::conversation::sender::Setup;

/// Every ACK of an open window allows two segments, and cwnd grows by one. An ACK of two segments counts as one.
#[test]
fn slow_start_grows_by_one_per_ack() {
    Setup::default().check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 40       | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | ack 1          | 5 - 5 Open                 | 4..5 5..6
          100 | ack 2          | 6 - 6 Open                 | 6..7 7..8
          100 | ack 3          | 7 - 7 Open                 | 8..9 9..10
          100 | ack 4          | 8 - 8 Open                 | 10..11 11..12
          200 | ack 6          | 9 - 9 Open                 | 12..13 13..14 14..15
          200 | ack 8          | 10 - 10 Open               | 15..16 16..17 17..18
        ",
    );
}

/// Reno above ssthresh: one more after cwnd + 1 ACKs.
#[test]
fn congestion_avoidance_counts_acks() {
    Setup::default().check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 64   | 4 - 0 Open                 |
            0 | write 60         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | full             | 4 - 4 Open                 |
          100 | ack 1            | 4 2 3 Cwr                  | x4..5
          100 | room             | 4 2 3 Cwr                  |
          100 | acks 1..4 by 1   | 2 2 2 Cwr                  | 4..5 5..6
          200 | ack 5            | 2 2 2 Open                 | 6..7
          200 | ack 6            | 3 2 3 Open                 | 7..8 8..9
          300 | ack 7            | 3 2 3 Open                 | 9..10
          300 | acks 7..9 by 1   | 4 2 4 Open                 | 10..11 11..12 12..13
          400 | acks 9..13 by 1  | 4 2 4 Open                 | 13..14 14..15 15..16 16..17
          500 | acks 13..17 by 1 | 5 2 5 Open                 | 17..18 18..19 19..20 20..21 21..22
          600 | ack 18           | 5 2 5 Open                 | 22..23
        ",
    );
}

/// Data written in small pieces: a partial segment waits only while another partial one is out, and grows meanwhile; a
/// full one never waits.
#[test]
fn nagle_holds_back_the_second_partial_segment() {
    Setup::default().check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 0.3      | 4 - 1 Open                 | 0..0.3
           10 | write 0.3      | 4 - 1 Open                 |
           20 | write 0.3      | 4 - 1 Open                 |
          100 | ack 0.3        | 4 - 1 Open                 | 0.3..0.9
          110 | write 1.5      | 4 - 2 Open                 | 0.9..1.9
          200 | ack 0.9        | 4 - 2 Open                 | 1.9..2.4
          210 | ack 2.4        | 4 - 0 Open                 |
        ",
    );
}

/// A send buffer of 12,000 bytes holds 8 skbs; the writer wakes when a third of it is free.
#[test]
fn a_full_send_buffer_limits_and_cwnd_stays() {
    Setup { sndbuf: Some(6000), ..Setup::default() }.check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 20       | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | ack 1          | 5 - 5 Open                 | 4..5 5..6
          100 | ack 2          | 6 - 6 Open                 | 6..7 7..8
          100 | ack 3          | 7 - 7 Open                 | 8..9 9..10
          100 | ack 4          | 8 - 7 Open                 | 10..11
          200 | ack 6          | 8 - 8 Open                 | 11..12 12..13 13..14
        ",
    );
}

/// The size of an skb is fixed when it is written: half of the largest window seen. What is written
/// later completes the last one. cwnd cuts skbs at whole segments.
#[test]
fn skbs_keep_their_size_and_are_cut_by_cwnd() {
    let mut host = host();
    host.tso = true;
    Setup { host, ..Setup::default() }.check(
        "
           ms | event           | cwnd ssthresh flight state | sent
            0 | established 8   | 4 - 0 Open                 |
            0 | write 20        | 4 - 4 Open                 | 0..4
          100 | ack 2 window 64 | 5 - 5 Open                 | 4..7
          100 | ack 4           | 6 - 6 Open                 | 7..8 8..10
          200 | write 30        | 6 - 6 Open                 |
          200 | ack 10          | 7 - 7 Open                 | 10..12 12..16 16..17
          300 | ack 17          | 8 - 8 Open                 | 17..25
        ",
    );
}

/// Probes back off without data; a window smaller than a segment gets a part of one.
#[test]
fn a_closed_window_is_probed() {
    Setup::default().check(
        "
            ms | event            | cwnd ssthresh flight state | sent
             0 | established 2    | 4 - 0 Open                 |
             0 | write 10         | 4 - 2 Open                 | 0..1 1..2
           100 | ack 2 window 0   | 4 - 0 Open                 |
           313 | timer            | 4 - 0 Open                 | probe
           739 | timer            | 4 - 0 Open                 | probe
          1591 | timer            | 4 - 0 Open                 | probe
          2000 | ack 2 window 0   | 4 - 0 Open                 |
          2100 | ack 2 window 0.5 | 4 - 0 Open                 |
          3804 | timer            | 4 - 1 Open                 | 2..2.5
          3900 | ack 2.5 window 4 | 4 - 4 Open                 | 2.5..3 3..4 4..5 5..6
        ",
    );
}

/// The qdisc takes nothing although nothing is in flight: the probe timer tries again.
#[test]
fn a_refused_first_segment_is_tried_again() {
    Setup::default().check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | full           | 4 - 0 Open                 |
            0 | write 2        | 1 2 0 Cwr                  | x0..1 x0..1
          201 | timer          | 1 2 0 Cwr                  | x0..1
          300 | room           | 1 2 0 Cwr                  |
          402 | timer          | 1 2 1 Cwr                  | 0..1
          500 | ack 1          | 1 2 1 Open                 | 1..2
        ",
    );
}

/// A probe that the qdisc refuses is tried again after half a second, whatever the probes' backoff, and does not back
/// off further.
#[test]
fn a_refused_probe_is_tried_again_soon() {
    Setup::default().check(
        "
            ms | event            | cwnd ssthresh flight state | sent
             0 | established 2    | 4 - 0 Open                 |
             0 | write 10         | 4 - 2 Open                 | 0..1 1..2
           100 | ack 2 window 0   | 4 - 0 Open                 |
           313 | timer            | 4 - 0 Open                 | probe
           739 | timer            | 4 - 0 Open                 | probe
          1591 | timer            | 4 - 0 Open                 | probe
          1600 | full             | 4 - 0 Open                 |
          3295 | timer            | 1 2 0 Cwr                  | xprobe
          3795 | timer            | 1 2 0 Cwr                  | xprobe
          3800 | room             | 1 2 0 Cwr                  |
          4295 | timer            | 1 2 0 Cwr                  | probe
          7703 | timer            | 1 2 0 Cwr                  | probe
        ",
    );
}

/// Probes continue, and stay backed off, while the answers admit less than the whole next skb. Once one admits it, they
/// end.
#[test]
fn probes_end_when_the_next_segment_may_go() {
    Setup::default().check(
        "
            ms | event            | cwnd ssthresh flight state | sent
             0 | established 2    | 4 - 0 Open                 |
             0 | write 10         | 4 - 2 Open                 | 0..1 1..2
           100 | ack 2 window 0   | 4 - 0 Open                 |
           313 | timer            | 4 - 0 Open                 | probe
           739 | timer            | 4 - 0 Open                 | probe
           800 | ack 2 window 0.9 | 4 - 0 Open                 |
          1000 | ack 2 window 1   | 4 - 1 Open                 | 2..3
          1213 | timer            | 1 2 1 Loss                 | R2..3
        ",
    );
}

/// The timeout doubles each time; the segments of the window follow in slow start.
#[test]
fn a_timeout_backs_off() {
    Setup::default().check(
        "
            ms | event          | cwnd ssthresh flight state | sent
             0 | established 64 | 4 - 0 Open                 |
             0 | write 12       | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
           100 | ack 1          | 5 - 5 Open                 | 4..5 5..6
           100 | ack 2          | 6 - 6 Open                 | 6..7 7..8
           100 | ack 3          | 7 - 7 Open                 | 8..9 9..10
           333 | timer          | 1 3 1 Loss                 | R3..4
           799 | timer          | 1 3 1 Loss                 | R3..4
          1731 | timer          | 1 3 1 Loss                 | R3..4
          3000 | ack 4          | 2 3 2 Loss                 | R4..5 R5..6
          3100 | ack 6          | 3 3 3 Loss                 | R6..7 R7..8 R8..9
          3200 | ack 10         | 3 3 2 Open                 | 10..11 11..12
          5064 | timer          | 1 2 1 Loss                 | R10..11
        ",
    );
}

/// An ACK of data sent twice measures nothing without timestamps, and the backoff stays.
#[test]
fn karn_keeps_the_backoff() {
    Setup::default().check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 4        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          201 | timer          | 1 2 1 Loss                 | R0..1
          603 | timer          | 1 2 1 Loss                 | R0..1
          700 | ack 1          | 2 2 2 Loss                 | R1..2 R2..3
         1504 | timer          | 1 2 1 Loss                 | R1..2
        ",
    );
}

/// Timestamps measure from the last transmission.
#[test]
fn timestamps_end_the_backoff() {
    let mut host = host();
    host.timestamps = true;
    Setup { host, ..Setup::default() }.check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 4        | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          201 | timer          | 1 2 1 Loss                 | R0..1
          603 | timer          | 1 2 1 Loss                 | R0..1
          700 | ack 1 echo 603 | 2 2 2 Loss                 | R1..2 R2..3
          913 | timer          | 1 2 1 Loss                 | R1..2
        ",
    );
}

/// FACK: recovery begins when the highest SACK lies more than three segments above the first hole.
/// Rate halving takes one off cwnd for every second ACK, down to no more than is in flight plus one.
/// Afterwards Disorder waits for D-SACKs, until something sent later is acknowledged.
#[test]
fn fast_retransmit_and_rate_halving() {
    Setup::default().check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 64   | 4 - 0 Open                 |
            0 | write 40         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | ack 1            | 5 - 5 Open                 | 4..5 5..6
          100 | ack 2            | 6 - 6 Open                 | 6..7 7..8
          100 | ack 3            | 7 - 7 Open                 | 8..9 9..10
          100 | ack 4            | 8 - 8 Open                 | 10..11 11..12
          200 | ack 4 sack 5..6  | 8 - 8 Disorder             | 12..13
          200 | ack 4 sack 5..7  | 8 - 8 Disorder             | 13..14
          200 | ack 4 sack 5..8  | 7 4 7 Recovery             | R4..5
          200 | ack 4 sack 5..9  | 6 4 6 Recovery             |
          200 | ack 4 sack 5..10 | 6 4 6 Recovery             | 14..15
          200 | ack 4 sack 5..11 | 5 4 5 Recovery             |
          200 | ack 4 sack 5..12 | 5 4 5 Recovery             | 15..16
          300 | ack 12           | 4 4 4 Recovery             |
          300 | ack 13           | 4 4 4 Recovery             | 16..17
          300 | ack 14           | 4 4 4 Disorder             | 17..18
          300 | ack 15           | 5 4 5 Disorder             | 18..19 19..20
        ",
    );
}

/// Three below the highest SACK, a hole is a loss at once.
#[test]
fn a_second_hole_is_marked_by_the_distance_to_the_highest_sack() {
    Setup::default().check(
        "
           ms | event                     | cwnd ssthresh flight state | sent
            0 | established 64            | 4 - 0 Open                 |
            0 | write 60                  | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | ack 4                     | 5 - 5 Open                 | 4..5 5..6 6..7 7..8 8..9
          200 | ack 9                     | 6 - 6 Open                 | 9..10 10..11 11..12 12..13 13..14 14..15
          300 | acks 9..14 by 1           | 11 - 11 Open               | 15..16 16..17 17..18 18..19 19..20 20..21 21..22 22..23 23..24 24..25
          400 | ack 15                    | 12 - 12 Open               | 25..26 26..27
          400 | ack 15 sack 16..17        | 12 - 12 Disorder           | 27..28
          400 | ack 15 sack 16..18        | 12 - 12 Disorder           | 28..29
          400 | ack 15 sack 19..20 16..18 | 11 6 11 Recovery           | R15..16
          400 | ack 15 sack 19..21 16..18 | 10 6 10 Recovery           |
          400 | ack 15 sack 19..22 16..18 | 9 6 9 Recovery             | R18..19
          400 | ack 15 sack 19..23 16..18 | 8 6 8 Recovery             |
          400 | ack 15 sack 19..24 16..18 | 8 6 8 Recovery             | 29..30
          500 | ack 18 sack 19..24        | 7 6 7 Recovery             |
          500 | ack 18 sack 19..25        | 7 6 7 Recovery             | 30..31
          500 | ack 25                    | 6 6 6 Recovery             |
          500 | ack 27                    | 5 6 5 Recovery             | 31..32
        ",
    );
}

/// The ACK that said 16..19 was lost; the next one says it as its second block.
#[test]
fn what_a_lost_ack_said_is_learnt_from_the_next() {
    Setup::default().check(
        "
           ms | event                     | cwnd ssthresh flight state | sent
            0 | established 64            | 4 - 0 Open                 |
            0 | write 60                  | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | ack 4                     | 5 - 5 Open                 | 4..5 5..6 6..7 7..8 8..9
          200 | ack 9                     | 6 - 6 Open                 | 9..10 10..11 11..12 12..13 13..14 14..15
          300 | acks 9..14 by 1           | 11 - 11 Open               | 15..16 16..17 17..18 18..19 19..20 20..21 21..22 22..23 23..24 24..25
          400 | ack 15                    | 12 - 12 Open               | 25..26 26..27
          400 | ack 15 sack 16..17        | 12 - 12 Disorder           | 27..28
          400 | ack 15 sack 20..21 16..19 | 9 6 9 Recovery             | R15..16
        ",
    );
}

/// A lost retransmission is found by the timer alone.
#[test]
fn a_lost_retransmission_costs_a_timeout() {
    Setup::default().check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 64   | 4 - 0 Open                 |
            0 | write 40         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1   | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..6  | 8 - 8 Disorder             | 12..13
          200 | ack 4 sack 5..7  | 8 - 8 Disorder             | 13..14
          200 | ack 4 sack 5..8  | 7 4 7 Recovery             | R4..5
          200 | ack 4 sack 5..12 | 4 4 4 Recovery             | 14..15
          300 | ack 4 sack 5..14 | 3 4 3 Recovery             | 15..16
          459 | timer            | 1 4 1 Loss                 | R4..5
          600 | ack 15           | 2 4 2 Loss                 | R15..16 16..17
          700 | ack 17           | 3 4 3 Open                 | 17..18 18..19 19..20
        ",
    );
}

/// The receiver asks for what it had SACKed: the SACKs no longer hold, everything is sent again.
#[test]
fn a_receiver_that_reneges_is_believed() {
    Setup::default().check(
        "
           ms | event            | cwnd ssthresh flight state | sent
            0 | established 64   | 4 - 0 Open                 |
            0 | write 40         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1   | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | ack 4 sack 5..12 | 1 4 1 Recovery             | R4..5
          300 | ack 5            | 1 4 1 Loss                 | R5..6
          400 | ack 6            | 2 4 2 Loss                 | R6..7 R7..8
          500 | ack 8            | 3 4 3 Loss                 | R8..9 R9..10 R10..11
        ",
    );
}

/// The qdisc is full: cwnd is reduced, nothing is retransmitted; the refused segment goes when cwnd
/// lets it.
#[test]
fn local_congestion_reduces_without_retransmission() {
    Setup::default().check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 64 | 4 - 0 Open                 |
            0 | write 60       | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
          100 | acks 0..4 by 1 | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
          200 | full           | 8 - 8 Open                 |
          200 | ack 5          | 8 4 7 Cwr                  | x12..13
          200 | room           | 8 4 7 Cwr                  |
          200 | ack 6          | 7 4 7 Cwr                  | 12..13
          200 | ack 7          | 6 4 6 Cwr                  |
          200 | ack 8          | 6 4 6 Cwr                  | 13..14
          200 | ack 9          | 5 4 5 Cwr                  |
          200 | ack 10         | 5 4 5 Cwr                  | 14..15
          200 | ack 11         | 4 4 4 Cwr                  |
          200 | ack 12         | 4 4 4 Cwr                  | 15..16
          300 | ack 13         | 4 4 4 Open                 | 16..17
          300 | ack 14         | 5 4 5 Open                 | 17..18 18..19
        ",
    );
}

/// A window that was not used for a timeout decays to the mean of itself and what was used.
#[test]
fn an_unused_window_is_validated() {
    let mut host = host();
    host.sysctl.tcp_slow_start_after_idle = false;
    Setup { host, ..Setup::default() }.check(
        "
            ms | event            | cwnd ssthresh flight state | sent
             0 | established 64   | 4 - 0 Open                 |
             0 | write 28         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
           100 | acks 0..4 by 1   | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
           200 | acks 4..12 by 4  | 10 - 10 Open               | 12..13 13..14 14..15 15..16 16..17 17..18 18..19 19..20 20..21 21..22
           300 | acks 12..28 by 8 | 11 - 0 Open                | 22..23 23..24 24..25 25..26 26..27 27..28
           700 | write 5          | 9 - 5 Open                 | 28..29 29..30 30..31 31..32 32..33
           800 | ack 33           | 9 - 0 Open                 |
          1200 | write 5          | 7 - 5 Open                 | 33..34 34..35 35..36 36..37 37..38
          1300 | ack 38           | 7 - 0 Open                 |
          1700 | write 20         | 6 - 6 Open                 | 38..39 39..40 40..41 41..42 42..43 43..44
        ",
    );
}

/// Cwnd halves after idle time for every timeout that passed, down to the initial window.
#[test]
fn slow_start_follows_idle_time() {
    Setup::default().check(
        "
            ms | event            | cwnd ssthresh flight state | sent
             0 | established 64   | 4 - 0 Open                 |
             0 | write 28         | 4 - 4 Open                 | 0..1 1..2 2..3 3..4
           100 | acks 0..4 by 1   | 8 - 8 Open                 | 4..5 5..6 6..7 7..8 8..9 9..10 10..11 11..12
           200 | acks 4..12 by 4  | 10 - 10 Open               | 12..13 13..14 14..15 15..16 16..17 17..18 18..19 19..20 20..21 21..22
           300 | acks 12..28 by 8 | 11 - 0 Open                | 22..23 23..24 24..25 25..26 26..27 27..28
           500 | write 7          | 11 - 7 Open                | 28..29 29..30 30..31 31..32 32..33 33..34 34..35
           600 | ack 35           | 11 - 0 Open                |
           900 | write 3          | 5 - 3 Open                 | 35..36 36..37 37..38
          1000 | ack 38           | 5 - 0 Open                 |
          9000 | write 40         | 4 - 4 Open                 | 38..39 39..40 40..41 41..42
        ",
    );
}
