//! Notes on connections one after another: which bound ended a loop, and which flows did not begin.

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

/// A sentence for each flow that did not begin, with those that wait for it.
pub fn not_begun(meta: &RunMeta, lives: &Lives) -> Vec<String> {
    let begins = |flow: usize| lives.flows[flow].begins;
    let lacking = meta.waits.iter().filter(|own| !begins(own.flow) && begins(own.before));
    let said = lacking.map(|own| {
        let (before, life) = (&meta.flows[own.before].name, &lives.flows[own.before]);
        let names = names(&with_followers(meta, own.flow));
        let at = |time: Time| numbers::fixed(time.as_secs_f64(), 3);
        match own.until.filter(|_| life.complete) {
            Some(until) => {
                let (end, until) = (at(life.end), at(until));
                format!(
                    "{names} did not begin: {before} ended at {end} s, and `until` is {until} s"
                )
            }
            None => format!("{names} did not begin: {before} was not over by the run's end"),
        }
    });
    said.collect()
}

/// Names of a flow, of the flow that waits for its end, and so on.
fn with_followers(meta: &RunMeta, flow: usize) -> Vec<&str> {
    let mut all = vec![flow];

    // A flow stands behind the one that it follows, so one pass finds all.
    for own in &meta.waits {
        if all.last() == Some(&own.before) {
            all.push(own.flow);
        }
    }
    all.into_iter().map(|flow| meta.flows[flow].name.as_str()).collect()
}

/// "a", "a and b", "a to d": names of flows that follow one another.
fn names(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first, second] => format!("{first} and {second}"),
        [first, .., last] => format!("{first} to {last}"),
    }
}

fn sentence(meta: &RunMeta, own: &LoopMeta, end: Time) -> String {
    let [first, last] = own.ends.map(|at| &meta.flows[at].name);
    let [end, until] = [end, own.until].map(|time| numbers::fixed(time.as_secs_f64(), 3));
    format!(
        "the loop of {first} to {last} ended at {end} s: its `count` of {} connections was used up before `until`, {until} s",
        numbers::count(own.count as u64)
    )
}
