//! An application that writes all the time and has to stop after `duration`.

use crate::conversation::{SEGMENT, Wire, flow, host};
use crate::plain_path;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Config, Flow, Host};
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::units::{Rate, Time};

/// Unsent bytes at 1 s and 1 ms of a flow with a buffer that stays full until ACKs have freed a third of it: a NIC of 1
/// Mb/s.
fn unsent(duration: Option<Time>) -> u64 {
    let sender = Host { kernel: "6.12".into(), nic_rate: Rate(1_000_000), ..host() };
    let receiver = Host { kernel: "6.12".into(), ..host() };
    let bulk = flow("bulk", 40 * SEGMENT);
    let flow = Flow { duration, sndbuf: Some(60_000), bytes: Some(1 << 40), ..bulk };
    let plain = plain_path::config(Time::ms(10), [sender, receiver], flow);
    let record = plain_path::run(&Config { end: Time::ms(1001), ..plain });
    record.flows().last().expect("a sample").unsent
}

/// A write() returns as it is interrupted, and the next one finds room where one that slept would have slept on.
#[test]
fn the_rest_of_a_write_goes_into_what_room_there_is() {
    let (stopped, asleep) = (unsent(Some(Time::secs(1))), unsent(None));
    assert_eq!((stopped, asleep), (44_000, 43_000));
}

/// Data of an interrupted write() is pushed; a write() that has written nothing has nothing to push.
#[test]
fn an_interrupted_write_is_pushed() {
    let profile = find("6.12").expect("it is known");
    let cc = Congestion::new("reno", &[], "6.12", 1000, 1).expect("a control");
    let mut tcp = Sender::new(profile, &host(), cc, SEGMENT, Some(1 << 20));
    let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
    tcp.established(wire.now, 1 << 20, Some(Time::ZERO), None);
    tcp.interrupt_write(&mut wire);
    assert!(wire.sent.is_empty());
    tcp.copied(SEGMENT / 2, tcp.size_goal(), true, &mut wire);
    assert!(wire.sent.is_empty(), "more is to come");
    tcp.interrupt_write(&mut wire);
    let sent: Vec<_> = wire.sent.iter().map(|skb| (skb.len, skb.push)).collect();
    assert_eq!(sent, [(SEGMENT / 2, true)]);
}
