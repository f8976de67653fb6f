//! A delay line, exact or released by a timer. Unit of decision: the segment.
//!
//! With a timer it behaves as netem of Linux 2.6.20 (`netem_dequeue`). A packet leaves at the first look at the queue
//! after it has become due; due means strictly past. Each enqueue looks at the queue, and so does a timer that runs on
//! jiffies. A packet that finds `limit` packets is dropped.
//!
//! At equal times the order is: tick, then packets leaving, then the packet arriving. The arriving packet is queued or
//! dropped before its own look at the queue.

use super::chain::Stage;
use super::{Configuration, info};
use crate::bounds::{LONGEST, demand};
use crate::packet::{Train, append, come_by};
use crate::stage::{Counters, Drops, Leaving, Line, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A delay line.
#[derive(Clone, Debug, PartialEq)]
pub struct Delay {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// The delay of each packet.
    pub delay: Time,
    /// Packets it can hold (netem's `limit`); a packet beyond it is dropped. `u32::MAX` is no limit.
    pub limit: u32,
    /// A timer by which packets leave; none: each leaves exactly when due.
    pub timer: Option<Timer>,
}

/// netem before high-resolution timers (Linux 2.6.20 `netem_dequeue`). A due packet leaves at the next tick, or at an
/// earlier enqueue of another packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// A jiffy: 1 s / HZ.
    pub period: Time,
    /// Time of the first tick (0 up to `period`).
    pub phase: Time,
}

impl Configuration for Delay {
    const KIND: &'static str = "delay";

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        demand(self.limit > 0, format!("{name}: limit 0"))?;
        demand(self.delay <= LONGEST, format!("{name}: delay of at most {LONGEST}"))?;
        demand(
            self.timer.as_ref().is_none_or(|t| t.phase < t.period && t.period <= LONGEST),
            format!("{name}: a timer's period is above 0, its phase below that"),
        )
    }

    fn build(&self, _seed: u64, samples: Samples) -> Box<dyn Stage> {
        Box::new(DelayLine::new(self, samples))
    }
}

/// State of a delay line.
struct DelayLine {
    config: Delay,
    /// Packets inside, by the time at which they become due.
    inside: VecDeque<Train>,
    /// Departures of the packets inside, where there is no timer.
    leaving: VecDeque<Leaving>,
    inside_packets: u64,
    counters: Counters,
}

impl Timer {
    /// The first tick strictly after `time`.
    fn tick_after(&self, time: u64) -> u64 {
        let (period, phase) = (self.period.0, self.phase.0);
        if time < phase { phase } else { phase + ((time - phase) / period + 1) * period }
    }
}

impl DelayLine {
    /// An empty line; `samples` are the trace's.
    fn new(config: &Delay, samples: Samples) -> DelayLine {
        DelayLine {
            config: config.clone(),
            inside: VecDeque::new(),
            leaving: VecDeque::new(),
            inside_packets: 0,
            counters: Counters::new(samples),
        }
    }

    fn push_exact(&mut self, train: &Train, out: &mut Vec<Train>) {
        self.inside_packets -= forget_left(&mut self.leaving, train.first);
        let room = self.inside_packets + u64::from(train.count) < u64::from(self.config.limit);

        // All of the train fits, even if none of it leaves before its last packet arrives.
        if room && (train.count == 1 || self.config.delay > train.last() - train.first) {
            return self.accept_exact(*train, out);
        }

        // netem_enqueue drops each packet that finds the queue full.
        for i in 0..train.count {
            let packet = train.part(i, 1);
            self.inside_packets -= forget_left(&mut self.leaving, packet.first);
            if self.inside_packets < u64::from(self.config.limit) {
                self.accept_exact(packet, out);
                self.note_full(packet.first);
            } else {
                self.counters.dropped.lose(&packet, packet.ip_len);
            }
        }
    }

    /// Notes that the line is full until the next packet leaves: a full line accepts nothing.
    fn note_full(&mut self, now: Time) {
        let is_full = self.inside_packets >= u64::from(self.config.limit);
        if let Some(next) = self.leaving.front().filter(|_| is_full) {
            self.counters.times.full.add(now.0, next.first);
        }
    }

    fn accept_exact(&mut self, train: Train, out: &mut Vec<Train>) {
        let leaving = train.retimed(0, train.count, train.first + self.config.delay, train.spacing);
        self.counters.entered.add(train.first, train.spacing, train.count, train.ip_len);
        self.counters.left.add(leaving.first, leaving.spacing, leaving.count, train.ip_len);
        if self.config.delay == Time::ZERO {
            self.counters.peaks.reach(train.first, 0);
        } else {
            self.note_peaks(&train);
            // A train is shorter than the delay.
            self.counters.times.occupied.add(train.first.0, leaving.last().0);
            self.inside_packets += u64::from(train.count);
            self.leave_later(&leaving);
        }
        append(out, leaving);
    }

    /// Notes the occupancy after each arrival of a train; nothing leaves meanwhile.
    fn note_peaks(&mut self, train: &Train) {
        let DelayLine { leaving, inside_packets, counters, .. } = self;
        let most = *inside_packets + u64::from(train.count);
        counters.peaks.reach_in_line(train, most, |now| {
            *inside_packets -= forget_left(leaving, now);
            Line { others: *inside_packets, leaving: leaving.front().copied() }
        });
    }

    fn leave_later(&mut self, train: &Train) {
        let next = Leaving { first: train.first.0, spacing: train.spacing, count: train.count };
        if !self.leaving.back_mut().is_some_and(|last| last.extend(&next)) {
            self.leaving.push_back(next);
        }
    }

    fn enter(&mut self, train: Train) {
        self.inside_packets += u64::from(train.count);
        if !self.inside.back_mut().is_some_and(|last| last.extend(&train)) {
            self.inside.push_back(train);
        }
    }

    fn push_timed(&mut self, train: &Train, timer: Timer, out: &mut Vec<Train>) {
        for i in 0..train.count {
            let packet = train.part(i, 1);
            let now = packet.first.0;

            // The timer has looked at the queue at its jiffies before the packet arrives.
            self.run_ticks(now, timer, out);
            if self.inside_packets < u64::from(self.config.limit) {
                self.counters.entered.one(packet.first, packet.ip_len);
                self.enter(packet.retimed(0, 1, packet.first + self.config.delay, 0));
                self.counters.peaks.reach(packet.first, self.inside_packets);
            } else {
                self.counters.dropped.lose(&packet, packet.ip_len);
            }

            // The enqueue looks at the queue, too (qdisc_run).
            self.release_due(now, out);
            self.note_level(packet.first);
        }
    }

    fn note_level(&mut self, now: Time) {
        let DelayLine { inside_packets, config, counters, .. } = self;
        counters.times.hold(now, *inside_packets, config.limit.into());
    }

    /// Runs the ticks up to and including `now` at which a packet is due.
    fn run_ticks(&mut self, now: u64, timer: Timer, out: &mut Vec<Train>) {
        while let Some(head) = self.inside.front() {
            let tick = timer.tick_after(head.first.0);
            if tick > now {
                return;
            }
            self.release_due(tick, out);
            self.note_level(Time(tick));
        }
    }

    /// Releases, at `now`, every packet that was due before `now`.
    fn release_due(&mut self, now: u64, out: &mut Vec<Train>) {
        while let Some(head) = self.inside.front_mut() {
            if head.first.0 >= now {
                return;
            }

            // netem_dequeue: a packet that is due at this very moment waits for the next look.
            let due = head.until(Time(now - 1));
            let leaving = head.retimed(0, due, Time(now), 0);
            if due < head.count {
                *head = head.part(due, head.count - due);
            } else {
                self.inside.pop_front();
            }
            self.inside_packets -= u64::from(due);
            self.counters.left.add(Time(now), 0, due, leaving.ip_len);
            append(out, leaving);
        }
    }
}

/// Forgets the packets that have left by `now`, and returns how many.
fn forget_left(leaving: &mut VecDeque<Leaving>, now: Time) -> u64 {
    let mut gone = 0;
    while let Some(run) = leaving.front_mut().filter(|run| run.first <= now.0) {
        let left = come_by(run.first, run.spacing, run.count, now.0);
        gone += u64::from(left);
        if left < run.count {
            run.first += u64::from(left) * run.spacing;
            run.count -= left;
            break;
        }
        leaving.pop_front();
    }
    gone
}

impl Stage for DelayLine {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        match self.config.timer {
            Some(timer) => self.push_timed(train, timer, out),
            None => self.push_exact(train, out),
        }
    }

    fn least_delay(&self) -> Time {
        self.config.delay
    }

    fn holds_until(&self) -> Time {
        let head = self.config.timer.and(self.inside.front());
        head.map_or(Time::NEVER, |head| head.first)
    }

    fn wake_time(&self) -> Option<Time> {
        let timer = self.config.timer?;
        Some(Time(timer.tick_after(self.inside.front()?.first.0)))
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Train>) {
        if let Some(timer) = self.config.timer {
            self.run_ticks(now.0, timer, out);
        }
    }

    fn held(&self, each: &mut dyn FnMut(&Train)) {
        if self.config.timer.is_some() {
            self.inside.iter().for_each(each);
        }
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.counters.dropped
    }

    fn info(&self) -> StageInfo {
        let limit = Some(self.config.limit).filter(|&limit| limit < u32::MAX);
        info::<Delay>(&self.config.name, "segment", limit.map(u64::from))
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.counters.sample(now)
    }
}
