//! Runs of several engines, or of two results, beside each other.

use super::table::{Cell, Column, Table, column};
use crate::analysis::compare::{FlowPair, Pair};
use crate::analysis::distance::{Apart, Difference, Parting, State};
use crate::analysis::document::{Document, Moment};
use crate::report::happened;

const DISTANCES: [Column; 13] = [
    column("a", ""),
    column("b", ""),
    column("flow", ""),
    column("throughput apart, median", "%"),
    column("worst", "%"),
    column("cwnd apart, median", "%"),
    column("worst", "%"),
    column("retransmitted, a", "segments"),
    column("retransmitted, b", "segments"),
    column("complete, a", "s"),
    column("complete, b", "s"),
    column("episodes of loss apart, worst", "s"),
    column("they part at", "s"),
];

const PARTINGS: [Column; 8] = [
    column("run", ""),
    column("flow", ""),
    column("cwnd", "packets"),
    column("ssthresh", "packets"),
    column("in flight", "packets"),
    column("srtt", "ms"),
    column("queue", "packets"),
    column("what happened", ""),
];

pub(super) fn tables(document: &Document) -> Vec<Table> {
    let flows = || document.comparisons.iter().flat_map(|p| p.flows.iter().map(move |f| (p, f)));
    let table = |name, title: &str, finding: &str, columns: &[Column], rows| Table {
        name,
        run: None,
        title: title.to_string(),
        finding: finding.to_string(),
        columns: columns.to_vec(),
        rows,
    };
    let distances = flows().map(|(pair, flow)| distances(pair, flow)).collect();
    let partings = flows().flat_map(|(pair, flow)| partings(pair, flow)).collect();
    vec![
        table("distances", "How far runs are apart", "", &DISTANCES, distances),
        table(
            "partings",
            "Where they part",
            "both sides at the first moment at which cwnd differs by more than a tenth, and what \
             happened in the two round trips before",
            &PARTINGS,
            partings,
        ),
    ]
}

fn distances(pair: &Pair, flow: &FlowPair) -> Vec<Cell> {
    let distance = &flow.distance;
    let percent = |apart: Option<Apart>, of: fn(Apart) -> f64| {
        Cell::number(apart.map(|apart| of(apart) * 100.0), 1)
    };
    let done = |of: fn(Difference) -> f64| Cell::number(distance.completion_s.map(of), 3);
    let resent = distance.retransmissions;
    vec![
        Cell::text(&pair.a),
        Cell::text(&pair.b),
        Cell::text(&flow.name),
        percent(distance.throughput, |apart| apart.median),
        percent(distance.throughput, |apart| apart.worst),
        percent(distance.cwnd, |apart| apart.median),
        percent(distance.cwnd, |apart| apart.worst),
        Cell::Count(resent.a as u64),
        Cell::Count(resent.b as u64),
        done(|both| both.a),
        done(|both| both.b),
        Cell::number(distance.losses.worst_apart_s, 3),
        Cell::number(distance.parted.as_ref().map(|parted| parted.at_s), 3),
    ]
}

fn partings(pair: &Pair, flow: &FlowPair) -> Vec<Vec<Cell>> {
    let Some(Parting { a, b, happened_a, happened_b, .. }) = &flow.distance.parted else {
        return Vec::new();
    };
    let side = |run: &str, state: &State, moments: &[Moment]| {
        vec![
            Cell::text(run),
            Cell::text(&flow.name),
            Cell::Count(state.cwnd.into()),
            state.ssthresh.map_or(Cell::text("infinite"), |packets| Cell::Count(packets.into())),
            Cell::Count(state.in_flight.into()),
            Cell::number(state.srtt_us.map(|us| f64::from(us) / 1e3), 2),
            Cell::Count(state.queue),
            Cell::text(happened::told(moments)),
        ]
    };
    vec![side(&pair.a, a, happened_a), side(&pair.b, b, happened_b)]
}
