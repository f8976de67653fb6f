//! What held a flow back: its time, each nanosecond attributed to one limit.
//!
//! The sender notes the predicate that stopped it. A window that is exhausted while a link of the
//! data's way never idles is not what costs throughput: more window would only lengthen the queue. That time is attributed to
//! the link; to the sender's card where no link, but its wire never idles; to the card's ring where that wire has pauses, but
//! the ring never had room for an skb that waited, as the driver had not heard of what was sent; to the pace where an fq of the
//! sender that has a rate was never empty, though nothing behind it was busy; and likewise to the CPU of the sender, in front
//! of which ACKs wait, and to the receiver's. A queue of the sender itself that has no room is no more than a window where a
//! link, the card or its CPU never idles. Where a flow shares its way with
//! others, a receive window and a send buffer stay what they are: with more of them it takes more of the way. But while it makes good a timeout (state Loss) a flow is held back by that, whoever
//! fills the link. A stage never idles if, over the last smoothed round-trip time, it was busy for at least 99 % (the rest
//! allows for the grid of the samples). Time that the sender did not attribute is "unknown".

use super::lookup::{FlowTrace, Passed, StageTrace};
use super::occupancy::Occupancy;
use crate::trace::limits::{COUNT, Derived, limit_names};
use fullpipe_sim::tcp::CaState;
use fullpipe_sim::trace::{Limit, StageInfo, StageSample};
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

/// Limits that are windows, which busy hosts keep exhausted; so are the calls that a client may have out. A genuine kernel
/// does not tell those: what it says of a mount's connection is that the application has nothing to send.
const WINDOWS: [Limit; 8] = [
    Limit::CwndSlowStart,
    Limit::CwndAvoidance,
    Limit::CwndRecovery,
    Limit::ReceiveWindow,
    Limit::SendBuffer,
    Limit::RpcSlots,
    Limit::PageCache,
    Limit::RecordGate,
];

/// Room that the sender's host has not, which is no more than a window where something behind it is busy.
const OWN_QUEUES: [Limit; 2] = [Limit::Qdisc, Limit::SmallQueues];

/// Windows that others' packets on a shared way do not keep exhausted: with more of them a flow takes more of the way.
const OF_BUFFERS: [Limit; 2] = [Limit::ReceiveWindow, Limit::SendBuffer];

/// Nanoseconds by limit.
type Split = [u64; COUNT];

/// A flow's time from the start of the run to each of its samples, by limit.
pub struct Attribution {
    /// One more than there are samples: the first is the start of the run.
    cumulative: Vec<Split>,
}

impl Attribution {
    /// `calls`: it is a connection of a mount, whose client has no more calls out than it may.
    pub fn new(flow: &FlowTrace, passed: &Passed, calls: bool) -> Attribution {
        let mut cumulative = vec![[0; COUNT]];
        for count in 1..=flow.samples.len() {
            let mut next: Split = cumulative[count - 1];
            let step = step(flow, count, passed, calls);
            next.iter_mut().zip(step).for_each(|(total, ns)| *total = total.saturating_add(ns));
            cumulative.push(next);
        }
        Attribution { cumulative }
    }

    /// Nanoseconds between two numbers of samples, in the order of [`limit_names`].
    pub fn spent(&self, from: usize, to: usize) -> [u64; COUNT] {
        let last = self.cumulative.len() - 1;
        let (from, to) = (&self.cumulative[from.min(last)], &self.cumulative[to.min(last)]);
        let mut spent = [0; COUNT];
        (0..COUNT).for_each(|i| spent[i] = to[i].saturating_sub(from[i]));
        spent
    }

    /// Nanoseconds between the sample before the `count`-th and that one in which cwnd was the limit.
    pub fn by_cwnd(&self, count: usize) -> u64 {
        let spent = self.spent(count - 1, count);
        let limits = [Limit::CwndSlowStart, Limit::CwndAvoidance, Limit::CwndRecovery];
        limits.iter().fold(0, |sum: u64, limit| sum.saturating_add(spent[*limit as usize]))
    }

    /// Shares by name between two numbers of samples, in the order of [`limit_names`]; they add up
    /// to 1. No time at all is unknown.
    pub fn shares(&self, from: usize, to: usize) -> [f64; COUNT] {
        let mut spent = self.spent(from, to);
        let total: u128 = spent.iter().map(|ns| u128::from(*ns)).sum();
        if total == 0 {
            spent[Derived::Unknown as usize] = 1;
        }
        spent.map(|ns| ns as f64 / total.max(1) as f64)
    }

    /// The same with names.
    pub fn named(&self, from: usize, to: usize) -> BTreeMap<String, f64> {
        limit_names().map(str::to_string).zip(self.shares(from, to)).collect()
    }
}

/// The time between the sample before the `count`-th and that one.
fn step(flow: &FlowTrace, count: usize, passed: &Passed, calls: bool) -> Split {
    let (before, after) = (flow.before(count - 1), flow.before(count));
    let mut spent = [0; COUNT];
    for (limit, ns) in spent.iter_mut().take(Limit::COUNT).enumerate() {
        *ns = after.limits[limit].saturating_sub(before.limits[limit]);
    }
    let length = after.time.saturating_sub(before.time);
    let known = spent.iter().fold(0_u64, |sum, ns| sum.saturating_add(*ns));
    spent[Derived::Unknown as usize] = length.as_ns().saturating_sub(known);
    let window = Time::us(after.srtt_us.into()).max(length);
    let windows = WINDOWS
        .into_iter()
        .filter(|limit| after.ca_state != CaState::Loss as u8 || *limit != Limit::CwndRecovery)
        .chain(calls.then_some(Limit::Application));
    let cpus = [Limit::SenderCpu as usize, Derived::ReceiverCpu as usize];
    match busy(passed, after.time, window) {
        Some(limit) if limit == cpus[1] => move_windows(&mut spent, windows, limit),
        Some(limit) => {
            let own = passed.shared && !cpus.contains(&limit);
            let windows = windows.filter(|window| !own || !OF_BUFFERS.contains(window));
            move_windows(&mut spent, windows.chain(OWN_QUEUES), limit);
        }
        None => {}
    }
    spent
}

/// The limit of the first that never idled, in the order in which they are blamed.
fn busy(passed: &Passed, time: Time, window: Time) -> Option<usize> {
    let share =
        |stage: &StageTrace, of: fn(&StageSample) -> u64| never_idle(stage, time, window, of);
    let works = |stage: &StageTrace| share(stage, |now| now.busy_ns);
    let refuses = |stage: &StageTrace| share(stage, |now| now.blocked_ns);
    let [sender, receiver] = passed.cpus;
    let asked: [(usize, &dyn Fn() -> bool); 6] = [
        (Derived::Link as usize, &|| passed.links.iter().any(|link| works(link))),
        (Derived::Nic as usize, &|| passed.card.iter().any(|part| works(part))),
        (Derived::TxRing as usize, &|| passed.card.iter().any(|part| refuses(part))),
        (Limit::Pacing as usize, &|| {
            passed.shaper.is_some_and(|(info, stage)| never_empty(info, stage, time, window))
        }),
        (Limit::SenderCpu as usize, &|| sender.is_some_and(works)),
        (Derived::ReceiverCpu as usize, &|| receiver.is_some_and(works)),
    ];
    asked.into_iter().find(|(_, never_idles)| never_idles()).map(|(limit, _)| limit)
}

/// What windows were charged with is charged to what keeps them exhausted.
fn move_windows(spent: &mut Split, windows: impl Iterator<Item = Limit>, to: usize) {
    for limit in windows {
        spent[to] = spent[to].saturating_add(spent[limit as usize]);
        spent[limit as usize] = 0;
    }
}

fn never_idle(stage: &StageTrace, time: Time, window: Time, of: fn(&StageSample) -> u64) -> bool {
    let now = stage.at(time);
    let then = stage.at(now.time.saturating_sub(window));
    let span = now.time.saturating_sub(then.time).as_ns();
    let busy = of(&now).saturating_sub(of(&then));
    span > 0 && u128::from(busy) * 100 >= u128::from(span) * 99
}

/// Whether something waited there, as far as the trace tells.
fn never_empty(info: &StageInfo, stage: &StageTrace, time: Time, window: Time) -> bool {
    let now = stage.at(time);
    let then = stage.at(now.time.saturating_sub(window));
    match Occupancy::between(info, &then, &now) {
        Some(told) => told.empty <= 0.01,
        None => {
            let samples = stage.within(then.time, now.time);
            !samples.is_empty() && samples.iter().all(|sample| sample.waiting > 0)
        }
    }
}
