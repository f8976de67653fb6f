//! How the limits of a flow (see `fullpipe_base::trace::Limit`) are called where people read them.

use fullpipe_analysis::document::{Flow, Run};
use fullpipe_analysis::numbers;
use std::collections::BTreeMap;

/// Known limits in the order in which they are stacked and listed: name and label.
const LABELS: [(&str, &str); 24] = [
    ("cwnd_slow_start", "cwnd, slow start"),
    ("cwnd_avoidance", "cwnd, avoidance"),
    ("cwnd_recovery", "cwnd, recovery"),
    ("receive_window", "receive window"),
    ("send_buffer", "send buffer"),
    ("sender_cpu", "sender CPU"),
    ("application", "application"),
    ("qdisc", "qdisc"),
    ("nagle", "Nagle"),
    ("pacing", "pacing"),
    ("idle", "idle"),
    ("link", "link"),
    ("receiver_cpu", "receiver CPU"),
    ("unknown", "unknown"),
    ("rpc_slots", "RPC slots"),
    ("page_cache", "page cache"),
    ("server_threads", "server threads"),
    ("record_gate", "record gate"),
    ("small_queues", "small queues (TSQ)"),
    ("nic", "sender's card"),
    ("tx_ring", "TX ring"),
    ("ack_path", "ACKs' way"),
    ("connecting", "connecting"),
    ("done", "done"),
];

/// The label of a limit; an unknown name stands for itself.
#[must_use]
pub fn label(name: &str) -> &str {
    LABELS.iter().find(|(known, _)| *known == name).map_or(name, |(_, label)| label)
}

/// The limit's place in the fixed order, 0 to 23, so that it has the same colour everywhere; unknown
/// ones share the place behind the last.
#[must_use]
pub fn place(name: &str) -> usize {
    LABELS.iter().position(|(known, _)| *known == name).unwrap_or(LABELS.len())
}

/// Limits with a share above zero, largest first.
#[must_use]
pub fn ranked(limits: &BTreeMap<String, f64>) -> Vec<(&str, f64)> {
    let mut all: Vec<(&str, f64)> = limits
        .iter()
        .filter(|(_, share)| share.is_finite() && **share > 0.0)
        .map(|(name, share)| (name.as_str(), *share))
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    all
}

/// Where cwnd was cut, largest share first: "cwnd, cut by drops at receiver.rx_ring 96.9 %". None where it was nowhere for a
/// thousandth of the flow's life.
#[must_use]
pub fn reductions(run: &Run, flow: &Flow) -> Option<String> {
    let by = |place: &str| {
        let stage = run.stages.iter().find(|stage| stage.name == place);
        stage.map_or("drops", |stage| match (stage.dropped, stage.marked) {
            (_, 0) => "drops",
            (0, _) => "marks",
            _ => "drops and marks",
        })
    };
    let named: Vec<String> = ranked(&flow.reductions)
        .into_iter()
        .filter(|(_, share)| *share >= 0.001)
        .map(|(place, share)| format!("by {} at {place} {}", by(place), numbers::share(share)))
        .collect();
    (!named.is_empty()).then(|| format!("cwnd, cut {}", named.join("; ")))
}

/// Where ACKs were lost, largest share first: "ACKs: 94.8 % dropped at receiver.qdisc". None where few were.
#[must_use]
pub fn dropped_acks(flow: &Flow) -> Option<String> {
    let places = ranked(&flow.acks_dropped).into_iter();
    let named: Vec<String> = places
        .map(|(place, share)| format!("{} dropped at {place}", numbers::share(share)))
        .collect();
    (!named.is_empty()).then(|| format!("ACKs: {}", named.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::trace::limits::limit_names;

    #[test]
    fn every_limit_of_the_document_has_a_label_and_a_place_of_its_own() {
        let mut places: Vec<usize> = limit_names().map(place).collect();
        places.sort_unstable();
        assert_eq!(places, (0..LABELS.len()).collect::<Vec<_>>());
        assert_eq!(label("something_new"), "something_new");
        assert_eq!(place("something_new"), LABELS.len());
    }

    #[test]
    fn ranking_is_by_share_and_leaves_out_what_never_held() {
        let limits = BTreeMap::from([
            ("a".to_string(), 0.2),
            ("b".to_string(), 0.8),
            ("c".to_string(), 0.0),
            ("d".to_string(), f64::NAN),
        ]);
        assert_eq!(ranked(&limits), [("b", 0.8), ("a", 0.2)]);
    }
}
