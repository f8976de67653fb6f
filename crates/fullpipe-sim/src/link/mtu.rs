//! A link with a smaller MTU, which drops packets that are too large. Its router answers by ICMP "fragmentation needed"
//! (RFC 1191, section 4), or stays silent: a path MTU black hole (RFC 2923, section 2.1). Unit of decision: the
//! segment. The router may clamp the MSS of SYNs ([`Config::mss_clamp`](crate::config::Config::mss_clamp)).
//!
//! Limits:
//! - A message takes the whole way back, wherever on the way there the router stands. Capture files leave messages out.
//! - Datagrams that are too large are dropped without a message.

use super::chain::Stage;
use super::passing::Passing;
use super::{Configuration, info};
use crate::bounds::demand;
use crate::packet::{Ecn, Kind, Train, append};
use crate::stage::{Drops, Samples};
use crate::trace::{StageInfo, StageSample};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of a message: as much of the packet as fits (6.12 `__icmp_send`).
const MESSAGE: u32 = 576;

/// Least MSS of a clamp, bytes: Linux sends no smaller segments (TCP_MIN_SND_MSS).
const LEAST_CLAMP: u32 = 48;

/// A link that passes no large packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// Stage name in the trace, unique within a run.
    pub name: String,
    /// Largest IP packet that passes, bytes (68 to 65535; RFC 791).
    pub mtu: u32,
    /// Whether the router answers by ICMP. Needs an MTU of 576 or more.
    pub icmp: bool,
    /// Largest MSS that SYNs and SYN-ACKs announce behind the router, whichever way they go, bytes without options (48 to 65495);
    /// none: the router leaves the option alone.
    pub mss_clamp: Option<u32>,
}

impl Configuration for Mtu {
    const KIND: &'static str = "mtu";

    fn check(&self) -> Result<(), String> {
        demand((68..=65_535).contains(&self.mtu), format!("{}: mtu of 68 to 65535", self.name))?;
        let fits = !self.icmp || self.mtu >= MESSAGE;
        demand(fits, format!("{}: mtu of at least {MESSAGE} with icmp", self.name))?;
        let clamps = self.mss_clamp.is_none_or(|mss| (LEAST_CLAMP..=65_495).contains(&mss));
        demand(clamps, format!("{}: mss_clamp of {LEAST_CLAMP} to 65495", self.name))
    }

    fn build(&self, _seed: u64, _samples: Samples) -> Box<dyn Stage> {
        Box::new(Narrow { config: self.clone(), passing: Passing::default(), messages: Vec::new() })
    }
}

/// State of such a link.
struct Narrow {
    config: Mtu,
    passing: Passing,
    messages: Vec<Train>,
}

impl Narrow {
    /// Answers dropped data by ICMP.
    fn answer(&mut self, dropped: &Train) {
        if self.config.icmp && dropped.kind == Kind::Data {
            let message = Train {
                kind: Kind::FragNeeded,
                ip_len: MESSAGE,
                // A message needs no timestamp, so the link's MTU has its place.
                tsval: self.config.mtu,
                skb: 0,
                carries: 0,
                ecn: Ecn::NotEct,
                cwr: false,
                push: false,
                fin: false,
                ..*dropped
            };
            append(&mut self.messages, message);
        }
    }
}

impl Stage for Narrow {
    fn push(&mut self, train: &Train, out: &mut Vec<Train>) {
        if train.ip_len > self.config.mtu {
            self.answer(train);
            return self.passing.lose(train);
        }
        self.passing.pass(*train, out);
    }

    fn messages(&mut self) -> Option<&mut Vec<Train>> {
        Some(&mut self.messages)
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
