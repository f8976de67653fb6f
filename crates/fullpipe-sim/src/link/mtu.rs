//! A link with a smaller MTU that drops what is too large and tells nobody: a path MTU black hole (RFC 2923, section 2.1).
//! Unit of decision: the segment.
//!
//! Limits:
//! - It sends no ICMP message "fragmentation needed" (RFC 1191, section 4); senders keep their MSS.

use super::chain::Stage;
use super::{Configuration, info};
use crate::bounds::demand;
use crate::packet::{Train, append};
use crate::stage::{Drops, DueCounter, Samples};
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
        Box::new(Narrow {
            config: self.clone(),
            left: DueCounter::default(),
            dropped: Drops::default(),
        })
    }
}

/// See the module's description.
struct Narrow {
    config: Mtu,
    left: DueCounter,
    dropped: Drops,
}

impl Stage for Narrow {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        if train.ip_len > self.config.mtu {
            return self.dropped.lose(train, train.ip_len);
        }
        self.left.add(train.first, train.spacing, train.count, train.ip_len);
        append(out, *train);
    }

    fn drops(&mut self) -> &mut Drops {
        &mut self.dropped
    }

    fn info(&self) -> StageInfo {
        info::<Mtu>(&self.config.name, "segment", None)
    }

    fn sample(&mut self, now: Time) -> StageSample {
        self.left.advance(now);
        self.dropped.advance(now);
        StageSample {
            entered: self.left.count,
            left: self.left.count,
            dropped: self.dropped.count,
            ..StageSample::without_room(now)
        }
    }
}
