//! The stages' counters over a run.

use super::RunMeta;
use super::document::Stage;
use super::occupancy::Occupancy;
use crate::trace::recording::Recording;
use fullpipe_sim::trace::{StageInfo, StageSample};

/// One entry per stage, in the recording's order.
pub fn stages(meta: &RunMeta, recording: &Recording) -> Vec<Stage> {
    let tuned = |info: &StageInfo| meta.tuned.get(&info.name).copied();
    let stage = |info: &StageInfo| Stage {
        tuned_up_to: tuned(info).filter(|_| info.capacity.is_none()),
        ..stage(info, &recording.stage_samples)
    };
    recording.stages.iter().map(stage).collect()
}

/// Of these qdiscs those in which nothing ever waited, while something did in the ring behind them.
pub fn idle_qdiscs(chosen: &[String], stages: &[Stage]) -> Vec<String> {
    let of = |name: &str| stages.iter().find(|stage| stage.name == name);
    let idle = |name: &&String| {
        let ring = name.strip_suffix("qdisc").and_then(|host| of(&format!("{host}tx_ring")));
        let qdisc = of(name).is_some_and(|qdisc| qdisc.entered > 0 && qdisc.peak == 0);
        qdisc && ring.is_some_and(|ring| ring.peak > 0)
    };
    chosen.iter().filter(idle).cloned().collect()
}

fn stage(info: &StageInfo, samples: &[StageSample]) -> Stage {
    let mine = samples.iter().filter(|sample| sample.stage == info.index);
    let (mut count, mut waiting, mut peak) = (0_u64, 0_u128, 0);
    let mut last = StageSample::default();
    for sample in mine {
        count += 1;
        waiting += u128::from(sample.waiting);
        peak = peak.max(sample.peak).max(sample.waiting);
        last = *sample;
    }
    let sampled = waiting as f64 / count.max(1) as f64;
    let told = Occupancy::between(info, &StageSample::default(), &last);
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
        peak,
        mean_waiting: told.map_or(sampled, |told| told.mean),
        busy_s: last.busy_ns as f64 / 1e9,
        blocked_s: last.blocked_ns as f64 / 1e9,
    }
}
