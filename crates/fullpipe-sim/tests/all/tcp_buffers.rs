//! Rows of a profile about receive buffers: offered window, content and growth, and the timing of ACKs.

use crate::conversation::{SEGMENT, host};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::tcp::profile::{
    InitialWindow, Profile, RcvTuning, ReceiveShortage, WindowShare, find,
};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::receiver::ack_policy::AckPolicy;
use fullpipe_sim::units::Time;

const MSS: u64 = SEGMENT as u64;

/// Linux 6.12 with one row changed.
pub fn linux(change: impl FnOnce(&mut Profile)) -> Profile {
    let mut profile = *find("6.12").expect("it is known");
    change(&mut profile);
    profile
}

/// A receiver with `rcvbuf` twice of which is granted; it has had so many segments, none of which was read.
fn receiver(profile: &Profile, rcvbuf: u64, segments: u64) -> Receiver {
    let mut host = host();
    host.sysctl.rmem_max = 1 << 20;
    let mut tcp = Receiver::new(profile, &host, SEGMENT, Some(rcvbuf));
    for number in 0..segments {
        let segment = Segment { seq: number * MSS, len: SEGMENT, ..Segment::default() };
        tcp.on_segment(Time::ms(number), segment);
    }
    tcp
}

/// Half of the buffer is window until a segment has shown its share of data: 1000 of 1832 bytes, 139/256.
#[test]
fn window_share() {
    let space = |share, segments| {
        let profile = linux(|p| p.window_share = share);
        receiver(&profile, 1 << 20, segments).window.full_space()
    };
    assert_eq!(space(WindowShare::Measured, 0), 1 << 20);
    assert_eq!(space(WindowShare::Measured, 1), (2 << 20) * 139 / 256);
    // The sysctl of the tests' host says three quarters.
    assert_eq!(space(WindowShare::AdvWinScale, 1), (2 << 20) / 4 * 3);
}

/// The first ACK need not open the window step by step: the SYN-ACK has offered all, although it can announce only 64 KB.
#[test]
fn offers_first_window() {
    let first = |whole, most| {
        let profile = linux(|p| (p.offers_first_window, p.initial_window) = (whole, most));
        let mut tcp = receiver(&profile, 1 << 20, 1);
        (tcp.window.syn_ack_window(), tcp.make_ack().window / MSS)
    };
    // Half of the buffer less a segment, and two for the first arrival.
    let all = InitialWindow::Unbounded;
    assert_eq!(first(true, all), (65_535, ((1 << 20) - 1000 + 2000) / 1000));
    assert_eq!(first(false, all), (65_535, 65 + 2));
    // Linux 6.1 offers the window that it advertises.
    assert_eq!(first(true, InitialWindow::Full), (65_535, 65 + 2));
}

/// A segment of 200 bytes opens the window if only its data counts; with 832 bytes more it does not look honest.
#[test]
fn grows_by_data() {
    let grown = |by_data| {
        let profile = linux(|p| (p.grows_by_data, p.offers_first_window) = (by_data, false));
        let mut tcp = receiver(&profile, 1 << 20, 0);
        let before = tcp.window.rcv_ssthresh;
        tcp.window.rcv_ssthresh = 600_000;
        let opened = tcp.window.grow(200, 1448);
        assert!(before < 600_000);
        opened
    };
    assert_eq!([grown(true), grown(false)], [true, false]);
}

/// No window is offered with less than a sixteenth of the buffer free; else with less than a segment.
#[test]
fn closes_small_window() {
    let offered = |early, segments| {
        let profile = linux(|p| {
            (p.closes_small_window, p.joins_received) = (early, false);
            p.window_share = WindowShare::AdvWinScale;
        });
        let mut tcp = receiver(&profile, 50_000, segments);
        let rcv_mss = tcp.acks.rcv_mss;
        tcp.window.select(rcv_mss) / MSS
    };
    // 1832 bytes of memory each, of 100,000; three quarters of the rest, of 75,000 when no data is unread.
    assert_eq!([offered(true, 50), offered(false, 50)], [6, 6]);
    assert_eq!([offered(true, 52), offered(false, 52)], [0, 3]);
}

/// Segments of 100 bytes that take 932 each, of 131,072, and 400 of them beyond a hole of one. A buffer that may grow
/// does so. Otherwise the receiver discards the segments furthest beyond the hole, an eighth of the buffer at least, or
/// all at once.
#[test]
fn receive_shortage() {
    let small = |seq| Segment { seq, len: 100, ..Segment::default() };
    let filled = |shortage, rcvbuf, most| {
        let profile = linux(|p| (p.receive_shortage, p.joins_received) = (shortage, false));
        let mut host = host();
        host.sysctl.tcp_rmem = [4096, 131_072, most];
        let mut tcp = Receiver::new(&profile, &host, SEGMENT, rcvbuf);
        // In order, so that each is acknowledged in its turn; nobody reads.
        let acks: Vec<u64> = (0..200)
            .filter_map(|n| tcp.on_segment(Time::ms(n), small(n * 100)))
            .map(|ack| ack.window)
            .collect();
        (tcp, acks)
    };
    let grown = filled(ReceiveShortage::GrowOrClose, None, 16 << 20).0;
    assert_eq!((grown.rcv_nxt, grown.dropped), (20_000, 0));
    // Only a segment for which a page has to be taken checks the buffer: of the last ones number 198, at 45 pages.
    let pages = |segments: u64| (segments * 932).div_ceil(4096);
    assert_eq!([197, 198, 200].map(pages), [45, 46, 46]);
    assert_eq!(grown.window.rcvbuf, 197 * 932, "what was in it when the last page was taken");
    // 141 are more than the buffer; the page of the last one has room for four more, without a check.
    assert_eq!([141, 145, 146].map(pages), [33, 33, 34]);
    // A buffer of the application does not grow: number 146 has them copied, 14,500 bytes into four pages.
    for shortage in [ReceiveShortage::GrowOrClose, ReceiveShortage::Grow] {
        let copied = filled(shortage, Some(65_536), 16 << 20).0;
        assert_eq!((copied.rcv_nxt, copied.window.rcvbuf), (20_000, 131_072));
        assert_eq!(copied.window.rmem_alloc, 4 * 4352 + 55 * 932);
    }
    let (dropping, each) = filled(ReceiveShortage::Discard, None, 16 << 20);
    assert_eq!(
        (dropping.rcv_nxt, dropping.window.rcvbuf),
        (141 * 100, 131_072),
        "each is looked at"
    );
    assert_eq!((dropping.dropped, each.len()), (59, 21), "what is dropped asks for no ACK");
}

/// Data beyond a hole makes room for data that fills it: from its end, or all of it.
#[test]
fn receive_shortage_beyond_a_hole() {
    let left = |shortage| {
        let profile = linux(|p| p.receive_shortage = shortage);
        let mut tcp = receiver(&profile, 65_536, 0);
        let at = |seq| Segment { seq, len: 100, ..Segment::default() };
        // With a byte between them they share no head.
        for number in 1..=145 {
            tcp.on_segment(Time::ms(1), at(number * 101));
        }
        let held = tcp.window.rmem_alloc;
        tcp.on_segment(Time::ms(2), at(0));
        (held, tcp.window.rmem_alloc, tcp.rcv_nxt)
    };
    let full = 141 * 932;
    // Eighteen of them are an eighth of the buffer.
    assert_eq!(left(ReceiveShortage::GrowOrClose), (full, full - 18 * 932 + 932, 100));
    assert_eq!(left(ReceiveShortage::Discard), (full, 932, 100));
}

/// Unread data is copied into pages after a part of its first skb is read. Each page holds 3776 bytes of data and takes
/// 4352 bytes of memory. The copies may take more memory than the old skbs, so no data is taken until much of it is
/// read.
#[test]
fn receive_shortage_copies_what_waits() {
    let shortage = |shortage, read| {
        let mut tcp = receiver(&linux(|p| p.receive_shortage = shortage), 65_536, 0);
        let send = |tcp: &mut Receiver, ms| {
            let next = Segment { seq: tcp.rcv_nxt, len: 1448, ..Segment::default() };
            let ack = tcp.on_segment(Time::ms(ms), next).map(|ack| ack.window);
            (tcp.rcv_nxt / 1448, tcp.window.rmem_alloc, ack)
        };
        (0..45).for_each(|ms| _ = send(&mut tcp, ms));
        tcp.window.rcvbuf = 60_000;
        tcp.read(Time::ms(50), read);
        let refused = send(&mut tcp, 60);
        tcp.read(Time::ms(70), 4 * 3776);
        let (number, memory, _) = send(&mut tcp, 80);
        (refused, (number, memory))
    };
    // 34 in two skbs, 11 in a third.
    let (unread, pages) = (45 * 1448 + 3 * 832, 17 * 4352);
    assert_eq!(shortage(ReceiveShortage::GrowOrClose, 0).0, (45, unread, Some(0)));
    // Without the read data 64,160 bytes are 16 pages and 3744 bytes, which take one, too.
    let rest = pages - 4 * 4352;
    let shut = ((45, pages, Some(0)), (45, rest));
    assert_eq!(shortage(ReceiveShortage::GrowOrClose, 1000), shut);
    // It joins the last one, which has no room for a copy.
    let open = ((45, pages, None), (46, rest + 1448));
    assert_eq!(shortage(ReceiveShortage::Grow, 1000), open);
}

/// Half a second after one probe that was answered the next one is.
#[test]
fn rations_empty_answers() {
    let answered = |rations| {
        let mut tcp = receiver(&linux(|p| p.rations_empty_answers = rations), 65_536, 1);
        let probe = Segment { seq: MSS - 1, ..Segment::default() };
        [1000, 1499, 1500, 1900].map(|ms| tcp.on_segment(Time::ms(ms), probe).is_some())
    };
    assert_eq!(answered(true), [true, false, true, false]);
    assert_eq!(answered(false), [true; 4]);
}

/// The handshake's last packet, which data has overtaken, asks for nothing; once that data is acknowledged, it is old.
#[test]
fn a_late_end_of_the_handshake() {
    let answer = |seq| {
        let mut tcp = receiver(&linux(|_| ()), 65_536, 0);
        let data = Segment { seq, len: SEGMENT, ..Segment::default() };
        assert!(tcp.on_segment(Time::ms(1), data).is_some());
        tcp.on_segment(Time::ms(2), Segment::default()).map(|ack| ack.ack)
    };
    assert_eq!([answer(MSS), answer(0)], [None, Some(MSS)]);
}

/// A receiver with a tuned buffer and a connection accepted after 100 ms, and its timestamp at the SYN.
fn accepted(profile: &Profile) -> (Receiver, u32) {
    let mut host = host();
    host.sysctl.tcp_rmem = [4096, 131_072, 16 << 20];
    host.timestamps = true;
    let mut tcp = Receiver::new(profile, &host, SEGMENT, None);
    let begun = tcp.on_syn(Time::ZERO);
    tcp.on_accept(Time::ms(100), 0, false);
    (tcp, begun)
}

/// The buffer after a reader has read 1, 2 and 4 windows of ten segments in an RTT of 100 ms each.
fn tuned(tuning: RcvTuning) -> Vec<u64> {
    let profile = linux(|p| p.rcv_tuning = tuning);
    let (mut tcp, begun) = accepted(&profile);
    let mut seen = Vec::new();
    for (round, segments) in [(1, 10), (2, 20), (3, 40), (4, 1)] {
        for number in 0..segments {
            let now = Time::ms(100 * round) + Time::us(number);
            let seq = tcp.rcv_nxt;
            // The sender echoes a timestamp that is an RTT old.
            let tsecr = begun + 100 * (round as u32 - 1);
            tcp.on_segment(now, Segment { seq, len: SEGMENT, tsecr, ..Segment::default() });
            tcp.read(now, tcp.readable());
        }
        seen.push(tcp.window.rcvbuf);
    }
    seen
}

/// The buffer is twice the bytes copied in the last RTT, 16 segments, and twice their growth in proportion. The first
/// segment of the next RTT is read with it. Of 256 bytes of memory 139 are window.
#[test]
fn rcv_tuning() {
    let wanted = |copied: u64, before: u64| {
        let base = 2 * copied + 16_000;
        (base + 2 * (base * (copied - before) / before)) * 256 / 139
    };
    let today = tuned(RcvTuning::Growth);
    assert_eq!(today[..2], [131_072, 131_072], "there is room enough");
    assert_eq!(today[2], wanted(20_000, 11_000));
    assert_eq!(today[3], wanted(40_000, 20_000));
    assert_ne!(tuned(RcvTuning::PerRtt), today);
}

/// Twice the copied bytes alone (6.16): no growth, no 16 segments. A buffer that is larger stays. A hole has its room.
#[test]
fn rcv_tuning_without_growth() {
    let slow = tuned(RcvTuning::CopiedAndHoles);
    assert_eq!(slow, [131_072, 131_072, 131_072, 2 * 40_000 * 256 / 139]);
    assert_eq!(with_hole(RcvTuning::CopiedAndHoles, None), (20_000 + 61_000) * 256 / 139);
}

/// The buffer after a segment that begins 60,000 bytes beyond the next expected one.
fn with_hole(tuning: RcvTuning, rcvbuf: Option<u64>) -> u64 {
    let profile = linux(|p| p.rcv_tuning = tuning);
    let mut host = host();
    host.sysctl.tcp_rmem = [4096, 131_072, 16 << 20];
    let mut tcp = Receiver::new(&profile, &host, SEGMENT, rcvbuf);
    tcp.on_segment(Time::ZERO, Segment { seq: 60_000, len: SEGMENT, ..Segment::default() });
    tcp.window.rcvbuf
}

/// Growth without 16 segments for small variations. A segment beyond a hole gets room in addition to twice the copied
/// bytes, which are expected to be ten segments at first.
#[test]
fn rcv_tuning_with_room_for_holes() {
    let wanted = |copied: u64, before: u64| {
        let base = 2 * copied;
        (base + 2 * (base * (copied - before) / before)) * 256 / 139
    };
    let today = tuned(RcvTuning::GrowthAndHoles);
    assert_eq!(today[2], wanted(20_000, 11_000));
    assert_eq!(today[3], wanted(40_000, 20_000));
    assert_eq!(with_hole(RcvTuning::GrowthAndHoles, None), (20_000 + 61_000) * 256 / 139);
    assert_eq!(with_hole(RcvTuning::Growth, None), 131_072);
    assert_eq!(
        with_hole(RcvTuning::GrowthAndHoles, Some(65_536)),
        131_072,
        "set by the application"
    );
}

/// An RTT of 100 ms is known. An echo a second old arrives while a segment is unread. If it counts, the RTT is 212 ms,
/// and the bytes read in 150 ms give no estimate yet.
#[test]
fn longer_rtt_when_read() {
    let buffer = |when_read| {
        let profile = linux(|p| p.longer_rtt_when_read = when_read);
        let (mut tcp, begun) = accepted(&profile);
        let comes = |tcp: &mut Receiver, ms: u32, age: u32| {
            let (seq, tsecr) = (tcp.rcv_nxt, begun + ms - age);
            let segment = Segment { seq, len: SEGMENT, tsecr, ..Segment::default() };
            tcp.on_segment(Time::ms(ms.into()), segment);
        };
        let reads = |tcp: &mut Receiver, ms| tcp.read(Time::ms(ms), tcp.readable());
        for number in 0..21 {
            comes(&mut tcp, 2000, 100);
            reads(&mut tcp, 2000 + u64::from(number > 0));
        }
        comes(&mut tcp, 2002, 102);
        comes(&mut tcp, 2002, 1000);
        reads(&mut tcp, 2002);
        comes(&mut tcp, 2150, 1148);
        reads(&mut tcp, 2150);
        tcp.window.rcvbuf
    };
    assert!(buffer(true) > 131_072);
    assert_eq!(buffer(false), 131_072);
}

/// A receiver of packets of 20,000 bytes has a first window of three. It takes 45,536 bytes, because one packet is
/// reserved. Packets of 1000 bytes arrive, 50 in a round trip: more than it takes, and less than three of its own.
#[test]
fn space_within_ssthresh() {
    let buffer = |within| {
        let profile = linux(|p| p.space_within_ssthresh = within);
        let mut host = host();
        host.sysctl.tcp_rmem = [4096, 131_072, 16 << 20];
        host.timestamps = true;
        let mut tcp = Receiver::new(&profile, &host, 20_000, None);
        let begun = tcp.on_syn(Time::ZERO);
        tcp.on_accept(Time::ms(100), 0, false);
        for round in 1..=4 {
            for number in 0..50 {
                let now = Time::ms(100 * round) + Time::us(number);
                let tsecr = begun + 100 * (round as u32 - 1);
                let seq = tcp.rcv_nxt;
                tcp.on_segment(now, Segment { seq, len: SEGMENT, tsecr, ..Segment::default() });
                tcp.read(now, tcp.readable());
            }
        }
        tcp.window.rcvbuf
    };
    assert!(buffer(true) > 131_072);
    assert_eq!(buffer(false), 131_072);
}

/// Ten segments arrive and are read, 20 a millisecond later, and one more. Each echoes a timestamp of its own
/// millisecond. If this is an RTT of one millisecond, the buffer grows as by any RTT. Otherwise the receiver knows no
/// RTT before a window of data has arrived.
#[test]
fn same_tick_rtt() {
    let buffer = |counts| {
        let profile = linux(|p| p.same_tick_rtt = counts);
        let (mut tcp, begun) = accepted(&profile);
        for (ms, segments) in [(101, 10), (102, 20), (103, 1)] {
            for number in 0..segments {
                let now = Time::ms(ms) + Time::us(number);
                let (seq, tsecr) = (tcp.rcv_nxt, begun + ms as u32);
                tcp.on_segment(now, Segment { seq, len: SEGMENT, tsecr, ..Segment::default() });
                tcp.read(now, tcp.readable());
            }
        }
        tcp.window.rcvbuf
    };
    let base = 2 * 20_000 + 16_000;
    // Twice as much was copied as at first.
    assert_eq!(buffer(true), (base + 2 * base) * 256 / 139);
    assert_eq!(buffer(false), 131_072);
}

/// An ACK without new data, for instance of a window, is no quick ACK (6.12 `tcp_dec_quickack_mode`); before 6.x each
/// ACK counts.
#[test]
fn quick_by_data() {
    let left = |by_data| {
        let profile = linux(|p| p.quick_by_data = by_data);
        let mut acks = AckPolicy::new(1000, SEGMENT, 20, &profile);
        acks.quick = 3;
        acks.on_ack_sent();
        let without = acks.quick;
        acks.schedule();
        acks.on_ack_sent();
        (without, acks.quick)
    };
    assert_eq!((left(true), left(false)), ((3, 2), (2, 1)));
}

/// A segment before the acknowledged data is answered, but requests no ACK. So with counts by data all of the next
/// sixteen segments are acknowledged at once. After one of the data since the last ACK, except its last byte, fifteen
/// are.
#[test]
fn what_was_acknowledged_asks_for_nothing() {
    let quick = |by_data, again| {
        let mut tcp = receiver(&linux(|p| p.quick_by_data = by_data), 200_000, 0);
        let at = |n| Segment { seq: n * MSS, len: SEGMENT, ..Segment::default() };
        let acks = [0, 1, again].map(|n| tcp.on_segment(Time::ms(1), at(n)).is_some());
        assert_eq!(acks, [true; 3]);
        tcp.acks.quick
    };
    assert_eq!([quick(true, 0), quick(true, 1)], [16, 15]);
    assert_eq!([quick(false, 0), quick(false, 1)], [15, 15]);
}

/// Segments of 100 bytes, of which each is answered at once: pingpong mode, in which no read asks for an ACK.
fn pingpong() -> (Receiver, impl FnMut(&mut Receiver, u64) -> Time) {
    let mut tcp = receiver(&linux(|_| {}), 200_000, 0);
    let send = |tcp: &mut Receiver, ms| {
        let now = Time::ms(ms);
        let segment = Segment { seq: tcp.rcv_nxt, len: 100, push: true, ..Segment::default() };
        assert!(tcp.on_segment(now, segment).is_none(), "an ACK at once");
        now
    };
    tcp.on_connected(Time::ms(1));
    tcp.on_segment(Time::ms(1), Segment { len: 100, push: true, ..Segment::default() });
    assert!(tcp.read(Time::ms(1), 100).is_none());
    tcp.carry(Time::ms(2), true);
    (tcp, send)
}

/// TCP_QUICKACK = 1 sends the delayed ACK once all is read, and no other ACK. Pingpong mode is over until data is sent again
/// (6.12 `__tcp_sock_set_quickack`).
#[test]
fn quickack_sends_the_delayed_ack() {
    let (mut tcp, mut send) = pingpong();
    let now = send(&mut tcp, 10);
    assert!(tcp.set_quickack(now, true).is_none(), "unread data");

    tcp.carry(now, true);
    let now = send(&mut tcp, 20);
    assert!(tcp.read(now, 200).is_none() && tcp.acks.timer.is_some());
    assert_eq!(tcp.set_quickack(now, true).map(|ack| ack.ack), Some(300));
    assert!(tcp.acks.timer.is_none() && tcp.set_quickack(now, true).is_none());

    // Fourteen quick ACKs are left of the first sixteen.
    let segment = Segment { seq: 300, len: 100, push: true, ..Segment::default() };
    assert!(tcp.on_segment(Time::ms(30), segment).is_some());
}

/// TCP_QUICKACK = 0 begins pingpong mode: neither a segment nor a read is acknowledged at once.
#[test]
fn quickack_0_begins_pingpong_mode() {
    let mut tcp = receiver(&linux(|_| {}), 200_000, 0);
    tcp.on_connected(Time::ms(1));
    assert!(tcp.set_quickack(Time::ms(1), false).is_none());
    let segment = Segment { len: 100, push: true, ..Segment::default() };
    assert!(tcp.on_segment(Time::ms(2), segment).is_none());
    assert!(tcp.read(Time::ms(2), 100).is_none() && tcp.acks.timer.is_some());
}
