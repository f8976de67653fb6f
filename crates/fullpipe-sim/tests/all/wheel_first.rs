//! A timer of the wheel fires before packets of its nanosecond.
//!
//! Source: Linux 6.12 `handle_softirqs` (TIMER_SOFTIRQ before NET_RX_SOFTIRQ).

use crate::conversation::{SEGMENT, flow, host};
use crate::plain_path;
use fullpipe_sim::config::{Config, Flow, Host};
use fullpipe_sim::units::{Rate, Time};

/// Number of packets that a host sends in 1.1 s that opens a connection at 0 and has one segment for it, `delay` ms
/// away.
fn sent(delay: u64) -> u64 {
    let host = Host { kernel: "6.12".into(), hz: 1000, nic_rate: Rate(1 << 60), ..host() };
    let flow = Flow { bytes: Some(SEGMENT.into()), ..flow("one", SEGMENT) };
    let plain = plain_path::config(Time::ms(delay), [host.clone(), host], flow);
    let record = plain_path::run(&Config { end: Time::ms(1100), ..plain });
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
