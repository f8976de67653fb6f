//! Runs of several engines, or of two results, compared.

use super::table::{Cell, Column, Table, column};
use crate::happened;
use fullpipe_analysis::compare::{FlowPair, Pair};
use fullpipe_analysis::distance::{Apart, Difference, Parting, State};
use fullpipe_analysis::document::{Document, Moment};

const DISTANCES: [Column; 12] = [
    column("flow", ""),
    column("rate apart, median", "%"),
    column("worst", "%"),
    column("cwnd apart, median", "%"),
    column("worst", "%"),
    column("resent, a", "segments"),
    column("b", "segments"),
    column("complete, a", "s"),
    column("b", "s"),
    column("losses apart, median", "s"),
    column("worst", "s"),
    column("they part", "at s"),
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

/// Distances, a table per pair; then the partings, in one table.
pub(super) fn tables(document: &Document) -> Vec<Table> {
    let mut tables: Vec<Table> = document.comparisons.iter().map(apart).collect();
    let flows = document.comparisons.iter().flat_map(|p| p.flows.iter().map(move |f| (p, f)));
    tables.push(Table {
        name: "partings",
        run: None,
        title: "Where they part".to_string(),
        finding:
            "both sides at the first moment at which cwnd differs by more than a tenth, and what \
                  happened in the two round trips before"
                .to_string(),
        columns: PARTINGS.to_vec(),
        rows: flows.flat_map(|(pair, flow)| partings(pair, flow)).collect(),
    });
    tables
}

fn apart(pair: &Pair) -> Table {
    let findings = pair.flows.iter().filter_map(|flow| {
        Some(format!("losses of {}: {}", flow.name, happened::known(&flow.distance)?))
    });
    Table {
        name: "distances",
        run: None,
        title: format!("How far apart: {} (a), {} (b)", pair.a, pair.b),
        finding: findings.collect::<Vec<_>>().join("; "),
        columns: DISTANCES.to_vec(),
        rows: pair.flows.iter().map(distances).collect(),
    }
}

fn distances(flow: &FlowPair) -> Vec<Cell> {
    let distance = &flow.distance;
    let percent = |apart: Option<Apart>, of: fn(Apart) -> f64| {
        Cell::number(apart.map(|apart| of(apart) * 100.0), 1)
    };
    let done = |of: fn(Difference) -> f64| Cell::number(distance.completion_s.map(of), 3);
    let resent = distance.retransmissions;
    vec![
        Cell::text(&flow.name),
        percent(distance.throughput, |apart| apart.median),
        percent(distance.throughput, |apart| apart.worst),
        percent(distance.cwnd, |apart| apart.median),
        percent(distance.cwnd, |apart| apart.worst),
        Cell::Count(resent.a as u64),
        Cell::Count(resent.b as u64),
        done(|both| both.a),
        done(|both| both.b),
        Cell::number(distance.losses.median_difference_s, 3),
        Cell::number(distance.losses.worst_difference_s, 3),
        Cell::number(distance.diverged.as_ref().map(|diverged| diverged.at_s), 3),
    ]
}

fn partings(pair: &Pair, flow: &FlowPair) -> Vec<Vec<Cell>> {
    // Flows that never part have no row.
    let Some(parting) = &flow.distance.diverged else { return Vec::new() };
    let Parting { a, b, events_a, events_b, .. } = parting;

    // The sides get a row each, so that their values stand below each other.
    let side = |run: &str, state: &State, moments: &[Moment]| {
        vec![
            Cell::text(run),
            Cell::text(&flow.name),
            Cell::Count(state.cwnd.into()),
            state.ssthresh.map_or(Cell::text("infinite"), |packets| Cell::Count(packets.into())),
            Cell::Count(state.in_flight.into()),
            Cell::number(state.srtt_us.map(|us| f64::from(us) / 1e3), 2),
            Cell::Count(state.queue),
            Cell::text(happened::at(parting, moments, &flow.distance)),
        ]
    };
    vec![side(&pair.a, a, events_a), side(&pair.b, b, events_b)]
}
