//! cake: it has the rate itself, a queue for each flow, and CoDel with BLUE (sch_cake). Here without classes of
//! service.

use super::{Discipline, Holds, Kind, PathQueue, whole_us};
use crate::format::context::Context;
use crate::show;
use fullpipe_base::units::{Framing, Rate, Time};
use serde::Serialize;

pub(super) const KIND: Kind = Kind {
    keys: &["rtt", "ack_filter"],
    holds: Holds::Bytes,
    read: |queue, cx| Cake::read(queue, cx).map(Discipline::Cake),
};
/// Least memory by default, bytes.
const LEAST: u64 = 4 << 20;
/// Packets that its memory is for at most.
const PACKETS: u64 = 10_240;

/// cake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cake {
    /// Round trip time that it is tuned to (whole us).
    #[serde(serialize_with = "show::shown")]
    pub rtt: Time,
    /// Whether superfluous ACKs are dropped.
    pub ack_filter: bool,
}

impl Cake {
    fn read(queue: &PathQueue, cx: &mut Context) -> Option<Cake> {
        Some(Cake {
            rtt: whole_us("rtt", &queue.rtt, Time::ms(100), cx)?,
            ack_filter: queue.ack_filter.as_ref().is_some_and(|at| at.value),
        })
    }

    /// Memory that Linux gives it at this rate, bytes (cake_reconfigure).
    pub(super) fn memory(&self, rate: Rate, mtu: u32) -> u64 {
        let wanted = u128::from(rate.0) * u128::from(self.rtt.as_ns()) * 4 / 8_000_000_000;
        let most = PACKETS * u64::from(mtu + Framing::Ethernet.overhead());
        u64::try_from(wanted).unwrap_or(u64::MAX).max(LEAST).min(most)
    }
}
