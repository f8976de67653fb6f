//! A rate that changes at given times, with a queue in front of it. Unit of decision: the
//! segment.
//!
//! A packet's bits are sent at the rate of the moment: a packet in transmission continues at the new rate. At rate 0
//! nothing is sent, and a packet in transmission waits.

use super::Configuration;
use super::chain::Stage;
use super::disciplined::queue;
use super::queued::Server;
use crate::bounds::{LONGEST, demand};
use crate::qdisc::{Discipline, QueueLimit};
use crate::stage::Samples;
use crate::units::{Framing, Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A changing rate and its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct VaryingLink {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Rates from the start on: the first step is at 0, times rise, the last rate is not 0.
    pub steps: Vec<RateStep>,
    /// Bytes that the rate and a queue limit in bytes count.
    pub framing: Framing,
    /// Capacity of the queue, without the packet in transmission.
    pub limit: QueueLimit,
    /// Qdisc of the queue.
    pub discipline: Discipline,
}

/// A rate and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// Start of the rate.
    pub at: Time,
    /// The rate; 0 is an outage.
    pub rate: Rate,
}

impl Configuration for VaryingLink {
    const KIND: &'static str = "varying-link";

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        self.discipline.check(name)?;
        let begins = self.steps.first().is_some_and(|step| step.at == Time::ZERO);
        demand(begins, format!("{name}: the first step is at 0"))?;
        let rising = self.steps.windows(2).all(|pair| pair[0].at < pair[1].at);
        demand(rising, format!("{name}: times of steps rise"))?;
        let last = self.steps.last().is_some_and(|step| step.rate.0 > 0 && step.at <= LONGEST);
        demand(last, format!("{name}: the last rate is above 0, and begins within {LONGEST}"))
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let overhead = self.framing.overhead();
        let server = Stepped { steps: self.steps.clone(), at: 0, overhead };
        queue::<VaryingLink, _>(&self.name, self.limit, self.discipline, server, seed, samples)
    }
}

/// State of a changing rate.
struct Stepped {
    steps: Vec<RateStep>,
    /// Step at which the last packet ended.
    at: usize,
    overhead: u32,
}

impl Stepped {
    /// End of the step in force.
    fn end(&self) -> u64 {
        self.steps.get(self.at + 1).map_or(u64::MAX, |next| next.at.0)
    }
}

impl Server for Stepped {
    fn bytes(&self, ip_len: u32) -> u32 {
        ip_len + self.overhead
    }

    fn always(&mut self, _ip_len: u32) -> Option<u64> {
        None
    }

    fn done(&mut self, _came: u64, start: u64, ip_len: u32) -> u64 {
        // The packet starts at the rate of this step.
        while self.end() <= start {
            self.at += 1;
        }
        // Unit: a billionth of a bit, which a rate of 1 bit/s sends in a nanosecond.
        let mut work = u128::from(self.bytes(ip_len)) * 8_000_000_000;
        let mut now = start;
        loop {
            let rate = u128::from(self.steps[self.at].rate.0);
            let done = rate * u128::from(self.end() - now);

            // The packet ends within the step, or its rest continues at the next rate.
            if work <= done {
                return now + (work / rate) as u64;
            }
            work -= done;
            now = self.end();
            self.at += 1;
        }
    }
}
