//! A policer: a token bucket that drops packets without tokens and delays none (`tc police`, Linux 6.1
//! `tcf_police_act`). Unit of decision: the segment.
//!
//! Tokens arrive at the rate and fill the bucket up to the burst; the bucket begins full. A packet passes if there are
//! tokens for all of it. The unit of tokens is a billionth of a bit, so that nothing is rounded.

use super::chain::Stage;
use super::passing::Passing;
use super::{Configuration, info};
use crate::bounds::demand;
use crate::packet::Train;
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::{Framing, Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A policer.
#[derive(Clone, Debug, PartialEq)]
pub struct Policer {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Rate that passes in the long run.
    pub rate: Rate,
    /// Bytes that pass at once after a pause (1 to 2^50).
    pub burst: u64,
    /// Bytes that the rate and the burst count.
    pub framing: Framing,
}

impl Configuration for Policer {
    const KIND: &'static str = "policer";

    fn check(&self) -> Result<(), String> {
        check_bucket(&self.name, self.rate, self.burst)
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(Bucket {
            config: self.clone(),
            tokens: bits(self.burst),
            filled: Time::ZERO,
            passing: Passing::default(),
        })
    }
}

/// Checks the bounds of a token bucket.
///
/// # Errors
/// The first violated bound.
pub(super) fn check_bucket(name: &str, rate: Rate, burst: u64) -> Result<(), String> {
    demand(rate.0 > 0, format!("{name}: rate 0"))?;
    demand((1..=1 << 50).contains(&burst), format!("{name}: burst of 1 to 2^50 bytes"))
}

/// Bytes in billionths of a bit; a rate of 1 bit/s gives one of them per nanosecond.
pub(super) fn bits(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

/// State of a policer.
struct Bucket {
    config: Policer,
    /// Tokens, billionths of a bit.
    tokens: u128,
    /// Time of the last update of `tokens`.
    filled: Time,
    passing: Passing,
}

impl Bucket {
    fn conforms(&mut self, now: Time, ip_len: u32) -> bool {
        let came = u128::from(self.config.rate.0) * u128::from((now - self.filled).0);
        self.tokens = (self.tokens + came).min(bits(self.config.burst));
        self.filled = now;
        let needed = bits(u64::from(ip_len + self.config.framing.overhead()));
        let conforms = self.tokens >= needed;
        if conforms {
            self.tokens -= needed;
        }
        conforms
    }

    fn send(&mut self, part: Train, out: &mut Vec<Train>) {
        if part.count > 0 {
            self.passing.pass(part, out);
        }
    }
}

impl Stage for Bucket {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        let mut sent = 0;
        for i in 0..train.count {
            if !self.conforms(train.time(i), train.ip_len) {
                self.send(train.part(sent, i - sent), out);
                self.passing.lose(&train.part(i, 1));
                sent = i + 1;
            }
        }
        self.send(train.part(sent, train.count - sent), out);
    }

    fn drops(&mut self) -> &mut Drops {
        self.passing.drops()
    }

    fn info(&self) -> StageInfo {
        info::<Policer>(&self.config.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.passing.sample(now)
    }
}
