//! Causes: what stops flows, largest share of their lives first.
//!
//! Time of cwnd is split by the reason why it is small: each place that cut it by drops is a cause of its own. Without
//! a configured pace TCP spreads cwnd over the round trip (Linux `tcp_update_pacing_rate`), so time of the pace is
//! cwnd's too.

use super::Context;
use super::subject::One;
use crate::picture::stage_of;
use fullpipe_base::limits::{self, Derived, Group, Limit};
use std::collections::BTreeMap;

/// Name of the limit of a pace.
const PACING: &str = Limit::Pacing.about().name;

/// Name of the limit of a ring that refuses packets.
const TX_RING: &str = Derived::TxRing.about().name;

/// Name of the limit of a program that has nothing to send.
pub const PROGRAM: &str = Limit::Application.about().name;

/// A cause: a limit, its place, and its share of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Name of the limit in the trace.
    pub limit: String,
    /// Place that cut cwnd, or stage of the limit.
    pub place: Option<String>,
    /// Whether drops or marks at the place cut cwnd.
    pub is_cut: bool,
    /// Mean share of the flows' lives.
    pub share: f64,
}

impl Cause {
    /// The cause behind another one: "receive window", "drops at link".
    pub fn named(&self) -> String {
        match &self.place {
            Some(place) if self.is_cut => format!("drops at {place}"),
            _ => self.limit.trim_start_matches("cwnd_").replace('_', " "),
        }
    }
}

type Key = (String, Option<String>, bool);

/// Least share of its life for which its own programs hold a flow that has the rate they ask for.
pub const SATISFIED: f64 = 0.5;
/// Name of the limit of a program that reads slowly.
const READER: &str = Derived::Reader.about().name;

/// Name of the limit of Nagle's rule.
const NAGLE: &str = Limit::Nagle.about().name;
/// Part of the time of messages below which Nagle's rule is not why they are late.
const LITTLE: f64 = 0.1;

/// Flows that could use more: all of them, if each has the rate that its programs write or read.
pub fn wanting<'s, 'a>(all: &'s [One<'a>]) -> Vec<&'s One<'a>> {
    let wants = |one: &&One| {
        // Without Nagle's rule such messages would be about as late.
        let held = if is_held_a_little(one) { one.share(NAGLE) } else { 0.0 };
        one.share(PROGRAM).max(one.share(READER)) + held < SATISFIED
    };
    let wants_more: Vec<&One> = all.iter().filter(wants).collect();
    if wants_more.is_empty() { all.iter().collect() } else { wants_more }
}

/// Whether Nagle's rule holds messages that nobody answers for a small part of their time: they are late for another reason,
/// such as a queue.
fn is_held_a_little(one: &One) -> bool {
    let messages = one.flow.messages.filter(|own| own.one_way && own.count > 0);
    messages.is_some_and(|own| {
        let lived_ms = one.flow.bytes as f64 * 8.0 / (one.flow.mean_mbit * 1e3).max(1e-9);
        one.share(NAGLE) * lived_ms / (own.count as f64) < LITTLE * own.median_ms
    })
}

/// All causes of the subject's flows, largest first. Flows that have the rate that they ask for do not count among
/// others.
pub fn causes(context: &Context) -> Vec<Cause> {
    let flows = wanting(&context.subject.flows);
    let mut sums: BTreeMap<Key, f64> = BTreeMap::new();

    // Each flow counts alike, however much it carries.
    for one in &flows {
        for (key, share) in of_flow(context, one) {
            *sums.entry(key).or_default() += share / flows.len() as f64;
        }
    }
    let mut all: Vec<Cause> = sums
        .into_iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|((limit, place, is_cut), share)| Cause { limit, place, is_cut, share })
        .collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

/// Whether a flow has nothing to send in this time.
pub fn is_quiet(limit: &str) -> bool {
    limits::group(limit) == Some(Group::Quiet)
}

/// A flow below this share of its pace is slow for another reason: TCP's own pace, which spreads cwnd, is lower then.
const HELD: f64 = 0.8;

/// Whether a configured pace is the flow's rate.
pub fn is_held_to_a_pace(one: &One) -> bool {
    let pace = one.meta.settings.pace.as_ref();
    // A short transfer reaches its pace late.
    let settled = one.flow.settled.map_or(0.0, |settled| settled.mbit);
    pace.is_some_and(|pace| one.best_mbit().max(settled) * 1e6 >= HELD * pace.rate as f64)
}

/// Share of a flow's life in which the ring of its card refuses packets, from which on TCP's own pace does not spread
/// them.
const REFUSED: f64 = 0.5;
/// Part of cwnd that is in flight, below which cwnd does not hold a flow.
const ROOM: f64 = 0.6;
/// Time for which small queues let a flow fill its host's queues (Linux `sk_pacing_shift`: 2^-10 s of its pace).
const SMALL_QUEUES: f64 = 1.0 / 1024.0;

/// Name of the transmit ring of a flow's host, where it refuses packets most of the time, or holds them for longer than small
/// queues allow.
fn late_ring(context: &Context, one: &One) -> Option<String> {
    let stage = context.stage(&format!("{}.tx_ring", one.meta.hosts[0]))?;
    let life = &context.lives.flows[one.index];
    let lasts = life.end.saturating_sub(life.start).as_secs_f64();
    let refuses = stage.blocked_s >= REFUSED * lasts;
    // By Little's law the mean number of packets there is their rate times their stay.
    let stay = stage.mean_waiting * lasts / (stage.left as f64).max(1.0);
    (refuses || has_room(one) && stay > SMALL_QUEUES).then(|| stage.name.clone())
}

/// Whether cwnd has room for much more than is in flight.
fn has_room(one: &One) -> bool {
    one.flow.medians.is_some_and(|own| f64::from(own.in_flight) < ROOM * f64::from(own.cwnd))
}

/// The buffer that holds a flow for longer than a cwnd with much room: TCP's own pace spreads that buffer's data.
fn paced_buffer(one: &One, cwnd: f64) -> Option<&'static str> {
    let buffers = [Limit::SendBuffer, Limit::ReceiveWindow].map(|own| own.about().name);
    let most = buffers.into_iter().max_by(|a, b| one.share(a).total_cmp(&one.share(b)))?;
    (has_room(one) && one.share(most) > cwnd).then_some(most)
}

fn of_flow(context: &Context, one: &One) -> Vec<(Key, f64)> {
    let share = |name: &str| one.share(name);

    // Shares of cwnd's states split into cuts at places and growth without a cut.
    let of_cwnd = || limits::by_index().filter(|own| own.group == Group::Cwnd).map(|own| own.name);
    let cwnd: f64 = of_cwnd().map(share).sum();

    // A late ring explains paced time better: the sender waits for its descriptors.
    let ring = if is_held_to_a_pace(one) { None } else { late_ring(context, one) };
    let paced = if is_held_to_a_pace(one) || ring.is_some() { 0.0 } else { share(PACING) };
    let buffer = paced_buffer(one, cwnd).filter(|_| paced > 0.0);
    // Else paced time is spread over cwnd's causes in proportion.
    let more = if cwnd > 0.0 && buffer.is_none() { 1.0 + paced / cwnd } else { 1.0 };
    let mut all: Vec<(Key, f64)> = Vec::new();

    // Limits other than cwnd keep their share, at the place that holds them.
    for (name, share) in &one.flow.limits {
        let is_cwnd = limits::group(name) == Some(Group::Cwnd);
        let is_cwnd = is_cwnd || name == PACING && paced > 0.0 && cwnd > 0.0 && buffer.is_none();
        if !is_cwnd && *share > 0.0 {
            let own = match &ring {
                Some(ring) if name == PACING => (TX_RING.to_string(), Some(ring.clone()), false),
                _ => {
                    let name = buffer.filter(|_| name == PACING).unwrap_or(name);
                    (name.to_string(), stage_of(name, one.meta, context.traces), false)
                }
            };
            all.push((own, *share));
        }
    }

    // A cut keeps its place, and takes the state that lasted longest.
    let state = of_cwnd().max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or_default();
    for (place, share) in &one.flow.reductions {
        all.push(((state.into(), Some(place.clone()), true), share * more));
    }

    // The rest of cwnd's time had no cut: the states share it in order.
    let mut uncut = (cwnd - one.flow.reductions.values().sum::<f64>()).max(0.0);
    for name in of_cwnd() {
        let part = share(name).min(uncut);
        uncut -= part;
        all.push(((name.into(), None, false), part * more));
    }
    all
}
