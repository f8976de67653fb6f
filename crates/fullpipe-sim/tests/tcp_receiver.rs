//! Golden conversations with the receiving endpoint of Linux 2.6.20: when it acknowledges, and what
//! window it tells. A segment of 1000 bytes takes 1256 bytes of the buffer.

mod conversation;

use conversation::host;
use conversation::receiver::Setup;

/// Each segment that raises rcv_ssthresh (by two segments) is acknowledged at once.
#[test]
fn every_segment_is_acknowledged_while_the_window_opens() {
    Setup::default().check(
        "
          ms | event     | readable rcv_ssthresh memory | sent
           0 | data 0..1 | 1 6 1.256                    | ack 1 window 6.144
           0 | read      | 0 6 0                        |
           0 | data 1..2 | 1 8 1.256                    | ack 2 window 8.192
           0 | data 2..3 | 2 10 2.512                   | ack 3 window 10.24
           1 | read      | 0 10 0                       |
           1 | data 3..4 | 1 12 1.256                   | ack 4 window 12.288
           1 | data 4..5 | 2 14 2.512                   | ack 5 window 14.336
           1 | read      | 0 14 0                       |
        ",
    );
}

/// A clamp of 65,535 below the buffer's space: from there on one ACK for two segments, read or not.
#[test]
fn a_clamp_below_the_space_gives_one_ack_for_two_segments() {
    let mut host = host();
    host.sysctl.tcp_window_scaling = false;
    Setup { host, rcvbuf: Some(100_000), ..Setup::default() }.check(
        "
          ms | event         | readable rcv_ssthresh memory | sent
           0 | stream 0..30  | 0 64 0                       | 30 acks: ack 30 window 64
           0 | stream 30..35 | 0 65.535 0                   | 4 acks: ack 35 window 65
           0 | data 35..36   | 1 65.535 1.256               |
           0 | data 36..37   | 2 65.535 2.512               | ack 37 window 65
           0 | data 37..38   | 3 65.535 3.768               |
           0 | data 38..39   | 4 65.535 5.024               | ack 39 window 65
           1 | read          | 0 65.535 0                   |
           1 | stream 39..59 | 0 65.535 0                   | 10 acks: ack 59 window 65
        ",
    );
}

/// Once the window is as large as the buffer allows, two segments that wait for the reader are not
/// acknowledged: the window would have to shrink. The reader's ACK tells of all.
#[test]
fn a_full_window_waits_for_the_reader() {
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(
        "
          ms | event       | readable rcv_ssthresh memory | sent
           0 | stream 0..3 | 0 10 0                       | 3 acks: ack 3 window 10.24
           0 | stream 3..6 | 0 11 0                       | 3 acks: ack 6 window 11.264
           0 | data 6..7   | 1 11 1.256                   |
           0 | data 7..8   | 2 11 2.512                   |
           0 | data 8..9   | 3 11 3.768                   |
           0 | read        | 0 11 0                       | ack 9 window 11.264
           1 | data 9..10  | 1 11 1.256                   |
        ",
    );
}

/// A single segment waits for the delayed ACK: 40 ms, then longer each time.
#[test]
fn a_single_segment_is_acknowledged_late() {
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(
        "
            ms | event       | readable rcv_ssthresh memory | sent
             0 | stream 0..8 | 0 11 0                       | 7 acks: ack 8 window 11.264
             0 | data 8..9   | 1 11 1.256                   |
            40 | timer       | 1 11 1.256                   | ack 9 window 11.264
           300 | read        | 0 11 0                       |
           300 | data 9..10  | 1 11 1.256                   |
           380 | timer       | 1 11 1.256                   | ack 10 window 11.264
           600 | data 10..11 | 2 11 2.512                   |
           650 | data 11..12 | 3 11 3.768                   |
           760 | timer       | 3 11 3.768                   | ack 12 window 9.216
           900 | data 12..13 | 4 11 5.024                   |
          1100 | timer       | 4 11 5.024                   | ack 13 window 8.704
        ",
    );
}

/// The reader sleeps: the window closes without taking anything back, and opens again when it has at
/// least doubled.
#[test]
fn a_sleeping_reader_closes_the_window() {
    Setup { rcvbuf: Some(4_000), ..Setup::default() }.check(
        "
           ms | event     | readable rcv_ssthresh memory | sent
            0 | data 0..1 | 1 5 1.256                    | ack 1 window 5.12
            0 | data 1..2 | 2 5 2.512                    | ack 2 window 4.608
            0 | data 2..3 | 3 5 3.768                    | ack 3 window 3.584
            0 | data 3..4 | 4 5 5.024                    |
            0 | data 4..5 | 5 5 6.28                     |
           40 | timer     | 5 5 6.28                     | ack 5 window 1.536
           50 | data 5..6 | 6 5 7.536                    |
          140 | timer     | 6 5 7.536                    | ack 6 window 0.512
          200 | probe     | 6 5 7.536                    | ack 6 window 0.512
          300 | read 0.5  | 5.5 5 7.536                  |
          300 | read 0.5  | 5 5 6.28                     | ack 6 window 1.536
          300 | read 1    | 4 5 5.024                    |
          300 | read 1    | 3 5 3.768                    | ack 6 window 3.584
          300 | read 1    | 2 5 2.512                    |
          300 | read 1    | 1 5 1.256                    |
        ",
    );
}

/// Out of order: an ACK for each segment, the block that grew last first. The hole is filled: an ACK
/// at once.
#[test]
fn sack_blocks_come_most_recent_first() {
    Setup::default().check(
        "
          ms | event       | readable rcv_ssthresh memory | sent
           0 | stream 0..2 | 0 8 0                        | 2 acks: ack 2 window 8.192
           0 | data 3..4   | 0 8 1.256                    | ack 2 window 8.192 sack 3..4
           0 | data 5..6   | 0 8 2.512                    | ack 2 window 8.192 sack 5..6 3..4
           0 | data 4..5   | 0 8 3.768                    | ack 2 window 8.192 sack 3..6
           0 | data 7..7.5 | 0 8 4.524                    | ack 2 window 8.192 sack 7..7.5 3..6
           0 | data 7..7.5 | 0 8 4.524                    | ack 2 window 8.192 sack 7..7.5 7..7.5 3..6
           1 | data 2..3   | 4 10 5.78                    | ack 6 window 10.24 sack 7..7.5
           1 | read        | 0 10 0.756                   |
           1 | data 6..7   | 1.5 12 2.012                 | ack 7.5 window 12.288
           1 | read        | 0 12 0                       |
        ",
    );
}

/// Small segments beyond a hole have filled the memory: they are thrown away for the next one.
#[test]
fn the_next_segment_gets_room() {
    Setup { rcvbuf: Some(2_000), ..Setup::default() }.check(
        "
          ms | event                 | readable rcv_ssthresh memory | sent
           0 | data 0..1             | 1 2 1.256                    | ack 1 window 2.048
           0 | read                  | 0 2 0                        |
           0 | pieces 2..2.5 by 0.05 | 0 2 3.06                     | 10 acks: ack 1 window 2.048 sack 2..2.5
           0 | pieces 2.5..3 by 0.05 | 0 2 4.284                    | 10 acks: ack 1 window 2.048 sack 2..2.7
           0 | data 1..2             | 1 2 1.256                    |
           0 | read                  | 0 2 0                        |
           0 | data 2..2.05          | 0.05 2 0.306                 | ack 2.05 window 2.048
        ",
    );
}
