//! `pfifo` and `bfifo`: a queue.

use super::TCA_OPTIONS;
use crate::netlink::message::Message;

/// `limit`: packets or bytes, as the name says.
pub fn put(to: &mut Message, name: &'static str, limit: u32) -> &'static str {
    to.text(super::TCA_KIND, name).u32(TCA_OPTIONS, limit);
    name
}
