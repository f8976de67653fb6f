//! Whole connections round by round: both endpoints on a fast path of 100 ms, hosts without cost.
//!
//! A row is one round trip: data segments sent, ACKs received, and cwnd, packets in flight and window in segments at
//! its end.

use crate::conversation::{SEGMENT, flow, host};
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Delay, Element, Flow, Host};
use fullpipe_sim::sim;
use fullpipe_sim::tcp::sender::rounds::MOST;
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::Time;

const ROUND: Time = Time::ms(100);

fn delay(name: &str) -> Element {
    let (name, delay) = (name.to_string(), Time::ms(50));
    Element::Delay(Delay { name, delay, limit: 100_000, timer: None })
}

/// A flow that writes without end over a path of one round trip.
fn bulk(sender: Host, receiver: Host, rcvbuf: u64, rounds: u64) -> Config {
    let (sndbuf, rcvbuf) = (Some(1 << 22), Some(rcvbuf));
    let flow = Flow { sndbuf, rcvbuf, ..flow("bulk", 1 << 16) };
    Config {
        seed: 1,
        // A little after the last ACKs of a round.
        end: Time(ROUND.0 * rounds + 5_000_000),
        sample: Time::ms(5),
        counters: None,
        mtu: SEGMENT + 40,
        forward: vec![delay("forward")],
        back: vec![delay("back")],
        sender,
        receiver,
        neighbours: Vec::new(),
        datagrams: Vec::new(),
        rpc: Default::default(),
        flows: vec![flow],
    }
}

/// Runs it and compares its rounds with `table`.
fn check(config: &Config, table: &str) {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a run");
    let mut rows = vec!["round | sent acks | cwnd flight window".to_string()];
    let (mut sent, mut acks) = (0, 0);
    for round in 1..=config.end.0 / ROUND.0 {
        let end = Time(ROUND.0 * round + 5_000_000);
        let flow = record.flows().find(|f| f.time == end).expect("a sample");
        let window = flow.snd_wnd / u64::from(SEGMENT);
        rows.push(format!(
            "{round} | {} {} | {} {} {window}",
            flow.segments_sent - sent,
            flow.acks_received - acks,
            flow.cwnd,
            flow.in_flight,
        ));
        (sent, acks) = (flow.segments_sent, flow.acks_received);
        assert_eq!(flow.segments_retransmitted, 0);
    }
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = rows.join("\n");
    assert!(plain(table) == plain(&found), "\nexpected:{table}\nfound:\n{found}\n");
}

/// The receiver acknowledges every segment while its window opens, and cwnd doubles in each round.
#[test]
fn slow_start_doubles_while_every_segment_is_acknowledged() {
    check(
        &bulk(host(), host(), 1 << 20, 9),
        "
        round | sent acks | cwnd flight window
            1 | 4 0       | 4 4 4
            2 | 8 4       | 8 8 12
            3 | 16 8      | 16 16 28
            4 | 32 16     | 32 32 60
            5 | 64 32     | 64 64 124
            6 | 128 64    | 128 128 252
            7 | 256 128   | 256 256 508
            8 | 512 256   | 512 512 1020
            9 | 907 395   | 907 907 1572
        ",
    );
}

/// The window ends at 65,535 bytes, below the buffer's space: from there on an ACK for two segments.
#[test]
fn a_clamped_window_limits_and_is_acknowledged_by_twos() {
    let mut receiver = host();
    receiver.sysctl.tcp_window_scaling = false;
    check(
        &bulk(host(), receiver, 1 << 20, 9),
        "
        round | sent acks | cwnd flight window
            1 | 4 0       | 4 4 4
            2 | 8 4       | 8 8 12
            3 | 16 8      | 16 16 28
            4 | 32 16     | 32 32 60
            5 | 49 18     | 50 50 65
            6 | 64 25     | 66 65 65
            7 | 65 33     | 66 65 65
            8 | 65 33     | 66 65 65
            9 | 64 32     | 66 65 65
        ",
    );
}

/// A reader that takes 1.3 us for a segment is slower than the wire: its ACKs report what it read.
#[test]
fn a_slow_reader_acknowledges_what_it_has_read() {
    let mut receiver = host();
    receiver.cpu.copy_ps_per_byte = 1300;
    check(
        &bulk(host(), receiver, 1 << 16, 9),
        "
        round | sent acks | cwnd flight window
            1 | 4 0       | 4 4 4
            2 | 8 4       | 8 8 12
            3 | 16 8      | 16 16 28
            4 | 32 16     | 32 32 60
            5 | 55 23     | 55 55 97
            6 | 63 8      | 63 63 97
            7 | 88 25     | 88 88 97
            8 | 96 12     | 98 97 97
            9 | 97 37     | 98 97 97
        ",
    );
}

/// A qdisc of four skbs behind a ring of four. The burst of a round meets local congestion; no packet is lost or sent
/// twice.
#[test]
fn a_short_qdisc_ends_slow_start() {
    let mut sender = host();
    (sender.qdisc_limit, sender.tx_ring) = (4, 4);
    check(
        &bulk(sender, host(), 1 << 20, 12),
        "
        round | sent acks | cwnd flight window
            1 | 4 0       | 4 4 4
            2 | 8 4       | 8 8 12
            3 | 15 8      | 16 15 28
            4 | 8 15      | 8 8 58
            5 | 9 8       | 9 9 74
            6 | 10 9      | 10 10 92
            7 | 11 10     | 11 11 112
            8 | 12 11     | 12 12 134
            9 | 13 12     | 13 13 158
           10 | 14 13     | 14 14 184
           11 | 15 14     | 15 15 212
           12 | 16 15     | 16 16 242
        ",
    );
}

/// Rounds of slow start in the trace: the round trip of each event, and the segments sent before.
fn rounds_of(config: &Config) -> Vec<(EventKind, u64, u64)> {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a run");
    let of_rounds = |kind| matches!(kind, EventKind::Round | EventKind::SlowStartEnded);
    let events = record.events().filter(|event| of_rounds(event.kind));
    events.map(|event| (event.kind, event.time.0 / ROUND.0, event.value)).collect()
}

/// The tables above show what is sent in each.
#[test]
fn rounds_of_slow_start_are_recorded() {
    let rounds = [0, 4, 12, 28, 60, 124, 252, 508, 1020].into_iter().zip(1..);
    let rounds: Vec<_> = rounds.map(|(sent, round)| (EventKind::Round, round, sent)).collect();
    assert_eq!(rounds_of(&bulk(host(), host(), 1 << 20, 9)), rounds);
    let mut sender = host();
    (sender.qdisc_limit, sender.tx_ring) = (4, 4);
    // Of its third round the qdisc takes 15 segments and refuses one.
    let end = (EventKind::SlowStartEnded, 3, 27);
    assert_eq!(rounds_of(&bulk(sender, host(), 1 << 20, 12)), [&rounds[..3], &[end]].concat());
}

/// A flow without hindrance never leaves slow start; its rounds are no longer reported.
#[test]
fn the_number_of_recorded_rounds_is_bounded() {
    let mut receiver = host();
    receiver.sysctl.tcp_window_scaling = false;
    let events = rounds_of(&bulk(host(), receiver, 1 << 20, 250));
    assert_eq!(events.len(), MOST as usize);
    assert!(events.iter().all(|(kind, ..)| *kind == EventKind::Round));
}
