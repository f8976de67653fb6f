//! Timelines of single segments.

use super::*;
use crate::capture::segment::{Stamps, sample};

const MSS: u32 = 1_000;
const RTT: Time = Time::ms(20);

fn setup(place: Place) -> Setup {
    let (beyond, before) = match place {
        Place::Sender => (RTT, Time::ZERO),
        Place::Receiver => (Time::ZERO, RTT),
        Place::Middle => (Time(RTT.0 / 2), Time(RTT.0 / 2)),
    };
    Setup {
        place,
        beyond,
        before,
        scale: Some(0),
        mss: MSS,
        options: 7,
        begin: Time::ZERO,
        lasts: RTT,
    }
}

fn segment(us: u64, seq: u32, len: u32) -> Segment {
    Segment { window: 60_000, ..sample(us, 1, seq, len) }
}

fn ack(us: u64, ack: u32) -> Segment {
    Segment { ack, ..segment(us, 0, 0) }
}

fn last(own: Timeline) -> FlowSample {
    own.finish().0.pop().expect("a row")
}

#[test]
fn round_trips_are_those_of_segments_sent_once() {
    let mut own = Timeline::new(Setup { beyond: Time::ZERO, ..setup(Place::Sender) });
    own.data(&segment(0, 100, MSS));
    own.data(&segment(1_000, 1_100, MSS));
    own.ack(&ack(21_000, 2_100));
    let row = last(own);
    assert_eq!((row.sender.min_rtt_us, row.srtt_us), (20_000, 20_000));
    assert_eq!((row.bytes_acked, row.bytes_sent, row.in_flight), (2_000, 2_000, 0));
}

#[test]
fn what_is_sent_below_others_is_sent_again() {
    let mut own = Timeline::new(setup(Place::Sender));
    for n in 0..10 {
        own.data(&segment(n * 10, 100 + n as u32 * MSS, MSS));
    }
    own.data(&segment(30_000, 1_100, MSS));
    let row = last(own);
    assert_eq!((row.segments_retransmitted, row.bytes_retransmitted), (1, 1_000));
    assert_eq!((row.segments_sent, row.ca_state), (11, 3));
}

#[test]
fn at_a_receiver_the_identification_separates_late_from_sent_again() {
    for (id, again, late) in [(50, 1, 0), (5, 0, 1)] {
        let mut own = Timeline::new(setup(Place::Receiver));
        own.data(&Segment { id: Some(1), ..segment(0, 100, MSS) });
        own.data(&Segment { id: Some(10), ..segment(10, 5_100, MSS) });
        own.data(&Segment { id: Some(id), ..segment(20, 1_100, MSS) });
        let row = last(own);
        assert_eq!((row.segments_retransmitted, row.sender.reord_seen), (again, late), "{id}");
    }
}

#[test]
fn a_window_stops_its_sender_while_it_has_no_room() {
    let mut own = Timeline::new(setup(Place::Sender));
    own.ack(&Segment { window: 10_000, ..ack(0, 100) });
    own.data(&segment(0, 100, 10_000));
    own.ack(&Segment { window: 60_000, ..ack(20_000, 10_100) });
    own.data(&segment(20_000, 10_100, MSS));
    own.ack(&ack(40_000, 11_100));
    let socket = last(own).sender;
    assert_eq!((socket.rwnd_limited_us, socket.busy_time_us), (20_000, 40_000));
}

#[test]
fn an_unknown_scale_stops_nothing() {
    let mut own = Timeline::new(Setup { scale: None, ..setup(Place::Sender) });
    own.ack(&Segment { window: 10, ..ack(0, 100) });
    own.data(&segment(0, 100, 10_000));
    own.ack(&ack(20_000, 10_100));
    let row = last(own);
    assert_eq!((row.sender.rwnd_limited_us, row.snd_wnd), (0, u32::MAX.into()));
}

#[test]
fn acks_reach_a_far_sender_when_its_data_echoes_them() {
    let stamped =
        |own: Segment, value, echo| Segment { stamps: Some(Stamps { value, echo }), ..own };
    let mut own = Timeline::new(setup(Place::Receiver));
    own.data(&stamped(segment(0, 100, MSS), 7, 1));
    own.ack(&stamped(ack(100, 1_100), 50, 7));
    own.data(&stamped(segment(10_000, 1_100, MSS), 17, 1));
    // The ACK is still on its way: two packets are out.
    assert_eq!(own.info.unacked, 2);
    own.data(&stamped(segment(20_100, 2_100, MSS), 27, 50));
    assert_eq!(own.info.unacked, 2, "the first one is acknowledged");
    assert_eq!(own.info.rtt, 20_000);
}
