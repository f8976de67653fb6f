//! Programs that read datagrams at their own pace, and the memory of waiting datagrams.
//!
//! Sources: those of `host/udp_reader.rs`. The figures with a reader are those of real Linux under engine linux.

use crate::conversation::{flow, host};
use crate::plain_path;
use fullpipe_sim::config::{
    Config, DatagramKind, DatagramReader, Datagrams, Direction, Element, Flow, Host, Pauses,
};
use fullpipe_sim::units::{Rate, Time};

/// 2,889 datagrams of 1,452 bytes at 1 Gb/s, 4 MiB in all, to a socket that asks for no buffer.
fn config(reader: DatagramReader, behaviour: &[(&str, &str)]) -> Config {
    let choice = |(row, to): &(&str, &str)| (row.to_string(), to.to_string());
    let own = Host { kernel: "6.12".into(), nic_rate: Rate::gbit(10), ..host() };
    let reads = Host { behaviour: behaviour.iter().map(choice).collect(), ..own.clone() };
    let idle = Flow { start: Time::secs(19), ..flow("idle", 1000) };
    let mut config = plain_path::config(Time::us(100), [own, reads], idle);
    for way in [&mut config.forward, &mut config.back] {
        if let Element::Delay(delay) = &mut way[0] {
            delay.limit = 10_000;
        }
    }
    (config.mtu, config.end, config.sample) = (1500, Time::ms(400), Time::ms(100));
    config.datagrams = vec![Datagrams {
        name: "udp".into(),
        direction: Direction::Forward,
        from: None,
        to: None,
        kind: DatagramKind::Udp { rate: Rate::gbit(1), rcvbuf: None, reader: Some(reader) },
        size: 1452,
        start: Time::ms(100),
        count: Some(2889),
        duration: None,
    }];
    config
}

fn slow(mbit: u64) -> DatagramReader {
    DatagramReader { rate: Some(Rate::mbit(mbit)), pauses: None }
}

fn pausing(on: Time, off: Time) -> DatagramReader {
    DatagramReader { rate: None, pauses: Some(Pauses { on, off }) }
}

/// Datagrams that are read, and those for which the socket has no room.
fn read_and_lost(config: &Config) -> [u64; 2] {
    let record = plain_path::run(config);
    ["received", "rcvbuf_errors"].map(|what| {
        let name = format!("datagrams.udp.{what}");
        record.counters().filter(|own| *own.name == *name).last().map_or(0, |own| own.value)
    })
}

/// A socket of 212,992 bytes has room for 93 datagrams of 2,304 bytes. 10 ms after the first one the program pauses for
/// 20 ms, in which 1,721 datagrams come.
#[test]
fn a_pause_costs_what_does_not_fit() {
    let reader = pausing(Time::ms(10), Time::ms(20));
    assert_eq!(read_and_lost(&config(reader, &[])), [1261, 1628]);
}

/// A datagram of 100 bytes has a head of 512 bytes or, since 6.3, one of 576. With the skb these are 768 and 832 bytes.
#[test]
fn datagram_memory() {
    let lost = |memory| {
        let mut config =
            config(pausing(Time::ms(10), Time::ms(20)), &[("datagram_memory", memory)]);
        let own = &mut config.datagrams[0];
        own.size = 100;
        if let DatagramKind::Udp { rate, .. } = &mut own.kind {
            *rate = Rate::mbit(100);
        }
        read_and_lost(&config)[1]
    };
    assert_eq!([lost("slab"), lost("slab-or-small-head")], [1373, 1394]);
}

/// A program that reads 300 Mb/s releases the memory of 24 datagrams at a time. With a release for each datagram the
/// socket is full when the last datagrams arrive, and the program reads more of them.
#[test]
fn udp_memory_batches() {
    let lost = |batches| read_and_lost(&config(slow(300), &[("udp_memory_batches", batches)]));
    assert_eq!(lost("true"), [939, 1950]);
    let [read, lost] = lost("false");
    assert!(read > 939 && read + lost == 2889, "{read} read, {lost} lost");
}

/// Each second datagram arrives at half the rate as the program wakes. The program reads first, as on real Linux 6.12.
#[test]
fn a_woken_reader_goes_before_the_datagram_of_its_nanosecond() {
    let read = |woken_first| read_and_lost(&config(slow(500), &[("woken_first", woken_first)]))[0];
    assert_eq!([read("true"), read("false")], [1519, 1518]);
}
