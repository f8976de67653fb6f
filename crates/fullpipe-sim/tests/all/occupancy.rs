//! Durations for which places are full and empty, and their content, by hand: shorter than a sample.

use crate::conversation::{flow, host};
use crate::plain_path;
use crate::transmit::acks;
use fullpipe_sim::config::{
    Cpu, DatagramKind, Datagrams, Delay, Direction, Discipline, Element, Flow, Host, Link,
    QueueLimit,
};
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::packet::Train;
use fullpipe_sim::stage::Samples;
use fullpipe_sim::trace::StageSample;
use fullpipe_sim::units::{Framing, Rate, Time};

/// Packets of 1000 bytes.
fn packets(first: Time, spacing: u64, count: u32) -> Train {
    Train { ip_len: 1000, first, ..acks(0, spacing, count) }
}

/// The counters of an element at 10 and 20 ms, at which samples are taken.
fn samples(element: Element, trains: &[Train]) -> [StageSample; 2] {
    let mut chain = Chain::new(&[element], 1, Samples::every(Time::ms(10), Time::ms(20)));
    let mut out = Vec::new();
    trains.iter().for_each(|train| chain.push(train, &mut out));
    [10, 20].map(|at| chain.stages_mut().next().expect("an element").sample(Time::ms(at)))
}

/// A packet takes it a millisecond.
fn link(limit: QueueLimit) -> Element {
    let (rate, framing, discipline) = (Rate::mbit(8), Framing::Ip, Discipline::Fifo);
    Element::Link(Link { name: "link".into(), rate, framing, limit, discipline })
}

fn times(sample: &StageSample) -> [u64; 4] {
    let StageSample { waiting_ns, waiting_byte_us, full_ns, empty_ns, .. } = *sample;
    [waiting_ns / 1000, waiting_byte_us / 1000, full_ns / 1000, empty_ns / 1000]
}

/// Five packets arrive at once. The first one is sent, three wait for 1, 2 and 3 ms, and one is dropped. The queue is
/// full for the first millisecond.
#[test]
fn a_queue_that_is_full_for_less_than_a_sample() {
    for limit in [QueueLimit::Packets(3), QueueLimit::Bytes(3500)] {
        let [early, late] = samples(link(limit), &[packets(Time::ZERO, 0, 5)]);
        assert_eq!((early.waiting, early.peak, early.dropped), (0, 3, 1));
        let bytes = if matches!(limit, QueueLimit::Bytes(_)) { 6000 } else { 0 };
        assert_eq!(times(&early), [6000, bytes, 1000, 7000]);
        assert_eq!(times(&late), [6000, bytes, 1000, 17_000]);
    }
}

/// Each packet arrives 0.9 ms after the one before. The second one waits 0.1 ms, the third 0.2 ms, and so on. From the
/// eleventh, which waits 1 ms, the queue is never empty again.
#[test]
fn a_queue_that_is_empty_between_packets() {
    let [early, late] =
        samples(link(QueueLimit::Packets(100)), &[packets(Time::ZERO, 900_000, 16)]);
    // Up to 10 ms numbers 1 to 9 have waited, number 10 for its whole millisecond, number 11 comes at 9.9 ms.
    assert_eq!(times(&early), [4500 + 1000 + 100, 0, 0, 10_000 - 5500]);
    // 13.5 ms to 15 ms is the last wait; 0.1 to 1.5 ms are 12 ms of waiting.
    assert_eq!(times(&late)[0], 12_000);
    // From 9.0 ms on a packet waits until 15 ms; before that for 0.1 to 0.9 ms each.
    assert_eq!(times(&late)[3], 20_000 - 4500 - 6000);
}

/// A delay of 4 ms with room for two, packets 1 ms apart: two come in, two are dropped, and so on.
#[test]
fn a_delay_that_is_full() {
    let (name, delay, timer) = ("delay".into(), Time::ms(4), None);
    let delay = Element::Delay(Delay { name, delay, limit: 2, timer });
    let [early, _] = samples(delay, &[packets(Time::ZERO, 1_000_000, 6)]);
    // In at 0, 1, 4 and 5 ms, each for 4 ms: one takes the place of the other. Full from 1 to 8 ms, empty from 9 ms on.
    assert_eq!((early.dropped, early.entered), (2, 4));
    assert_eq!(times(&early), [16_000, 0, 7000, 1000]);
}

/// A receive buffer has the memory that the program asks for, which the kernel doubles. A buffer that the kernel tunes
/// has no bound.
#[test]
fn a_receive_buffer_has_room_where_it_was_asked_for() {
    let mut receiver = host();
    receiver.sysctl.rmem_max = 1 << 20;
    for (asked, capacity) in [(Some(100_000), Some(200_000)), (None, None)] {
        let mut flow = flow("bulk", 1000);
        flow.rcvbuf = asked;
        let config = plain_path::config(Time::ms(1), [host(), receiver.clone()], flow);
        let record = plain_path::run(&config);
        let buffer = record.announced().iter().find(|stage| stage.kind == "receive_buffer");
        let buffer = buffer.expect("a receiver");
        assert_eq!((buffer.capacity, buffer.timed), (capacity, false));
    }
}

/// A socket of 2304 bytes, the least, takes datagrams of 1000 bytes of data while it holds no more than its size: two
/// of them, with their heads. Five arrive within 0.4 us. Each takes 100 us to read, so the first is read after three
/// are lost.
#[test]
fn a_socket_of_datagrams_is_a_place() {
    let kind = DatagramKind::Udp { rate: Rate::gbit(80), rcvbuf: Some(1), reader: None };
    let (name, direction) = ("udp".into(), Direction::Forward);
    let (from, to, start, count) = (None, None, Time::ZERO, Some(5));
    let size = 1000;
    let udp = Datagrams { name, direction, from, to, kind, size, start, count, duration: None };
    let cpu = Cpu { copy_ps_per_byte: 100_000, ..Cpu::default() };
    let idle = Flow { start: Time::secs(19), ..flow("idle", 1000) };
    let mut config = plain_path::config(Time::ms(1), [host(), Host { cpu, ..host() }], idle);
    (config.mtu, config.end, config.sample) = (1500, Time::ms(10), Time::ms(10));
    config.datagrams = vec![udp];
    let record = plain_path::run(&config);
    let socket = record.announced().iter().find(|stage| stage.name == "receiver.udp_socket");
    let socket = socket.expect("a place of its own");
    assert_eq!((socket.capacity, socket.timed, socket.unit), (Some(2304), true, "byte"));
    let sample = *record.samples().find(|sample| sample.stage == socket.index).expect("a sample");
    assert_eq!((sample.entered, sample.left, sample.dropped, sample.peak), (2, 2, 3, 2));
    let [waiting, bytes, full, empty] = times(&sample);
    // 100 and 200 us; full until the first is read.
    assert_eq!((waiting, full, empty), (299, 99, 9800));
    assert!(bytes > waiting && bytes <= 2304 * waiting / 1000, "{bytes}");
}
