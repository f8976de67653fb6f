//! Bounds and exceptions of Linux 6.12 by hand: the widest reordering window, undo by D-SACKs, the RTT of a lone short
//! segment, the pace of the first flight, the least announced MSS.

use crate::conversation::{SEGMENT, Wire, ack, bytes, host, written};
use fullpipe_sim::cc::{Congestion, INFINITE_SSTHRESH};
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, CaState};
use fullpipe_sim::units::Time;

/// A connection after a handshake of 100 ms, with so many written segments, ten of which left at 100 ms.
fn connection(segments: u32) -> (Sender, Wire) {
    let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    written(find("6.12").expect("it is known"), &host(), reno, segments)
}

/// A D-SACK widens RACK's window of reordering by a quarter of the least RTT, up to the smoothed RTT
/// (`tcp_rack_reo_wnd`, `tcp_rack_update_reo_wnd`).
///
/// The least RTT is 40 ms, of the first ACK. Each later sample is 48 ms and moves the smoothed RTT by an eighth of its
/// distance. RACK's timer runs for 2 ms more, in whole jiffies of 1 ms, and for the jiffy that the timer wheel adds:
///
/// | D-SACKs | quarters | smoothed RTT | window | timer |
/// |--:|--:|--:|--:|--:|
/// | 0 | 10 | 41 | 10 | 13 |
/// | 1 | 20 | 41.88 | 20 | 23 |
/// | 2 | 30 | 42.64 | 30 | 33 |
/// | 3 | 40 | 43.31 | 40 | 43 |
/// | 4 | 50 | 43.90 | 43.90 | 47 |
/// | 5 | 60 | 44.41 | 44.41 | 48 |
#[test]
fn the_window_of_reordering_is_no_wider_than_the_rtt() {
    let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    let profile = find("6.12").expect("it is known");
    let mut tcp = Sender::new(profile, &host(), reno, SEGMENT, Some(1 << 22));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(wire.now, 1 << 20, Some(Time::ms(60)), None);
    let goal = tcp.size_goal();
    (0..1000).rev().for_each(|left| tcp.copied(SEGMENT, goal, left > 0, &mut wire));
    tcp.end_write(&mut wire);

    // Segment 1 overtakes segment 0: reordering has been seen.
    wire.now = Time::ms(140);
    tcp.on_ack(&ack(0, &[(1, 2)]), &mut wire);
    tcp.on_ack(&ack(10, &[]), &mut wire);

    let mut waits = Vec::new();
    for _ in 0..6 {
        let first = tcp.bytes_acked() / u64::from(SEGMENT);
        wire.now += Time::ms(48);
        tcp.on_ack(&ack(first, &[(first + 1, first + 2)]), &mut wire);
        let due = tcp.timer().expect("RACK waits");
        waits.push((due - wire.now).as_us() / 1000);

        // The first segment is sent again. Then it and its copy arrive, and all later data.
        let before = wire.sent.len();
        wire.now = due;
        tcp.on_timer(&mut wire);
        assert!(wire.sent[before..].iter().any(|skb| skb.retransmission));
        let newest = wire.sent.iter().map(|skb| skb.seq + u64::from(skb.len)).max();
        let newest = newest.expect("something was sent") / u64::from(SEGMENT);
        wire.now += Time::ms(48);
        tcp.on_ack(&ack(newest, &[(first, first + 1)]), &mut wire);
    }
    assert_eq!(waits, [13, 23, 33, 43, 47, 48]);
}

/// Segments 0 and 1 are sent again at 200 ms (ssthresh is half of 10), and the originals arrive late at 205 ms:
/// Recovery ends at ssthresh. D-SACKs undo the reduction once they have reported both (`tcp_check_dsack`,
/// `tcp_try_undo_dsack`). cwnd is 10, and ssthresh has its old value. A repeated D-SACK of one segment also counts
/// twice, one of two segments as two.
#[test]
fn dsacks_of_all_that_was_sent_again_undo_the_reduction() {
    let (reduced, undone) = ((5, 5), (10, INFINITE_SSTHRESH));
    type Dsacks<'a> = &'a [((u64, u64), (u32, u32))];
    let cases: [Dsacks; 3] = [
        &[((0, 1), reduced), ((1, 2), undone)],
        &[((1, 2), reduced), ((0, 1), undone)],
        &[((0, 2), undone)],
    ];
    for dsacks in cases {
        let (mut tcp, mut wire) = connection(10);
        wire.now = Time::ms(200);
        tcp.on_ack(&ack(0, &[(2, 10)]), &mut wire);
        assert_eq!((tcp.ca_state(), tcp.ssthresh()), (CaState::Recovery, 5));
        assert_eq!(wire.sent.iter().filter(|skb| skb.retransmission).count(), 2);

        wire.now = Time::ms(205);
        tcp.on_ack(&ack(10, &[]), &mut wire);
        assert_eq!((tcp.ca_state(), tcp.cwnd(), tcp.ssthresh()), (CaState::Open, 5, 5));
        for &(dsack, then) in dsacks {
            wire.now += Time::ms(95);
            tcp.on_ack(&ack(10, &[dsack]), &mut wire);
            assert_eq!((tcp.cwnd(), tcp.ssthresh()), then, "{dsack:?} of {dsacks:?}");
        }
    }
}

/// The receiver may delay the ACK of a lone segment shorter than the MSS. A longer RTT of such a segment does not count
/// for the least RTT (`tcp_clean_rtx_queue`: FLAG_ACK_MAYBE_DELAYED; `tcp_update_rtt_min`). A shorter one does.
///
/// The least RTT shows in the size of skbs: 64 KiB, halved for each 512 us of it, are added to the size by the pace
/// (`tcp_tso_autosize`). The handshake took 1 ms: 32 KiB, more than half of a cwnd of ten (`tcp_cwnd_test`). After 300
/// s a new sample is the least RTT whatever the old one was. With 41 ms nothing is added to a 1024th of the pace. The
/// smoothed RTT is 1 + 40 / 8 ms. Twice ten segments in 6 ms are 3.3 MB/s, which gives three whole segments.
#[test]
fn a_lone_short_segment_does_not_raise_the_least_rtt() {
    let largest = |written: &str, rtt| {
        let mut host = host();
        host.tso = true;
        host.sysctl.tcp_slow_start_after_idle = false;
        let reno = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
        let profile = find("6.12").expect("it is known");
        let mut tcp = Sender::new(profile, &host, reno, SEGMENT, Some(1 << 22));
        let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
        tcp.established(wire.now, 1 << 20, Some(Time::ms(99)), None);

        wire.now = Time::secs(401);
        tcp.copied(bytes(written) as u32, tcp.size_goal(), false, &mut wire);
        tcp.end_write(&mut wire);
        wire.now += rtt;
        tcp.on_ack(&Ack { ack: bytes(written), window: 1 << 20, ..Ack::default() }, &mut wire);

        wire.sent.clear();
        let goal = tcp.size_goal();
        (0..40).rev().for_each(|left| tcp.copied(SEGMENT, goal, left > 0, &mut wire));
        tcp.end_write(&mut wire);
        wire.sent.iter().map(|skb| skb.len / SEGMENT).max().expect("something was sent")
    };
    assert_eq!(largest("0.3", Time::ms(41)), 5, "a lone short segment");
    assert_eq!(largest("0.3", Time::us(900)), 5, "a shorter RTT");
    assert_eq!(largest("1", Time::ms(41)), 3, "a lone whole segment");
}

/// The SYN-ACK sets the pace while cwnd is ten, whatever the route's first cwnd is: `tcp_ack` comes before
/// `tcp_init_transfer`. Twice ten segments in 100 ms give 195 bytes in a 1024th of a second, so skbs have two segments, the
/// least. With 180 segments they would have three.
#[test]
fn the_route_does_not_pace_the_first_flight() {
    for initcwnd in [None, Some(180)] {
        let host = Host { tso: true, initcwnd, ..host() };
        let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
        let (tcp, wire) = written(find("6.12").expect("it is known"), &host, reno, 100);
        assert_eq!(tcp.cwnd(), initcwnd.unwrap_or(10));
        let segments: Vec<u32> = wire.sent.iter().map(|skb| skb.len / SEGMENT).collect();
        assert!(segments.len() >= 5 && segments.iter().all(|&of| of == 2), "{segments:?}");
    }
}

/// An accepted connection has no packet out when the handshake ends, so its first pace is of the route's cwnd
/// (`tcp_rcv_state_process`). Twice 360 segments in 100 ms give 7031 bytes in a 1024th of a second, seven segments to an skb. The side
/// that connects has two, as above.
#[test]
fn the_route_paces_the_first_flight_of_an_accepted_connection() {
    let largest = |accepts: bool| {
        let host = Host { tso: true, initcwnd: Some(360), ..host() };
        let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
        let profile = find("6.12").expect("it is known");
        let mut tcp = Sender::new(profile, &host, reno, SEGMENT, Some(1 << 22));
        let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
        let open = if accepts { Sender::accepted } else { Sender::established };
        open(&mut tcp, wire.now, 1 << 20, Some(Time::ZERO), None);
        assert_eq!(tcp.cwnd(), 360);

        let goal = tcp.size_goal();
        (0..700).rev().for_each(|left| tcp.copied(SEGMENT, goal, left > 0, &mut wire));
        tcp.end_write(&mut wire);
        wire.sent.iter().map(|skb| skb.len / SEGMENT).max()
    };
    assert_eq!((largest(false), largest(true)), (Some(2), Some(7)));
}

/// A host announces an MSS of 256 at least (`ipv4_default_advmss`), 12 bytes of which are timestamps. Its first window
/// is the number of whole segments in half of a buffer of 87,380 bytes. With an MTU of 256, which leaves 204 bytes, it
/// is 179 of 244. Without timestamps it is 170 of 256.
#[test]
fn windows_are_in_units_of_the_announced_mss() {
    for (mss, timestamps, first) in [(204, true, 179 * 244), (216, false, 170 * 256)] {
        let host = Host { timestamps, ..host() };
        let tcp = Receiver::new(find("6.12").expect("it is known"), &host, mss, None);
        assert_eq!(tcp.window.syn_ack_window(), first, "{mss}");
    }
}

/// A segment has at most half of the largest window that the peer has advertised (`tcp_bound_to_half_wnd`). A window of
/// 1500 bytes gives two segments of 750. A window of 2000 bytes allows whole segments of 1000. One segment fills a
/// window of 500 bytes, less than the default MSS.
#[test]
fn a_segment_is_at_most_half_of_the_window() {
    let sent = |first, later: u64| {
        let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
        let profile = find("6.12").expect("it is known");
        let mut tcp = Sender::new(profile, &host(), reno, SEGMENT, Some(1 << 22));
        let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
        tcp.established(wire.now, first, Some(Time::ZERO), None);
        let write = |tcp: &mut Sender, wire: &mut Wire, bytes: u32| {
            let goal = tcp.size_goal();
            (0..bytes / goal).rev().for_each(|left| tcp.copied(goal, goal, left > 0, wire));
            tcp.end_write(wire);
        };
        write(&mut tcp, &mut wire, first as u32);
        let early: Vec<u32> = wire.sent.drain(..).map(|skb| skb.len).collect();
        wire.now = Time::ms(200);
        tcp.on_ack(&Ack { ack: first, window: later, ..Ack::default() }, &mut wire);
        write(&mut tcp, &mut wire, 4000);
        let late: Vec<u32> = wire.sent.drain(..).map(|skb| skb.len).collect();
        (early, late)
    };
    assert_eq!(sent(1500, 2000), (vec![750, 750], vec![1000, 1000]));
    assert_eq!(sent(500, 4000), (vec![500], vec![1000; 4]));
}

/// Largest skb to a peer with a largest window of `window`, bytes.
fn goal(window: u64, mss: u32, timestamps: bool) -> u32 {
    let host = Host { tso: true, timestamps, ..host() };
    let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    let profile = find("6.12").expect("it is known");
    let mut tcp = Sender::new(profile, &host, reno, mss, Some(1 << 22));
    tcp.established(Time::ms(100), window, Some(Time::ZERO), None);
    tcp.size_goal()
}

/// The bound of half of the window has two exceptions (`tcp_bound_to_half_wnd`). A segment, or an skb of whole
/// segments, may fill a window of up to 536 bytes: 536 hold two segments of 200 bytes, and half of 537 one. No bound is
/// below the 68 bytes of the least MTU without TCP's header of 20 bytes, or 32 with timestamps.
#[test]
fn small_windows_are_filled() {
    assert_eq!([536, 537].map(|window| goal(window, 1000, false)), [536, 268]);
    assert_eq!([399, 400, 536, 537, 800].map(|w| goal(w, 200, false)), [200, 400, 400, 200, 400]);
    assert_eq!([false, true].map(|timestamps| goal(30, 1000, timestamps)), [48, 36]);
}

/// While the window bounds segments, an skb still has several (`tcp_grow_skb`, `tcp_mss_split_point`). Half of a window
/// of 1500 bytes gives skbs of 750. The first ACK has a window of 1900, which ends 1150 bytes beyond the sent data. The
/// next skb has a segment of 950 and one of 200; Nagle's rule allows it because no short segment is out. An ACK of the
/// 950 leaves one.
#[test]
fn bounded_segments_share_an_skb() {
    let reno = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    let profile = find("6.12").expect("it is known");
    let host = Host { tso: true, ..host() };
    let mut tcp = Sender::new(profile, &host, reno, SEGMENT, Some(1 << 22));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(wire.now, 1500, Some(Time::ZERO), None);
    let goal = tcp.size_goal();
    (0..8).rev().for_each(|left| tcp.copied(goal, goal, left > 0, &mut wire));
    tcp.end_write(&mut wire);
    let sent = |wire: &mut Wire| -> Vec<(u32, u32)> {
        wire.sent.drain(..).map(|skb| (skb.len, skb.segment)).collect()
    };
    assert_eq!(sent(&mut wire), [(750, 750); 2]);

    wire.now = Time::ms(200);
    tcp.on_ack(&Ack { ack: 750, window: 1900, ..Ack::default() }, &mut wire);
    assert_eq!((sent(&mut wire), tcp.in_flight()), (vec![(1150, 950)], 3));

    wire.now = Time::ms(300);
    tcp.on_ack(&Ack { ack: 1500 + 950, window: 200, ..Ack::default() }, &mut wire);
    assert_eq!((sent(&mut wire), tcp.in_flight()), (vec![], 1));
}
