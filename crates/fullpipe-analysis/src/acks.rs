//! Where ACKs are lost. A few do no harm, as each tells what those before it told; where many are, the data that the
//! remaining ones let go comes in bursts, cwnd grows slowly and timeouts come early. No window says so.

use super::lookup::{Told, Traces};
use crate::meta::{FlowMeta, RunMeta};
use std::collections::BTreeMap;

/// The least share that is told.
const TOLD: f64 = 0.01;

/// By place of the ACKs' way the share of what came to it that it dropped. None where data of other flows goes that way, too:
/// places count all packets alike.
pub fn dropped_acks(meta: &RunMeta, about: &FlowMeta, traces: &Traces) -> BTreeMap<String, f64> {
    let back = about.direction.turned();
    if meta.flows.iter().any(|flow| flow.direction == back) {
        return BTreeMap::new();
    }
    let share = |(info, stage): &Told| {
        let last = stage.last();
        let came = last.entered.saturating_add(last.dropped);
        let share = last.dropped as f64 / came.max(1) as f64;
        (share >= TOLD).then(|| (info.name.clone(), share))
    };
    traces.on_the_way(back, &about.hosts).filter_map(share).collect()
}
