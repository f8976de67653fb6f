//! `fq`: a queue for each flow, and pacing.

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

/// Limits in packets.
pub fn put(to: &mut Message, limit: u32, flow_limit: u32) -> &'static str {
    const TCA_FQ_PLIMIT: u16 = 1;
    const TCA_FQ_FLOW_PLIMIT: u16 = 2;
    to.text(TCA_KIND, "fq").nest(TCA_OPTIONS, &[], |options| {
        options.u32(TCA_FQ_PLIMIT, limit).u32(TCA_FQ_FLOW_PLIMIT, flow_limit);
    });
    "fq"
}
