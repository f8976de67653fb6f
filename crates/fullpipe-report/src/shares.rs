//! Shares of a flow's life by limit, largest first, and the places that cut cwnd or drop ACKs.

use fullpipe_analysis::document::{Confidence, Flow, Run};
use fullpipe_analysis::numbers;
use std::collections::BTreeMap;

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
    let named: Vec<String> = ranked(&flow.reductions)
        .into_iter()
        .filter(|(_, share)| *share >= 0.001)
        .map(|(place, share)| {
            format!("by {} at {place} {}", signals(run, place), numbers::share(share))
        })
        .collect();
    (!named.is_empty()).then(|| format!("cwnd, cut {}", named.join("; ")))
}

/// Signals of congestion that a place gave: drops, marks or both.
fn signals(run: &Run, place: &str) -> &'static str {
    let stage = run.stages.iter().find(|stage| stage.name == place);
    stage.map_or("drops", |stage| match (stage.dropped, stage.marked) {
        (_, 0) => "drops",
        (0, _) => "marks",
        _ => "drops and marks",
    })
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

/// Certainty of a finding in words.
pub fn certainty(own: Confidence) -> &'static str {
    match own {
        Confidence::Sure => "sure",
        Confidence::Likely => "likely",
        Confidence::CannotTell => "cannot tell",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
