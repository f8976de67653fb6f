//! Remarks behind the cause: that the path varies, that a run is too short to show losses, and where the rate settles.

use crate::document::{Flow, Grade, Interval};
use crate::numbers;
use crate::rules::{Cause, Context, FULL, LINK, One, PROGRAM, named, outage, varies, wanting};
use crate::words::percent;
use fullpipe_base::limits::{Derived, Limit};
use fullpipe_base::path::Direction;
use fullpipe_scenario::are_copies;
use fullpipe_scenario::response::ENOUGH_LOSSES;

/// Name of the limit of a slow reader.
const READER: &str = Derived::Reader.about().name;

/// Note that the path's rate varies, where its link is not the cause, or that the way back is out for a while.
pub(super) fn varied(context: &Context, cause: Option<&Cause>) -> String {
    let data = cause.filter(|own| own.limit != LINK).and_then(|_| varies(context));
    let back = context.meta.main_way.map(Direction::turned);
    let back = back.and_then(|way| outage(context, way, &context.subject.spans(context.lives)));
    let back = back.map(|(place, lasts)| {
        format!(
            "{place} on the way back carries nothing for {}",
            numbers::seconds(lasts.as_secs_f64())
        )
    });
    let all: Vec<String> = [data, back].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!("Meanwhile {}", all.join(", and ")) }
}

/// Note that flows have what their programs ask for, where others lack something.
pub(super) fn as_asked(context: &Context) -> String {
    let subject = context.subject;
    let wanting: Vec<usize> = wanting(&subject.flows).iter().map(|one| one.index).collect();
    // A mount's connection waits for answers, not for its program.
    let has_all =
        |one: &&One| !wanting.contains(&one.index) && !context.meta.is_of_mount(one.index);
    let Some(first) = subject.flows.iter().find(has_all) else { return String::new() };

    // One entry of the scenario stands for all.
    let of_first = |one: &&One| are_copies(&first.meta.name, &one.meta.name);
    let all: Vec<One> = subject.flows.iter().filter(has_all).filter(of_first).copied().collect();
    let reads = first.share(READER) > first.share(PROGRAM);
    let (has, whose, asks) = match (all.len(), reads) {
        (1, true) => ("has", "its program", "reads"),
        (1, false) => ("has", "its program", "writes"),
        (_, true) => ("have", "their programs", "read"),
        (_, false) => ("have", "their programs", "write"),
    };
    let rate = if all.len() == 1 {
        format!(", {}", numbers::rate(first.best_mbit()))
    } else {
        String::new()
    };
    format!("{} {has} what {whose} {asks}{rate}", named(&all))
}

/// Note that the path has lost too few packets by chance to show the effect of its losses.
pub(super) fn too_few(context: &Context, cause: Option<&Cause>) -> Option<String> {
    let is_cut = cause.is_some_and(|own| own.is_cut);

    // Only the path of the first flow counts: all flows of a subject share it.
    let way = context.subject.flows.first()?.meta.direction.way();
    let stages = context
        .run
        .stages
        .iter()
        .filter(|own| own.kind == "loss" && own.direction == way && own.entered > 0);

    // The place with the most drops shows the losses' effect first.
    let most = stages.max_by_key(|own| own.dropped)?;
    (!is_cut && most.dropped < ENOUGH_LOSSES).then(|| {
        let lost =
            if most.dropped == 0 { "no packet".into() } else { numbers::packets(most.dropped) };
        format!("{} has lost {lost} so far: a longer run shows what its losses do", most.name)
    })
}

/// Whether a CPU or a program holds the flow most of the time, so that its rate is not the path's.
fn is_of_host(cause: &Cause) -> bool {
    let hosts = [Limit::SenderCpu.about().name, Derived::ReceiverCpu.about().name, PROGRAM];
    cause.share >= HELD_BY_HOST && hosts.contains(&&cause.limit[..])
}

/// Note that a plateau is far below the path, or that the full rate is reached late.
pub(super) fn plateau(context: &Context, grade: Grade, cause: Option<&Cause>) -> String {
    let subject = context.subject;
    let (Some(plateau), Some(allowed)) = (subject.plateau(), subject.allowed_mbit()) else {
        return String::new();
    };
    let reached = subject.only().and_then(|one| one.flow.time_to_plateau_s);
    let from = reached.map_or(String::new(), |at| format!(" from {} s on", numbers::short(at)));
    // ACKs of a queue that drains arrive faster than the path carries data.
    let rate = numbers::rate(plateau.min(allowed));
    match grade {
        // A rate that falls again has another cause than the start.
        Grade::Late if subject.only().is_some_and(|one| !lasts(one.flow, plateau)) => String::new(),
        Grade::Late if cause.is_some_and(is_of_host) => {
            format!("The rate settles at {rate}, {} of the path", percent(plateau / allowed))
        }
        Grade::Late => format!("The path is full{from} ({rate}): the mean counts the start"),
        Grade::Below if subject.only().is_some_and(|one| settles(one.flow, plateau)) => format!(
            "The rate settles at {rate}, {} of the path: more time does not help",
            percent(plateau / allowed)
        ),
        _ => String::new(),
    }
}

/// Whether the second half of a flow's intervals keeps its highest rate.
fn lasts(flow: &Flow, plateau: f64) -> bool {
    mean(&flow.intervals[flow.intervals.len() / 2..]) >= FULL * plateau
}

/// Ratio to the rate a quarter of a flow's life ago, below which the rate still grows.
const GREW: f64 = 0.9;
/// Share of a flow's life in which its CPU or program holds it, from which on its rate is not that of the path.
const HELD_BY_HOST: f64 = 0.5;

/// Whether it keeps that rate, and the quarter of its life before has as much.
fn settles(flow: &Flow, plateau: f64) -> bool {
    let (quarter, half) = (flow.intervals.len() / 4, flow.intervals.len() / 2);
    let before = mean(&flow.intervals[quarter..half]);
    lasts(flow, plateau) && before >= GREW * mean(&flow.intervals[half..])
}

/// Mean rate of intervals, Mb/s; 0 of none.
fn mean(intervals: &[Interval]) -> f64 {
    let sum: f64 = intervals.iter().map(|own| own.throughput_mbit).sum();
    sum / intervals.len().max(1) as f64
}
