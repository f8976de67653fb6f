//! Places that lose ACKs. A few lost ACKs do no harm, because each ACK repeats what earlier ones acknowledged. Where
//! many are lost, the remaining ACKs release data in bursts, cwnd grows slowly and timeouts come early. No window shows
//! this.

use super::lookup::Traces;
use crate::meta::{FlowMeta, RunMeta};
use std::collections::BTreeMap;

/// The least share of dropped ACKs that is reported.
const LEAST_SHARE: f64 = 0.01;

/// Share of the arriving ACKs that each place of the ACKs' path dropped. None where data of other flows takes that path
/// too: places count all packets alike.
pub fn dropped_acks(meta: &RunMeta, about: &FlowMeta, traces: &Traces) -> BTreeMap<String, f64> {
    let back = about.direction.turned();
    if meta.flows.iter().any(|flow| flow.direction == back) {
        return BTreeMap::new();
    }
    traces
        .on_the_way(back, &about.hosts)
        .filter_map(|(info, stage)| {
            // An arriving packet either enters the place or drops there.
            let last = stage.last();
            let came = last.entered.saturating_add(last.dropped);
            let share = last.dropped as f64 / came.max(1) as f64;
            (share >= LEAST_SHARE).then(|| (info.name.clone(), share))
        })
        .collect()
}
