//! Captures on a receiving host: skbs as GRO hands them up, as tcpdump on Linux sees them.

use crate::conversation::{flow, host};
use crate::plain_path;
use crate::properties::captures::watched;
use fullpipe_sim::config::Host;
use fullpipe_sim::trace::{Packet, Point};
use fullpipe_sim::units::Time;

/// Data packets at a receiver with an interrupt 50 us after the first packet, with GRO or without.
fn data(gro: bool, point: Point) -> Vec<Packet> {
    let sender = Host { kernel: "6.12".into(), tso: true, ..host() };
    let receiver = Host { gro, rx_coalesce: Time::us(50), rx_ring: 4096, ..sender.clone() };
    let mut bulk = flow("bulk", 100_000);
    bulk.bytes = Some(500_000);
    let config = plain_path::config(Time::ms(1), [sender, receiver], bulk);
    let packets = watched(&config, point).expect("a valid configuration").packets;
    packets.into_iter().filter(|packet| packet.forward && packet.len > 0).collect()
}

/// An skb is one packet of all its segments, at most 64 KB with its headers. No byte is seen twice or missing (6.12
/// `skb_gro_receive`, GRO_LEGACY_MAX_SIZE; taps are in `__netif_receive_skb_core`, behind GRO).
#[test]
fn a_capture_on_the_receiver_sees_what_gro_has_joined() {
    let skbs = data(true, Point::Qdisc(1));
    assert!(skbs.iter().any(|skb| skb.segments > 20), "{} skbs", skbs.len());
    let mut next = skbs[0].seq;
    for skb in &skbs {
        assert_eq!(skb.seq, next);
        // All segments but the last one of a write are full.
        assert_eq!(skb.segments, skb.len.div_ceil(1000));
        assert!(skb.len + 40 < 65_536, "{} bytes", skb.len);
        next += u64::from(skb.len);
    }
    assert_eq!(skbs.iter().map(|skb| u64::from(skb.len)).sum::<u64>(), 500_000);
    assert!(skbs.is_sorted_by_key(|skb| skb.time));
}

/// Each segment is a packet without GRO, and on the cable.
#[test]
fn segments_are_seen_where_nothing_joins_them() {
    for (gro, point) in [(false, Point::Qdisc(1)), (true, Point::Wire(1))] {
        let packets = data(gro, point);
        assert!(packets.iter().all(|packet| packet.segments == 1 && packet.len <= 1000));
        let bytes: u64 = packets.iter().map(|packet| u64::from(packet.len)).sum();
        assert_eq!(bytes, 500_000, "{point:?}");
    }
}
