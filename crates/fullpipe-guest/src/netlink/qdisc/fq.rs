//! `fq`: a queue for each flow, and pacing.

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

/// Limits in packets, of all and of one flow; of each flow the bytes of its first turn and the largest rate in bytes per second.
pub fn put(
    to: &mut Message,
    limit: u32,
    flow_limit: u32,
    initial_quantum: Option<u32>,
    max_rate: Option<u32>,
) -> &'static str {
    const TCA_FQ_PLIMIT: u16 = 1;
    const TCA_FQ_FLOW_PLIMIT: u16 = 2;
    const TCA_FQ_INITIAL_QUANTUM: u16 = 4;
    const TCA_FQ_FLOW_MAX_RATE: u16 = 7;
    to.text(TCA_KIND, "fq").nest(TCA_OPTIONS, &[], |options| {
        options.u32(TCA_FQ_PLIMIT, limit).u32(TCA_FQ_FLOW_PLIMIT, flow_limit);
        let set = [(TCA_FQ_INITIAL_QUANTUM, initial_quantum), (TCA_FQ_FLOW_MAX_RATE, max_rate)];
        for (option, value) in set {
            if let Some(value) = value {
                options.u32(option, value);
            }
        }
    });
    "fq"
}
