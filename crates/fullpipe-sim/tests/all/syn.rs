//! SYNs that nobody answers.

use crate::host_queues::slow_card;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Element, Loss, Qdisc, Unit};
use fullpipe_sim::sim;
use fullpipe_sim::units::Time;

/// By when, in s, SYNs have left a host of `kernel` whose path loses all of them.
fn times(kernel: &str) -> Vec<u64> {
    let mut config = slow_card(Qdisc::PfifoFast);
    config.sender.kernel = kernel.into();
    config.sender.hz = 1000;
    config.forward =
        vec![Element::Loss(Loss { name: "all".into(), probability: 1.0, unit: Unit::Segment })];
    (config.end, config.sample) = (Time::secs(40), Time::secs(1));
    let mut record = Record::default();
    sim::run(&config, &mut record, &mut ToTheEnd).expect("valid");
    let ring = record.announced().iter().find(|stage| stage.name == "sender.tx_ring");
    let ring = ring.expect("a ring").index;
    let mut sent = 0;
    let mut times = Vec::new();
    for sample in record.samples().filter(|sample| sample.stage == ring) {
        if sample.entered > sent {
            (sent, times) = (sample.entered, [times, vec![sample.time.0 / 1_000_000_000]].concat());
        }
    }
    times
}

/// The timeout doubles, since 6.5 after four times of the same (net.ipv4.tcp_syn_linear_timeouts). The timer's wheel makes it
/// up to an eighth longer.
#[test]
fn syns_are_sent_again() {
    assert_eq!(times("2.6.20"), [1, 3, 9, 21]);
    assert_eq!(times("6.1"), [1, 2, 4, 8, 16, 32]);
    assert_eq!(times("6.12"), [1, 2, 3, 4, 5, 6, 8, 12, 20, 37]);
}
