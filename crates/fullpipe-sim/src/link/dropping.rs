//! Common part of all random losses: units pass or are lost in runs.
//!
//! One random number decides the length of the next run, not the fate of one packet. The law stays the same, and a
//! train without loss costs one comparison.

use super::chain::Stage;
use super::passing::Passing;
use super::unit::{Unit, Units};
use crate::packet::Train;
use crate::stage::{Drops, DueCounter, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::vec::Vec;

/// Successive units with one fate; `u64::MAX` stands for all later units.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitRun {
    pub(super) units: u64,
    pub(super) lost: bool,
}

/// A law of loss.
pub(super) trait Pattern {
    /// The next run, which may be empty.
    fn next(&mut self) -> UnitRun;
}

/// An element that loses units by a pattern.
pub(super) struct Dropping<P> {
    info: StageInfo,
    pattern: P,
    units: Units,
    run: UnitRun,
    /// Whether the skb that passes is lost.
    losing: bool,
    passing: Passing,
}

impl<P: Pattern> Dropping<P> {
    /// An element for this `pattern`; `samples` are the trace's.
    pub(super) fn new(
        info: StageInfo,
        mut pattern: P,
        unit: Unit,
        samples: Samples,
    ) -> Dropping<P> {
        let run = pattern.next();
        Dropping {
            info,
            pattern,
            units: Units::new(unit),
            run,
            losing: false,
            passing: Passing::new(DueCounter::new(samples)),
        }
    }

    /// Fate of the next units, and their number, at most `most`.
    fn decide(&mut self, most: u32) -> (bool, u32) {
        while self.run.units == 0 {
            self.run = self.pattern.next();
        }
        let units = u64::from(most).min(self.run.units);
        if self.run.units != u64::MAX {
            self.run.units -= units;
        }
        (self.run.lost, units as u32)
    }

    fn pass(&mut self, part: Train, lost: bool, out: &mut Vec<Train>) {
        match lost {
            true => self.passing.lose(&part),
            false => self.passing.pass(part, out),
        }
    }
}

impl<P: Pattern> Stage for Dropping<P> {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        // Where the unit is the skb, its first segment decides for all of them.
        if let Some(goes_on) = self.units.skb(train) {
            if !goes_on {
                self.losing = self.decide(1).0;
            }
            return self.pass(*train, self.losing, out);
        }
        let mut at = 0;
        while at < train.count {
            let (lost, count) = self.decide(train.count - at);
            self.pass(train.part(at, count), lost, out);
            at += count;
        }
    }

    fn drops(&mut self) -> &mut Drops {
        self.passing.drops()
    }

    fn info(&self) -> StageInfo {
        self.info.clone()
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.passing.sample(now)
    }
}
