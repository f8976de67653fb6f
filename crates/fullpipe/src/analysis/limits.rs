//! What held a flow back: its time, each nanosecond attributed to one limit.
//!
//! The sender notes the predicate that stopped it. A window that is exhausted while a link of the
//! data's way (the sender's card is one) never idles is not what costs throughput: more window would
//! only lengthen the queue. That time is attributed to the link, and likewise to the CPU of the sender, in front of which ACKs
//! wait, and to the receiver's. A queue of the sender itself that has no room is no more than a window where a link or its
//! CPU never idles. But while it
//! makes good a timeout (state Loss) a flow is held back by that, whoever fills the link. A
//! stage never idles if, over the last smoothed round-trip time, it was
//! busy for at least 99 % (the rest allows for the grid of the samples); nor does a card whose ring was for as long without
//! room for an skb that waited, although its wire was free: the driver had not heard of what was sent. Time that the sender did
//! not attribute is "unknown".

use super::lookup::{FlowTrace, Passed, StageTrace};
use crate::trace::limits::limit_names;
use fullpipe_sim::tcp::CaState;
use fullpipe_sim::trace::Limit;
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

const COUNT: usize = Limit::COUNT + 3;
const LINK_AT: usize = Limit::COUNT;
const SENDER_CPU_AT: usize = Limit::SenderCpu as usize;
const RECEIVER_CPU_AT: usize = Limit::COUNT + 1;
const UNKNOWN_AT: usize = Limit::COUNT + 2;

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
            spent[UNKNOWN_AT] = 1;
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
    spent[UNKNOWN_AT] = length.as_ns().saturating_sub(known);
    let window = Time::us(after.srtt_us.into()).max(length);
    let busy = |stage: &StageTrace| never_idle(stage, after.time, window);
    let [sender, receiver] = passed.cpus;
    let windows = WINDOWS
        .into_iter()
        .filter(|limit| after.ca_state != CaState::Loss as u8 || *limit != Limit::CwndRecovery)
        .chain(calls.then_some(Limit::Application));
    if passed.links.iter().any(|link| busy(link)) {
        move_windows(&mut spent, windows.chain([Limit::Qdisc]), LINK_AT);
    } else if sender.is_some_and(busy) {
        move_windows(&mut spent, windows.chain([Limit::Qdisc]), SENDER_CPU_AT);
    } else if receiver.is_some_and(busy) {
        move_windows(&mut spent, windows, RECEIVER_CPU_AT);
    }
    spent
}

/// What windows were charged with is charged to what keeps them exhausted.
fn move_windows(spent: &mut Split, windows: impl Iterator<Item = Limit>, to: usize) {
    for limit in windows {
        spent[to] = spent[to].saturating_add(spent[limit as usize]);
        spent[limit as usize] = 0;
    }
}

fn never_idle(link: &StageTrace, time: Time, window: Time) -> bool {
    let now = link.at(time);
    let then = link.at(now.time.saturating_sub(window));
    let span = now.time.saturating_sub(then.time).as_ns();
    let busy = now.busy_ns.saturating_sub(then.busy_ns);
    // Of links only a card's ring has such a time.
    let busy = busy.max(now.blocked_ns.saturating_sub(then.blocked_ns));
    span > 0 && u128::from(busy) * 100 >= u128::from(span) * 99
}
