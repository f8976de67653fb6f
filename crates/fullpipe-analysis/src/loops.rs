//! Notes on loops of connections: which bound ended them.

use super::lookup::Lives;
use super::meta::{LoopMeta, RunMeta};
use super::numbers;
use fullpipe_base::units::Time;

/// A sentence for each loop that made all its connections although its time was not over.
pub fn ended_by_count(meta: &RunMeta, lives: &Lives) -> Vec<String> {
    let ended = |own: &LoopMeta| {
        let last = lives.flows[own.ends[1]];
        let next = last.end + own.pause;
        let is_early = last.complete && next < own.until;
        is_early.then(|| sentence(meta, own, last.end))
    };
    meta.loops.iter().filter_map(ended).collect()
}

fn sentence(meta: &RunMeta, own: &LoopMeta, end: Time) -> String {
    let [first, last] = own.ends.map(|at| &meta.flows[at].name);
    let [end, until] = [end, own.until].map(|time| numbers::fixed(time.as_secs_f64(), 3));
    format!(
        "the loop of {first} to {last} ended at {end} s: its `count` of {} connections was used up before `until`, {until} s",
        numbers::count(own.count as u64)
    )
}
