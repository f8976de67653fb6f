//! SYNs that nobody answers, and answers that nobody hears.

use crate::host_queues::slow_card;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Delay, Element, Loss, Qdisc, Unit};
use fullpipe_sim::sim;
use fullpipe_sim::units::Time;
use std::iter;

/// By when, in tenths of a second, SYNs have left a host of `kernel` whose path loses all of them.
fn times(kernel: &str) -> Vec<u64> {
    let mut config = of(kernel);
    config.forward = vec![all()];
    entries(&config, "sender.tx_ring")
}

/// The same of answers, on a way back that loses all of them.
fn answers(kernel: &str) -> Vec<u64> {
    let mut config = of(kernel);
    config.back = vec![all()];
    entries(&config, "receiver.tx_ring")
}

fn of(kernel: &str) -> Config {
    let mut config = slow_card(Qdisc::PfifoFast);
    for host in [&mut config.sender, &mut config.receiver] {
        (host.kernel, host.hz) = (kernel.into(), 1000);
    }
    (config.end, config.sample) = (Time::secs(40), Time::ms(100));
    config
}

fn all() -> Element {
    Element::Loss(Loss { name: "all".into(), probability: 1.0, unit: Unit::Segment })
}

/// By when, in tenths of a second, packets have entered that ring.
fn entries(config: &Config, ring: &str) -> Vec<u64> {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("valid");
    let ring = record.announced().iter().find(|stage| stage.name == ring);
    let ring = ring.expect("a ring").index;
    let mut sent = 0;
    let mut times = Vec::new();
    for sample in record.samples().filter(|sample| sample.stage == ring) {
        let new = (sample.entered - sent) as usize;
        times.extend(iter::repeat_n(sample.time.0 / 100_000_000, new));
        sent = sample.entered;
    }
    times
}

/// The timeout doubles, since 6.5 after four times of the same (net.ipv4.tcp_syn_linear_timeouts). The timer's wheel makes it
/// up to an eighth longer.
#[test]
fn syns_are_sent_again() {
    assert_eq!(times("2.6.20"), [1, 30, 90, 210]);
    assert_eq!(times("6.1"), [1, 11, 31, 72, 156, 320]);
    assert_eq!(times("6.12"), [1, 11, 21, 31, 42, 52, 72, 113, 197, 361]);
}

/// A SYN-ACK is sent again for each SYN that comes again, and by a timer of its own, whose time a SYN begins anew and each of five
/// timeouts doubles (6.12 `reqsk_timer_handler`).
#[test]
fn answers_are_sent_again() {
    assert_eq!(answers("6.1"), [1, 11, 11, 31, 31, 72, 72, 156, 156, 320, 320]);
    let by_both = [1, 11, 11, 21, 31, 42, 52, 72, 72, 113, 113, 197, 197, 361, 361];
    assert_eq!(answers("6.12"), by_both);
}

/// What both ends send, in tenths of a second, where one way takes 600 ms and the connection has one segment: the second SYN-ACK
/// is answered (6.12 `tcp_send_challenge_ack`), another one that comes within half a second is not.
#[test]
fn a_syn_ack_that_comes_again_is_answered() {
    let mut config = of("6.12");
    let delay = |name: &str| {
        Element::Delay(Delay {
            name: name.into(),
            delay: Time::ms(600),
            limit: u32::MAX,
            timer: None,
        })
    };
    (config.forward, config.back) = (vec![delay("there")], vec![delay("back")]);
    config.end = Time::secs(6);
    let flow = &mut config.flows[0];
    (flow.bytes, flow.write) = (Some(1000), 1000);
    assert_eq!(entries(&config, "receiver.tx_ring"), [7, 17, 17, 19, 19]);
    assert_eq!(entries(&config, "sender.tx_ring"), [1, 11, 13, 13, 13, 23]);
}
