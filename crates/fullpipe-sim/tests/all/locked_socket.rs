//! Timers that find their socket locked by a process (`locked_timers` of the profile): TCP's own timer at the sender,
//! and the timer of delayed ACKs at the receiver.

use crate::conversation::{self, SEGMENT, host, profile};
use crate::plain_path::{self, run};
use fullpipe_sim::config::{App, Config, Drop, Element, Flow, Host};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::tcp::profile::LockedTimers;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::{Rate, Time};

/// 10 ms there and back; the first 100 data packets are lost if `lossy`.
fn config(sender: Host, receiver: Host, flow: Flow, lossy: bool) -> Config {
    let segments = if lossy { (0..100).collect() } else { Vec::new() };
    let drop = Drop { name: "drop".into(), flow: 0, segments, acks: Vec::new() };
    let mut config = plain_path::config(Time::ms(10), [sender, receiver], flow);
    config.end = Time::secs(2);
    config.forward.insert(0, Element::Drop(drop));
    config
}

fn flow(write: u32, app: App, bytes: u64) -> Flow {
    let (sndbuf, rcvbuf, bytes) = (Some(1 << 23), Some(8_000), Some(bytes));
    Flow { sndbuf, rcvbuf, app, bytes, ..conversation::flow("bulk", write) }
}

/// Times of the first timeout and of the establishment, at which write() begins, us. Copying takes so many ns a byte.
fn first_timeout(kernel: &str, ns: u64) -> (u64, u64) {
    let mut sender = Host { kernel: kernel.into(), ..host() };
    sender.cpu.copy_ps_per_byte = 1000 * ns;
    let record = run(&config(sender, host(), flow(5_500_000, App::Bulk, 5_500_000), true));
    let time = |kind| record.events().find(|e| e.kind == kind).expect("an event").time.as_us();
    (time(EventKind::Timeout), time(EventKind::Established))
}

/// Nothing arrives; the timeout is due at 240 ms: after a jiffy of 20, an RTT of 20 and 200 more. A
/// write of 550 ms is in progress. Linux 2.6 looks again every 50 ms until it is over, 3.14 acts when it
/// is.
#[test]
fn a_write_puts_the_retransmission_timer_off() {
    for kernel in ["2.6.20", "3.14"] {
        assert_eq!(first_timeout(kernel, 0).0, 240_000, "{kernel}");
        // The write ends before the timer is due.
        assert_eq!(first_timeout(kernel, 39).0, 240_000, "{kernel}");
    }
    assert_eq!(first_timeout("2.6.20", 100).0, 240_000 + 7 * 50_000);
    assert_eq!(first_timeout("2.6.32", 100).0, 240_000 + 7 * 50_000);
    let (timeout, established) = first_timeout("3.14", 100);
    assert_eq!(timeout, established + 550_000);
}

/// TCP's timer is deferred, so data that the backlog has acknowledged meanwhile is not sent again.
#[test]
fn acks_of_the_backlog_come_before_the_timer() {
    for kernel in ["2.6.20", "3.14"] {
        let mut sender = Host { kernel: kernel.into(), ..host() };
        sender.cpu.copy_ps_per_byte = 100_000;
        let record = run(&config(sender, host(), flow(5_000_000, App::Bulk, 5_000_000), false));
        assert_eq!(record.events().find(|e| e.kind == EventKind::Timeout), None, "{kernel}");
    }
}

/// Milliseconds from each write of one segment to its ACK; reading one takes so many.
fn ack_delays(read_ms: u64) -> Vec<u64> {
    // The first write makes two segments: each is at most half of the largest window seen, 65,535 bytes in the SYN-ACK.
    let mss = 60_000;
    let mut receiver = host();
    receiver.cpu.copy_ps_per_byte = read_ms * 1_000_000_000 / u64::from(mss);
    // A segment each 200 ms.
    let app = App::Rate(Rate(2_400_000));
    let flow = Flow { rcvbuf: Some(480_000), ..flow(mss, app, 1_000_000) };
    let record = run(&Config { mtu: mss + 40, ..config(host(), receiver, flow, false) });
    let (mut sent, mut delays) = (Vec::new(), Vec::new());
    let (mut segments, mut acks) = (0, 0);
    for sample in record.flows() {
        for _ in segments..sample.segments_sent {
            sent.push(sample.time.as_us() / 1000);
        }
        for ack in acks..sample.acks_received {
            delays.push(sample.time.as_us() / 1000 - sent[ack as usize]);
        }
        (segments, acks) = (sample.segments_sent, sample.acks_received);
    }
    delays
}

/// A delayed ACK is due after 40 ms. If the read is over by then, the ACK is sent then, and the next one waits twice as
/// long. Otherwise it is sent at the end of the read.
#[test]
fn a_read_holds_the_delayed_ack_back() {
    // Five are acknowledged at once.
    assert_eq!(ack_delays(30)[4..7], [20, 20 + 40, 20 + 80]);
    assert_eq!(ack_delays(60)[4..7], [20, 20 + 60, 20 + 60]);
}

fn fires(tcp: &Receiver) -> Option<Time> {
    tcp.acks.expiry.map(|expiry| expiry.at)
}

/// A receiver that has acknowledged all but the last of nine segments, which nobody has read.
fn receiver(rule: LockedTimers) -> Receiver {
    let profile = profile(|p| p.locked_timers = rule);
    let mut tcp = Receiver::new(profile, &host(), SEGMENT, Some(8_000));
    for seq in (0..9).map(|i| i * u64::from(SEGMENT)) {
        tcp.read(Time::ZERO, tcp.readable());
        tcp.on_segment(Time::ZERO, Segment { seq, len: SEGMENT, ..Segment::default() });
    }
    assert_eq!((tcp.acks.timer, fires(&tcp)), (Some(Time::ms(40)), Some(Time::ms(40))));
    tcp
}

const RULES: [LockedTimers; 2] = [LockedTimers::PutOff, LockedTimers::Released];

/// The end of the read sends the ACK that the timer could not send.
#[test]
fn the_end_of_a_read_sends_what_the_timer_could_not() {
    for rule in RULES {
        let mut tcp = receiver(rule);
        assert_eq!(tcp.read(Time::ms(41), tcp.readable()), None, "its timer has not come");
        let mut tcp = receiver(rule);
        tcp.on_delack_timer_while_locked(Time::ms(40));
        assert!(tcp.read(Time::ms(41), tcp.readable()).is_some());
        assert!(!tcp.acks.blocked, "an ACK forgets it");
    }
}

/// The timer up to 3.x fires again after 40 ms, even without effect. If it finds the socket locked once more, the next
/// delayed ACK waits neither for a second segment nor after a read.
#[test]
fn a_timer_that_is_put_off_comes_again() {
    let small = |tcp: &mut Receiver| {
        let segment = Segment { seq: tcp.rcv_nxt, len: 400, ..Segment::default() };
        tcp.on_segment(Time::ms(90), segment)
    };
    for rule in RULES {
        let put_off = rule == LockedTimers::PutOff;
        let mut tcp = receiver(rule);
        tcp.on_delack_timer_while_locked(Time::us(40_500));
        tcp.read(Time::ms(41), tcp.readable());
        assert_eq!(fires(&tcp), put_off.then_some(Time::ms(80)));
        if put_off {
            tcp.on_delack_timer_while_locked(Time::ms(80));
        }
        assert_eq!(small(&mut tcp), None, "the first one waits");
        assert_eq!(small(&mut tcp).is_some(), put_off, "{rule:?}");
    }
    let mut tcp = receiver(LockedTimers::PutOff);
    tcp.on_delack_timer_while_locked(Time::ms(40));
    tcp.read(Time::ms(41), tcp.readable());
    assert_eq!(tcp.on_delack_timer(Time::ms(80)), None, "there is nothing to acknowledge");
    assert_eq!(fires(&tcp), None);
}

/// An ACK does not stop the timer, but the next delayed one moves it.
#[test]
fn a_delayed_ack_moves_the_timer_of_the_one_before() {
    let mut tcp = receiver(LockedTimers::PutOff);
    tcp.make_ack();
    assert_eq!((tcp.acks.timer, fires(&tcp)), (None, Some(Time::ms(40))));
    let segment = Segment { seq: tcp.rcv_nxt, len: SEGMENT, ..Segment::default() };
    assert_eq!(tcp.on_segment(Time::ms(10), segment), None);
    assert_eq!((tcp.acks.timer, fires(&tcp)), (Some(Time::ms(50)), Some(Time::ms(50))));
}
