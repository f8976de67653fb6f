//! `cake`: a rate, a queue for each flow, and COBALT.

use fullpipe_guest::plan::{ETHERNET_HEADER, Qdisc};

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

const TCA_CAKE_BASE_RATE64: u16 = 2;
const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
const TCA_CAKE_OVERHEAD: u16 = 6;
const TCA_CAKE_RTT: u16 = 7;
const TCA_CAKE_TARGET: u16 = 8;
const TCA_CAKE_MEMORY: u16 = 10;
const TCA_CAKE_ACK_FILTER: u16 = 16;
/// All packets are of one class.
const BEST_EFFORT: u32 = 3;
/// Round trip time over target delay, as `tc` sets them.
const TARGETS: u32 = 20;

/// Puts a [`Qdisc::Cake`].
pub fn put(to: &mut Message, qdisc: &Qdisc) -> &'static str {
    let Qdisc::Cake { rate, rtt_us, overhead, memory, ack_filter } = *qdisc else {
        return "not cake";
    };
    to.text(TCA_KIND, "cake").nest(TCA_OPTIONS, &[], |options| {
        options.u64(TCA_CAKE_BASE_RATE64, rate.unwrap_or(0) / 8);
        options.u32(TCA_CAKE_DIFFSERV_MODE, BEST_EFFORT);
        // With an overhead given, it counts from the IP header on.
        options.attr(TCA_CAKE_OVERHEAD, &(ETHERNET_HEADER + overhead).to_ne_bytes());
        options.u32(TCA_CAKE_RTT, rtt_us).u32(TCA_CAKE_TARGET, (rtt_us / TARGETS).max(1));
        if let Some(memory) = memory {
            options.u32(TCA_CAKE_MEMORY, memory);
        }
        options.u32(TCA_CAKE_ACK_FILTER, u32::from(ack_filter));
    });
    "cake"
}
