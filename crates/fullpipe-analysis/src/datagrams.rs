//! Fate of datagrams, from the counters of the programs that send and receive them.

mod reading;

use super::document::{CpuShares, Datagrams, RoundTrips};
use super::lookup::Traces;
use crate::meta::{DatagramsMeta, RunMeta};
use fullpipe_base::trace::Counter;
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;

/// Entry of each kind of datagrams in the scenario.
pub(super) fn datagrams(meta: &RunMeta, recording: &Recording, traces: &Traces) -> Vec<Datagrams> {
    let end = recording.flows.last().map_or(0, |sample| sample.time.0);
    let cpu = |own: &DatagramsMeta| cpu(own, end, traces).filter(|_| !own.echo);
    let all = meta.datagrams.iter();
    all.map(|own| {
        let counted = one(own, &recording.counters, end);
        let is_late = !own.echo && counted.undelivered > 0;
        let reading = is_late.then(|| reading::reading(own, traces)).flatten();
        Datagrams { cpu: cpu(own), reading, ..counted }
    })
    .collect()
}

fn one(own: &DatagramsMeta, counters: &[Counter], end: u64) -> Datagrams {
    let of = |what: &str| {
        let name = format!("datagrams.{}.{what}", own.name);
        counters.iter().filter(move |counter| *counter.name == *name)
    };
    let last = |what: &str| of(what).next_back().map_or(0, |counter| counter.value);
    let [sent, refused, received] = ["sent", "refused", "received"].map(last);
    let duplicates = last("duplicates");

    // Duplicates arrive, but deliver no datagram a second time.
    let came = received - duplicates;
    let undelivered = sent.saturating_sub(came);

    // A sender of echo requests knows only which answers are missing.
    let lost = if own.echo { sent - came } else { last("lost") };

    // The program stops early where the run ends before it.
    let seconds = own.lasts.0.min(end.saturating_sub(own.start.0)) as f64 / 1e9;
    let mbit = |count: u64| {
        let bits = (count * u64::from(own.size) * 8) as f64;
        (!own.echo && seconds > 0.0).then_some(bits / seconds / 1e6)
    };
    Datagrams {
        name: own.name.clone(),
        kind: if own.echo { "ping" } else { "udp" }.into(),
        backward: own.backward,
        size: own.size,
        sent,
        refused,
        received,
        undelivered,
        undelivered_share: undelivered as f64 / sent.max(1) as f64,
        lost,
        loss_share: lost as f64 / (lost + came).max(1) as f64,
        duplicates,
        reordered: (!own.echo).then(|| last("reordered")),
        rcvbuf_errors: (!own.echo).then(|| last("rcvbuf_errors")),
        reading: None,
        mean_mbit: mbit(came),
        requested_mbit: own.rate.map(|rate| rate as f64 / 1e6),
        sent_mbit: mbit(sent),
        cpu: None,
        jitter_ms: (!own.echo && received > 1).then(|| last("jitter_ns") as f64 / 1e6),
        rtt_ms: round_trips(of("rtt_ns").map(|counter| counter.value)),
    }
}

/// Busy share of the CPUs at the ends of the path while the program wrote, by samples.
fn cpu(own: &DatagramsMeta, end: u64, traces: &Traces) -> Option<CpuShares> {
    let from = own.start;
    let to = Time((from.0 + own.lasts.0).min(end));
    let span = to.saturating_sub(from).0;

    // Data may flow backward: the CPUs keep the path's order, not the flow's.
    let ends = if own.backward { ["receiver", "sender"] } else { ["sender", "receiver"] };
    let worked = |host: &str| {
        let stage = traces.stage(&format!("{host}.cpu"))?;
        Some(stage.at(to).busy_ns.saturating_sub(stage.at(from).busy_ns))
    };
    let [sender, receiver] = ends.map(worked);
    let (sender, receiver) = (sender?, receiver?);
    let share = |worked: u64| (worked as f64 / span as f64).min(1.0);

    // A run without costs for CPUs has no shares to show.
    (span > 0 && sender + receiver > 0)
        .then(|| CpuShares { sender: share(sender), receiver: share(receiver) })
}

/// Round-trip times as ping of iputils prints them, in whole microseconds. mdev is the root of the mean square less the
/// mean's square.
fn round_trips(ns: impl Iterator<Item = u64>) -> Option<RoundTrips> {
    let us: Vec<u64> = ns.map(|ns| ns / 1000).collect();
    let count = us.len() as f64;
    let (min, max) = (*us.iter().min()?, *us.iter().max()?);
    let sum: u64 = us.iter().sum();
    let squares: u128 = us.iter().map(|us| u128::from(*us) * u128::from(*us)).sum();
    // n * squares - sum * sum, which is exact and not negative.
    let spread = squares * us.len() as u128 - u128::from(sum) * u128::from(sum);
    Some(RoundTrips {
        min: min as f64 / 1e3,
        avg: sum as f64 / count / 1e3,
        max: max as f64 / 1e3,
        mdev: (spread as f64).sqrt() / count / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mdev_is_the_standard_deviation_of_all_round_trips() {
        // 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, the deviation 2.
        let ms = [2, 4, 4, 4, 5, 5, 7, 9].map(|ms| ms * 1_000_000);
        let seen = round_trips(ms.into_iter()).unwrap();
        assert_eq!([seen.min, seen.avg, seen.max, seen.mdev], [2.0, 5.0, 9.0, 2.0]);
        assert_eq!(round_trips([].into_iter()), None);
    }
}
