//! codel, and fq_codel, which has one for each flow (RFC 8289, RFC 8290; sch_codel, sch_fq_codel).

use super::{Discipline, Holds, Kind, PathQueue, whole_us};
use crate::format::context::Context;
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config;
use serde::Serialize;

/// Packets that fq_codel holds by default.
pub const FQ_LIMIT: u32 = 10_240;
/// Keys of both in addition to `limit`.
const KEYS: &[&str] = &["target", "interval", "ecn"];

pub(super) const KIND: Kind = Kind {
    keys: KEYS,
    holds: Holds::Packets(1000),
    read: |queue, cx| Codel::read(queue, false, cx).map(Discipline::Codel),
};
pub(super) const FQ_KIND: Kind = Kind {
    keys: KEYS,
    holds: Holds::Packets(FQ_LIMIT),
    read: |queue, cx| Codel::read(queue, true, cx).map(Discipline::FqCodel),
};

/// codel or fq_codel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Codel {
    /// Acceptable delay (whole us).
    #[serde(serialize_with = "show::shown")]
    pub target: Time,
    /// Time for which the delay may be above it (whole us).
    #[serde(serialize_with = "show::shown")]
    pub interval: Time,
    /// Whether packets are marked that can be.
    pub ecn: bool,
}

impl Codel {
    /// Settings of Linux, which marks nothing by itself.
    pub const OF_LINUX: Codel = Codel { target: Time::ms(5), interval: Time::ms(100), ecn: false };

    /// `ecn` is the default.
    pub(crate) fn read(queue: &PathQueue, ecn: bool, cx: &mut Context) -> Option<Codel> {
        Some(Codel {
            target: whole_us("target", &queue.target, Codel::OF_LINUX.target, cx)?,
            interval: whole_us("interval", &queue.interval, Codel::OF_LINUX.interval, cx)?,
            ecn: queue.ecn.as_ref().map_or(ecn, |at| at.value),
        })
    }

    /// The configuration of the simulator, with packets of at most `mtu` bytes, Ethernet header included.
    pub fn config(&self, mtu: u32) -> config::Codel {
        let Codel { target, interval, ecn } = *self;
        config::Codel { target, interval, ecn, mtu }
    }
}
