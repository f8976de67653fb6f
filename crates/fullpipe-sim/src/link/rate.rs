//! A rate with a queue in front of it. Unit of decision: the segment.

use super::Configuration;
use super::chain::Stage;
use super::disciplined::queue;
use super::queued::Server;
use crate::bounds::demand;
use crate::packet::Serialiser;
use crate::qdisc::{Discipline, QueueLimit};
use crate::stage::Samples;
use crate::units::{Framing, Rate};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// A transmission rate and its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Serialisation rate.
    pub rate: Rate,
    /// Bytes that the rate and a queue limit in bytes count.
    pub framing: Framing,
    /// Capacity of the queue, without the packet in transmission.
    pub limit: QueueLimit,
    /// Qdisc of the queue.
    pub discipline: Discipline,
}

impl Configuration for Link {
    const KIND: &'static str = "link";

    fn check(&self) -> Result<(), String> {
        demand(self.rate.0 > 0, format!("{}: rate 0", self.name))?;
        self.discipline.check(&self.name)
    }

    fn build(&self, seed: u64, samples: Samples) -> Box<dyn Stage> {
        let server = Serialiser::new(self.rate, self.framing.overhead());
        queue::<Link, _>(&self.name, self.limit, self.discipline, server, seed, samples)
    }
}

impl Server for Serialiser {
    fn bytes(&self, ip_len: u32) -> u32 {
        self.bytes(ip_len)
    }

    fn always(&mut self, ip_len: u32) -> Option<u64> {
        Some(self.time(ip_len))
    }

    fn done(&mut self, _came: u64, start: u64, ip_len: u32) -> u64 {
        start + self.time(ip_len)
    }
}
