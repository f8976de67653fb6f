//! Losses where both ends send data, against bytes that Linux 6.12.117 had sent at the same time.

use crate::conversation::{self, SEGMENT, flow};
use crate::plain_path::run;
use fullpipe_sim::config::{
    App, Config, Delay, Direction, Discipline, Drop, Element, Flow, Host, Link, QueueLimit, Sysctl,
};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::tcp::profile;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::units::{Framing, Rate, Time};

/// Bytes of a message.
const MESSAGE: u32 = 60_000;

/// 20 Mbit/s and 10 ms each way. A segment is lost each way: the 60th of the calls, and one of the answers.
fn config(timestamps: bool, lost_answer: u64) -> Config {
    let way = |name: &str| {
        let link = Link {
            name: format!("{name}-link"),
            rate: Rate(20_000_000),
            framing: Framing::Ethernet,
            limit: QueueLimit::Bytes(900_000),
            discipline: Discipline::Fifo,
        };
        let delay = Delay { name: name.into(), delay: Time::ms(10), limit: 1000, timer: None };
        vec![Element::Link(link), Element::Delay(delay)]
    };
    let drop = |name: &str, flow, segment| {
        Element::Drop(Drop { name: name.into(), flow, segments: vec![segment], acks: Vec::new() })
    };
    let messages =
        |in_flight| App::Messages { size: MESSAGE.into(), in_flight, period: None, corks: false };
    let flow = |name, app| Flow { app, congestion: "cubic".into(), ..flow(name, MESSAGE) };
    let sysctl = Sysctl {
        rmem_max: 212_992,
        wmem_max: 212_992,
        tcp_rmem: [4096, 131_072, 6 << 20],
        tcp_wmem: [4096, 16_384, 4 << 20],
        tcp_adv_win_scale: 1,
        tcp_fack: false,
        tcp_frto: 2,
        ..Sysctl::LINUX_2_6_20
    };
    let nic_rate = Rate(200_000_000);
    let host = Host { timestamps, tso: true, nic_rate, sysctl, ..Host::plain("6.12") };
    let answers =
        Flow { direction: Direction::Backward, answers: Some(0), ..flow("answers", messages(1)) };
    let mut config = Config {
        seed: 1,
        end: Time::ms(400),
        sample: Time::us(200),
        counters: None,
        mtu: 1500,
        forward: way("there"),
        back: way("back"),
        sender: host.clone(),
        receiver: host,
        neighbours: Vec::new(),
        datagrams: Vec::new(),
        rpc: Default::default(),
        flows: vec![flow("calls", messages(4)), answers],
    };
    config.forward.insert(0, drop("list", 0, 60));
    config.back.insert(0, drop("back-list", 1, lost_answer));
    config
}

/// Bytes of calls that were sent by these times, us.
fn sent<const N: usize>(config: &Config, times: [u64; N]) -> [u64; N] {
    let record = run(config);
    times.map(|us| {
        let mut calls = record.flows().filter(|sample| sample.flow == 0);
        let sample = calls.find(|sample| sample.time == Time::us(us)).expect("a sample");
        sample.bytes_sent
    })
}

/// Answers beyond the hole arrive every 0.6 ms, the last ones at 156.3, 156.9 and 157.5 ms. The timer of compressed ACKs fires
/// between the first two of these. It does not read TCP's clock (6.12 `tcp_compressed_ack_kick`), so its ACK has the time 156.3 ms.
/// At 157.5 ms an ACK leaves room for one segment. The last transmission was 1.2 ms ago by TCP's clock. After a millisecond no
/// segment waits (`tcp_tso_should_defer`). By the timer's own time it was 0.7 ms ago, and the segment would wait.
#[test]
fn a_compressed_ack_does_not_hold_back_data() {
    let beside_sack = 1448 - 12;
    let sent = sent(&config(true, 41), [157_400, 157_600]);
    assert_eq!(sent, [201_272, 201_272 + beside_sack]);
}

/// At 383.9 ms an ACK leaves room for one segment, which waits because others left 0.6 ms ago. At 384.5 ms an answer arrives whose
/// ACK says nothing new. After 1.2 ms the segment would not wait any longer. But the answer takes the fast path, which does not look
/// at the own data (6.12 `tcp_rcv_established`). The path needs memory for the answer, which the socket shares with its own data. So the
/// segment leaves at 385.1 ms, with the next ACK: 14,600 bytes in ten segments.
#[test]
fn data_waits_on_while_answers_take_the_fast_path() {
    let sent = sent(&config(false, 150), [384_000, 384_600, 385_200]);
    assert_eq!(sent, [474_164, 474_164, 474_164 + 14_600]);
}

/// A receiver whose segment with timestamp 5 was taken, and the next segment, with timestamp 9.
fn received() -> (Receiver, Segment) {
    let host = Host { timestamps: true, ..conversation::host() };
    let linux = profile::find("6.12").expect("it is known");
    let mut receiver = Receiver::of_connecting(linux, &host, SEGMENT, None);
    let first = Segment { len: SEGMENT, tsval: 5, ..Segment::default() };
    receiver.take(Time::ms(1), &first);
    (receiver, Segment { seq: SEGMENT.into(), tsval: 9, ..first })
}

/// A retransmission that the ACK of a segment lets out echoes the timestamp of that segment, but does not acknowledge its data
/// (6.12 `tcp_ack`, FLAG_UPDATE_TS_RECENT).
#[test]
fn a_retransmission_echoes_the_segment_that_lets_it_out() {
    let (mut receiver, next) = received();
    receiver.carry(Time::ms(2), true);
    receiver.stamp_before_ack(&next);
    let carried = receiver.carry(Time::ms(3), true);
    assert_eq!((carried.ack, carried.tsecr), (SEGMENT.into(), 9));
}

/// A segment behind data without an ACK is not echoed (`tcp_replace_ts_recent`). The ACK of a retransmission that the segment lets
/// out changes nothing.
#[test]
fn a_segment_behind_owed_data_is_not_echoed() {
    let (mut receiver, next) = received();
    receiver.stamp_before_ack(&next);
    assert_eq!(receiver.carry(Time::ms(2), true).tsecr, 5);
    receiver.take(Time::ms(2), &next);
    receiver.end_stamped();
    let carried = receiver.carry(Time::ms(3), true);
    assert_eq!((carried.ack, carried.tsecr), (2 * u64::from(SEGMENT), 5));
}

/// An ACK without data behind lost data is not echoed (`tcp_replace_ts_recent`), although all received data is acknowledged.
#[test]
fn an_ack_behind_a_hole_is_not_echoed() {
    let (mut receiver, next) = received();
    assert_eq!(receiver.carry(Time::ms(2), true).tsecr, 5);
    receiver.take_ack_timestamp(next.seq + 1, 9);
    assert_eq!(receiver.carry(Time::ms(3), true).tsecr, 5);
    receiver.take_ack_timestamp(next.seq, 9);
    assert_eq!(receiver.carry(Time::ms(4), true).tsecr, 9);
}
