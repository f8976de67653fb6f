//! FIN of a reader whose connection is followed by another one.

use crate::conversation::{flow, host};
use crate::plain_path;
use crate::properties::captures::watched;
use fullpipe_sim::config::{After, Config, Drop, Element};
use fullpipe_sim::trace::{Packet, Point};
use fullpipe_sim::units::Time;

/// Two connections of a loop, with segments of 1000 bytes. The way back loses an ACK of the first one, counted from 0.
fn two(lost_ack: u64) -> Config {
    let mut first = flow("first", 100_000);
    first.bytes = Some(20_000);
    let mut config = plain_path::config(Time::ms(10), [host(), host()], first.clone());
    let after = Some(After { flow: 0, pause: Time::ZERO, until: None });
    config.flows.push(fullpipe_sim::config::Flow { name: "second".into(), after, ..first });
    let lost = Drop { name: "lost".into(), flow: 0, segments: Vec::new(), acks: vec![lost_ack] };
    config.back.insert(0, Element::Drop(lost));
    config
}

/// Packets of the first connection at its sender's wire.
fn packets(config: &Config) -> Vec<Packet> {
    let all = watched(config, Point::Wire(0)).expect("a valid configuration").packets;
    all.into_iter().filter(|packet| packet.flow == 0).collect()
}

/// The FIN takes a number behind the SYN's, and the sender acknowledges it (Linux `tcp_send_fin`, `tcp_fin`).
#[test]
fn it_has_a_number_that_the_sender_acknowledges() {
    let all = packets(&two(99));
    let fins: Vec<&Packet> = all.iter().filter(|own| own.fin && !own.forward).collect();
    assert_eq!(fins.iter().map(|own| own.seq).collect::<Vec<_>>(), [1]);
    let last = all.iter().rfind(|own| own.forward).expect("a last packet");
    assert!(last.time > fins[0].time && last.len == 0, "{last:?}");
    assert_eq!((last.ack, last.fin), (Some(2), false));
}

/// A list of lost ACKs counts no FIN: a number behind the last ACK loses nothing.
#[test]
fn it_is_no_ack_without_data() {
    let arriving = |lost_ack: u64| {
        let all = packets(&two(lost_ack));
        let back = all.iter().filter(|own| !own.forward && !own.syn);
        let (fins, acks): (Vec<&Packet>, Vec<&Packet>) = back.partition(|own| own.fin);
        (acks.len() as u64, fins.len())
    };
    let (acks, _) = arriving(99);
    assert!(acks > 3, "{acks} ACKs");
    assert_eq!(arriving(acks - 1), (acks - 1, 1));
    assert_eq!(arriving(acks), (acks, 1));
}
