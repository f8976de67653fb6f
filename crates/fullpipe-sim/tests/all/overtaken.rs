//! Packets that later ones have overtaken: SACK blocks for data that arrived twice, and the fate of data.

use crate::conversation::{ack, host, written};
use crate::host_queues::slow_card;
use crate::properties::captures::watched;
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Distribution, Element, Host, Jitter, Qdisc};
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::trace::Point;
use fullpipe_sim::units::Time;

/// The first of ten segments is taken for lost and sent again, and all arrive. Returns cwnd then, and after an
/// overtaken ACK of five segments with a block of `[start, end)`.
fn cwnd_behind(kernel: &str, start: u64, end: u64) -> [u32; 2] {
    let profile = find(kernel).expect("it is known");
    let host = Host { kernel: kernel.into(), ..host() };
    let cc = Congestion::new("reno", &[], kernel, host.hz, 1).expect("a control");
    let (mut tcp, mut wire) = written(profile, &host, cc, 10);
    let mut on_ack = |segments, sacks: &[(u64, u64)]| {
        wire.now += Time::ms(20);
        tcp.on_ack(&ack(segments, sacks), &mut wire);
        tcp.cwnd()
    };
    on_ack(0, &[(1, 6)]);
    on_ack(0, &[(1, 10)]);
    [on_ack(10, &[]), on_ack(5, &[(start, end)])]
}

/// A block above its own ACK's number is no D-SACK, though a later ACK acknowledges all of it: nothing is undone. A
/// block below is one, so the only retransmission was needless (3.14 and 6.12 `tcp_check_dsack`).
#[test]
fn a_block_came_twice_if_its_own_ack_acknowledges_it() {
    for kernel in ["3.14", "6.1", "6.12"] {
        assert_eq!(cwnd_behind(kernel, 6, 8), [5, 5], "{kernel}");
        assert_eq!(cwnd_behind(kernel, 0, 1), [5, 10], "{kernel}");
    }
}

/// Data that TCP refuses for an old timestamp is lost, as a capture shows for each of its segments. It is not lost for
/// want of buffer: the receive buffer has dropped nothing.
#[test]
fn refused_segments_are_lost_and_no_drops_of_a_buffer() {
    let mut config = slow_card(Qdisc::PfifoFast);
    let (delay, jitter) = (Time::ms(30), Time::ms(20));
    let (correlation, distribution, keep_order) = (0.0, Distribution::Uniform, false);
    let name = "jitter".into();
    config.forward.push(Element::Jitter(Jitter {
        name,
        delay,
        jitter,
        correlation,
        distribution,
        keep_order,
    }));
    (config.sender.timestamps, config.receiver.timestamps) = (true, true);
    config.counters = Some(config.end);
    let seen = watched(&config, Point::Wire(0)).expect("a valid configuration");
    let counter = |host: &str, name: &str| {
        let of = seen.record.counters().filter(|c| *c.host == *host && *c.name == *name);
        of.last().map_or(0, |last| last.value)
    };
    let refused = counter("receiver", "TcpExt.PAWSEstab");
    assert!(refused > 10, "{refused}");
    assert_eq!(counter("receiver", "tcp.beyond_window"), 0);
    let buffer = seen.record.announced().iter().find(|info| info.name == "receiver.receive_buffer");
    let buffer = buffer.expect("a stage").index;
    let last = seen.record.samples().filter(|sample| sample.stage == buffer).last();
    assert_eq!(last.expect("samples").dropped, 0);
    let lost = seen.packets.iter().flat_map(|packet| &packet.dropped);
    let lost: u32 = lost.filter(|lost| lost.stage == buffer).map(|lost| lost.segments).sum();
    // Some refused segments had arrived before: they are repetitions.
    assert!(lost > 10 && u64::from(lost) <= refused, "{lost} of {refused}");
}
