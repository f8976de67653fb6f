//! `pie`: the probability of a drop follows the delay of the queue.

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

/// The kernel takes whole jiffies of `update_us`.
pub fn put(
    to: &mut Message,
    limit: u32,
    target_us: u32,
    update_us: u32,
    ecn: bool,
) -> &'static str {
    const TCA_PIE_TARGET: u16 = 1;
    const TCA_PIE_LIMIT: u16 = 2;
    const TCA_PIE_TUPDATE: u16 = 3;
    const TCA_PIE_ECN: u16 = 6;
    to.text(TCA_KIND, "pie").nest(TCA_OPTIONS, &[], |options| {
        options.u32(TCA_PIE_TARGET, target_us).u32(TCA_PIE_LIMIT, limit);
        options.u32(TCA_PIE_TUPDATE, update_us).u32(TCA_PIE_ECN, u32::from(ecn));
    });
    "pie"
}
