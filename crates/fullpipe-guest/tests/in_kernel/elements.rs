//! Effects of path elements on single packets, seen in handshakes: each is one packet there and one back.

use fullpipe_guest::plan::{
    Apart, Chance, Change, Flow, Netem, Overtake, Plan, Qdisc, Router, Spread, Way,
};
use fullpipe_guest::record::{ESTABLISHED, EVENT, FAILED};

use super::plans::{MS, plan};
use super::{of_kind, records, u64_at};

/// Handshakes of a run.
const FLOWS: usize = 400;
/// Bits per second.
const MBIT: u64 = 1_000_000;
/// Delay of the receiver's own, ns.
const BACK: u64 = 20 * MS;

fn probability(probability: f64) -> Chance {
    Chance { probability, correlation: 0.0 }
}

fn netem(delay_ns: u64) -> Netem {
    Netem { delay_ns, limit: 1_000_000, seed: 11, ..Netem::default() }
}

/// Flows of one byte, one after the other at this distance, on a way forward.
fn handshaking(forward: Way, apart_ns: u64) -> Plan {
    let mut plan = plan(1_000_000_000, 1_000_000);
    let model = plan.flows[0].clone();
    let flow = |n: usize| Flow { bytes: Some(1), start_ns: n as u64 * apart_ns, ..model.clone() };
    plan.flows = (0..FLOWS).map(flow).collect();
    plan.end_ns = FLOWS as u64 * apart_ns + 400 * MS;
    plan.routers = vec![Router { forward, back: Way::default() }];
    plan
}

/// When each flow's SYN has arrived, ns after it was sent; none without a kernel.
fn delays(plan: &Plan) -> Option<Vec<u64>> {
    let records = records(plan)?;
    if let Some(failure) = of_kind(&records, FAILED).next() {
        panic!("{}", String::from_utf8_lossy(&failure.body));
    }
    let mut delays = vec![None; plan.flows.len()];
    for event in of_kind(&records, EVENT).filter(|event| u64_at(&event.body, 0) == ESTABLISHED) {
        delays[usize::from(event.head.index)] = Some(u64_at(&event.body, 8).saturating_sub(BACK));
    }
    Some(delays.into_iter().map(|delay| delay.expect("every flow connects")).collect())
}

fn way(netem: Netem) -> Way {
    Way { qdiscs: vec![Qdisc::Netem(netem)], ..Way::default() }
}

/// Mean and standard deviation, ms.
fn moments(delays: &[u64]) -> (f64, f64) {
    let ms: Vec<f64> = delays.iter().map(|ns| *ns as f64 / 1e6).collect();
    let count = ms.len() as f64;
    let mean = ms.iter().sum::<f64>() / count;
    (mean, (ms.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt())
}

fn spread(normal: bool, keep_order: bool) -> Way {
    let spread = Some(Spread { width_ns: 10 * MS, normal, keep_order });
    way(Netem { spread, ..netem(50 * MS) })
}

#[test]
fn a_uniform_delay_lies_within_its_bounds() {
    let Some(delays) = delays(&handshaking(spread(false, false), 3 * MS)) else { return };
    let (mean, deviation) = moments(&delays);
    // A width of 20 ms: a deviation of 20 / sqrt(12); the mean of 400 deviates by a twentieth of that.
    assert!((mean - 50.0).abs() < 4.0 * 5.77 / 20.0, "mean {mean}");
    assert!((deviation / 5.77 - 1.0).abs() < 0.09, "deviation {deviation}");
    let (least, most) = (delays.iter().min().expect("some"), delays.iter().max().expect("some"));
    assert!(*least >= 40 * MS && *most <= 60 * MS + MS / 10, "{least} to {most}");
}

#[test]
fn a_normal_delay_has_its_mean_and_its_deviation() {
    let Some(delays) = delays(&handshaking(spread(true, false), 3 * MS)) else { return };
    let (mean, deviation) = moments(&delays);
    assert!((mean - 50.0).abs() < 4.0 * 10.0 / 20.0, "mean {mean}");
    assert!((deviation / 10.0 - 1.0).abs() < 0.14, "deviation {deviation}");
    // 4.6 % lie beyond two deviations.
    let far = delays.iter().filter(|ns| ns.abs_diff(50 * MS) > 20 * MS).count();
    assert!((3..=40).contains(&far), "{far} beyond two deviations");
}

#[test]
fn order_is_kept_where_it_is_asked_for() {
    for keep_order in [true, false] {
        let plan = handshaking(spread(false, keep_order), MS);
        let Some(delays) = delays(&plan) else { return };
        let arrivals: Vec<u64> =
            delays.iter().zip(&plan.flows).map(|(delay, flow)| flow.start_ns + delay).collect();
        // Each thread looks at the clock once more.
        let in_order = arrivals.windows(2).all(|pair| pair[1] + 10 >= pair[0]);
        assert_eq!(in_order, keep_order);
    }
}

/// Number of handshakes with a packet that overtook another one.
fn ahead(chance: Chance) -> Option<usize> {
    let overtake = Some(Overtake { chance, gap: 1 });
    let delays = delays(&handshaking(way(Netem { overtake, ..netem(50 * MS) }), MS))?;
    assert!(delays.iter().all(|ns| *ns < MS / 10 || ns.abs_diff(50 * MS) < MS / 10));
    Some(delays.iter().filter(|ns| **ns < MS).count())
}

#[test]
fn as_many_packets_go_ahead_as_was_asked() {
    let Some(found) = ahead(probability(0.3)) else { return };
    assert!(found.abs_diff(120) < 37, "{found} of {FLOWS}");
    // r = u / 10 + 9 r' / 10 lies 3 deviations above 0.3 on average.
    let few = ahead(Chance { probability: 0.3, correlation: 0.9 }).expect("a kernel");
    assert!(few < 12, "{few} of {FLOWS}");
}

/// Time that a SYN waits if it arrives at 22 ms, behind a segment of another flow.
fn wait_behind_a_segment(forward: Way) -> Option<u64> {
    let mut plan = handshaking(forward, 22 * MS);
    plan.flows.truncate(2);
    plan.flows[0].bytes = Some(1448);
    delays(&plan).map(|delays| delays[1])
}

#[test]
fn a_small_packet_waits_until_a_large_one_has_had_its_time() {
    let htb = |rate| Qdisc::Htb { rate, overhead: 0 };
    let link = |rate| Way { qdiscs: vec![htb(rate), Qdisc::Pfifo { limit: 9 }], ..Way::default() };
    // From 20 ms on the handshake's ACK takes 0.528 ms, the data 12.112 ms, the FIN 0.528 ms.
    let Some(waited) = wait_behind_a_segment(link(MBIT)) else { return };
    assert!(waited.abs_diff(11_168_000) < 2_000, "{waited} ns");
    // Another rate is one for packets that have not begun: the FIN.
    let changes = vec![Change { at_ns: 21 * MS, number: 0, qdisc: htb(10 * MBIT) }];
    let waited = wait_behind_a_segment(Way { changes, ..link(MBIT) }).expect("a kernel");
    assert!(waited.abs_diff(10_692_800) < 2_000, "{waited} ns");
    let changes = vec![Change { at_ns: 19 * MS, number: 0, qdisc: htb(10 * MBIT) }];
    let waited = wait_behind_a_segment(Way { changes, ..link(MBIT) }).expect("a kernel");
    assert!(waited < 2_000, "{waited} ns");
}

#[test]
fn a_flow_has_its_own_delay_and_others_pass() {
    let own = |flow, ms| Apart { flow, qdisc: Qdisc::Netem(netem(ms * MS)) };
    let forward = Way { apart: vec![own(1, 30), own(3, 70)], ..Way::default() };
    let back = Way { apart: vec![own(3, 5)], ..Way::default() };
    let mut plan = handshaking(forward, MS);
    plan.routers[0].back = back;
    plan.flows.truncate(5);
    let Some(delays) = delays(&plan) else { return };
    for (flow, ms) in [0, 30, 0, 75, 0].into_iter().enumerate() {
        assert!(delays[flow].abs_diff(ms * MS) < MS / 10, "flow {flow}: {} ns", delays[flow]);
    }
}
