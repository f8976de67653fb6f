//! Data both ways in one connection: its applications take turns, and each way's segments carry the ACKs of the other's.

use crate::conversation::{SEGMENT, flow, host};
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{
    App, Config, Delay, Direction, Discipline, Element, Flow, Link, Loss, QueueLimit, Quickack,
    Unit,
};
use fullpipe_sim::sim;
use fullpipe_sim::tcp::profile::{self, Profile};
use fullpipe_sim::tcp::receiver::ack_policy::AckPolicy;
use fullpipe_sim::trace::{EventKind, FlowSample};
use fullpipe_sim::units::{Framing, Rate, Time};

/// Sizes of messages, bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    request: u32,
    response: u32,
}

/// Requests and responses of these numbers and sizes, on a path of 10 ms each way with random loss of rate `loss`.
fn config(kernel: &str, requests: u64, sizes: Sizes, loss: f64) -> Config {
    let element = |name: &str| {
        let delay = Delay { name: name.into(), delay: Time::ms(10), limit: u32::MAX, timer: None };
        let lost = format!("{name}-lost");
        let loss = Loss { name: lost, probability: loss, unit: Unit::Segment };
        vec![Element::Loss(loss), Element::Delay(delay)]
    };
    let mut host = host();
    host.kernel = kernel.into();
    let flow = |name, size| Flow { bytes: Some(requests * u64::from(size)), ..flow(name, size) };
    let (calls, replies) = (flow("calls", sizes.request), flow("replies", sizes.response));
    Config {
        seed: 1,
        end: Time::ms(150),
        sample: Time::ms(1),
        counters: None,
        mtu: SEGMENT + 40,
        forward: element("there"),
        back: element("back"),
        sender: host.clone(),
        receiver: host,
        neighbours: Vec::new(),
        datagrams: Vec::new(),
        rpc: Default::default(),
        flows: vec![calls, Flow { direction: Direction::Backward, answers: Some(0), ..replies }],
    }
}

fn run(config: &Config) -> Record {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a valid configuration");
    record
}

fn last(record: &Record, flow: u16) -> &FlowSample {
    record.flows().filter(|sample| sample.flow == flow).last().expect("a sample")
}

fn when(record: &Record, flow: u16, kind: EventKind) -> Option<u64> {
    let event = record.events().find(|event| (event.flow, event.kind) == (flow, kind))?;
    Some(event.time.0 / 1_000_000)
}

/// Arrivals of ACKs without data at the end that sends a flow, ms, and their numbers.
fn lone_acks(record: &Record, flow: u16) -> Vec<(u64, u64)> {
    let mut seen = 0;
    let samples = record.flows().filter(|sample| sample.flow == flow);
    let new = samples.filter_map(|sample| {
        let more = sample.acks_received - std::mem::replace(&mut seen, sample.acks_received);
        (more > 0).then_some((sample.time.0 / 1_000_000 - 1, more))
    });
    new.collect()
}

/// The first request is acknowledged when it is read, because its answer is not known yet. Later ones are acknowledged
/// by their answers. At first each of an answer's three segments is acknowledged (quick ACKs). After the second request
/// has followed the first answer at once, only the second segment is. The next request, or the FIN, carries the rest.
#[test]
fn each_exchange_is_a_round_trip() {
    for kernel in ["2.6.20", "3.14", "6.1", "6.12"] {
        let record = run(&config(kernel, 4, Sizes { request: 100, response: 2500 }, 0.0));
        let times = [
            (0, EventKind::Established, 20),
            (1, EventKind::Established, 30),
            (0, EventKind::Finished, 90),
            (1, EventKind::Finished, 100),
        ];
        for (flow, kind, ms) in times {
            assert_eq!(when(&record, flow, kind), Some(ms), "{kernel}: {flow} {kind:?}");
        }
        assert_eq!(lone_acks(&record, 0), [(40, 1)], "{kernel}: of requests");
        let of_answers = [(50, 3), (70, 1), (90, 1), (110, 1)];
        assert_eq!(lone_acks(&record, 1), of_answers, "{kernel}: of answers");
    }
}

/// Whatever is lost, each request is answered once, and nothing is asked before the answer is there.
#[test]
fn losses_change_nothing_but_the_time() {
    for (kernel, seed) in ["2.6.20", "3.14", "6.1", "6.12"].into_iter().zip(1..) {
        for (request, response) in [(300, 9_000), (9_000, 300), (20_000, 20_000)] {
            let sizes = Sizes { request, response };
            let whole = config(kernel, 30, sizes, 0.03);
            let record = run(&Config { seed, end: Time::secs(120), sample: Time::ms(20), ..whole });
            let [calls, replies] = [0, 1].map(|flow| last(&record, flow));
            let delivered = (calls.bytes_delivered, replies.bytes_delivered);
            let all = (30 * u64::from(request), 30 * u64::from(response));
            assert_eq!(delivered, all, "{kernel}, {sizes:?}");
            let resent = calls.segments_retransmitted + replies.segments_retransmitted;
            assert!(resent > 0, "{kernel}, {sizes:?}: nothing was lost");
            turns_are_kept(&record, sizes);
        }
    }
}

fn turns_are_kept(record: &Record, sizes: Sizes) {
    let Sizes { request, response } = sizes;
    let read = |flow| record.flows().filter(move |s| s.flow == flow).map(|s| s.bytes_delivered);
    for (asked, answered) in read(0).zip(read(1)) {
        let (asked, answers) = (asked / u64::from(request), answered / u64::from(response));
        assert!(asked == answers || asked == answers + 1, "{asked} requests, {answers} answers");
    }
}

/// An answer wakes the writer that sleeps for want of room: it writes an skb, although less than a third of its buffer
/// is free (`sock_def_readable`, `sk_stream_wait_memory`).
#[test]
fn an_answer_wakes_the_writer_of_requests() {
    let mut config = config("6.12", 20, Sizes { request: 20_000, response: 64 }, 0.0);
    let requests = &mut config.flows[0];
    requests.app = App::Messages { size: 20_000, in_flight: 20, period: None, corks: false };
    requests.sndbuf = Some(100_000);
    let record = run(&config);

    // Share of the buffer in use, and bytes written, at the samples around the answer. In between ACKs free a sixth of
    // the buffer at most, so a third is free at no time.
    let answered = when(&record, 0, EventKind::Answered).expect("an answer");
    let state = |at: u64| {
        let mut samples = record.flows().filter(|sample| sample.flow == 0);
        let sample = samples.find(|sample| sample.time == Time::ms(at)).expect("a sample");
        let used = sample.sender.wmem_queued as f64 / sample.sender.sndbuf as f64;
        (used, sample.bytes_sent + sample.unsent, sample.bytes_acked)
    };
    let [before, after] = [answered - 1, answered + 1].map(state);
    assert!(before.0 > 0.85 && after.0 > 0.75, "{before:?}, {after:?}");
    assert!(after.2 - before.2 < 200_000 / 6, "{before:?}, {after:?}");
    assert!(after.1 > before.1, "nothing was written: {before:?}, {after:?}");
}

/// Whoever answers at once delays its ACKs, until a delayed one has gone by itself.
#[test]
fn ping_pong_mode() {
    let linux = profile::find("6.12").expect("it is known");
    let mut acks = AckPolicy::new(1000, SEGMENT, 20, linux);
    acks.on_data(Time::ms(1), 65_536);
    assert!(acks.is_quick());
    acks.on_data_sent(Time::ms(1));
    assert!(!acks.is_quick());
    acks.schedule();
    assert!(!acks.delay(Time::ms(1)));
    let due = acks.expiry.expect("a timer").at;
    assert_eq!(due, Time::ms(42), "40 ms, and the wheel's tick");
    assert!(acks.on_timer(due));
    assert!(acks.is_quick());
    // Data sent later than the delayed ACK is no answer.
    acks.on_data(Time::ms(100), 65_536);
    acks.on_data_sent(Time::ms(140));
    assert!(acks.is_quick());
    let other = Profile { answers_bear_acks: false, ..*linux };
    let mut acks = AckPolicy::new(1000, SEGMENT, 20, &other);
    acks.on_data(Time::ms(1), 65_536);
    acks.on_data_sent(Time::ms(1));
    assert!(acks.is_quick());
}

/// One small segment does not make an end that answers acknowledge what it reads; two do.
#[test]
fn small_segments_and_reading() {
    let linux = profile::find("6.12").expect("it is known");
    let mut acks = AckPolicy::new(1000, SEGMENT, 20, linux);
    acks.on_data(Time::ms(1), 65_536);
    acks.measure(50, 0, true);
    assert!(acks.asks_when_read());
    acks.on_data_sent(Time::ms(1));
    assert!(!acks.asks_when_read());
    acks.measure(50, 0, true);
    assert!(acks.asks_when_read());
}

/// SACK blocks leave less room for data, and the peer's MSS stays the same. Segments that are shorter without them lower it.
#[test]
fn sack_blocks_do_not_lower_the_mss_of_the_peer() {
    let linux = profile::find("6.12").expect("it is known");
    let mut acks = AckPolicy::new(1000, SEGMENT, 20, linux);
    acks.measure(SEGMENT, 0, false);
    (0..3).for_each(|_| acks.measure(SEGMENT - 12, 12, false));
    assert_eq!(acks.rcv_mss, SEGMENT);
    (0..3).for_each(|_| acks.measure(SEGMENT - 12, 0, false));
    assert_eq!(acks.rcv_mss, SEGMENT - 12);
}

/// A first segment beyond a hole takes the only quick ACK. The gap to the next segment counts from the start of the
/// connection, so a late segment is not in quick mode for it.
#[test]
fn the_first_gap_counts_from_the_beginning() {
    let linux = profile::find("6.12").expect("it is known");
    let quick = |begun: bool| {
        let mut acks = AckPolicy::new(1000, SEGMENT, 20, linux);
        if begun {
            acks.begin(Time::secs(10));
        }
        acks.schedule();
        acks.quick = 1;
        acks.on_ack_sent();
        acks.on_data(Time::ms(10_050), 65_536);
        acks.is_quick()
    };
    assert_eq!((quick(true), quick(false)), (false, true));
}

fn slow_link() -> Element {
    let (rate, framing, discipline) = (Rate::mbit(5), Framing::Ip, Discipline::Fifo);
    let limit = QueueLimit::Packets(1000);
    Element::Link(Link { name: "link".into(), rate, framing, limit, discipline })
}

/// Requests ahead whose answers end within segments, by a program that sets TCP_QUICKACK after each read. Its packets with data,
/// and without.
fn packets(woken_preempts: bool) -> [u64; 2] {
    let mut config = config("6.1", 400, Sizes { request: 64, response: 3700 }, 0.0);
    let [calls, replies] = &mut config.flows[..] else { panic!("two flows") };
    calls.app = App::Messages { size: 64, in_flight: 20, period: None, corks: false };
    calls.sockopt.nodelay = true;
    replies.quickack = Some(Quickack { on: true, each_read: true });
    config.back.insert(0, slow_link());
    config.sender.behaviour = vec![("woken_preempts".into(), woken_preempts.to_string())];
    let record = run(&Config { end: Time::secs(20), sample: Time::ms(20), ..config });
    let [asks, answers] = [0, 1].map(|flow| last(&record, flow));
    assert_eq!(answers.bytes_delivered, 400 * 3700);
    [asks.segments_sent, answers.acks_received]
}

/// The next request carries the ACK of a segment with the end of an answer. Without the writing thread first, an ACK goes before.
#[test]
fn a_woken_thread_goes_before_the_one_that_wakes_it() {
    let [first, other] = [true, false].map(packets);
    assert_eq!(first[0], other[0]);
    assert!(first[1] < other[1], "{first:?}, {other:?}");
}
