//! A delay line, exact or released by a timer. Unit of decision: the segment.
//!
//! With a timer it behaves as netem of Linux 2.6.20 (`netem_dequeue`): a packet leaves when the
//! queue is looked at after it has become due. The queue is looked at on every enqueue, and by a
//! timer that runs on jiffies; due means strictly past. When full (`limit`): the packet is dropped.
//! At equal times the order is: tick, then packets leaving, then the packet arriving, which is queued
//! or dropped before the queue is looked at for it.

use crate::config::{Delay, Timer};
use crate::path::Stage;
use crate::tally::{Peaks, Samples, Tally};
use crate::trace::{StageInfo, StageSample};
use crate::train::{Train, append};
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// See the module's description.
pub struct DelayLine {
    config: Delay,
    /// Packets inside, by the time at which they become due (with a timer) or leave (without).
    inside: VecDeque<Train>,
    inside_packets: u64,
    entered: Tally,
    left: Tally,
    dropped: Tally,
    peaks: Peaks,
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
    pub fn new(config: &Delay, samples: Samples) -> DelayLine {
        DelayLine {
            config: config.clone(),
            inside: VecDeque::new(),
            inside_packets: 0,
            entered: Tally::default(),
            left: Tally::default(),
            dropped: Tally::default(),
            peaks: Peaks::new(samples),
        }
    }

    /// Forgets the packets that have left by `now` (without a timer).
    fn forget_left(&mut self, now: u64) {
        while let Some(train) = self.inside.front_mut() {
            let gone = train.until(Time(now));
            self.inside_packets -= u64::from(gone);
            if gone < train.count {
                if gone > 0 {
                    *train = train.part(gone, train.count - gone);
                }
                return;
            }
            self.inside.pop_front();
        }
    }

    fn push_exact(&mut self, train: &Train, out: &mut Vec<Train>) {
        self.forget_left(train.first.0);
        let room = self.inside_packets + u64::from(train.count) <= u64::from(self.config.limit);
        if room && (train.count == 1 || self.config.delay > train.last() - train.first) {
            return self.accept_exact(*train, out);
        }
        for i in 0..train.count {
            let packet = train.part(i, 1);
            self.forget_left(packet.first.0);
            if self.inside_packets < u64::from(self.config.limit) {
                self.accept_exact(packet, out);
            } else {
                self.dropped.one(packet.first, packet.ip_len);
            }
        }
    }

    fn accept_exact(&mut self, train: Train, out: &mut Vec<Train>) {
        let leaving = train.retimed(0, train.count, train.first + self.config.delay, train.spacing);
        self.entered.add(train.first, train.spacing, train.count, train.ip_len);
        self.left.add(leaving.first, leaving.spacing, leaving.count, train.ip_len);
        if self.config.delay == Time::ZERO {
            self.peaks.reach(train.first, 0);
        } else {
            self.note_peaks(&train);
            self.enter(leaving);
        }
        append(out, leaving);
    }

    /// Notes the occupancy after each arrival of a train of which nothing leaves meanwhile.
    fn note_peaks(&mut self, train: &Train) {
        for i in 0..train.count {
            self.forget_left(train.time(i).0);
            self.peaks.reach(train.time(i), self.inside_packets + u64::from(i) + 1);
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
            self.run_ticks(now, timer, out);
            if self.inside_packets < u64::from(self.config.limit) {
                self.entered.one(packet.first, packet.ip_len);
                self.enter(packet.retimed(0, 1, packet.first + self.config.delay, 0));
                self.peaks.reach(packet.first, self.inside_packets);
            } else {
                self.dropped.one(packet.first, packet.ip_len);
            }
            self.release_due(now, out);
        }
    }

    /// Runs the ticks up to and including `now` at which something is due.
    fn run_ticks(&mut self, now: u64, timer: Timer, out: &mut Vec<Train>) {
        while let Some(head) = self.inside.front() {
            let tick = timer.tick_after(head.first.0);
            if tick > now {
                return;
            }
            self.release_due(tick, out);
        }
    }

    /// Lets out, at `now`, every packet that was due before it.
    fn release_due(&mut self, now: u64, out: &mut Vec<Train>) {
        while let Some(head) = self.inside.front_mut() {
            if head.first.0 >= now {
                return;
            }
            let due = head.until(Time(now - 1));
            let leaving = head.retimed(0, due, Time(now), 0);
            if due < head.count {
                *head = head.part(due, head.count - due);
            } else {
                self.inside.pop_front();
            }
            self.inside_packets -= u64::from(due);
            self.left.add(Time(now), 0, due, leaving.ip_len);
            append(out, leaving);
        }
    }
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

    fn info(&self) -> StageInfo {
        StageInfo {
            index: 0,
            name: self.config.name.clone(),
            kind: "delay",
            direction: "",
            unit: "segment",
            capacity: Some(u64::from(self.config.limit)),
        }
    }

    fn sample(&mut self, now: Time) -> StageSample {
        for tally in [&mut self.entered, &mut self.left, &mut self.dropped] {
            tally.advance(now);
        }
        let waiting = self.entered.count - self.left.count;
        StageSample {
            waiting,
            waiting_bytes: self.entered.weight - self.left.weight,
            peak: self.peaks.take(now, waiting),
            entered: self.entered.count,
            left: self.left.count,
            dropped: self.dropped.count,
            ..StageSample::default()
        }
    }
}
