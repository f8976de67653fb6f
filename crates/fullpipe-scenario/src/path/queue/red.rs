//! red: random early detection (Floyd and Jacobson 1993; sch_red). Defaults are those of `tc`, except for the weight,
//! which `tc` computes from a burst.

use super::{Discipline, Holds, Kind, PathQueue};
use crate::format::context::Context;
use crate::format::keys::At;
use crate::format::special;
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config::{self, QueueLimit};
use serde::Serialize;

pub(super) const KIND: Kind = Kind {
    keys: &["min", "max", "probability", "weight", "ecn"],
    holds: Holds::Bytes,
    read: |queue, cx| Red::read(queue, cx).map(Discipline::Red),
};
/// Default weight: the paper's, 0.002.
const WEIGHT: u8 = 9;
/// Bits of a threshold and the weight together are fewer (red_check_params).
const BITS: u32 = 32;

/// red.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Red {
    /// Average from which on packets are dropped, bytes.
    #[serde(serialize_with = "show::whole_size")]
    pub min: u64,
    /// Average from which on all are, bytes.
    #[serde(serialize_with = "show::whole_size")]
    pub max: u64,
    /// Probability of a drop just below `max` (0 to 1).
    pub probability: f64,
    /// A packet counts 1 / 2^weight in the average.
    pub weight: u8,
    /// Whether packets are marked that can be.
    pub ecn: bool,
}

fn bits(bytes: u64) -> u32 {
    u64::BITS - bytes.leading_zeros()
}

/// Reports thresholds that the average of a queue with this limit cannot reach.
fn within_limit(queue: &PathQueue, cx: &mut Context) -> Option<()> {
    // A limit that is not written is filled in later.
    let Some(At { value: special::QueueLimit(QueueLimit::Bytes(limit)), place, .. }) = queue.limit
    else {
        return Some(());
    };

    // Two thresholds need two different lengths.
    if limit < 2 {
        cx.error("out-of-range", place, "`limit` has no room for `min` and `max`")
            .expected("at least 2B");
        return None;
    }

    // The average never exceeds the limit: drops by chance would never begin.
    if let Some(at) = queue.min.as_ref().filter(|at| at.value.0 >= limit) {
        let problem =
            "`min` is not below `limit`: the queue is full before its average comes so far";
        cx.error("out-of-range", at.place, problem)
            .expected(format!("less than {limit}B, or a larger `limit`"));
        return None;
    }
    if let Some(at) = queue.max.as_ref().filter(|at| at.value.0 > limit) {
        let problem = "`max` is above `limit`: the queue is full before its average comes so far";
        cx.error("out-of-range", at.place, problem)
            .expected(format!("at most {limit}B, or a larger `limit`"));
        return None;
    }
    Some(())
}

impl Red {
    /// Thresholds that are 0 depend on the limit.
    pub(crate) fn read(queue: &PathQueue, cx: &mut Context) -> Option<Red> {
        let min = queue.min.as_ref().map_or(0, |at| at.value.0);
        let max = queue.max.as_ref().map_or(0, |at| at.value.0);

        // Thresholds are compared only if both are written.
        if let (Some(at), true) = (&queue.min, max > 0 && min >= max) {
            cx.error("out-of-range", at.place, "`min` is not below `max`")
                .expected(format!("less than {max}B"));
            return None;
        }
        within_limit(queue, cx)?;
        let weight = queue.weight.as_ref().map_or(0, |at| at.value.0 as u8);

        // Linux's fixed-point average has so many bits for length and weight.
        if let (Some(at), true) = (&queue.weight, bits(max) + u32::from(weight) >= BITS) {
            let most = BITS.saturating_sub(bits(max) + 1).max(1);
            cx.error("out-of-range", at.place, "Linux cannot average such lengths by this weight")
                .expected(format!("at most {most}, or a smaller `max`"));
            return None;
        }
        Some(Red {
            min,
            max,
            probability: queue.probability.as_ref().map_or(0.02, |at| at.value.0),
            weight,
            ecn: queue.ecn.as_ref().is_some_and(|at| at.value),
        })
    }

    /// Least bytes of a queue without a written limit: the largest average that its thresholds allow.
    pub(super) fn least(&self) -> u64 {
        if self.max > 0 { self.max } else { self.min * 3 }
    }

    /// Fills in defaults that depend on the limit, bytes.
    pub(crate) fn complete(&mut self, limit: u64) {
        if self.max == 0 {
            // Defaults as tc has them: max is a quarter of the limit, or three times min.
            let wanted = if self.min > 0 { self.min * 3 } else { (limit / 4).max(3) };

            // The average must fit Linux's fixed-point numbers.
            let most = (1 << (BITS - 1 - u32::from(self.weight.max(1)))) - 1;
            self.max = wanted.min(limit).min(most).max(self.min);
        }
        if self.min == 0 {
            self.min = (self.max / 3).max(1);
        }

        // The usual weight, or the largest that such lengths allow.
        if self.weight == 0 {
            let most = BITS.saturating_sub(bits(self.max) + 1).max(1);
            self.weight = WEIGHT.min(most as u8);
        }
    }

    /// The configuration of the simulator, in front of a rate that sends a full packet in `packet_time`.
    pub fn config(&self, packet_time: Time) -> config::Red {
        let Red { min, max, probability, weight, ecn } = *self;
        config::Red { min, max, probability, weight, ecn, packet_time }
    }
}
