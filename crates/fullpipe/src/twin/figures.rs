//! Figures of flows that a twin has to share with the connection: rate, cwnd, RTT, retransmissions.

use crate::analysis::sockets::facts::quantile;
use crate::base::trace::FlowSample;
use crate::base::units::Time;
use crate::trace::recording::Recording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Difference that a twin may have, as a share of what was seen.
pub const BOUND: f64 = 0.15;
/// Share of looks with a full cwnd below which cwnd has bound nothing.
const FULL: f64 = 0.05;

/// Figures of all flows together in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Acknowledged payload, Mb/s (10^6), of all flows.
    pub mbit: f64,
    /// Median cwnd, packets.
    pub cwnd: f64,
    /// Share of looks at which packets in flight filled cwnd (0 to 1).
    pub full: f64,
    /// Mean of packets in flight: a program that writes in bursts moves the median.
    pub flight: f64,
    /// Median of the smoothed RTT, ms.
    pub rtt_ms: f64,
    /// Segments sent again by all flows.
    pub again: f64,
    /// Median window of the receiver, bytes.
    pub window: f64,
}

/// Figures of flows 0, 2, 4 and so on of an observation, or of flows 0, 1, 2 of a run.
pub fn figures(
    recording: &Recording,
    is_one: impl Fn(u16) -> bool,
    span: [Time; 2],
) -> Option<Figures> {
    let [from, to] = span;
    let rows: Vec<&FlowSample> = recording
        .flows
        .iter()
        .filter(|row| is_one(row.flow) && from <= row.time && row.time <= to)
        .collect();
    let mut flows: Vec<u16> = rows.iter().map(|row| row.flow).collect();
    flows.sort_unstable();
    flows.dedup();

    // Rates and losses add up; everything else is about one look at one flow.
    let mut all = Figures::default();
    for flow in flows {
        let of_flow = || rows.iter().filter(|row| row.flow == flow);
        let (first, last) = (of_flow().next()?, of_flow().next_back()?);
        let seconds = last.time.saturating_sub(first.time).as_secs_f64();
        if seconds <= 0.0 {
            continue;
        }
        let bytes = last.bytes_acked.saturating_sub(first.bytes_acked);
        all.mbit += bytes as f64 * 8.0 / 1e6 / seconds;
        all.again +=
            last.segments_retransmitted.saturating_sub(first.segments_retransmitted) as f64;
    }
    let median = |of: &dyn Fn(&FlowSample) -> f64| {
        quantile(&rows.iter().map(|row| of(row)).collect::<Vec<f64>>(), 0.5)
    };
    let count = rows.len().max(1) as f64;
    let is_full = |row: &&&FlowSample| row.in_flight + (row.cwnd / 32).max(1) >= row.cwnd;
    (all.mbit > 0.0).then(|| Figures {
        cwnd: median(&|row| f64::from(row.cwnd)),
        full: rows.iter().filter(is_full).count() as f64 / count,
        flight: rows.iter().map(|row| f64::from(row.in_flight)).sum::<f64>() / count,
        rtt_ms: median(&|row| f64::from(row.srtt_us) / 1e3),
        window: median(&|row| row.snd_wnd as f64),
        ..all
    })
}

/// A figure of the connection beside the twin's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TwinCompared")]
pub struct Compared {
    /// Name of the figure, with its unit.
    pub what: String,
    /// Value of the connection.
    pub seen: f64,
    /// Value of the twin.
    pub twin: f64,
    /// Whether the figure decides. A cwnd that bound nothing does not; packets in flight do in its place.
    pub decides: bool,
    /// Whether the twin is off by more than it may be.
    pub is_off: bool,
}

/// All figures of a connection beside those of its twin.
pub fn compared(seen: &Figures, twin: &Figures) -> Vec<Compared> {
    let binds = seen.full >= FULL;
    let row = |what: &str, decides: bool, of: fn(&Figures) -> f64| {
        let (seen, twin) = (of(seen), of(twin));
        let is_off = decides && (twin - seen).abs() > BOUND * seen;
        Compared { what: what.into(), seen, twin, decides, is_off }
    };
    let again = [seen.again, twin.again];
    let losses = Compared {
        what: "segments sent again".into(),
        seen: seen.again,
        twin: twin.again,
        decides: true,
        is_off: !are_alike(again),
    };
    let mut rows = vec![
        row("rate, Mb/s", true, |own| own.mbit),
        row("median cwnd, packets", binds, |own| own.cwnd),
        row("median RTT, ms", true, |own| own.rtt_ms),
        losses,
    ];
    if !binds {
        rows.insert(2, row("mean in flight, packets", true, |own| own.flight));
    }
    rows
}

/// Largest difference of the figures that decide, but for losses, as a share of what was seen.
pub fn distance(seen: &Figures, twin: &Figures) -> f64 {
    let held = if seen.full >= FULL { [seen.cwnd, twin.cwnd] } else { [seen.flight, twin.flight] };
    let pairs = [[seen.mbit, twin.mbit], held, [seen.rtt_ms, twin.rtt_ms]];
    pairs.iter().map(|[seen, twin]| (twin - seen).abs() / seen.max(1e-9)).fold(0.0, f64::max)
}

/// Whether two counts of lost segments are alike: within the bound, or within what chance does to so few.
///
/// Counts of rare events have a deviation of their square root. Two of them differ by less than twice the deviation of
/// their difference in 19 of 20 cases.
fn are_alike(counts: [f64; 2]) -> bool {
    let difference = (counts[0] - counts[1]).abs();
    let chance = 2.0 * (counts[0] + counts[1]).sqrt();
    difference <= (BOUND * counts[0]).max(chance)
}

/// The figures in the middle of several runs.
pub fn middle(all: &[Figures]) -> Figures {
    let of = |of: fn(&Figures) -> f64| quantile(&all.iter().map(of).collect::<Vec<f64>>(), 0.5);
    Figures {
        mbit: of(|own| own.mbit),
        cwnd: of(|own| own.cwnd),
        full: of(|own| own.full),
        flight: of(|own| own.flight),
        rtt_ms: of(|own| own.rtt_ms),
        again: of(|own| own.again),
        window: of(|own| own.window),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Figures {
        let (mbit, cwnd, full, flight) = (100.0, 200.0, 1.0, 200.0);
        Figures { mbit, cwnd, full, flight, rtt_ms: 60.0, ..Figures::default() }
    }

    fn off(seen: &Figures, twin: &Figures) -> Vec<String> {
        let rows = compared(seen, twin).into_iter().filter(|own| own.is_off);
        rows.map(|own| own.what).collect()
    }

    #[test]
    fn a_twin_may_be_off_by_fifteen_percent() {
        assert_eq!(off(&some(), &Figures { mbit: 114.0, rtt_ms: 52.0, ..some() }), [""; 0]);
        assert_eq!(off(&some(), &Figures { mbit: 116.0, ..some() }), ["rate, Mb/s"]);
        assert_eq!(off(&some(), &Figures { cwnd: 169.0, ..some() }), ["median cwnd, packets"]);
        assert_eq!(off(&some(), &Figures { rtt_ms: 50.0, ..some() }), ["median RTT, ms"]);
    }

    #[test]
    fn a_cwnd_that_binds_nothing_gives_way_to_packets_in_flight() {
        let idle = Figures { full: 0.0, flight: 40.0, ..some() };
        assert_eq!(off(&idle, &Figures { cwnd: 900.0, ..idle }), [""; 0]);
        let other = Figures { flight: 50.0, ..idle };
        assert_eq!(off(&idle, &other), ["mean in flight, packets"]);
    }

    #[test]
    fn few_losses_differ_by_chance_and_many_do_not() {
        for (a, b, alike) in [(0.0, 4.0, true), (0.0, 5.0, false), (8.0, 15.0, true)] {
            assert_eq!(are_alike([a, b]), alike, "{a} {b}");
        }
        assert!(are_alike([1000.0, 1140.0]) && !are_alike([1000.0, 1160.0]));
        assert!(!are_alike([88.0, 0.0]));
    }
}
