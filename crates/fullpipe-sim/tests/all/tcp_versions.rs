//! Rows of a profile that a conversation about loss does not show: input of the congestion control, the first window,
//! the first timeout, and metrics for the next connection.

use crate::conversation::{SEGMENT, Wire, ack, host, profile, written};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::{CachedMetrics, CcRtt, InitialWindow, PktsAcked, Profile, find};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::metrics::Metrics;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, CaState, Segment};
use fullpipe_sim::units::Time;
use std::cmp::Ordering;

/// A connection to which 400 segments were written at once, and its wire.
fn full(profile: &Profile, host: &Host, congestion: &str) -> (Sender, Wire) {
    let cc = Congestion::new(congestion, &[], profile.name, host.hz, 1).expect("a control");
    written(profile, host, cc, 400)
}

/// The delayed-ACK estimate of CUBIC counts skbs in 2.6.20 and segments since 2.6.24: an ACK of one
/// skb with four segments.
#[test]
fn pkts_acked() {
    let estimate = |unit| {
        let mut host = host();
        host.tso = true;
        let profile = profile(|p| p.pkts_acked = unit);
        let (mut tcp, mut wire) = full(profile, &host, "cubic");
        wire.now = Time::ms(200);
        tcp.on_ack(&ack(4, &[]), &mut wire);
        tcp.congestion().private()[5] >> 32
    };
    // From 32 (two per ACK, in sixteenths): minus a sixteenth of itself, plus what was counted.
    let skbs = 4;
    assert_eq!(estimate(PktsAcked::Segments), 32 - 2 + 4);
    assert!(estimate(PktsAcked::Skbs) < 32 - 2 + skbs, "{}", estimate(PktsAcked::Skbs));
}

/// The least RTT that CUBIC knows: nothing from echoes without timestamps, else the last packet's, in
/// jiffies x 8. Since 2.6.39 it is in ms x 8; exact, if CUBIC asks for it, else of jiffies.
#[test]
fn cc_rtt() {
    let delay_min = |kernel, rtt, hystart| {
        let mut profile = *fullpipe_sim::tcp::profile::find(kernel).expect("it is known");
        profile.cc_rtt = rtt;
        let mut host = host();
        host.hz = 100;
        let parameters = [("hystart".to_string(), hystart)];
        let cc = Congestion::new("cubic", &parameters, kernel, host.hz, 1).expect("a control");
        let (mut tcp, mut wire) = written(&profile, &host, cc, 400);
        wire.now = Time::us(203_000);
        tcp.on_ack(&ack(1, &[]), &mut wire);
        tcp.congestion().private()[3] >> 32
    };
    assert_eq!(delay_min("2.6.24", CcRtt::Echo, 0), 0);
    assert_eq!(delay_min("2.6.24", CcRtt::Jiffies, 0), 8 * 10);
    // 103 ms are rounded up to eleven jiffies.
    assert_eq!(delay_min("2.6.32", CcRtt::Microseconds, 1), 8 * 11);
    assert_eq!(delay_min("2.6.32", CcRtt::Jiffies, 1), 8 * 10);
    assert_eq!(delay_min("3.14", CcRtt::Microseconds, 1), 8 * 103);
    assert_eq!(delay_min("3.14", CcRtt::Microseconds, 0), 8 * 100);
}

/// An ACK of a part of a large skb gives an RTT, if that part is a segment at least.
#[test]
fn a_part_of_an_skb_gives_the_rtt() {
    let srtt = |bytes| {
        let mut host = host();
        host.tso = true;
        let (mut tcp, mut wire) = full(profile(|_| {}), &host, "reno");
        wire.now = Time::ms(280);
        tcp.on_ack(&Ack { ack: bytes, window: 1 << 20, sacks: None, ..Ack::default() }, &mut wire);
        tcp.srtt_us()
    };
    // After 100 ms of the handshake one of 180 ms counts an eighth.
    assert_eq!(srtt(1000), 110_000);
    assert_eq!(srtt(999), 100_000);
}

/// The route's first cwnd stands for the kernel's own, and cwnd goes back to it after a pause (`tcp_init_cwnd`).
#[test]
fn first_cwnd_of_the_route() {
    for (kernel, initcwnd, first) in
        [("2.6.24", None, 4), ("2.6.24", Some(2), 2), ("6.12", None, 10), ("6.12", Some(40), 40)]
    {
        let host = Host { initcwnd, ..host() };
        let (mut tcp, mut wire) = full(find(kernel).expect("it is known"), &host, "reno");
        assert_eq!(tcp.cwnd(), first, "{kernel}");
        (1..=400).for_each(|acked| deliver_ack(&mut tcp, &mut wire, acked, &[]));
        assert!(tcp.cwnd() > 150, "{kernel}");
        wire.now += Time::secs(60);
        tcp.copied(SEGMENT, tcp.size_goal(), false, &mut wire);
        tcp.end_write(&mut wire);
        assert_eq!(tcp.cwnd(), first, "{kernel}");
    }
}

/// Segments that a receiver offers at first, at 1000 and at 8960 bytes.
#[test]
fn initial_window() {
    let offered = |initial, mss| {
        let mut profile = *profile(|_| {});
        profile.initial_window = initial;
        Receiver::new(&profile, &host(), mss, Some(1 << 20)).window.rcv_wnd / u64::from(mss)
    };
    let offers = |initial| [offered(initial, 1000), offered(initial, 1448), offered(initial, 8960)];
    assert_eq!(offers(InitialWindow::ByMss), [4, 4, 2]);
    assert_eq!(offers(InitialWindow::Ten), [10, 10, 2]);
    assert_eq!(offers(InitialWindow::Twenty), [20, 20, 3]);
    // The limit of a SYN-ACK, and the window share of 2 MiB, in whole segments.
    assert_eq!(offers(InitialWindow::Full), [65, 45, 7]);
}

/// The first timeout without an RTT sample is 3 s, since 3.1 1 s (RFC 6298).
#[test]
fn timeout_init() {
    let first = |name| {
        let profile = fullpipe_sim::tcp::profile::find(name).expect("it is known");
        let cc = Congestion::new("reno", &[], name, 1000, 1).expect("a control");
        let mut tcp = Sender::new(profile, &host(), cc, SEGMENT, Some(1 << 22));
        let mut wire = Wire::default();
        tcp.established(Time::ZERO, 1 << 20, None, None);
        tcp.copied(SEGMENT, SEGMENT, false, &mut wire);
        tcp.end_write(&mut wire);
        tcp.timer()
    };
    assert_eq!(first("2.6.20"), Some(Time::secs(3)));
    assert_eq!(first("3.14"), Some(Time::secs(1)));
}

/// A finished connection leaves ssthresh and RTT, unless tcp_no_metrics_save says otherwise; later kernels take of
/// it the first timeout alone.
#[test]
fn metrics_are_kept_between_connections() {
    let next = |no_save, taken| {
        let mut host = host();
        host.sysctl.tcp_no_metrics_save = no_save;
        host.timestamps = true;
        let profile = profile(|p| p.cached_metrics = taken);
        let (mut tcp, mut wire) = full(profile, &host, "reno");
        tcp.set_writer(Writer::Done);
        // A loss: ssthresh falls to 2; then everything arrives, 300 ms later.
        wire.now = tcp.timer().expect("the timer runs");
        tcp.on_timer(&mut wire);
        wire.now += Time::ms(300);
        let mut at = 0;
        while !tcp.is_finished() {
            at = (at + 1).min(400);
            wire.now += Time::ms(1);
            let echo = wire.sent.last().map_or(0, |skb| skb.tsval);
            tcp.on_ack(&Ack { tsecr: echo, ..ack(at, &[]) }, &mut wire);
            if let Some(due) = tcp.timer().filter(|&due| due < wire.now) {
                wire.now = due;
                tcp.on_timer(&mut wire);
            }
        }
        let mut cache = Metrics::default();
        tcp.leave_metrics(&mut cache);
        let cc = Congestion::new("reno", &[], "2.6.20", host.hz, 1).expect("a control");
        let mut second = Sender::new(profile, &host, cc, SEGMENT, Some(1 << 22));
        second.established(Time::ms(1), 1 << 20, Some(Time::ZERO), Some(&cache));
        (second.ssthresh(), second.srtt_us(), second.rto_us())
    };
    let own = CachedMetrics::Own;
    let (none, short, timeout) = next(true, own);
    assert_eq!((none, short), (0x7fff_ffff, 1000));
    let (ssthresh, srtt, careful) = next(false, own);
    assert!(ssthresh < 1000 && srtt > 1000 && careful > timeout, "{ssthresh} {srtt} {careful}");
    let (kept, measured, first) = next(false, CachedMetrics::Timeout);
    assert_eq!((kept, measured), (ssthresh, 1000));
    // The RTT, and the least timeout, which is more than two of it.
    assert!(first.abs_diff(srtt + 200_000) <= 1000 && first > timeout, "{first} {srtt}");
    assert_eq!(next(false, CachedMetrics::TimeoutAlone), (none, 1000, first));
}

/// First timeout by the RTT of an earlier connection (6.12 `tcp_init_metrics`): whole jiffies of it, and 200 ms or
/// twice as much. If the connection's own RTT is longer, it counts; without any RTT the timeout is 3 s.
#[test]
fn first_timeout_by_an_earlier_rtt() {
    let first = |earlier: Option<u64>, own: Option<u64>| {
        let profile = fullpipe_sim::tcp::profile::find("6.12").expect("it is known");
        let sender = || {
            let cc = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
            Sender::new(profile, &host(), cc, SEGMENT, Some(1 << 22))
        };
        let mut cache = Metrics::default();
        let mut before = sender();
        before.established(Time(earlier.unwrap_or(0)), 1 << 20, earlier.map(|_| Time::ZERO), None);
        before.leave_metrics(&mut cache);
        let mut tcp = sender();
        let now = Time(own.unwrap_or(0));
        tcp.established(now, 1 << 20, own.map(|_| Time::ZERO), Some(&cache));
        tcp.rto_us() / 1000
    };
    let us = |us: u64| Some(us * 1000);
    assert_eq!(first(us(48_841), us(40_009)), 248);
    assert_eq!(first(us(150_999), us(40_009)), 450);
    assert_eq!(first(us(30_000), us(40_009)), 241);
    assert_eq!(first(us(48_841), None), 248);
    assert_eq!(first(None, None), 3000);
}

/// Whether a pause of `pause` ms starts quick ACKs anew at an end with a handshake of 94 ms. An earlier connection had
/// an RTT of `earlier` ms.
fn is_long(pause: u64, earlier: Option<u64>) -> bool {
    let profile = find("6.12").expect("it is known");
    let mut cache = Metrics::default();
    if let Some(rtt) = earlier {
        let cc = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
        let mut before = Sender::new(profile, &host(), cc, SEGMENT, Some(1 << 22));
        before.established(Time::ms(rtt), 1 << 20, Some(Time::ZERO), None);
        before.leave_metrics(&mut cache);
    }
    let mut tcp = Receiver::new(profile, &host(), SEGMENT, Some(8_000));
    tcp.on_syn(Time::ZERO);
    tcp.on_accept(Time::ms(94), 0, false);
    tcp.take_metrics(&cache);
    let take = |tcp: &mut Receiver, at| {
        let segment = Segment { seq: tcp.rcv_nxt, len: SEGMENT, ..Segment::default() };
        tcp.on_segment(Time::ms(at), segment);
        tcp.read(Time::ms(at), tcp.readable());
    };
    (0..40).for_each(|i| take(&mut tcp, 100 + i));
    assert!(!tcp.acks.is_quick());
    take(&mut tcp, 139 + pause);
    tcp.acks.is_quick()
}

/// A pause is long beyond the first timeout: 94 ms and 200 ms, or three times an earlier connection's RTT, where that
/// was longer (6.12 `tcp_init_metrics`, `tcp_event_data_recv`).
#[test]
fn a_pause_between_segments_is_long_by_an_earlier_rtt() {
    let long = [290, 300, 350, 360].map(|pause| [None, Some(119)].map(|rtt| is_long(pause, rtt)));
    assert_eq!(long, [[false, false], [true, false], [true, false], [true, true]]);
}

/// An ACK, a millisecond later.
fn deliver_ack(tcp: &mut Sender, wire: &mut Wire, number: u64, sacks: &[(u64, u64)]) {
    wire.now += Time::ms(1);
    let echo = wire.sent.last().map_or(0, |skb| skb.tsval);
    tcp.on_ack(&Ack { tsecr: echo, ..ack(number, sacks) }, wire);
}

/// Whether a connection leaves its reordering after its fifth segment overtook those before it. It ends in the first
/// slow start; amid a recovery, with cwnd above ssthresh; after it, with cwnd at ssthresh; in Loss, with cwnd below it.
fn leaves_reordering(any: bool) -> [bool; 4] {
    let mut profile = *find("6.12").expect("it is known");
    profile.caches_any_reordering = any;
    let host = Host { timestamps: true, ..host() };
    let (mut tcp, mut wire) = full(&profile, &host, "reno");
    let state = |tcp: &Sender| {
        let mut cache = Metrics::default();
        tcp.leave_metrics(&mut cache);
        let left = format!("{cache:?}").contains("reordering: 5");
        (left, tcp.ca_state(), tcp.cwnd().cmp(&tcp.ssthresh()))
    };
    (0..4).for_each(|number| deliver_ack(&mut tcp, &mut wire, number, &[(4, 5)]));
    deliver_ack(&mut tcp, &mut wire, 5, &[]);
    let slow_start = state(&tcp);
    (7..14).for_each(|end| deliver_ack(&mut tcp, &mut wire, 5, &[(6, end)]));
    let recovery = state(&tcp);
    (14..30).for_each(|number| deliver_ack(&mut tcp, &mut wire, number, &[]));
    let after = state(&tcp);
    // A probe, and the timeout.
    for _ in 0..2 {
        wire.now = tcp.timer().expect("it runs");
        tcp.on_timer(&mut wire);
    }
    deliver_ack(&mut tcp, &mut wire, 30, &[]);
    let all = [slow_start, recovery, after, state(&tcp)];
    let expected = [
        (CaState::Open, Ordering::Less),
        (CaState::Recovery, Ordering::Greater),
        (CaState::Open, Ordering::Equal),
        (CaState::Loss, Ordering::Less),
    ];
    assert_eq!(all.map(|(_, state, cwnd)| (state, cwnd)), expected);
    all.map(|(left, ..)| left)
}

/// 6.12 `tcp_update_metrics`.
#[test]
fn a_connection_leaves_its_reordering_amid_a_recovery() {
    assert_eq!(leaves_reordering(false), [false, true, false, true]);
    assert_eq!(leaves_reordering(true), [true; 4]);
}

/// The largest skb leaves room for the headers of 6.12 (`sk_dst_gso_max_size`: 65,536 - 193 bytes). 2.6.20 leaves room
/// only for those of TCP/IP (`tcp_current_mss`: 65,535 - 52). 8,168 bytes fit in seven and eight times.
#[test]
fn the_largest_skb_leaves_room_for_headers() {
    let mss = 8_168;
    for (kernel, segments) in [("2.6.20", 8), ("6.12", 7)] {
        let profile = find(kernel).expect("it is known");
        let host = Host { tso: true, timestamps: true, ..host() };
        let cc = Congestion::new("reno", &[], profile.name, host.hz, 1).expect("a control");
        let tcp = Sender::new(profile, &host, cc, mss, Some(1 << 22));
        assert_eq!(tcp.size_goal(), segments * mss, "{kernel}");
    }
}
