//! Golden conversations with the receiving endpoint of Linux 2.6.20: times and windows of ACKs. A segment of 1000 bytes
//! takes 1256 bytes of the buffer.

use crate::conversation::receiver::Setup;
use crate::conversation::{SEGMENT, host, profile};
use fullpipe_sim::config::Host;
use fullpipe_sim::packet::Ecn;
use fullpipe_sim::tcp::profile::{DelackMax, Profile, find};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;

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

/// Once the window is as large as the buffer allows, two unread segments are not acknowledged: the window would have to
/// shrink. The reader's ACK covers all.
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
          1280 | timer       | 4 11 5.024                   | ack 13 window 8.704
          2000 | data 13..14 | 5 11 6.28                    |
          2500 | timer       | 5 11 6.28                    | ack 14 window 7.68
        ",
    );
}

/// The delayed ACK waits 200 ms at most after a segment smaller than the others, else half a second.
#[test]
fn a_small_segment_is_acknowledged_sooner() {
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(
        "
            ms | event        | readable rcv_ssthresh memory | sent
             0 | stream 0..8  | 0 11 0                       | 7 acks: ack 8 window 11.264
             0 | data 8..9    | 1 11 1.256                   |
            40 | timer        | 1 11 1.256                   | ack 9 window 11.264
           300 | read         | 0 11 0                       |
           300 | data 9..10   | 1 11 1.256                   |
           380 | timer        | 1 11 1.256                   | ack 10 window 11.264
           600 | data 10..11  | 2 11 2.512                   |
           760 | timer        | 2 11 2.512                   | ack 11 window 10.24
          1000 | data 11..11.5 | 2.5 11 3.268                |
          1200 | timer        | 2.5 11 3.268                 | ack 11.5 window 9.728
        ",
    );
}

/// The timer has doubled the wait to 320 ms. 2.6.20 waits so long, with a bound of half a second
/// (`tcp_send_delayed_ack`). 5.10 waits a fifth (`icsk_delack_max`), 6.12 also a jiffy less than the least timeout
/// (`tcp_delack_max`).
#[test]
fn newer_kernels_wait_a_fifth_of_a_second_at_most() {
    let rules = [(DelackMax::Half, 1620), (DelackMax::Fifth, 1500), (DelackMax::BelowRtoMin, 1499)];
    for (rule, last) in rules {
        let profile = profile(|p| p.delack_max = rule);
        Setup { profile, rcvbuf: Some(8_000), ..Setup::default() }.check(&format!(
            "
            ms | event        | readable rcv_ssthresh memory | sent
             0 | stream 0..8  | 0 11 0                       | 7 acks: ack 8 window 11.264
             0 | data 8..9    | 1 11 1.256                   |
            40 | timer        | 1 11 1.256                   | ack 9 window 11.264
           300 | read         | 0 11 0                       |
           300 | data 9..10   | 1 11 1.256                   |
           380 | timer        | 1 11 1.256                   | ack 10 window 11.264
           600 | data 10..11  | 2 11 2.512                   |
           760 | timer        | 2 11 2.512                   | ack 11 window 10.24
          1300 | data 11..12  | 3 11 3.768                   |
          {last} | timer        | 3 11 3.768                   | ack 12 window 9.216
        "
        ));
    }
}

/// 2.6.20 remembers gaps up to the timeout (here 3 s), 6.12 up to a fifth of a second (`tcp_event_data_recv`). After
/// three ACKs by the timer the wait is 320 or 200 ms. The second of two segments in a row halves it, to 180 or 120 ms.
#[test]
fn newer_kernels_learn_a_fifth_of_a_second_at_most() {
    for (rule, last) in [(DelackMax::Fifth, 1490), (DelackMax::BelowRtoMin, 1430)] {
        let profile = profile(|p| p.delack_max = rule);
        Setup { profile, rcvbuf: Some(8_000), ..Setup::default() }.check(&format!(
            "
            ms | event        | readable rcv_ssthresh memory | sent
             0 | stream 0..8  | 0 11 0                       | 7 acks: ack 8 window 11.264
             0 | data 8..9    | 1 11 1.256                   |
            40 | timer        | 1 11 1.256                   | ack 9 window 11.264
           300 | read         | 0 11 0                       |
           300 | data 9..10   | 1 11 1.256                   |
           380 | timer        | 1 11 1.256                   | ack 10 window 11.264
           600 | data 10..11  | 2 11 2.512                   |
           760 | timer        | 2 11 2.512                   | ack 11 window 10.24
          1290 | read         | 0 11 0                       |
          1300 | data 11..12  | 1 11 1.256                   |
          1310 | data 12..13  | 2 11 2.512                   |
          {last} | timer        | 2 11 2.512                   | ack 13 window 10.24
        "
        ));
    }
}

/// A second segment soon after the first one halves the wait. The delayed ACK's timer, which was due at 760 ms, fires
/// sooner. A later time leaves the timer unchanged.
#[test]
fn a_delayed_ack_keeps_the_sooner_of_two_times() {
    let table = |gap: u64, due: u64| {
        format!(
            "
            ms | event       | readable rcv_ssthresh memory | sent
             0 | stream 0..8 | 0 11 0                       | 7 acks: ack 8 window 11.264
             0 | data 8..9   | 1 11 1.256                   |
            40 | timer       | 1 11 1.256                   | ack 9 window 11.264
           300 | read        | 0 11 0                       |
           300 | data 9..10  | 1 11 1.256                   |
           380 | timer       | 1 11 1.256                   | ack 10 window 11.264
           600 | data 10..11 | 2 11 2.512                   |
           {gap} | data 11..12 | 3 11 3.768                 |
           {due} | timer     | 3 11 3.768                   | ack 12 window 9.216
            "
        )
    };
    // 610 + 160 / 2 + 20; 650 + 160 / 2 + 50 would be 780.
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(&table(610, 710));
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(&table(650, 760));
}

/// A delayed ACK that is due within a quarter of its time goes at once.
#[test]
fn a_delayed_ack_that_is_nearly_due_goes_at_once() {
    Setup { rcvbuf: Some(8_000), ..Setup::default() }.check(
        "
           ms | event        | readable rcv_ssthresh memory | sent
            0 | stream 0..8  | 0 11 0                       | 7 acks: ack 8 window 11.264
            0 | data 8..8.2  | 0.2 11 0.456                 |
           27 | data 8.2..8.4 | 0.4 11 0.912                |
           32 | data 8.4..8.6 | 0.6 11 1.368                | ack 8.6 window 11.264
        ",
    );
}

/// Waits of ACKs, ms, for one segment every `gap` ms after a handshake of `rtt` ms.
fn waits(host: &Host, profile: &Profile, rtt: u64, gap: u64) -> Vec<u64> {
    let mut tcp = Receiver::new(profile, host, SEGMENT, Some(8_000));
    tcp.on_syn(Time::ZERO);
    tcp.on_accept(Time::ms(rtt), 0, false);
    // The first segments are acknowledged at once.
    (0..20u32)
        .filter_map(|i| {
            let now = Time::ms(200 + gap * u64::from(i));
            let segment = Segment {
                seq: u64::from(i * SEGMENT),
                len: SEGMENT,
                tsval: 1,
                ..Segment::default()
            };
            let at_once = tcp.on_segment(now, segment);
            tcp.read(now, tcp.readable());
            let due = tcp.acks.timer.filter(|_| at_once.is_none())?;
            tcp.on_delack_timer(due);
            Some((due - now).as_us() / 1000)
        })
        .collect()
}

/// A delayed ACK waits no longer than the handshake took. Its RTT is known by timestamps; in 3.14
/// without them too.
#[test]
fn a_delayed_ack_waits_no_longer_than_an_rtt() {
    let plain = Host { timestamps: false, ..host() };
    let stamped = Host { timestamps: true, ..host() };
    let kernel = |name| fullpipe_sim::tcp::profile::find(name).expect("it is known");
    let longest = |host, name| waits(host, kernel(name), 100, 300).into_iter().max();
    assert_eq!(longest(&plain, "2.6.32"), Some(500));
    assert_eq!(longest(&stamped, "2.6.32"), Some(100));
    assert_eq!(longest(&plain, "3.14"), Some(100));
}

/// But a short handshake makes no delayed ACK sooner than 40 ms (TCP_DELACK_MIN).
#[test]
fn a_delayed_ack_waits_40_ms_however_short_the_rtt() {
    let stamped = Host { timestamps: true, ..host() };
    let waits = waits(&stamped, profile(|_| {}), 10, 150);
    assert!(waits.len() > 5 && waits.iter().all(|&ms| ms == 40), "{waits:?}");
}

/// The delayed ACK's time is at most the timeout, three seconds without a known RTT, whether the timer doubles it or it
/// follows a gap. A gap longer than both starts quick ACKs; a shorter one does not.
#[test]
fn the_delayed_acks_time_is_at_most_the_timeout() {
    const SMALL: u32 = 400;
    let at_once = |steps: &[(u64, u32)]| {
        let mut tcp = Receiver::new(profile(|_| {}), &host(), SEGMENT, Some(8_000));
        let (mut now, mut at_once) = (0, false);
        // Each timer doubles 40 ms: three seconds are reached.
        let before = [(0, SEGMENT); 8].into_iter().chain([(600, SEGMENT); 8]);
        for (pause, len) in before.chain(steps.iter().copied()) {
            now += pause;
            let segment = Segment { seq: tcp.rcv_nxt, len, ..Segment::default() };
            at_once = tcp.on_segment(Time::ms(now), segment).is_some();
            // The end of a read acknowledges a small segment.
            tcp.read(Time::ms(now), tcp.readable());
            if let Some(due) = tcp.acks.timer.filter(|_| pause > 0) {
                tcp.on_delack_timer(due);
            }
        }
        at_once
    };
    assert!(at_once(&[(3_500, SEGMENT)]), "doubled without end it would be longer");
    assert!(!at_once(&[(2_900, SEGMENT)]));
    assert!(at_once(&[(2_900, SMALL), (3_500, SEGMENT)]), "3,000 / 2 + 2,900 would be longer");
    assert!(!at_once(&[(2_900, SMALL), (2_950, SEGMENT)]));
}

/// A SYN-ACK that was sent twice gives no RTT without timestamps.
#[test]
fn a_repeated_handshake_is_no_sample() {
    let mut tcp = Receiver::new(
        fullpipe_sim::tcp::profile::find("3.14").expect("it is known"),
        &Host { timestamps: false, ..host() },
        SEGMENT,
        None,
    );
    tcp.on_syn(Time::ZERO);
    tcp.on_syn(Time::secs(1));
    tcp.on_accept(Time::ms(1100), 0, false);
    assert_eq!(tcp.acks.rtt.srtt_us(), 0);
}

/// A pause longer than the timeout begins quick ACKs anew; a shorter one does not.
#[test]
fn a_long_pause_begins_quick_acks_anew() {
    let at_once = |pause: u64| {
        let mut tcp = Receiver::new(profile(|_| {}), &host(), SEGMENT, Some(8_000));
        let take = |tcp: &mut Receiver, at, seq: u32| {
            let segment =
                Segment { seq: u64::from(seq * SEGMENT), len: SEGMENT, ..Segment::default() };
            let ack = tcp.on_segment(Time::ms(at), segment);
            tcp.read(Time::ms(at), tcp.readable());
            ack.is_some()
        };
        let taken: Vec<_> = (0..9).map(|i| take(&mut tcp, 0, i)).collect();
        assert_eq!(taken.last(), Some(&false));
        assert!(tcp.on_delack_timer(Time::ms(40)).is_some());
        take(&mut tcp, pause, 9)
    };
    // No RTT is known: the timeout is three seconds.
    assert!(!at_once(2_900));
    assert!(at_once(3_100));
}

/// The last quick ACK resets the delayed ACK's time to 40 ms: a segment 30 ms later waits 40 / 2 + 30 ms.
#[test]
fn the_end_of_quick_acks_begins_the_delay_anew() {
    let mut tcp = Receiver::new(profile(|_| {}), &host(), SEGMENT, Some(8_000));
    let first = (0..20u32).find_map(|i| {
        let now = Time::ms(30 * u64::from(i));
        let segment = Segment { seq: u64::from(i * SEGMENT), len: SEGMENT, ..Segment::default() };
        let ack = tcp.on_segment(now, segment);
        tcp.read(now, tcp.readable());
        ack.is_none().then(|| tcp.acks.timer.expect("it is delayed") - now)
    });
    assert_eq!(first, Some(Time::ms(50)));
}

/// Data beyond a hole starts quick ACKs: once it is filled, the next segments are acknowledged one by one, and then
/// every second one. An empty probe does not.
#[test]
fn a_hole_begins_quick_acks_and_a_probe_does_not() {
    let mut host = host();
    host.sysctl.tcp_window_scaling = false;
    let setup = || Setup { host: host.clone(), rcvbuf: Some(100_000), ..Setup::default() };
    setup().check(
        "
          ms | event         | readable rcv_ssthresh memory | sent
           0 | stream 0..35  | 0 65.535 0                   | 34 acks: ack 35 window 65
           0 | data 35..36   | 1 65.535 1.256               |
           1 | data 37..38   | 1 65.535 2.512               | ack 36 window 65 sack 37..38
           1 | data 36..37   | 3 65.535 3.768               | ack 38 window 65
           1 | read          | 0 65.535 0                   |
           1 | stream 38..60 | 0 65.535 0                   | 18 acks: ack 60 window 65
        ",
    );
    setup().check(
        "
          ms | event         | readable rcv_ssthresh memory | sent
           0 | stream 0..35  | 0 65.535 0                   | 34 acks: ack 35 window 65
           1 | probe         | 0 65.535 0                   | ack 35 window 65
           1 | stream 35..57 | 0 65.535 0                   | 11 acks: ack 57 window 65
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

/// Four blocks are remembered. A segment that touches a forgotten block is reported alone. A repeated segment moves its
/// block to the front (tcp_sack_new_ofo_skb, RFC 2883).
#[test]
fn blocks_are_forgotten_and_come_back() {
    Setup::default().check(
        "
          ms | event         | readable rcv_ssthresh memory | sent
           0 | data 0.2..0.3 | 0 4 0.356                    | ack 0 window 4.096 sack 0.2..0.3
           0 | data 0.4..0.5 | 0 4 0.712                    | ack 0 window 4.096 sack 0.4..0.5 0.2..0.3
           0 | data 0.6..0.7 | 0 4 1.068                    | ack 0 window 4.096 sack 0.6..0.7 0.4..0.5 0.2..0.3
           0 | data 0.8..0.9 | 0 4 1.424                    | ack 0 window 4.096 sack 0.8..0.9 0.6..0.7 0.4..0.5 0.2..0.3
           0 | data 1..1.1   | 0 4 1.78                     | ack 0 window 4.096 sack 1..1.1 0.8..0.9 0.6..0.7 0.4..0.5
           0 | data 0.3..0.4 | 0 4 2.136                    | ack 0 window 4.096 sack 0.3..0.5 1..1.1 0.8..0.9 0.6..0.7
           0 | data 0.6..0.7 | 0 4 2.136                    | ack 0 window 4.096 sack 0.6..0.7 0.6..0.7 0.3..0.5 1..1.1
           0 | data 0.1..0.2 | 0 4 2.492                    | ack 0 window 4.096 sack 0.1..0.2 0.6..0.7 0.3..0.5 1..1.1
        ",
    );
}

/// Small segments beyond a hole have filled the memory. A segment without room is dropped without an ACK. For the next
/// expected one, older data is discarded.
#[test]
fn the_next_segment_gets_room() {
    Setup { rcvbuf: Some(2_000), ..Setup::default() }.check(
        "
          ms | event                 | readable rcv_ssthresh memory | sent
           0 | data 0..1             | 1 2 1.256                    | ack 1 window 2.048
           0 | read                  | 0 2 0                        |
           0 | pieces 2..2.5 by 0.05 | 0 2 3.06                     | 10 acks: ack 1 window 2.048 sack 2..2.5
           0 | pieces 2.5..3 by 0.05 | 0 2 4.284                    | 4 acks: ack 1 window 2.048 sack 2..2.7
           0 | data 1..2             | 1 2 1.256                    | ack 2 window 2.048
           0 | read                  | 0 2 0                        |
           0 | data 2..2.05          | 0.05 2 0.306                 |
        ",
    );
}

/// The timer of compressed ACKs does not read the clock (6.12 tcp_compressed_ack_kick): the ACK has the time of the
/// last segment, though a millisecond has begun since.
#[test]
fn a_compressed_ack_bears_the_time_of_what_came_last() {
    let profile = find("6.12").expect("it is known");
    let host = Host { kernel: "6.12".into(), timestamps: true, ..host() };
    let mut tcp = Receiver::new(profile, &host, SEGMENT, None);
    let came = Time::us(10_950);
    let beyond = |i: u64| Segment {
        seq: i * u64::from(SEGMENT),
        len: SEGMENT,
        gso_size: 0,
        options: 0,
        tsval: 5,
        tsecr: 0,
        push: false,
        fin: false,
        ecn: Ecn::NotEct,
        cwr: false,
    };
    let first = tcp.on_segment(came, beyond(1)).expect("an ACK").tsval;
    assert!((2..40).any(|i| tcp.on_segment(came, beyond(i)).is_none()), "one is held");
    let due = tcp.compressed_due().expect("a timer");
    assert!(due > Time::us(11_000), "{due}");
    assert_eq!(tcp.on_compressed_timer(due).expect("an ACK").tsval, first);
    assert_eq!(tcp.make_ack().tsval, first);
    // An arriving segment brings its own time.
    let next = tcp.on_segment(due, beyond(0)).expect("an ACK");
    assert_eq!(next.tsval, first + 1);
}

/// A segment with an older timestamp than the acknowledged data, and a segment beyond the window, are answered and not
/// taken (tcp_validate_incoming). Neither lacks room.
#[test]
fn what_is_refused_is_no_want_of_room() {
    let host = Host { timestamps: true, ..host() };
    for kernel in ["2.6.20", "3.14", "6.12"] {
        let mut tcp = Receiver::new(find(kernel).expect("it is known"), &host, SEGMENT, None);
        let len = SEGMENT;
        let at =
            |i: u32, tsval| Segment { seq: (i * len).into(), len, tsval, ..Segment::default() };
        let mut arrives = |ms, segment| {
            let answer = tcp.on_segment(Time::ms(ms), segment);
            let refused = [tcp.paws_estab, tcp.beyond_window, tcp.dropped, tcp.duplicates];
            (answer.is_some(), tcp.rcv_nxt / u64::from(len), refused)
        };
        assert_eq!(arrives(1, at(0, 10)).1, 1, "{kernel}");
        // A segment beyond a hole, which a retransmission fills.
        assert_eq!(arrives(2, at(2, 12)), (true, 1, [0; 4]), "{kernel}");
        assert_eq!(arrives(60, at(1, 60)).1, 3, "{kernel}");
        assert_eq!(arrives(61, at(3, 13)), (true, 3, [1, 0, 0, 0]), "{kernel}: from the past");
        assert_eq!(arrives(62, at(1, 14)), (true, 3, [2, 0, 0, 1]), "{kernel}: and known");
        assert_eq!(arrives(63, at(100_000, 63)), (true, 3, [2, 1, 0, 1]), "{kernel}: beyond");
        assert_eq!(arrives(64, at(3, 64)).1, 4, "{kernel}: sent again");
    }
}

/// A segment completely before the last ACK is refused by tcp_validate_incoming before tcp_replace_ts_recent. Its
/// answer echoes the segment before it, so the sender measures from that one (6.12 tcp_rtt_tsopt_us).
#[test]
fn an_old_segments_timestamp_is_not_echoed() {
    let host = Host { timestamps: true, ..host() };
    for kernel in ["2.6.20", "6.12"] {
        let mut tcp = Receiver::new(find(kernel).expect("it is known"), &host, SEGMENT, None);
        let len = SEGMENT;
        let at =
            |i: u32, tsval| Segment { seq: (i * len).into(), len, tsval, ..Segment::default() };
        for i in 0..4 {
            tcp.on_segment(Time::ms(1), at(i, 5));
        }
        tcp.read(Time::ms(1), (4 * len).into());
        let echo = |ack: Option<Ack>| ack.expect("an ACK").tsecr;
        assert_eq!(echo(tcp.on_segment(Time::ms(200), at(1, 200))), 5, "{kernel}");
        assert_eq!(echo(tcp.on_segment(Time::ms(201), at(5, 201))), 5, "{kernel}: beyond a hole");
        assert_eq!(echo(tcp.on_segment(Time::ms(202), at(4, 202))), 202, "{kernel}");
    }
}
