//! The guest in its kernel.
//!
//! `make test-guest KERNEL=...` runs it: FULLPIPE_TEST_KERNEL names a kernel for the engine `linux`,
//! FULLPIPE_TEST_INIT the guest, built static. Without them the tests say that they are skipped.

mod elements;
mod guest;
mod plans;
mod yielding;

use fullpipe_base::bounds::Bounds;
use fullpipe_base::sockopt::SOCKOPTS;
use fullpipe_guest::plan::{Drops, Flow, Plan, Router};
use fullpipe_guest::record::{
    DONE, DROPPED, ESTABLISHED, EVENT, FAILED, FINISHED, QDISCS, RECEIVER, REFUSED, SENDER,
    SOCKET_SIZE,
};
use fullpipe_guest::refusal::{Asked, Refusal, Role, Whose};
use std::collections::BTreeMap;

use guest::{Record, run};
use plans::{MS, SECOND, plan};

/// Number at an offset of a body.
fn u32_at(body: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(body[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(body: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(body[at..at + 8].try_into().expect("eight bytes"))
}

// Of `struct tcp_info`.
const RTO: usize = SOCKET_SIZE + 8;
const MIN_RTT: usize = SOCKET_SIZE + 148;
const BYTES_ACKED: usize = SOCKET_SIZE + 120;
const DATA_SEGS_OUT: usize = SOCKET_SIZE + 156;

fn of_kind(records: &[Record], kind: u16) -> impl Iterator<Item = &Record> {
    records.iter().filter(move |record| record.head.kind == kind)
}

/// Time and value of an event of flow 0.
fn event(records: &[Record], number: u64) -> Option<(u64, u64)> {
    let mut events = of_kind(records, EVENT).filter(|event| event.head.index == 0);
    let event = events.find(|event| u64_at(&event.body, 0) == number)?;
    Some((event.head.time_ns, u64_at(&event.body, 8)))
}

/// The records of a plan; none if there is no kernel.
fn records(plan: &Plan) -> Option<Vec<Record>> {
    run(plan).map(|run| run.records())
}

#[test]
fn delay_and_rate_are_those_of_the_path() {
    let Some(records) = records(&plan(100_000_000, 250_000)) else { return };
    assert!(of_kind(&records, DONE).count() == 1);
    let (at, took) = event(&records, ESTABLISHED).expect("established");
    assert!(at.abs_diff(20 * MS) < MS / 10 && took.abs_diff(20 * MS) < MS / 10, "{at} {took}");
    let acked = |time| {
        let mut samples = of_kind(&records, SENDER).filter(|sample| sample.head.time_ns == time);
        let sample = samples.next().expect("a sample");
        assert!(u32_at(&sample.body, MIN_RTT).abs_diff(20_000) < 10);
        u64_at(&sample.body, BYTES_ACKED)
    };
    let rate = (acked(4 * SECOND) - acked(2 * SECOND)) as f64 * 8.0 / 2.0;
    let expected = 100e6 * 1448.0 / 1514.0;
    assert!((rate / expected - 1.0).abs() < 0.002, "{rate} not {expected}");
}

#[test]
fn the_list_is_lost_and_counted() {
    let mut plan = plan(1_000_000_000, 10_000_000);
    plan.end_ns = 2 * SECOND;
    let list = |segments: &[u64], acks: &[u64]| {
        vec![Drops { flow: 0, segments: segments.to_vec(), acks: acks.to_vec(), mark: false }]
    };
    plan.routers[0].forward.drops = list(&[1000, 1001, 5000], &[]);
    plan.routers[0].back.drops = list(&[], &[10, 20]);
    let Some(records) = records(&plan) else { return };
    let last = of_kind(&records, SENDER).last().expect("a sample");
    let sent = u64::from(u32_at(&last.body, DATA_SEGS_OUT));
    let numbers = |record: &Record| record.body.chunks(8).map(|x| u64_at(x, 0)).collect::<Vec<_>>();
    let found: Vec<_> = of_kind(&records, DROPPED).map(numbers).collect();
    // Flow, direction, data that arrived and was dropped, ACKs that arrived and were dropped.
    assert_eq!((&found[0][..2], found[0][3]), (&[0, 0][..], 3));
    assert!(sent.abs_diff(found[0][2]) <= 2, "{sent} segments sent, {} came", found[0][2]);
    assert_eq!((&found[1][..4], found[1][5]), (&[0, 1, 0, 0][..], 2));
}

/// A backward flow on a reversed path does what a forward flow does.
#[test]
fn a_flow_goes_backward_as_another_goes_forward() {
    let mut there = plan(100_000_000, 250_000);
    (there.end_ns, there.watched) = (2 * SECOND, Vec::new());
    let list = |segments: &[u64], acks: &[u64]| {
        vec![Drops { flow: 0, segments: segments.to_vec(), acks: acks.to_vec(), mark: false }]
    };
    there.routers[0].forward.drops = list(&[1000, 1001], &[]);
    there.routers[0].back.drops = list(&[], &[10]);
    there.flows[0].bytes = Some(5_000_000);
    let mut back = there.clone();
    back.flows[0].backward = true;
    std::mem::swap(&mut back.sender.out, &mut back.receiver.out);
    let Router { forward, back: other } = &mut back.routers[0];
    std::mem::swap(forward, other);
    let Some(there) = records(&there) else { return };
    let back = records(&back).expect("a kernel");
    let traced = |records: &[Record]| {
        let events = [ESTABLISHED, FINISHED].map(|number| event(records, number));
        let of = |kind, offset| {
            let samples = of_kind(records, kind).map(|x| (x.head.time_ns, u64_at(&x.body, offset)));
            samples.collect::<Vec<_>>()
        };
        (events, of(SENDER, BYTES_ACKED), of(RECEIVER, BYTES_RECEIVED))
    };
    assert_eq!(traced(&there), traced(&back));
    assert!(event(&back, FINISHED).is_some_and(|(_, bytes)| bytes == 5_000_000));
    let met = |records: &[Record], direction| {
        let numbers = of_kind(records, DROPPED)
            .map(|record| [0, 1, 3, 5].map(|at| u64_at(&record.body, 8 * at)));
        numbers.filter(|numbers| numbers[1] == direction).collect::<Vec<_>>()
    };
    assert_eq!((met(&there, 0), met(&there, 1)), (vec![[0, 0, 2, 0]], vec![[0, 1, 0, 1]]));
    assert_eq!((met(&back, 1), met(&back, 0)), (vec![[0, 1, 2, 0]], vec![[0, 0, 0, 1]]));
}

/// Two flows of one connection: the applications take turns, and each end is sampled as the sender of its own flow.
#[test]
fn a_flow_is_answered_in_its_connection() {
    let mut plan = plan(100_000_000, 250_000);
    plan.end_ns = 2 * SECOND;
    let calls = Flow { bytes: Some(1_000), write: 300, ..plan.flows[0].clone() };
    let replies = Flow { backward: true, answers: Some(0), write: 10_000, ..calls.clone() };
    plan.flows = vec![calls, Flow { bytes: Some(40_000), ..replies }];
    let Some(records) = records(&plan) else { return };
    let events = |flow: u16, number: u64| {
        let of = of_kind(&records, EVENT).filter(move |record| record.head.index == flow);
        let mut of = of.filter(|record| u64_at(&record.body, 0) == number);
        of.next().map(|record| (record.head.time_ns / 1_000_000, u64_at(&record.body, 8)))
    };
    // A round trip to connect, and one for each of four exchanges; the last answer is read half a one after its request.
    let (_, asked) = events(0, FINISHED).expect("all requests are read");
    let (at, answered) = events(1, FINISHED).expect("all answers are read");
    assert_eq!((asked, answered), (1_000, 40_000));
    assert!((100..120).contains(&at), "{at} ms");
    let sent = |flow: u16| {
        let of = of_kind(&records, SENDER).filter(|record| record.head.index == flow).last();
        u64_at(&of.expect("a sample").body, BYTES_ACKED)
    };
    // The SYN and the FIN are the asking end's.
    assert_eq!((sent(0), sent(1)), (1_002, 40_000));
}

/// A connection is closed when the other side has all. It leaves its RTT, which makes the first timeout of the next
/// connection longer. Its samples go on.
#[test]
fn a_connection_leaves_its_rtt_and_its_last_sample() {
    let mut plan = plan(100_000_000, 250_000);
    (plan.end_ns, plan.sample_ns) = (2 * SECOND, MS);
    let first = Flow { bytes: Some(2_000_000), ..plan.flows[0].clone() };
    let second = Flow { start_ns: SECOND, bytes: Some(1_000), ..first.clone() };
    plan.flows = vec![first, second];
    let mut timeouts = Vec::new();
    for forgets in ["0", "1"] {
        plan.sender.sysctl.push(("net/ipv4/tcp_no_metrics_save".into(), forgets.into()));
        let Some(records) = records(&plan) else { return };
        let of = |flow| of_kind(&records, SENDER).filter(move |x| x.head.index == flow);
        let last = of(0).last().expect("a sample");
        assert_eq!((last.head.time_ns, u64_at(&last.body, BYTES_ACKED)), (plan.end_ns, 2_000_002));
        timeouts.push(u32_at(&of(1).next().expect("a sample").body, RTO));
    }
    let [kept, forgotten] = timeouts[..] else { panic!("two runs") };
    assert!((kept - forgotten).abs_diff(20_000) <= 5_000, "{kept} and {forgotten} us");
}

/// Listed packets of a flow with ECN are marked, and none is lost; of a flow without ECN nothing is marked.
#[test]
fn the_list_is_marked_where_the_flow_has_ecn() {
    let mut plan = plan(1_000_000_000, 10_000_000);
    plan.end_ns = 2 * SECOND;
    let segments = vec![1000, 1001, 5000];
    plan.routers[0].forward.drops = vec![Drops { flow: 0, segments, acks: vec![], mark: true }];
    for (level, marked) in [("1", 3), ("0", 0)] {
        plan.sender.sysctl.push(("net/ipv4/tcp_ecn".into(), level.into()));
        let Some(records) = records(&plan) else { return };
        let last = of_kind(&records, SENDER).last().expect("a sample");
        let sent = u64::from(u32_at(&last.body, DATA_SEGS_OUT));
        let found = of_kind(&records, DROPPED).next().expect("the list");
        let found: Vec<_> = found.body.chunks(8).map(|x| u64_at(x, 0)).collect();
        assert!(sent.abs_diff(found[2]) <= 2, "{sent} segments sent, {found:?}");
        assert_eq!((found[3], found[6]), (marked, 1));
    }
}

#[test]
fn bytes_are_exact_and_a_duration_ends_with_a_whole_write() {
    let mut plan = plan(100_000_000, 250_000);
    plan.flows[0].bytes = Some(1_234_567);
    let Some(found) = records(&plan) else { return };
    assert_eq!(event(&found, FINISHED).expect("finished").1, 1_234_567);
    plan.flows[0].bytes = None;
    plan.flows[0].duration_ns = Some(2 * SECOND);
    plan.flows[0].write = 10_001;
    let found = records(&plan).expect("a kernel");
    let (at, bytes) = event(&found, FINISHED).expect("finished");
    assert_eq!(bytes % 10_001, 0);
    assert!(at > 2 * SECOND && at < 3 * SECOND, "{at}");
    plan.flows[0].rate = Some(8 * 10_001 * 100);
    let found = records(&plan).expect("a kernel");
    let (at, bytes) = event(&found, FINISHED).expect("finished");
    // A write each 10 ms, from the connection at 20 ms on; a few are late while the window is small.
    assert!((180 * 10_001..=198 * 10_001).contains(&bytes), "{bytes}");
    assert!(at.abs_diff(2 * SECOND) < 50 * MS, "{at}");
}

#[test]
fn two_runs_of_a_plan_are_the_same_byte_by_byte() {
    let mut plan = plan(1_000_000_000, 1_000_000);
    plan.end_ns = 2 * SECOND;
    plan.sample_ns = MS;
    plans::lose(&mut plan.routers[0].forward.qdiscs, 1e-4);
    let Some(first) = run(&plan) else { return };
    let second = run(&plan).expect("a kernel");
    assert!(first.bytes.len() > 1_000_000);
    assert!(first.bytes == second.bytes);
}

/// A receiver's counters of the same moments.
const BYTES_RECEIVED: usize = SOCKET_SIZE + 128;

#[test]
fn more_samples_see_the_same_run_at_each_of_their_times() {
    let mut plan = plan(100_000_000, 250_000);
    plan.sample_ns = 50 * MS;
    let Some(few) = records(&plan) else { return };
    plan.sample_ns = MS;
    let many = records(&plan).expect("a kernel");
    for (kind, offset) in [(SENDER, BYTES_ACKED), (RECEIVER, BYTES_RECEIVED)] {
        let of = |records| {
            let samples = of_kind(records, kind).map(|x| (x.head.time_ns, u64_at(&x.body, offset)));
            samples.collect::<BTreeMap<_, _>>()
        };
        let (few, many) = (of(&few), of(&many));
        // From the first one that the connection is there to the last, none is missing.
        let there: Vec<_> = many.keys().map(|at| at / MS).collect();
        assert_eq!(there, (20..=4000).collect::<Vec<_>>(), "of kind {kind}");
        assert_eq!(few.len(), 80, "of kind {kind}");
        for (time, bytes) in few {
            assert_eq!(many[&time], bytes, "at {time}");
        }
    }
    for records in [(&few, 50), (&many, 1)] {
        let times: Vec<_> =
            of_kind(records.0, QDISCS).map(|x| (x.head.index, x.head.time_ns)).collect();
        let each =
            |namespace| times.iter().filter(move |(of, _)| *of == namespace).map(|(_, at)| *at);
        for namespace in [1, 2] {
            assert!(each(namespace).eq((1..=4000 / records.1).map(|n| n * records.1 * MS)));
        }
    }
}

/// The text of the one record of a kind.
fn text_of(found: &[Record], kind: u16) -> String {
    let record = of_kind(found, kind).next().expect("a record of this kind");
    String::from_utf8_lossy(&record.body).trim_end_matches('\0').to_string()
}

#[test]
fn a_failure_names_what_failed() {
    let mut wrong = plan(100_000_000, 250_000);
    wrong.flows[0].sender_options.push(("TCP_NONSENSE".into(), 1));
    let Some(found) = records(&wrong) else { return };
    let expected = "sender of flow 0: socket option TCP_NONSENSE = 1: not known";
    assert_eq!(text_of(&found, FAILED), expected);
}

#[test]
fn a_value_that_the_kernel_refuses_is_a_refusal() {
    let refused = |change: fn(&mut Plan)| {
        let mut wrong = plan(100_000_000, 250_000);
        change(&mut wrong);
        let found = records(&wrong)?;
        let refusal: Refusal = serde_json::from_str(&text_of(&found, REFUSED)).expect("a refusal");
        Some((refusal.asked, refusal.said))
    };
    let sysctl = |of, name: &str, value: &str| {
        let (name, value) = (format!("net/ipv4/{name}"), value.to_string());
        Asked::Sysctl { of, name, value }
    };
    let invalid = "Invalid argument (os error 22)".to_string();
    let Some(found) = refused(|plan| plan.sysctl.push(("net/ipv4/tcp_ecn".into(), "3".into())))
    else {
        return;
    };
    assert_eq!(found, (sysctl(Whose::Kernel, "tcp_ecn", "3"), invalid.clone()));
    let found =
        refused(|plan| plan.receiver.sysctl.push(("net/ipv4/tcp_min_snd_mss".into(), "47".into())));
    let asked = sysctl(Whose::Host(Role::Receiver), "tcp_min_snd_mss", "47");
    assert_eq!(found, Some((asked, invalid.clone())));
    let found = refused(|plan| plan.flows[0].receiver_options = vec![("TCP_SYNCNT".into(), 128)]);
    let name = "TCP_SYNCNT".to_string();
    let asked = Asked::Option { flow: 0, role: Role::Receiver, name, value: 128 };
    assert_eq!(found, Some((asked, invalid)));
    let found = refused(|plan| plan.flows[0].congestion = "nonsense".into());
    let asked = Asked::Congestion { flow: 0, name: "nonsense".into() };
    assert_eq!(found, Some((asked, "No such file or directory (os error 2)".into())));
}

#[test]
fn the_kernel_takes_every_socket_option_at_both_of_its_bounds() {
    for bound in [|bounds: Bounds| bounds.min, |bounds: Bounds| bounds.max] {
        let mut plan = plan(100_000_000, 250_000);
        plan.end_ns = plan.sample_ns;
        let options = SOCKOPTS.iter().map(|option| (option.name.to_string(), bound(option.bounds)));
        plan.flows[0].sender_options = options.collect();
        let Some(found) = records(&plan) else { return };
        let refused = of_kind(&found, REFUSED).map(|r| String::from_utf8_lossy(&r.body));
        let refused: Vec<_> = refused.collect();
        assert!(refused.is_empty() && of_kind(&found, DONE).count() == 1, "{refused:?}");
    }
}
