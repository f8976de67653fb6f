//! The stages' counters over a run.

use super::document::Stage;
use super::lookup::{StageTrace, Traces};
use super::occupancy::Occupancy;
use crate::meta::RunMeta;
use fullpipe_base::trace::{StageInfo, StageSample};

/// Entry of each stage, in the recording's order.
pub fn stages(meta: &RunMeta, traces: &Traces) -> Vec<Stage> {
    traces
        .stages
        .iter()
        .map(|one| Stage {
            tuned_up_to: match one.0.capacity {
                Some(_) => None,
                None => meta.tuned.get(&one.0.name).copied(),
            },
            ..stage(one.0, &one.1)
        })
        .collect()
}

/// Qdiscs of `chosen` in which nothing ever waited, while packets waited in the ring behind them.
pub fn idle_qdiscs(chosen: &[String], stages: &[Stage]) -> Vec<String> {
    let of = |name: &str| stages.iter().find(|stage| stage.name == name);
    chosen
        .iter()
        .filter(|name| {
            let ring = name.strip_suffix("qdisc").and_then(|host| of(&format!("{host}tx_ring")));
            let qdisc = of(name).is_some_and(|qdisc| qdisc.entered > 0 && qdisc.peak == 0);
            qdisc && ring.is_some_and(|ring| ring.peak > 0)
        })
        .cloned()
        .collect()
}

fn stage(info: &StageInfo, trace: &StageTrace) -> Stage {
    let last = trace.last();
    let peak = trace.samples.iter().map(|sample| sample.peak.max(sample.waiting)).max();
    let sampled = trace.waiting() as f64 / trace.samples.len().max(1) as f64;

    // A measured mean is exact; samples see a moment each.
    let exact = Occupancy::between(info, &StageSample::default(), &last);
    Stage {
        name: info.name.clone(),
        kind: info.kind.into(),
        direction: info.direction.into(),
        unit: info.unit.into(),
        capacity: info.capacity,
        tuned_up_to: None,
        entered: last.entered,
        left: last.left,
        dropped: last.dropped,
        marked: last.marked,
        requeues: last.requeues,
        waiting: last.waiting,
        peak: peak.unwrap_or(0),
        mean_waiting: exact.map_or(sampled, |exact| exact.mean),
        busy_s: last.busy_ns as f64 / 1e9,
        blocked_s: last.blocked_ns as f64 / 1e9,
    }
}
