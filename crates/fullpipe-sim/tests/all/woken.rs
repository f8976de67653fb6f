//! Programs that are woken when packets come (`woken_first` of the profile).

use crate::conversation::{flow, host};
use crate::plain_path;
use fullpipe_sim::config::{App, Config, Flow, Host, Reader};
use fullpipe_sim::units::{Rate, Time};

/// A segment.
const WRITE: u32 = 4000;

/// A segment each 20 ms, which is the RTT: cards take no time. cwnd begins at two.
fn config(woken_first: bool) -> Config {
    let choices = [("woken_first", woken_first.to_string()), ("initial_cwnd", "by-mss".into())];
    let host = Host {
        kernel: "6.12".into(),
        nic_rate: Rate(1 << 60),
        behaviour: choices.map(|(name, choice)| (name.into(), choice)).to_vec(),
        ..host()
    };
    let app = App::Rate(Rate(u64::from(WRITE) * 8 * 50));
    let flow = Flow { app, ..flow("paced", WRITE) };
    let plain = plain_path::config(Time::ms(10), [host.clone(), host], flow);
    Config { end: Time::ms(500), mtu: WRITE + 40, ..plain }
}

/// Each write falls on the nanosecond of the ACK of the one before. Where the writer is first, two segments are in
/// flight for that moment. So cwnd counts as used, and grows until it is twice that (`tcp_is_cwnd_limited`).
#[test]
fn a_woken_writer_goes_before_the_ack_of_its_nanosecond() {
    let cwnd = |woken_first| {
        let record = plain_path::run(&config(woken_first));
        record.flows().last().expect("a sample").cwnd
    };
    assert_eq!((cwnd(true), cwnd(false)), (4, 2));
}

/// First windows that a reader advertises to a sender. It works for 20 ms on a segment, of which one arrives each 10
/// ms, and takes two at most. It wakes when segments arrive.
fn first_windows() -> Vec<u64> {
    let rate = |segments| Rate(u64::from(WRITE) * 8 * segments);
    let mut config = config(true);
    let flow = &mut config.flows[0];
    flow.app = App::Rate(rate(100));
    flow.reader = Some(Reader { rate: rate(50), read: 2 * WRITE });
    flow.rcvbuf = Some(40_000);
    let record = plain_path::run(&config);
    let mut windows: Vec<_> = record.flows().map(|f| f.snd_wnd / u64::from(WRITE)).collect();
    windows.dedup();
    windows[1..7].to_vec()
}

/// A reader that finds one segment and asks for two has copied the first when the next is taken from its backlog. So
/// never are both in the buffer. If they were, the window would grow from 13 segments to 15 at once.
#[test]
fn a_woken_reader_copies_what_there_is_before_the_segment_of_its_nanosecond() {
    assert_eq!(first_windows(), [10, 11, 13, 14, 15, 14]);
}
