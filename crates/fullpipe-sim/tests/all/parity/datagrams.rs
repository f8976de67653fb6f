//! Datagrams with flows: UDP and echo requests, in each direction, slower and faster than their path.

use super::{Seen, calls_take_time, same, show};
use crate::conversation::{flow, host};
use crate::plain_path;
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::{Config, Cpu, DatagramKind, Datagrams, Direction, Flow, Host};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(std::collections::BTreeMap::new());

fn compare(config: &Config) -> Result<(), String> {
    let (record, _) = same(config)?;
    if !config.datagrams.is_empty() && calls_take_time(config) {
        show(&SEEN, "calls that take time");
    }
    for own in &config.datagrams {
        if let DatagramKind::Udp { reader: Some(reader), .. } = own.kind {
            let parts =
                [("a slow reader", reader.rate.is_some()), ("pauses", reader.pauses.is_some())];
            parts.iter().filter(|(_, there)| *there).for_each(|(part, _)| show(&SEEN, part));
        }
        let last = |what: &str| {
            let name = format!("datagrams.{}.{what}", own.name);
            record.counters().filter(|c| *c.name == *name).last().map_or(0, |c| c.value)
        };
        let [sent, refused, received] = ["sent", "refused", "received"].map(last);
        let [lost, duplicates] = ["lost", "duplicates"].map(last);
        if received - duplicates + refused > sent || lost + received - duplicates > sent {
            return Err(format!("{}: more than were sent", own.name));
        }
        let whats = ["refused", "received", "lost", "reordered", "duplicates", "jitter_ns"];
        for what in whats.into_iter().chain(["rcvbuf_errors", "rtt_ns"]) {
            if last(what) > 0 {
                show(&SEEN, what);
            }
        }
    }
    Ok(())
}

#[test]
fn datagrams_give_equal_traces() {
    let size = Size { packets: 1500, samples: 50 };
    let configs = scenarios::config(size).prop_map(scenarios::with_datagrams);
    random::check(1500, configs.prop_map(scenarios::with_calls), compare);
    let seen = SEEN.lock().unwrap();
    let whats = ["refused", "received", "lost", "reordered", "duplicates", "jitter_ns"];
    for what in whats.into_iter().chain([
        "rcvbuf_errors",
        "rtt_ns",
        "calls that take time",
        "a slow reader",
        "pauses",
    ]) {
        assert!(seen.get(what).is_some_and(|&cases| cases >= 10), "hardly any {what}: {seen:?}");
    }
}

/// A reader has two datagrams, each of which takes 10 us to copy. Meanwhile a program on its host is to send echo
/// requests, but its time is over when it has its turn behind the first read. The second read starts then, not when
/// that program was woken. So the second datagram, written 80 ns after the first, is read 10 us after it, and the
/// difference of 9920 ns gives a jitter of 620.
#[test]
fn a_program_whose_time_is_over_takes_none() {
    let datagrams = |name: &str, direction, kind| Datagrams {
        name: name.into(),
        direction,
        from: None,
        to: None,
        kind,
        size: 1000,
        start: Time::ZERO,
        count: None,
        duration: None,
    };
    let udp = DatagramKind::Udp { rate: Rate::gbit(100), rcvbuf: None, reader: None };
    let udp = datagrams("udp", Direction::Forward, udp);
    let echo = DatagramKind::Echo { interval: Time::ms(1) };
    let echo = datagrams("ping", Direction::Backward, echo);
    let cpu = Cpu { copy_ps_per_byte: 10_000, ..Cpu::default() };
    let idle = Flow { start: Time::secs(19), ..flow("idle", 1000) };
    let hosts = [host(), Host { cpu, ..host() }];
    let mut config = plain_path::config(Time::ms(1), hosts, idle);
    config.mtu = 1500;
    (config.end, config.sample) = (Time::ms(2), Time::ms(2));
    config.datagrams = vec![
        Datagrams { start: Time::us(1002), duration: Some(Time::us(3)), ..echo },
        Datagrams { count: Some(2), ..udp },
    ];
    let (record, _) = same(&config).unwrap_or_else(|difference| panic!("{difference}"));
    let counters = record.counters().map(|own| (&*own.name, own.value)).collect::<Vec<_>>();
    let expected = [("sent", 2), ("received", 2), ("jitter_ns", 620)];
    let expected = expected.map(|(what, value)| (format!("datagrams.udp.{what}"), value));
    assert_eq!(counters, expected.each_ref().map(|(name, value)| (&name[..], *value)));
}
