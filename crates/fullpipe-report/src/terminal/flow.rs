//! A flow, interval by interval.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::shares;
use fullpipe_analysis::document::{CpuShares, Flow, Interval, Run};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;
use fullpipe_analysis::scenario::shown;

const MIB: f64 = 1_048_576.0;

const NARROW: [Column; 9] = [
    number("to", "s"),
    number("data", "MiB"),
    number("rate", "Mb/s"),
    number("segments", ""),
    number("retrans", "segs"),
    number("cwnd", "pkts"),
    number("ssthresh", "pkts"),
    number("srtt", "ms"),
    number("queue", "pkts"),
];

const WIDE: [Column; 2] = [number("in flight", "pkts"), words("held back by")];

/// Heading and table.
pub fn lines(run: &Run, flow: &Flow, style: Style) -> Vec<String> {
    let (variant, name) = (&run.variant, &flow.name);
    let mut text = match flow.congestion.is_empty() {
        true => format!("{variant} / {name}: a socket of another host"),
        false => {
            format!("{variant} / {name}: {} on Linux {}", flow.congestion, shown(&flow.kernel))
        }
    };
    if flow.backward {
        text += ", backward";
    }
    let mut lines: Vec<String> =
        wrap(&text, "", style.columns()).iter().map(|line| style.bold(line)).collect();
    let decimals = decimals(flow);
    let rows = flow.intervals.iter().map(|i| row(i, decimals, style));
    let rows: Vec<Vec<String>> = rows.collect();

    // Narrow terminals lose the columns that a reader misses least.
    let columns: Vec<Column> = match style.wide() {
        true => NARROW.into_iter().chain(WIDE).collect(),
        false => NARROW.into(),
    };
    let mut table = lay_out(&columns, &rows, style.columns()).into_iter();

    // The first two lines are the table's heading.
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));
    lines.extend(table);
    lines.extend(flow.cpu.map(cpu));
    lines
}

/// The CPUs as nuttcp prints them.
pub fn cpu(cpu: CpuShares) -> String {
    let [sender, receiver] =
        [cpu.sender, cpu.receiver].map(|share| numbers::fixed(share * 100.0, 0));
    format!("  CPU: {sender} %TX {receiver} %RX")
}

/// `decimals`: of the interval's end.
fn row(interval: &Interval, decimals: usize, style: Style) -> Vec<String> {
    let packets = |n: u32| numbers::count(u64::from(n));
    let mut row = vec![
        numbers::fixed(interval.end_s, decimals),
        numbers::fixed(interval.bytes as f64 / MIB, 2),
        numbers::fixed(interval.throughput_mbit, 1),
        numbers::count(interval.segments),
        numbers::count(interval.retransmitted_segments),
        packets(interval.cwnd),
        interval.ssthresh.map_or("inf".to_string(), packets),
        srtt(interval.srtt_us),
        numbers::count(interval.queue),
    ];
    if style.wide() {
        row.push(packets(interval.in_flight));
        row.push(main_limit(interval));
    }
    row
}

/// Decimals of a second that distinguish each interval from the next.
pub(super) fn decimals(flow: &Flow) -> usize {
    // Intervals of a tenth of a second or a millisecond count also where rounding made them shorter.
    let length = |i: &Interval| (i.end_s - i.start_s) * (1.0 + 1e-6);
    let least = flow.intervals.iter().map(|interval| match length(interval) {
        length if length >= 0.1 => 1,
        length if length >= 0.001 => 3,
        _ => 6,
    });
    // The last one may end anywhere; where all are a quarter of a second long their ends are not tenths.
    let regular = flow.intervals.iter().rev().skip(1).map(length);
    let regular = regular.map(|length| if is_in_tenths(length) { 1 } else { 2 });
    least.chain(regular).max().unwrap_or(1)
}

/// Whether a time in seconds is a multiple of a tenth of a second.
fn is_in_tenths(length: f64) -> bool {
    (length * 10.0 - (length * 10.0).round()).abs() < 1e-3
}

fn srtt(us: Option<u32>) -> String {
    us.map_or(numbers::ABSENT.to_string(), |us| numbers::fixed(f64::from(us) / 1e3, 2))
}

fn main_limit(interval: &Interval) -> String {
    match shares::ranked(&interval.limits).first() {
        Some((name, share)) => format!("{} {}", limits::label(name), numbers::share(*share)),
        None => numbers::ABSENT.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::document::sample::document;

    #[test]
    fn the_ends_of_intervals_have_as_many_decimals() {
        let run = document().runs.remove(0);
        let interval =
            |start_s, end_s| Interval { start_s, end_s, ..run.flows[0].intervals[0].clone() };
        let ends = |intervals: Vec<Interval>| -> Vec<String> {
            let flow = Flow { intervals, ..run.flows[0].clone() };
            let lines = lines(&run, &flow, Style { width: 80, color: false });
            lines[3..]
                .iter()
                .map(|line| line.trim().split(' ').next().unwrap_or("").into())
                .collect()
        };
        let tenths = vec![interval(0.1, 0.2), interval(0.2, 0.3), interval(0.3, 0.4)];
        assert_eq!(ends(tenths.clone()), ["0.2", "0.3", "0.4"]);
        let quarters = vec![interval(0.0, 0.25), interval(0.25, 0.5), interval(0.5, 0.6)];
        assert_eq!(ends(quarters), ["0.25", "0.50", "0.60"]);
        assert_eq!(ends([tenths, vec![interval(0.4, 0.446)]].concat())[2..], ["0.400", "0.446"]);
    }
}
