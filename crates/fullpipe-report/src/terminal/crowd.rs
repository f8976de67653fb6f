//! Many alike flows as one table: their results together, and their spread.

use super::Style;
use super::grid::{Column, lay_out, number, wrap};
use fullpipe_analysis::document::{Flow, Interval, Run};
use fullpipe_analysis::numbers;
use fullpipe_analysis::scenario::shown;
use std::collections::BTreeMap;

const MIB: f64 = 1_048_576.0;

const COLUMNS: [Column; 9] = [
    number("to", "s"),
    number("data", "MiB"),
    number("rate", "Mb/s"),
    number("slowest", "Mb/s"),
    number("fastest", "Mb/s"),
    number("segments", ""),
    number("retrans", "segs"),
    number("cwnd", "median"),
    number("srtt", "median"),
];

/// Text that names the option which shows each flow.
pub const ALL_BY: &str = "--every-flow shows each of them";

/// Heading and table. Intervals are joined by where most of each lies, because the flows' clocks start apart.
pub fn lines(run: &Run, flows: &[&Flow], style: Style) -> Vec<String> {
    let Some(first) = flows.first() else { return Vec::new() };
    let way = if first.backward { ", backward" } else { "" };
    let heading = format!(
        "{} / {} flows, {} to {}: {} on Linux {}{way}, together; {ALL_BY}",
        run.variant,
        flows.len(),
        first.name,
        flows[flows.len() - 1].name,
        first.congestion,
        shown(&first.kernel)
    );
    let mut lines: Vec<String> =
        wrap(&heading, "", style.columns()).iter().map(|line| style.bold(line)).collect();
    let rows = at_one_time(flows);

    // Copies have equal intervals: the first flow's decimals fit all.
    let decimals = super::flow::decimals(first);
    let rows: Vec<Vec<String>> = rows.iter().map(|(end, row)| cells(*end, row, decimals)).collect();
    let mut table = lay_out(&COLUMNS, &rows, style.columns()).into_iter();
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));
    lines.extend(table);
    lines
}

/// The intervals of all flows that end at about the same time, seconds since the first clock started.
fn at_one_time<'a>(flows: &[&'a Flow]) -> Vec<(f64, Vec<&'a Interval>)> {
    let start = flows.iter().map(|flow| flow.clock_start_s).fold(f64::INFINITY, f64::min);
    let lengths = flows.iter().flat_map(|flow| &flow.intervals).map(|i| i.end_s - i.start_s);

    // The longest interval is the regular one: first and last may be short.
    let length = lengths.fold(0.0, f64::max);
    let mut rows: BTreeMap<i64, (f64, Vec<&Interval>)> = BTreeMap::new();
    for flow in flows {
        for interval in &flow.intervals {
            let end = flow.clock_start_s - start + interval.end_s;

            // Rounding puts an interval where most of it lies.
            let row = rows.entry((end / length).round() as i64).or_insert((end, Vec::new()));
            row.0 = row.0.max(end);
            row.1.push(interval);
        }
    }
    rows.into_values().collect()
}

fn cells(end: f64, all: &[&Interval], decimals: usize) -> Vec<String> {
    let sum = |of: fn(&Interval) -> u64| all.iter().map(|i| of(i)).sum::<u64>();
    let rates = || all.iter().map(|interval| interval.throughput_mbit);

    // Medians of window and RTT: sums of them would mean nothing.
    let srtt = median(all.iter().filter_map(|interval| interval.srtt_us).collect());
    let cwnd = median(all.iter().map(|interval| interval.cwnd).collect());
    vec![
        numbers::fixed(end, decimals),
        numbers::fixed(sum(|i| i.bytes) as f64 / MIB, 2),
        numbers::fixed(rates().sum(), 1),
        numbers::fixed(rates().fold(f64::INFINITY, f64::min), 1),
        numbers::fixed(rates().fold(0.0, f64::max), 1),
        numbers::count(sum(|i| i.segments)),
        numbers::count(sum(|i| i.retransmitted_segments)),
        cwnd.map_or(numbers::ABSENT.into(), |cwnd| numbers::count(cwnd.into())),
        srtt.map_or(numbers::ABSENT.into(), |us| {
            format!("{} ms", numbers::fixed(f64::from(us) / 1e3, 2))
        }),
    ]
}

/// The lower of two middle values.
fn median(mut values: Vec<u32>) -> Option<u32> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}
