//! A link with a smaller MTU that drops what is too large and tells nobody: a path MTU black hole (RFC 2923, section 2.1).
//! Unit of decision: the segment.
//!
//! Limits:
//! - It sends no ICMP message "fragmentation needed" (RFC 1191, section 4); senders keep their MSS.

use super::chain::Stage;
use super::passing::Passing;
use super::{Configuration, info};
use crate::bounds::demand;
use crate::packet::Train;
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A link that passes no large packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Largest IP packet that passes, bytes (68 to 65535; RFC 791).
    pub mtu: u32,
}

impl Configuration for Mtu {
    const KIND: &'static str = "mtu";

    fn check(&self) -> Result<(), String> {
        demand((68..=65_535).contains(&self.mtu), format!("{}: mtu of 68 to 65535", self.name))
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(Narrow { config: self.clone(), passing: Passing::default() })
    }
}

/// Stage of such a link.
struct Narrow {
    config: Mtu,
    passing: Passing,
}

impl Stage for Narrow {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        if train.ip_len > self.config.mtu {
            return self.passing.lose(train);
        }
        self.passing.pass(*train, out);
    }

    fn drops(&mut self) -> &mut Drops {
        self.passing.drops()
    }

    fn info(&self) -> StageInfo {
        info::<Mtu>(&self.config.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.passing.sample(now)
    }
}
