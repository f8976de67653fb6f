//! pie: the probability of a drop follows the delay of the queue (RFC 8033; sch_pie).

use super::{Discipline, Holds, Kind, PathQueue, whole_us};
use crate::format::context::Context;
use crate::show;
use fullpipe_base::units::Time;
use serde::Serialize;

pub(super) const KIND: Kind = Kind {
    keys: &["target", "update", "ecn"],
    holds: Holds::Packets(1000),
    read: |queue, cx| Pie::read(queue, cx).map(Discipline::Pie),
};

/// pie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pie {
    /// Delay to hold (whole us).
    #[serde(serialize_with = "show::shown")]
    pub target: Time,
    /// Interval at which the probability is recomputed (whole us).
    #[serde(serialize_with = "show::shown")]
    pub update: Time,
    /// Whether packets are marked that can be, while the probability is below a tenth.
    pub ecn: bool,
}

impl Pie {
    fn read(queue: &PathQueue, cx: &mut Context) -> Option<Pie> {
        Some(Pie {
            target: whole_us("target", &queue.target, Time::ms(15), cx)?,
            update: whole_us("update", &queue.update, Time::ms(15), cx)?,
            ecn: queue.ecn.as_ref().is_some_and(|at| at.value),
        })
    }
}
