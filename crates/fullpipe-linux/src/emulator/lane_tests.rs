//! Packets of the kernel as trains of segments, and back.

use super::*;
use fullpipe_base::units::{Framing, Rate};
use fullpipe_sim::link::{Delay, Discipline, Element, Link, QueueLimit};
use fullpipe_sim::stage::Samples;

const MS: u64 = 1_000_000;
const MTU: u32 = 1500;
/// Bytes of the headers of IP and TCP with timestamps.
const HEADERS: u32 = 52;

/// Beginning of a TCP packet of that many bytes of payload.
fn header(payload: u32) -> Vec<u8> {
    let mut bytes = vec![0; HEADERS as usize];
    let total = (HEADERS + payload) as u16;
    (bytes[0], bytes[9], bytes[32]) = (0x45, 6, 8 << 4);
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes
}

/// A lane of 1 Gb/s with room for `limit` packets in front of it, and `delay` behind it.
fn lane(limit: u32, delay: Time) -> Lane {
    let link = Link {
        name: "link".into(),
        rate: Rate(1_000_000_000),
        framing: Framing::Ip,
        limit: QueueLimit::Packets(limit),
        discipline: Discipline::Fifo,
    };
    let delay = Delay { name: "delay".into(), delay, limit: u32::MAX, timer: None };
    let samples = Samples::every(Time(MS), Time(1000 * MS));
    let mut chain = Chain::new(&[Element::Link(link), Element::Delay(delay)], 1, samples);
    chain.watch(None);
    Lane::new(chain, Flows::default(), MTU)
}

/// Time of `count` full segments on the link, ns.
fn wire(count: u64) -> u64 {
    count * u64::from(MTU) * 8
}

#[test]
fn a_packet_of_many_segments_leaves_when_its_last_one_has_arrived() {
    let (mut lane, mut given) = (lane(100, Time(5 * MS)), Vec::new());
    lane.take(Time(MS), 7, &header(44 * 1448), &mut given);
    assert!(given.is_empty());
    let due = MS + wire(44) + 5 * MS;
    assert_eq!(lane.next_time(), due);
    assert!(lane.release(due - 1).is_none());
    let released = lane.release(due).expect("a packet");
    assert_eq!((released.id, released.queue), (7, WHOLE_QUEUE));
}

#[test]
fn a_shorter_last_segment_takes_less_time() {
    let (mut lane, mut given) = (lane(100, Time::ZERO), Vec::new());
    lane.take(Time::ZERO, 1, &header(1448 + 100), &mut given);
    assert_eq!(lane.next_time(), wire(1) + u64::from(HEADERS + 100) * 8);
}

#[test]
fn of_a_packet_that_overflows_the_queue_the_first_segments_pass() {
    let (mut lane, mut given) = (lane(3, Time::ZERO), Vec::new());
    lane.take(Time::ZERO, 1, &header(10 * 1448), &mut given);
    let [Given { queue: WHOLE_QUEUE, id: 1, verdict: Verdict::Requeue(SEGMENTS_QUEUE) }] =
        given[..]
    else {
        panic!("one verdict that splits the packet");
    };
    given.clear();

    // One is on the wire and three wait; the other six are lost.
    (0..10).for_each(|id| lane.take_back(id, &mut given));
    let lost: Vec<u32> = given.iter().map(|own| own.id).collect();
    assert_eq!(lost, [4, 5, 6, 7, 8, 9]);
    assert!(given.iter().all(|own| own.verdict == Verdict::Drop && own.queue == SEGMENTS_QUEUE));
    assert_eq!(lane.drops, 6);
    let passed: Vec<_> =
        std::iter::from_fn(|| lane.release(MS)).map(|own| (own.id, own.at)).collect();
    assert_eq!(passed, [(0, wire(1)), (1, wire(2)), (2, wire(3)), (3, wire(4))]);
}

#[test]
fn a_packet_without_room_is_dropped_whole() {
    let (mut lane, mut given) = (lane(1, Time::ZERO), Vec::new());
    lane.take(Time::ZERO, 1, &header(2 * 1448), &mut given);
    lane.take(Time::ZERO, 2, &header(5 * 1448), &mut given);
    let [Given { queue: WHOLE_QUEUE, id: 2, verdict: Verdict::Drop }] = given[..] else {
        panic!("one packet is dropped");
    };
}

#[test]
fn nothing_overtakes_a_segment_that_the_kernel_has_not_given_back() {
    let (mut lane, mut given) = (lane(2, Time::ZERO), Vec::new());
    lane.take(Time::ZERO, 1, &header(4 * 1448), &mut given);
    lane.take(Time(wire(3)), 2, &header(1448), &mut given);
    assert!(lane.release(MS).is_none());
    given.clear();
    (10..14).for_each(|id| lane.take_back(id, &mut given));
    let order: Vec<u32> = std::iter::from_fn(|| lane.release(MS)).map(|own| own.id).collect();
    assert_eq!(order, [10, 11, 12, 2]);
}

#[test]
fn other_packets_are_single_segments() {
    let (mut lane, mut given) = (lane(100, Time::ZERO), Vec::new());
    let mut udp = header(900);
    udp[9] = 17;
    lane.take(Time::ZERO, 1, &udp, &mut given);
    lane.take(Time::ZERO, 2, &[], &mut given);
    assert_eq!(lane.next_time(), u64::from(HEADERS + 900) * 8);
    assert_eq!(std::iter::from_fn(|| lane.release(MS)).count(), 2);
}

#[test]
fn packets_belong_to_the_flow_of_their_connection() {
    let flows = Flows { data: vec![0, 2], acks: vec![1, 3] };
    let mut packet = header(100);
    packet[22..24].copy_from_slice(&(FIRST_PORT + 1).to_be_bytes());
    assert_eq!(flows.of(&Shape::of(&packet, MTU)), 2);
    packet[2..4].copy_from_slice(&(HEADERS as u16).to_be_bytes());
    assert_eq!(flows.of(&Shape::of(&packet, MTU)), 3);
}
