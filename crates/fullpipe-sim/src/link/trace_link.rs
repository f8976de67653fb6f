//! A link that sends at the times of a recorded trace, with a queue in front: mahimahi's `mm-link`. Unit of decision:
//! the segment.
//!
//! Each number of a trace is a millisecond at which up to 1504 bytes are sent; after the last number the trace repeats.
//! Unused bytes are lost. A packet counts 4 bytes more than its IP packet, for the header of mahimahi's TUN device. So
//! a full packet of 1500 bytes takes one opportunity. Small packets share one, large packets take several. A packet
//! that arrives at the time of an opportunity is too late for it. Unlike in mahimahi the next packet to be sent does
//! not count as queued.
//!
//! Source: mahimahi `LinkQueue::rationalize`.

use super::Configuration;
use super::chain::Stage;
use super::disciplined::queue;
use super::queued::Server;
use crate::bounds::demand;
use crate::qdisc::{Discipline, QueueLimit};
use crate::stage::Samples;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes sent at an opportunity.
const BYTES: u32 = 1504;
/// Bytes by which a packet counts more than its IP packet.
const HEADER: u32 = 4;
/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;

/// A link that sends at given times and its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLink {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Milliseconds at which 1504 bytes may be sent, not falling; the last one, above 0, is the period.
    pub opportunities: Vec<u32>,
    /// Capacity of the queue, without the packet that is sent next; packets count 4 bytes more.
    pub limit: QueueLimit,
    /// Qdisc of the queue.
    pub discipline: Discipline,
}

impl Configuration for TraceLink {
    const KIND: &'static str = "trace-link";

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        self.discipline.check(name)?;
        let sorted = self.opportunities.windows(2).all(|pair| pair[0] <= pair[1]);
        demand(sorted, format!("{name}: opportunities are in order"))?;
        let period = self.opportunities.last().is_some_and(|&last| last > 0);
        demand(period, format!("{name}: the last opportunity is after 0"))
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let period = u64::from(self.opportunities.last().copied().unwrap_or(1));
        let server =
            Trace { opportunities: self.opportunities.clone(), period, next: 0, bytes_left: 0 };
        queue::<TraceLink, _>(&self.name, self.limit, self.discipline, server, seed, samples)
    }
}

/// State of a trace's link.
struct Trace {
    opportunities: Vec<u32>,
    /// Milliseconds.
    period: u64,
    /// Number of the next opportunity, counted on over all repetitions.
    next: u64,
    /// Unused bytes of the opportunity before it.
    bytes_left: u32,
}

impl Trace {
    /// Time of an opportunity, nanoseconds.
    fn time(&self, number: u64) -> u64 {
        let count = self.opportunities.len() as u64;
        let at = u64::from(self.opportunities[(number % count) as usize]);
        (number / count * self.period + at) * MS
    }

    /// Number of the first opportunity after `time`.
    fn first_after(&self, time: u64) -> u64 {
        let count = self.opportunities.len() as u64;
        let round = time / (self.period * MS);
        let within = time - round * self.period * MS;
        let gone = self.opportunities.partition_point(|&at| u64::from(at) * MS <= within);
        // The last opportunity of a round is at the start of the next.
        round * count + gone as u64
    }
}

impl Server for Trace {
    fn bytes(&self, ip_len: u32) -> u32 {
        ip_len + HEADER
    }

    fn always(&mut self, _ip_len: u32) -> Option<u64> {
        None
    }

    fn done(&mut self, came: u64, _start: u64, ip_len: u32) -> u64 {
        // The link was idle: earlier opportunities are lost, with the bytes left in the last one.
        if self.next == 0 || self.time(self.next - 1) <= came {
            self.bytes_left = 0;
            self.next = self.next.max(self.first_after(came));
        }
        let mut bytes = self.bytes(ip_len);
        while bytes > self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = BYTES;
            self.next += 1;
        }
        self.bytes_left -= bytes;
        self.time(self.next - 1)
    }
}
