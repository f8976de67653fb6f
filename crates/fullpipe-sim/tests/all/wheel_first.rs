//! A timer of the wheel is heard before packets of its nanosecond.
//!
//! Source: Linux 6.12 `handle_softirqs` (TIMER_SOFTIRQ before NET_RX_SOFTIRQ).

use crate::conversation::{SEGMENT, flow, host};
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Delay, Element, Flow, Host};
use fullpipe_sim::sim;
use fullpipe_sim::units::{Rate, Time};

/// What a host sends in 1.1 s that opens a connection at 0 and has one segment for it, `delay` ms away.
fn sent(delay: u64) -> u64 {
    let way = |name: &str| {
        let delay = Time::ms(delay);
        Element::Delay(Delay { name: name.into(), delay, limit: 1000, timer: None })
    };
    let host = Host { kernel: "6.12".into(), hz: 1000, nic_rate: Rate(1 << 60), ..host() };
    let config = Config {
        seed: 1,
        end: Time::ms(1100),
        sample: Time::ms(1),
        mtu: SEGMENT + 40,
        forward: vec![way("there")],
        back: vec![way("back")],
        sender: host.clone(),
        receiver: host,
        flows: vec![Flow { bytes: Some(SEGMENT.into()), ..flow("one", SEGMENT) }],
    };
    let mut record = Record::default();
    sim::run(&config, &mut record, &mut ToTheEnd).expect("a valid configuration");
    let there = record.announced().iter().find(|stage| stage.name == "there").expect("the way");
    let last = record.samples().filter(|sample| sample.stage == there.index).last();
    last.expect("a sample").entered
}

/// The SYN's timer of 1000 jiffies fires at 1040 ms, where a slot of 64 ends. A SYN-ACK of that nanosecond finds it sent again.
#[test]
fn a_syn_is_sent_again_before_the_answer_of_that_nanosecond() {
    let [before, with_it, after] = [519, 520, 521].map(sent);
    assert_eq!((with_it - before, after - before), (1, 1));
}
