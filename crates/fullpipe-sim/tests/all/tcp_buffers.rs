//! Rows of a profile about buffers: what of a receive buffer is offered, and what of a flow may wait in its host.

use crate::conversation::{SEGMENT, host};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Discipline, Fq, Qdisc, QueueLimit, Sockopt};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::tcp::ack_policy::AckPolicy;
use fullpipe_sim::tcp::profile::{
    InitialWindow, Profile, RcvTuning, ReceiveShortage, WindowShare, find,
};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, Output, Segment, Transmission};
use fullpipe_sim::units::Time;

const MSS: u64 = SEGMENT as u64;

/// Linux 6.12 with one row changed.
fn linux(change: impl FnOnce(&mut Profile)) -> Profile {
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

/// Half of the buffer is window until a segment has shown how much of its memory is data: 1000 of 1832 bytes, 139/256.
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

/// The first ACK need not open the window step by step: the SYN-ACK has offered all, although it could tell 64 KB.
#[test]
fn offers_first_window() {
    let first = |whole, most| {
        let profile = linux(|p| (p.offers_first_window, p.initial_window) = (whole, most));
        let mut tcp = receiver(&profile, 1 << 20, 1);
        (tcp.window.told_first(), tcp.make_ack().window / MSS)
    };
    // Half of the buffer less a segment, and two for the first that came.
    let all = InitialWindow::Unbounded;
    assert_eq!(first(true, all), (65_535, ((1 << 20) - 1000 + 2000) / 1000));
    assert_eq!(first(false, all), (65_535, 65 + 2));
    // Linux 6.1 offers what it tells.
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

/// With less than a sixteenth of the buffer free no window is offered; else with less than a segment.
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
    // 1832 bytes of memory each, of 100,000; three quarters of what is left, of 75,000 when nothing waits.
    assert_eq!([offered(true, 50), offered(false, 50)], [6, 6]);
    assert_eq!([offered(true, 52), offered(false, 52)], [0, 3]);
}

/// Segments of 100 bytes that take 932 each, of 131,072, and 400 beyond a hole of one. A buffer that may grow does, one
/// that may not loses what is furthest beyond the hole, an eighth of it at least, or all at once.
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
    // Only a segment for which a page has to be taken looks at the buffer: of the last ones number 198, at 45 pages.
    let pages = |segments: u64| (segments * 932).div_ceil(4096);
    assert_eq!([197, 198, 200].map(pages), [45, 46, 46]);
    assert_eq!(grown.window.rcvbuf, 197 * 932, "what was in it when the last page was taken");
    // 141 are more than the buffer; the page of the last one has room for four more, which nobody looks at.
    assert_eq!([141, 145, 146].map(pages), [33, 33, 34]);
    // The application's own does not grow: number 146 has them copied, 14,500 bytes into four pages.
    for shortage in [ReceiveShortage::GrowOrClose, ReceiveShortage::Grow] {
        let copied = filled(shortage, Some(65_536), 16 << 20).0;
        assert_eq!((copied.rcv_nxt, copied.window.rcvbuf), (20_000, 131_072));
        assert_eq!(copied.window.rmem_alloc, 4 * 4352 + 55 * 932);
    }
    let (told, each) = filled(ReceiveShortage::Discard, None, 16 << 20);
    assert_eq!((told.rcv_nxt, told.window.rcvbuf), (141 * 100, 131_072), "each is looked at");
    assert_eq!((told.dropped, each.len()), (59, 21), "what is dropped asks for no ACK");
}

/// What lies beyond a hole makes room for what fills it: from its end, or all of it.
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

/// What waits for the reader is copied into pages once a part of its first skb is read: 3776 bytes of data in each, whose
/// memory is 4352. It may take more memory than the skbs in which it came, so that nothing is taken until much of it is read.
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
    // But for what is read 64,160 bytes are 16 pages and 3744 bytes, which take one, too.
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

/// A writer that may leave 1000 bytes unsent and has pushed all that it wrote sleeps until an ACK comes, though it need
/// not, or for 2 to 201 jiffies.
#[test]
fn a_writer_rests() {
    let mut host = host();
    host.sysctl.tcp_notsent_lowat = Some(1000);
    let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
    let mut tcp = Sender::new(&linux(|_| ()), &host, cc, SEGMENT, Some(1 << 22));
    let mut wire = Slow::default();
    tcp.established(Time::ZERO, 1 << 20, None, None);
    tcp.copied(1000, SEGMENT, true, &mut wire);
    let mut chance = Rng::new(1, "rests");
    assert_eq!((tcp.rest(1000, &mut chance), tcp.has_write_space()), (None, true));
    tcp.push_before_sleep(&mut wire);
    assert!(!tcp.has_write_space());
    let rests: Vec<u64> = (0..5000).filter_map(|_| tcp.rest(1000, &mut chance)).collect();
    assert_eq!((rests.iter().min(), rests.iter().max()), (Some(&2), Some(&201)));
}

/// A host that is slow to send: nothing leaves it.
#[derive(Default)]
struct Slow {
    sent: Vec<u32>,
    memory: u64,
}

impl Output for Slow {
    fn transmit(&mut self, skb: Transmission) -> bool {
        self.sent.push(skb.len / SEGMENT);
        self.memory += u64::from(skb.len) + 832;
        true
    }
    fn now(&self) -> Time {
        Time::ms(100)
    }
    fn in_host(&mut self) -> u64 {
        self.memory
    }
}

/// At 200 bytes per millisecond two skbs' memory is the limit; with the byte that counts for the socket itself it is
/// reached as two wait in the host. When the first has left, one more goes.
#[test]
fn small_queues() {
    let sent = |small| {
        let mut host = host();
        host.tso = true;
        let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
        let profile = linux(|p| p.small_queues = small);
        let mut tcp = Sender::new(&profile, &host, cc, SEGMENT, Some(1 << 22));
        let mut wire = Slow::default();
        tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
        let goal = tcp.size_goal();
        for left in (0..40).rev() {
            tcp.copied(SEGMENT, goal, left > 0, &mut wire);
        }
        tcp.end_write(&mut wire);
        let waits = tcp.waits_for_host();
        wire.memory -= 2832;
        tcp.on_room_in_host(&mut wire);
        (wire.sent, waits)
    };
    assert_eq!(sent(true), (vec![2, 2, 2], true));
    assert_eq!(sent(false), (vec![2, 2, 2, 2, 2], false));
}

/// `fq` of 3.12 lets ten full packets go, and from then on each skb waits for the one before it: two packets are 2108 bytes with
/// their headers, 6.5875 ms at twice 16 packets' data in 100 ms. Without it nothing waits.
#[test]
fn fq_paces() {
    struct Timed(Vec<Time>);
    impl Output for Timed {
        fn transmit(&mut self, skb: Transmission) -> bool {
            self.0.push(skb.departs);
            true
        }
        fn now(&self) -> Time {
            Time::ms(100)
        }
    }
    let left = |paces| {
        let mut host = host();
        (host.tso, host.kernel) = (true, "3.14".into());
        let fq = Fq { flow_limit: 100, mtu: SEGMENT + 66, bands: false };
        host.qdisc = Qdisc::Of(Discipline::Fq(fq), QueueLimit::Packets(1000));
        let cc = Congestion::new("reno", &[], "3.14", host.hz, 1).expect("a control");
        let mut profile = *find("3.14").expect("it is known");
        (profile.fq_paces, profile.small_queues) = (paces, false);
        host.initcwnd = Some(16);
        let mut tcp = Sender::new(&profile, &host, cc, SEGMENT, Some(1 << 22));
        let mut wire = Timed(Vec::new());
        tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
        let goal = tcp.size_goal();
        for left in (0..16).rev() {
            tcp.copied(SEGMENT, goal, left > 0, &mut wire);
        }
        tcp.end_write(&mut wire);
        wire.0.iter().map(|time| (time.0 - 100_000_000) / 10_000).collect::<Vec<_>>()
    };
    assert_eq!(left(false), [0; 8]);
    assert_eq!(left(true), [0, 0, 0, 0, 0, 658, 1317, 1976]);
}

/// Three writes of three segments to a host of which nothing leaves. The first goes, for nothing is in flight; the second
/// waits, for what is in the host (4664) is more than its skb (3832), until something has left; with the third that skb is
/// more (6832).
#[test]
fn autocorks() {
    let sent = |corks, leaves: bool| {
        let mut host = host();
        host.tso = true;
        let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
        let profile = linux(|p| (p.small_queues, p.autocorks) = (false, corks));
        let mut tcp = Sender::new(&profile, &host, cc, SEGMENT, Some(1 << 22));
        let mut wire = Slow::default();
        tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
        let goal = tcp.size_goal();
        [(); 3].map(|()| {
            tcp.copied(3 * SEGMENT, goal, false, &mut wire);
            tcp.end_write(&mut wire);
            if leaves && tcp.waits_for_host() {
                wire.memory = 0;
                tcp.on_room_in_host(&mut wire);
            }
            wire.sent.iter().sum::<u32>()
        })
    };
    assert_eq!(sent(true, false), [3, 3, 9]);
    assert_eq!(sent(true, true), [3, 6, 9]);
    assert_eq!(sent(false, false), [3, 6, 9]);
}

/// A writer that finds no room at all pushes nothing before it sleeps; one that has written something does.
#[test]
fn what_is_pushed_before_sleeping() {
    let pushed = |writes: u32| {
        let mut host = host();
        host.tso = true;
        let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
        let mut tcp = Sender::new(&linux(|_| {}), &host, cc, SEGMENT, Some(1 << 22));
        let mut wire = Slow::default();
        tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
        let goal = tcp.size_goal();
        // Nagle's rule lets the first partial segment go, and keeps what follows.
        for len in [500, 500] {
            tcp.copied(len, goal, false, &mut wire);
            tcp.end_write(&mut wire);
            wire.memory = 0;
        }
        if writes > 0 {
            tcp.copied(writes, goal, true, &mut wire);
        }
        tcp.push_before_sleep(&mut wire);
        wire.sent.len()
    };
    assert_eq!((pushed(0), pushed(100)), (1, 2));
}

/// A sender of Linux 6.12 with ten segments of cwnd that has written `segments`, as far as it may; and how many these are.
fn written(lowat: (Option<u32>, Option<u32>), segments: u32) -> (Sender, Slow, u32) {
    let mut host = host();
    host.sysctl.tcp_notsent_lowat = lowat.0;
    let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
    let mut tcp = Sender::new(&linux(|_| {}), &host, cc, SEGMENT, Some(1 << 22));
    tcp.set_options(Sockopt { notsent_lowat: lowat.1, ..Sockopt::default() });
    let mut wire = Slow::default();
    tcp.established(Time::ms(100), 1 << 20, Some(Time::ZERO), None);
    let mut taken = 0;
    while taken < segments && tcp.next_copy(SEGMENT, SEGMENT).is_some() {
        tcp.copied(SEGMENT, SEGMENT, true, &mut wire);
        wire.memory = 0;
        taken += 1;
    }
    (tcp, wire, taken)
}

/// Ten segments are sent at once; from then on what was written waits. An skb may be begun below the limit, so that a
/// part of one can lie above it. The socket option goes before the sysctl, and 0 is none.
#[test]
fn notsent_lowat_stops_the_writer() {
    for (lowat, most) in [
        ((None, None), 40),
        ((Some(4000), None), 14),
        ((Some(4001), None), 15),
        ((Some(9000), Some(4000)), 14),
        ((Some(4000), Some(0)), 14),
        ((None, Some(1)), 11),
    ] {
        assert_eq!(written(lowat, 40).2, most, "{lowat:?}");
    }
}

/// Of the limit less than half may wait when the writer is woken: of 4001 bytes two segments, of 4000 one.
#[test]
fn notsent_lowat_wakes_the_writer() {
    for (lowat, left) in [(4001, 2), (4000, 1)] {
        let (mut tcp, mut wire, taken) = written((None, Some(lowat)), 40);
        let mut ack = 0;
        while !tcp.has_write_space() {
            assert!(ack < taken, "never");
            ack += 1;
            // Each ACK lets two go, in slow start.
            let window = 1 << 20;
            let ack = Ack { ack: u64::from(ack) * MSS, window, ..Ack::default() };
            tcp.on_ack(&ack, &mut wire);
            wire.memory = 0;
        }
        assert!(tcp.unsent() <= left * MSS && tcp.unsent() + 2 * MSS > left * MSS, "{lowat}");
    }
}

/// A receiver with a tuned buffer whose connection was accepted after 100 ms, and its timestamp at the SYN.
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
            // The sender echoes what was sent an RTT ago.
            let tsecr = begun + 100 * (round as u32 - 1);
            tcp.on_segment(now, Segment { seq, len: SEGMENT, tsecr, ..Segment::default() });
            tcp.read(now, tcp.readable());
        }
        seen.push(tcp.window.rcvbuf);
    }
    seen
}

/// Twice what was copied in the last RTT, 16 segments, and twice what that grows by in proportion; the first segment of
/// the next RTT is read with it. Of 256 bytes of memory 139 are window.
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

/// The same without 16 segments for small variations; and a segment that lies beyond a hole finds room besides twice what
/// was copied, of which at first ten segments are expected.
#[test]
fn rcv_tuning_with_room_for_holes() {
    let wanted = |copied: u64, before: u64| {
        let base = 2 * copied;
        (base + 2 * (base * (copied - before) / before)) * 256 / 139
    };
    let today = tuned(RcvTuning::GrowthAndHoles);
    assert_eq!(today[2], wanted(20_000, 11_000));
    assert_eq!(today[3], wanted(40_000, 20_000));
    let with_hole = |tuning, rcvbuf| {
        let profile = linux(|p| p.rcv_tuning = tuning);
        let mut host = host();
        host.sysctl.tcp_rmem = [4096, 131_072, 16 << 20];
        let mut tcp = Receiver::new(&profile, &host, SEGMENT, rcvbuf);
        tcp.on_segment(Time::ZERO, Segment { seq: 60_000, len: SEGMENT, ..Segment::default() });
        tcp.window.rcvbuf
    };
    assert_eq!(with_hole(RcvTuning::GrowthAndHoles, None), (20_000 + 61_000) * 256 / 139);
    assert_eq!(with_hole(RcvTuning::Growth, None), 131_072);
    assert_eq!(
        with_hole(RcvTuning::GrowthAndHoles, Some(65_536)),
        131_072,
        "set by the application"
    );
}

/// An RTT of 100 ms is known; an echo a second old comes while a segment waits for the reader. If it counts, the RTT is
/// 212 ms, and what was read in 150 ms tells nothing yet.
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

/// Ten segments come and are read, 20 a millisecond later, and one more; each echoes what was told within its millisecond. If that
/// is an RTT of one, the buffer grows as by any RTT; else the receiver knows none before a window of data has come.
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

/// A paced flow of 1 Tb/s in a host that nothing leaves: 1832 bytes of memory a segment, of which 5000 may wait.
#[test]
fn limits_paced_output() {
    let sent = |bounds| {
        let host = host();
        let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
        let profile = linux(|p| (p.limits_paced_output, p.limit_output_bytes) = (bounds, 5000));
        let mut tcp = Sender::new(&profile, &host, cc, SEGMENT, Some(1 << 22));
        tcp.set_options(Sockopt { max_pacing_rate: Some(1 << 37), ..Sockopt::default() });
        let mut wire = Slow::default();
        tcp.established(Time::ms(100), 1 << 20, None, None);
        for left in (0..40).rev() {
            tcp.copied(SEGMENT, SEGMENT, left > 0, &mut wire);
        }
        tcp.end_write(&mut wire);
        wire.sent.len()
    };
    assert_eq!((sent(true), sent(false)), (3, 10));
}

/// An ACK for which no data has come, as that of a window, is no quick ACK (6.12 `tcp_dec_quickack_mode`); before 6.x each
/// counts.
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

/// What came before all that was acknowledged is answered and asks for nothing, so where only ACKs count that data asked for all of
/// the next sixteen segments are acknowledged at once; of what came since the last ACK, but for the last byte, fifteen.
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
