//! Packets in the backlog of a socket that a process has (`socket_backlog` of the profile).
//!
//! Source: Linux 4.20 and later `tcp_space`; 6.12 `__tcp_ack_snd_check`, `__release_sock`, `tcp_release_cb`.

use crate::conversation::{SEGMENT, flow, host};
use crate::plain_path;
use fullpipe_sim::config::{Config, Flow, Host, Reader};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::tcp::profile::{self, SocketBacklog};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::units::{Rate, Time};

const CHOICES: [SocketBacklog; 3] =
    [SocketBacklog::Plain, SocketBacklog::Counted, SocketBacklog::OneAck];

/// Numbers and windows of the ACKs for three segments of a backlog, of which the last one arrives when it is empty. All
/// three are in quick mode. The buffer has 20,000 bytes, half of which is window. An skb is 1000 bytes and a head of
/// 832.
fn acks(choice: SocketBacklog) -> Vec<(u64, u64)> {
    let mut profile = *profile::find("6.12").expect("it is known");
    profile.socket_backlog = choice;
    let profile: &'static _ = Box::leak(Box::new(profile));
    let mut tcp = Receiver::new(profile, &host(), SEGMENT, Some(10_000));
    tcp.begin_backlog([(3, SEGMENT)].into_iter());
    let segments =
        (0..3).map(|i| Segment { seq: i * u64::from(SEGMENT), len: SEGMENT, ..Segment::default() });
    let mut acks: Vec<_> =
        segments.filter_map(|segment| tcp.on_segment(Time::ZERO, segment)).collect();
    acks.extend(tcp.end_backlog());
    acks.into_iter().map(|ack| (ack.ack, ack.window)).collect()
}

/// 5496 bytes of backlog leave no room for more. The window's right edge stays at 10,000 until the backlog is empty;
/// otherwise it moves to 11,000. 6.12 then sends all of it in one ACK.
#[test]
fn a_backlog_is_acknowledged() {
    let expected = [
        vec![(1000, 9000), (2000, 9000), (3000, 8000)],
        vec![(1000, 9000), (2000, 8000), (3000, 7000)],
        vec![(3000, 8000)],
    ];
    assert_eq!(CHOICES.map(acks), expected);
}

/// ACKs of 100 segments, all of which come while a reader copies for 10 ms at a time.
fn acks_of_a_slow_copy(choice: &str) -> u64 {
    let mut receiver = Host { kernel: "6.12".into(), ..host() };
    receiver.behaviour = vec![("socket_backlog".into(), choice.into())];
    receiver.cpu.copy_ps_per_byte = 1_000_000;
    let sender = Host { kernel: "6.12".into(), nic_rate: Rate(100_000_000), ..host() };
    let reader = Some(Reader { rate: Rate(1 << 40), read: 10 * SEGMENT });
    let bytes = Some(100 * u64::from(SEGMENT));
    let flow = Flow { bytes, reader, ..flow("bulk", 100 * SEGMENT) };
    let plain = plain_path::config(Time::ms(10), [sender, receiver], flow);
    let record = plain_path::run(&Config { end: Time::secs(2), ..plain });
    record.flows().last().expect("a sample").acks_received
}

/// Ten reads, and the first segment.
#[test]
fn a_slow_copy_is_acknowledged_less_often() {
    assert_eq!(["plain", "counted", "one-ack"].map(acks_of_a_slow_copy), [77, 77, 11]);
}
