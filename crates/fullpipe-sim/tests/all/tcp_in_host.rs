//! Rows of a profile about what of a flow may wait in its host, and when its writer is woken.

use crate::conversation::{SEGMENT, host};
use crate::tcp_buffers::linux;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Discipline, Fq, Qdisc, QueueLimit, Sockopt};
use fullpipe_sim::rng::Rng;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, Output, Transmission};
use fullpipe_sim::units::Time;

const MSS: u64 = SEGMENT as u64;

/// A writer that may leave 1000 bytes unsent, and has pushed all of its data, sleeps until an ACK arrives, though it
/// need not, or for 2 to 201 jiffies.
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

/// The memory of two skbs is the limit at 200 bytes per millisecond. Including the byte for the socket itself, it is
/// reached when two wait in the host. When the first has left, one more is sent.
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

/// `fq` of 3.12 passes ten full packets. From then on each skb waits for the one before it: two packets are 2108 bytes
/// with their headers, 6.5875 ms at twice 16 packets' data in 100 ms. Without it no skb waits.
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
        let fq = Fq { bands: false, paces_itself: true, ..Fq::new(100, SEGMENT + 54) };
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

/// Three writes of three segments to a host that keeps all skbs. The first is sent, because nothing is in flight. The
/// second waits until an skb has left, because the host holds more (4664) than its skb (3832). With the third write its
/// skb is larger (6832).
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
        // Nagle's rule lets the first partial segment go, and keeps later data.
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

/// A sender of Linux 6.12 with ten segments of cwnd that has written up to `segments`, and the number written.
/// `sysctl` and `option` are tcp_notsent_lowat and TCP_NOTSENT_LOWAT.
fn written(sysctl: Option<u32>, option: Option<u32>, segments: u32) -> (Sender, Slow, u32) {
    let mut host = host();
    host.sysctl.tcp_notsent_lowat = sysctl;
    let cc = Congestion::new("reno", &[], "6.12", host.hz, 1).expect("a control");
    let mut tcp = Sender::new(&linux(|_| {}), &host, cc, SEGMENT, Some(1 << 22));
    tcp.set_options(Sockopt { notsent_lowat: option, ..Sockopt::default() });
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
        assert_eq!(written(lowat.0, lowat.1, 40).2, most, "{lowat:?}");
    }
}

/// Less than half of the limit may wait when the writer is woken: of 4001 bytes two segments, of 4000 one.
#[test]
fn notsent_lowat_wakes_the_writer() {
    for (lowat, left) in [(4001, 2), (4000, 1)] {
        let (mut tcp, mut wire, taken) = written(None, Some(lowat), 40);
        tcp.set_writer(Writer::NoSpace);
        tcp.push_before_sleep(&mut wire);
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

/// A paced flow of 1 Tb/s in a host that keeps all skbs: 1832 bytes of memory per segment, of which 5000 may wait.
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
