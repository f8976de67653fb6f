//! A shaper: a token bucket with a drop-tail queue in front of it (`tc tbf`; Linux 6.12 `tbf_dequeue`). Unit of
//! decision: the segment.
//!
//! Tokens arrive at the rate and fill the bucket up to the burst; the bucket begins full. The head of the queue leaves
//! whole as soon as there are tokens for all of it. Tokens are time. A packet takes the nanoseconds in which the rate
//! sends it, rounded down as in Linux.
//!
//! The state is one time: when the bucket will be full again. A packet of c nanoseconds and a bucket of b nanoseconds
//! leaves at c - b after this time or later, and moves it on by c. A packet larger than the bucket leaves when the
//! bucket is full. Linux drops such a packet (`tbf_enqueue`); scenarios have none.

use super::Configuration;
use super::chain::Stage;
use super::policer::{bits, check_bucket};
use super::queued::{Queued, Server};
use crate::packet::Serialiser;
use crate::qdisc::QueueLimit;
use crate::stage::{DueCounter, Samples};
use crate::units::{Framing, Rate, Time};
use alloc::boxed::Box;
use alloc::string::String;

/// A shaper and its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaper {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Rate that passes in the long run.
    pub rate: Rate,
    /// Bytes that pass at once after a pause (1 to 2^50).
    pub burst: u64,
    /// Bytes that the rate, the burst and a queue limit in bytes count.
    pub framing: Framing,
    /// Capacity of the queue.
    pub limit: QueueLimit,
}

impl Configuration for Shaper {
    const KIND: &'static str = "shaper";

    fn check(&self) -> Result<(), String> {
        check_bucket(&self.name, self.rate, self.burst)
    }

    fn build(&self, _seed: u64, samples: Samples) -> Box<dyn Stage> {
        let bucket = Bucket {
            tokens: Serialiser::new(self.rate, self.framing.overhead()),
            burst: bits(self.burst) / u128::from(self.rate.0),
            full_at: 0,
            work: DueCounter::new(samples),
        };
        Box::new(Queued::new::<Shaper>(&self.name, self.limit, bucket, samples))
    }
}

/// State of a shaper.
struct Bucket {
    tokens: Serialiser,
    /// Capacity of the bucket, whole nanoseconds.
    burst: u128,
    /// Time at which the bucket will be full again, nanoseconds.
    full_at: u128,
    /// Times at which the tokens of each packet are there, after those of the packet before.
    work: DueCounter,
}

impl Server for Bucket {
    fn bytes(&self, ip_len: u32) -> u32 {
        self.tokens.bytes(ip_len)
    }

    fn always(&mut self, _ip_len: u32) -> Option<u64> {
        None
    }

    fn begins(&mut self, ready: u64, ip_len: u32) -> u64 {
        let taken = u128::from(self.tokens.time(ip_len));
        let enough = (self.full_at + taken).saturating_sub(self.burst.max(taken));
        ready.max(whole(enough))
    }

    fn done(&mut self, _came: u64, start: u64, ip_len: u32) -> u64 {
        let taken = self.tokens.time(ip_len);
        self.full_at = self.full_at.max(start.into()) + u128::from(taken);
        self.work.one(Time(whole(self.full_at)), taken);
        start
    }

    fn worked(&mut self, now: Time) -> Option<u64> {
        self.work.advance(now);
        Some(self.work.work(now))
    }
}

/// Nanoseconds as a time, at most the last time there is.
fn whole(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
