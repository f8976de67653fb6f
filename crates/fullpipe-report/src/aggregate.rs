//! Several flows of a run as one, and flows that are negligible next to datagrams.

use fullpipe_analysis::document::{Datagrams, Flow, Run};
use fullpipe_analysis::numbers;
use std::collections::BTreeMap;

/// Share of the datagrams' bytes below which a flow is negligible.
const BESIDE: f64 = 0.01;

/// Share of several flows' bytes below which a flow's time is negligible: messages that allow others to send.
const MESSAGES: f64 = 0.01;

/// Rate of flows over the time from the first one's start to the last one's end, Mb/s. The time of a flow with next to no bytes does not
/// count, so that no part of the flows has a higher rate.
pub(super) fn mbit(flows: &[&Flow]) -> f64 {
    let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
    let counts = flows
        .iter()
        .filter(|flow| flow.bytes as f64 >= MESSAGES * bytes as f64 / flows.len() as f64);
    let lives = counts.filter_map(|flow| {
        let (first, last) = (flow.intervals.first()?, flow.intervals.last()?);
        Some((flow.clock_start_s + first.start_s, flow.clock_start_s + last.end_s))
    });
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (start, end) = lives.fold(none, |all, life| (all.0.min(life.0), all.1.max(life.1)));
    if end > start { bytes as f64 * 8e-6 / (end - start) } else { 0.0 }
}

/// Flows that a text shows as one.
pub enum Shown<'a> {
    /// A flow with lines of its own.
    Each(&'a Flow),
    /// Alike flows, which differ only by their names.
    Crowd(Vec<&'a Flow>),
}

/// The flows in the document's order. More than `most` alike flows are a crowd, in the place of its first one.
#[must_use]
pub fn shown(run: &Run, most: usize) -> Vec<Shown<'_>> {
    let mut groups: BTreeMap<_, Vec<&Flow>> = BTreeMap::new();
    for flow in &run.flows {
        groups.entry(kind(flow)).or_default().push(flow);
    }
    run.flows
        .iter()
        .filter_map(|flow| {
            // A crowd takes the place of its first flow, the others are skipped.
            let alike = &groups[&kind(flow)];
            if alike.len() <= most {
                return Some(Shown::Each(flow));
            }
            std::ptr::eq(alike[0], flow).then(|| Shown::Crowd(alike.clone()))
        })
        .collect()
}

/// Common facts of alike flows: direction, host, congestion control, kernel, and the name before its number.
fn kind(flow: &Flow) -> (bool, Option<&str>, &str, &str, &str) {
    let name = flow.name.trim_end_matches(|c: char| c.is_ascii_digit() || "-._".contains(c));
    (flow.backward, flow.from.as_deref(), &flow.congestion, &flow.kernel, name)
}

/// UDP datagrams of a run; echo requests only measure.
pub fn udp(run: &Run) -> impl Iterator<Item = &Datagrams> {
    run.datagrams.iter().filter(|own| own.kind == "udp")
}

/// The share of a rate from which on it counts as reached, and of its time for which a CPU that never rests works.
const WRITTEN: f64 = 0.99;
const BUSY: f64 = 0.99;

/// Whether the flow is negligible next to the run's datagrams.
#[must_use]
pub fn is_beside(run: &Run, flow: &Flow) -> bool {
    let sent: u64 = udp(run).map(|own| own.sent * u64::from(own.size)).sum();
    (flow.bytes as f64) < BESIDE * sent as f64
}

/// That the program wrote less than it was to, and whether that is its CPU's doing.
fn written(own: &Datagrams) -> Option<String> {
    let (asked, sent) = (own.requested_mbit?, own.sent_mbit?);
    let busy = own.cpu.filter(|cpu| cpu.sender >= BUSY);
    let by = busy.map_or(String::new(), |_| ": the sender's CPU never rests".into());
    (sent < WRITTEN * asked).then(|| {
        format!("written at {} of {} asked for{by}", numbers::rate(sent), numbers::rate(asked))
    })
}

/// Fate of datagrams, and the places that dropped packets in their direction.
#[must_use]
pub fn fate(run: &Run, own: &Datagrams) -> String {
    let sent = numbers::count(own.sent);

    // Shares need something that was sent.
    if own.sent == 0 {
        return "no datagram was sent before the run's end".into();
    }
    let written = written(own).map_or(String::new(), |written| format!("; {written}"));
    if own.undelivered == 0 {
        return format!("all {sent} datagrams delivered{written}");
    }
    let lost = numbers::count(own.undelivered);
    let percent = numbers::fixed(own.undelivered_share * 100.0, 2);
    let mut text = format!("{lost} of {sent} datagrams not delivered ({percent} %){written}");

    // Only places on the datagrams' own way can have dropped them.
    let way = if own.backward { "back" } else { "forward" };
    // The trace counts drops by place, not by flow; a TCP socket's buffer no datagram passes.
    let mut places: Vec<_> = run
        .stages
        .iter()
        .filter(|stage| stage.direction == way && stage.dropped > 0)
        .filter(|stage| stage.kind != "receive_buffer")
        .collect();
    places.sort_by_key(|stage| std::cmp::Reverse(stage.dropped));
    let places: Vec<String> = places
        .iter()
        .map(|stage| format!("{} at {}", numbers::count(stage.dropped), stage.name))
        .collect();
    if !places.is_empty() {
        text += &format!("; dropped on their way, whosever packets: {}", places.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::document::sample;

    #[test]
    fn a_sum_is_over_the_time_in_which_any_flow_lived() {
        let mut run = sample::document().runs.remove(1);
        let first = &mut run.flows[0];
        (first.clock_start_s, first.bytes) = (1.0, 1_000_000);
        let mut late = first.clone();
        (late.clock_start_s, late.bytes) = (4.0, 3_000_000);
        run.flows[1] = late;
        // 32 Mb from 1 s to 5 s.
        assert_eq!(mbit(&run.flows.iter().collect::<Vec<_>>()), 8.0);
    }
}
