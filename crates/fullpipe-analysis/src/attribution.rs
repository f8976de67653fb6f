//! What held a flow back: its time, each nanosecond attributed to one limit.
//!
//! The sender notes the predicate that stopped it. The rules below move some of that time to another limit. Time that
//! the sender did not attribute is "unknown".
//!
//! A window that is exhausted while a link of the data's path never idles does not cost throughput: more window would
//! only lengthen the queue. That time is attributed
//!
//! - to the link;
//! - to the sender's card where no link, but the card's wire never idles;
//! - to the card's ring where the wire has pauses, but the ring never had room for an skb that waited, because the
//!   driver had not heard of completed transmissions;
//! - to the pace where an fq of the sender that has a rate was never empty, though nothing behind it was busy;
//! - to the CPU of the sender, in front of which ACKs wait, or to the receiver's CPU.
//!
//! A queue of the sender itself that has no room is no more than a window where a link, the card or its CPU never
//! idles. Where a flow shares its path with others, time of a receive window and a send buffer stays with them: a
//! larger one would take more of the path. A flow that repairs a timeout (state Loss) is held back by the repair,
//! whoever fills the link.
//!
//! A stage never idles if it was busy for at least 99 % of the last smoothed round-trip time. The rest allows for the
//! grid of the samples.
//!
//! TCP's own pace follows cwnd, so a busy place takes its time as it takes cwnd's. A configured pace keeps its time
//! where others share the path: a higher pace would take more of it. Without SACK a hole exhausts the receive window,
//! and that time belongs to recovery. ACKs wait ("ack_path") where no place of the data's path is busy, but a link of
//! the ACKs' path is, and the round trip is longer for it.
//!
//! A program that has no more to write, while nothing is acknowledged after a timeout, waits for the repair: this time belongs to
//! recovery. A program that has no more to write otherwise waits for the part of its message that Nagle's rule holds back: this time belongs
//! to Nagle's rule. A stream's part waits for the program's next write, so its time stays with the program.
//!
//! A receive window that is exhausted while the program lags behind, at both ends of a sample interval, counts for the
//! reader. A program that has not read all never waited, so a larger buffer would not help. Mounts are exempt. Idle
//! time is split: "connecting" until the handshake is over, "done" after all data was sent.
//!
//! Time outside of a flow's life is left out, so that shares do not depend on where samples lie.
//!
//! Limits:
//! - Samples do not show a reader that catches up between them. Data of which the sender has no ACK does not count as
//!   unread, so a reader that lags by less than a round trip counts as the window.

use super::held_parts::{Holder, holder};
use super::lookup::{FlowTrace, Life, Passed, StageTrace};
use super::occupancy::Occupancy;
use fullpipe_base::limits::{COUNT, Derived, Group, about, limit_names};
use fullpipe_base::tcp::CaState;
use fullpipe_base::trace::{EventKind, FlowSample, Limit, StageInfo, StageSample};
use fullpipe_base::units::Time;
use std::collections::BTreeMap;

/// Groups of windows that busy hosts keep exhausted. The calls that a client may have outstanding are such a window,
/// too. A real kernel does not report calls: to it the application of a mount's connection has nothing to send.
const WINDOWS: [Group; 3] = [Group::Cwnd, Group::Buffer, Group::Calls];

/// The sender's predicates of some groups.
fn of(groups: &[Group]) -> impl Iterator<Item = usize> + Clone {
    (0..Limit::COUNT).filter(move |limit| groups.contains(&about(*limit).group))
}

/// Round trips above this multiple of the one without queues show that ACKs wait on their way.
const INFLATED: f64 = 1.25;

/// Data of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// A stream of bytes.
    Stream,
    /// Messages of a program, in segments of `mss` bytes.
    Messages { mss: u32 },
    /// Calls of a mount. Its client limits how many are outstanding.
    Calls,
}

/// Nanoseconds by limit.
type Split = [u64; COUNT];

/// A flow's time from the start of the run to each of its samples, by limit.
pub struct Attribution {
    /// Cumulative time by sample, one entry more than there are samples: the first is the start of the run.
    cumulative: Vec<Split>,
}

impl Attribution {
    /// From the samples of a flow with that `life`, and the places that it passes.
    pub fn new(flow: &FlowTrace, passed: &Passed, life: &Life, carries: Carries) -> Attribution {
        let mut cumulative = vec![[0; COUNT]];
        let turns = Turns { established: established(flow), done: done(flow) };
        for count in 1..=flow.samples.len() {
            let mut next: Split = cumulative[count - 1];
            let span = Span::new([flow.before(count - 1), flow.before(count)], life);
            let mut step = step(&span, passed, carries);
            split_idle(&mut step, &span, &turns);
            next.iter_mut().zip(step).for_each(|(total, ns)| *total = total.saturating_add(ns));
            cumulative.push(next);
        }
        Attribution { cumulative }
    }

    /// Nanoseconds of each limit between samples `from` and `to`, in the order of [`limit_names`].
    pub fn spent(&self, from: usize, to: usize) -> [u64; COUNT] {
        let last = self.cumulative.len() - 1;
        let (from, to) = (&self.cumulative[from.min(last)], &self.cumulative[to.min(last)]);
        let mut spent = [0; COUNT];
        (0..COUNT).for_each(|i| spent[i] = to[i].saturating_sub(from[i]));
        spent
    }

    /// Nanoseconds of cwnd as the limit, from the sample before the `count`-th to the `count`-th.
    pub fn by_cwnd(&self, count: usize) -> u64 {
        let spent = self.spent(count - 1, count);
        of(&[Group::Cwnd]).fold(0, |sum: u64, limit| sum.saturating_add(spent[limit]))
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

    /// Shares of the limits from sample `from` to sample `to`, by the limits' names.
    pub fn named(&self, from: usize, to: usize) -> BTreeMap<String, f64> {
        limit_names().map(str::to_string).zip(self.shares(from, to)).collect()
    }
}

/// Time between two samples of a flow, and the part of it in which the flow lives.
struct Span<'a> {
    before: &'a FlowSample,
    after: &'a FlowSample,
    /// The flow's life begins and ends, within the span.
    from: Time,
    to: Time,
}

impl<'a> Span<'a> {
    fn new([before, after]: [&'a FlowSample; 2], life: &Life) -> Span<'a> {
        let within = |time: Time| time.max(before.time).min(after.time);
        let (from, to) = (within(life.start), within(life.end));
        Span { before, after, from, to: to.max(from) }
    }

    /// Time in which the flow lives.
    fn lasts(&self) -> Time {
        self.to.saturating_sub(self.from)
    }

    /// Takes the time outside of the flow's life from limits that a flow without data has.
    fn cut(&self, spent: &mut Split) {
        let length = self.after.time.saturating_sub(self.before.time);
        let mut outside = length.saturating_sub(self.lasts()).as_ns();
        let quiet = [Limit::Idle as usize, Limit::Application as usize, Derived::Unknown as usize];
        for limit in quiet {
            let part = spent[limit].min(outside);
            spent[limit] -= part;
            outside -= part;
        }
    }
}

/// Split of the time between two samples.
fn step(span: &Span, passed: &Passed, carries: Carries) -> Split {
    // The sender's own clocks split the time first; what they leave over is unknown.
    let Span { before, after, .. } = *span;
    let mut spent = [0; COUNT];
    for (limit, ns) in spent.iter_mut().take(Limit::COUNT).enumerate() {
        *ns = after.limits[limit].saturating_sub(before.limits[limit]);
    }
    let length = after.time.saturating_sub(before.time);
    let known = spent.iter().fold(0_u64, |sum, ns| sum.saturating_add(*ns));
    spent[Derived::Unknown as usize] = length.as_ns().saturating_sub(known);
    span.cut(&mut spent);

    if let Carries::Messages { mss } = carries
        && holder(after, mss) == Some(Holder::Nagle)
    {
        let waits = std::iter::once(Limit::Application as usize);
        move_windows(&mut spent, waits, Limit::Nagle as usize);
    }

    // A place takes the blame only if it never idled for a smoothed round trip.
    let window = Time::us(after.srtt_us.into()).max(span.lasts());

    let calls = carries == Carries::Calls;
    if !passed.sack && after.ca_state >= CaState::Recovery as u8 {
        // Without SACK the sender keeps all behind a hole, and counts it as outstanding: the hole exhausts the window and the buffer.
        let exhausted = [Limit::ReceiveWindow as usize, Limit::SendBuffer as usize];
        move_windows(&mut spent, exhausted.into_iter(), Limit::CwndRecovery as usize);
    }
    let timed_out = after.ca_state == CaState::Loss as u8;
    if timed_out && before.ca_state == after.ca_state && before.bytes_acked == after.bytes_acked {
        let waits = std::iter::once(Limit::Application as usize);
        move_windows(&mut spent, waits, Limit::CwndRecovery as usize);
    }

    // A busy place explains full windows: their time moves to it.
    let windows = of(&WINDOWS)
        .filter(|limit| !timed_out || *limit != Limit::CwndRecovery as usize)
        .chain(calls.then_some(Limit::Application as usize))
        .chain((!passed.paced || !passed.shared).then_some(Limit::Pacing as usize));
    let cpus = [Limit::SenderCpu as usize, Derived::ReceiverCpu as usize];
    // Most steps have no such time, and looking for a busy place takes long.
    let moves = windows.clone().chain(of(&[Group::HostQueue])).any(|limit| spent[limit] > 0);
    match moves.then(|| busy(passed, after, window)).flatten() {
        Some(limit) if limit == cpus[1] => move_windows(&mut spent, windows, limit),
        Some(limit) => {
            let shared = match limit == Derived::AckPath as usize {
                true => passed.shared_back,
                false => passed.shared && !cpus.contains(&limit),
            };
            // Of a shared way a flow takes more with larger buffers. Room that its own host lacks is no more than a window.
            let windows = windows.filter(|own| !shared || about(*own).group != Group::Buffer);
            move_windows(&mut spent, windows.chain(of(&[Group::HostQueue])), limit);
        }
        None => {}
    }

    // Data that TCP has acknowledged and the program has not read fills the receive window.
    let lags = |own: &FlowSample| own.bytes_acked > own.bytes_delivered;
    if !calls && lags(before) && lags(after) {
        let window = std::iter::once(Limit::ReceiveWindow as usize);
        move_windows(&mut spent, window, Derived::Reader as usize);
    }
    spent
}

/// First sample from which on no new data was sent and none waited; none where nothing was sent, or data waits at the end.
fn done(flow: &FlowTrace) -> Option<Time> {
    let last = flow.last();
    let sent = |own: &FlowSample| own.bytes_sent.saturating_sub(own.bytes_retransmitted);
    let active =
        flow.samples.iter().rposition(|sample| !(sent(sample) == sent(last) && sample.unsent == 0));
    let first = flow.samples.get(active.map_or(0, |at| at + 1))?;
    (sent(last) > 0).then_some(first.time)
}

/// When the connection was there, as far as the trace shows; never, where nothing shows one.
fn established(flow: &FlowTrace) -> Time {
    let events = [EventKind::Established, EventKind::Accepted];
    let event = events.into_iter().find_map(|kind| flow.first(kind)).map(|event| event.time);
    let mut moving =
        flow.samples.iter().filter(|own| own.bytes_acked > 0 || own.bytes_delivered > 0);
    event.or_else(|| Some(moving.next()?.time)).unwrap_or(Time::NEVER)
}

/// Moments that part a flow's idle time.
struct Turns {
    /// The connection is there; never, where nothing shows one.
    established: Time,
    /// All was sent; none where data waits at the end.
    done: Option<Time>,
}

/// Idle time before the connection is established is spent on connecting; after all data was sent the flow is done.
fn split_idle(spent: &mut Split, span: &Span, turns: &Turns) {
    let idle = Limit::Idle as usize;
    let connecting = turns.established.min(span.to).saturating_sub(span.from).as_ns();
    let connecting = connecting.min(spent[idle]);
    spent[idle] -= connecting;
    spent[Derived::Connecting as usize] += connecting;
    if turns.done.is_some_and(|done| span.after.time >= done) {
        spent[Derived::Done as usize] += std::mem::take(&mut spent[idle]);
    }
}

/// Limit of the first place that never idled within `window`; the order of places decides where several did not.
fn busy(passed: &Passed, now: &FlowSample, window: Time) -> Option<usize> {
    let time = now.time;
    let share =
        |stage: &StageTrace, of: fn(&StageSample) -> u64| never_idle(stage, time, window, of);
    let works = |stage: &StageTrace| share(stage, |now| now.busy_ns);
    let [sender, receiver] = passed.cpus;

    // A busy way back limits data only where ACKs wait in it.
    let inflated = passed
        .base_rtt
        .is_some_and(|base| f64::from(now.srtt_us) * 1e3 >= INFLATED * base.as_ns() as f64);

    // The link comes first: it fills the places in front of it, so these are busy, too.
    let asked: [(usize, &dyn Fn() -> bool); 7] = [
        (Derived::Link as usize, &|| passed.links.iter().any(|link| works(link))),
        (Derived::Nic as usize, &|| passed.card.iter().any(|part| works(part))),
        (Derived::TxRing as usize, &|| {
            passed.card.iter().any(|part| share(part, |now| now.blocked_ns))
        }),
        (Limit::Pacing as usize, &|| {
            passed.shaper.is_some_and(|(info, stage)| never_empty(info, stage, time, window))
        }),
        (Limit::SenderCpu as usize, &|| sender.is_some_and(works)),
        (Derived::ReceiverCpu as usize, &|| receiver.is_some_and(works)),
        (Derived::AckPath as usize, &|| inflated && passed.links_back.iter().any(|own| works(own))),
    ];
    asked.into_iter().find(|(_, never_idles)| never_idles()).map(|(limit, _)| limit)
}

/// Moves the time of exhausted windows to the limit that keeps them exhausted.
fn move_windows(spent: &mut Split, windows: impl Iterator<Item = usize>, to: usize) {
    for limit in windows.filter(|limit| *limit != to) {
        spent[to] = spent[to].saturating_add(spent[limit]);
        spent[limit] = 0;
    }
}

fn never_idle(stage: &StageTrace, time: Time, window: Time, of: fn(&StageSample) -> u64) -> bool {
    let Some(now) = stage.latest(time) else { return false };
    let then = stage.latest(now.time.saturating_sub(window));
    let (start, before) = then.map_or((Time::ZERO, 0), |then| (then.time, of(then)));
    let span = now.time.saturating_sub(start).as_ns();
    let busy = of(now).saturating_sub(before);
    span > 0 && u128::from(busy) * 100 >= u128::from(span) * 99
}

/// True where the stage was never empty at a sample.
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
