//! `codel` and `fq_codel`: the delay of the queue is held small.

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

/// The two share the numbers of these options.
pub fn put(
    to: &mut Message,
    name: &'static str,
    limit: u32,
    target_us: u32,
    interval_us: u32,
    ecn: bool,
) -> &'static str {
    const TARGET: u16 = 1;
    const LIMIT: u16 = 2;
    const INTERVAL: u16 = 3;
    const ECN: u16 = 4;
    to.text(TCA_KIND, name).nest(TCA_OPTIONS, &[], |options| {
        options.u32(TARGET, target_us).u32(LIMIT, limit);
        options.u32(INTERVAL, interval_us).u32(ECN, u32::from(ecn));
    });
    name
}
