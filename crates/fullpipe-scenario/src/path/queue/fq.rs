//! fq: a queue for each flow, in turn; it paces flows if their sockets ask for it (sch_fq).

use super::{Discipline, Holds, Kind, PathQueue};
use fullpipe_sim::config;
use serde::Serialize;

/// Packets that it holds by default.
pub const LIMIT: u32 = 10_000;
/// Packets of a flow by default.
pub const FLOW_LIMIT: u32 = 100;

pub(super) const KIND: Kind = Kind {
    keys: &["flow_limit"],
    holds: Holds::Packets(LIMIT),
    read: |queue, _| Some(Discipline::Fq(Fq::read(queue))),
};

/// fq.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fq {
    /// Packets of one flow.
    #[serde(serialize_with = "crate::show::packets")]
    pub flow_limit: u32,
}

impl Fq {
    fn read(queue: &PathQueue) -> Fq {
        let flow_limit = queue.flow_limit.as_ref().map_or(FLOW_LIMIT, |at| at.value.0 as u32);
        Fq { flow_limit }
    }

    /// The configuration of the simulator, with packets of at most `mtu` bytes, Ethernet header included; a link's is
    /// that of 6.12.
    pub fn config(&self, mtu: u32) -> config::Fq {
        config::Fq::new(self.flow_limit, mtu)
    }
}
