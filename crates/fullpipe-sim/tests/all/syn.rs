//! SYNs that nobody answers, and answers that never arrive.

use crate::conversation::{SEGMENT, Wire, host};
use crate::host_queues::slow_card;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Config, Delay, Element, Loss, Qdisc, Unit};
use fullpipe_sim::sim;
use fullpipe_sim::tcp::profile::{Profile, RepeatedSyn, find};
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::units::Time;
use std::iter;

/// Times, in tenths of a second, by which SYNs have left a host of `kernel` on a path that loses all of them.
fn times(kernel: &str) -> Vec<u64> {
    let mut config = of(kernel);
    config.forward = vec![all()];
    entries(&config, "sender.tx_ring")
}

/// Times of SYN-ACKs, on a path back that loses all of them.
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

/// Times in tenths of a second by which packets have entered that ring.
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

/// A SYN-ACK is sent again for each repeated SYN, and by a timer of its own. A SYN restarts the timer's time, and each
/// of five timeouts doubles it (6.12 `reqsk_timer_handler`).
#[test]
fn answers_are_sent_again() {
    assert_eq!(answers("6.1"), [1, 11, 11, 31, 31, 72, 72, 156, 156, 320, 320]);
    let by_both = [1, 11, 11, 21, 31, 42, 52, 72, 72, 113, 113, 197, 197, 361, 361];
    assert_eq!(answers("6.12"), by_both);
}

/// Packets of both ends, in tenths of a second, where each direction takes 600 ms and the connection has one segment.
/// The second SYN-ACK is answered (6.12 `tcp_send_challenge_ack`). Another one within half a second is not.
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

/// A connection after so many repetitions of its SYN. The answer was to the first SYN and only late, or to another one.
fn opened(profile: &Profile, times: u32, late: bool) -> Sender {
    let profile: &'static Profile = Box::leak(Box::new(*profile));
    let cc = Congestion::new("reno", &[], profile.name, 1000, 1).expect("a control");
    let mut tcp = Sender::new(profile, &host(), cc, SEGMENT, None);
    tcp.repeated_syn(times, late);
    tcp.established(Time::ms(100), 1 << 20, None, None);
    tcp
}

/// The send buffer is made for ten segments all the same (`tcp_sndbuf_expand`).
#[test]
fn a_cwnd_of_one_has_a_buffer_for_ten() {
    let written = |times| {
        let mut tcp = opened(find("6.12").expect("it is known"), times, false);
        let mut wire = Wire { now: Time::ms(100), ..Wire::default() };
        while let Some(bytes) = tcp.next_copy(SEGMENT, SEGMENT) {
            tcp.copied(bytes, SEGMENT, true, &mut wire);
        }
        (tcp.cwnd(), tcp.wmem_queued())
    };
    let [(one, after_two), (ten, after_none)] = [2, 0].map(written);
    assert_eq!((one, ten), (1, 10));
    assert_eq!(after_two, after_none);
}

/// One repetition is forgiven, as a timeout of 1 s is short (RFC 6298, 5.7).
#[test]
fn a_syn_that_was_lost_twice_cuts_cwnd() {
    let today = find("6.12").expect("it is known");
    let by = |rule| {
        let profile = Profile { repeated_syn: rule, ..*today };
        let of = |(times, late)| opened(&profile, times, late).cwnd();
        [(0, false), (1, false), (2, false), (2, true)].map(of)
    };
    assert_eq!(by(RepeatedSyn::Ignored), [10, 10, 10, 10]);
    assert_eq!(by(RepeatedSyn::OneSegment), [10, 10, 1, 1]);
    assert_eq!(by(RepeatedSyn::UnlessLate), [10, 10, 1, 10]);
    let rules = ["2.6.32", "3.14", "6.1"].map(|kernel| find(kernel).expect("known").repeated_syn);
    assert_eq!(rules, [RepeatedSyn::Ignored, RepeatedSyn::OneSegment, RepeatedSyn::UnlessLate]);
}

/// An RTT of 2.5 s: the SYN is sent three times. All answers have the first one's timestamp or a later one's. The first
/// answer, which counts, is to the first SYN.
#[test]
fn a_late_answer_cuts_nothing() {
    let cwnd = |timestamps| {
        let mut config = of("6.12");
        let delay = Delay { name: "there".into(), delay: Time::ms(2500), limit: 1000, timer: None };
        config.forward = vec![Element::Delay(delay)];
        (config.sender.timestamps, config.receiver.timestamps) = (timestamps, timestamps);
        config.end = Time::secs(5);
        let mut record = Record::default();
        sim::run(&config, &mut record, &mut ToTheEnd).expect("valid");
        record.flows().find(|sample| sample.cwnd > 0 && sample.segments_sent > 0).map(|s| s.cwnd)
    };
    assert_eq!([true, false].map(cwnd), [Some(10), Some(1)]);
}
