//! `htb`: classes with a rate. Here there is one, and all packets are its own.

use fullpipe_guest::record;

use super::{LINKLAYER_ETHERNET, Place, TCA_KIND, TCA_OPTIONS, body, put_overhead};
use crate::error::Result;
use crate::netlink::Netlink;
use crate::netlink::message::{ACK, Message};

const RTM_NEWTCLASS: u16 = 40;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
/// Version of the options (HTB_VER).
const VERSION: u32 = 3;
/// Number of the class.
const ONLY: u32 = 1;
/// Time that the class may be ahead of its rate, in the kernel's ticks: none, as a wire, for timers are never late in
/// virtual time.
const AHEAD: u32 = 0;
/// Bytes of a turn, more than a packet has; a single class does not use it.
const QUANTUM: u32 = 200_000;

/// `struct tc_htb_glob`: version, divisor that turns rates into quanta, the default class, flags, a counter.
fn options() -> Vec<u8> {
    [VERSION, 1, ONLY, 0, 0].map(u32::to_ne_bytes).concat()
}

/// `struct tc_htb_opt`: rate and ceiling (`struct tc_ratespec`, 12 bytes each), their buckets, quantum, level, priority.
fn class(bytes_per_second: u64) -> Vec<u8> {
    let low = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    let mut rate = [0; 12];
    rate[1] = LINKLAYER_ETHERNET;
    rate[8..].copy_from_slice(&low.to_ne_bytes());
    let rest = [AHEAD, AHEAD, QUANTUM, 0, 0].map(u32::to_ne_bytes).concat();
    [&rate[..], &rate, &rest].concat()
}

/// Puts the qdisc; its class has the rate.
pub fn put(to: &mut Message, overhead: i32) -> &'static str {
    to.text(TCA_KIND, "htb").nest(TCA_OPTIONS, &[], |inner| {
        inner.attr(TCA_HTB_INIT, &options());
    });
    put_overhead(to, overhead);
    "htb"
}

impl Netlink {
    /// Gives the qdisc of that number its class (with CREATE), or the class another rate. `rate` is in bits per second;
    /// the kernel rounds it down to whole bytes.
    pub(super) fn class(
        &mut self,
        flags: u16,
        place: Place,
        number: usize,
        rate: u64,
    ) -> Result<()> {
        let root = record::qdisc_handle(number);
        let body = body(place.device, root | ONLY, root, 0);
        let mut message = Message::new(RTM_NEWTCLASS, ACK | flags, &body);
        message.text(TCA_KIND, "htb").nest(TCA_OPTIONS, &[], |inner| {
            inner.attr(TCA_HTB_PARMS, &class(rate / 8));
            inner.u64(TCA_HTB_RATE64, rate / 8).u64(TCA_HTB_CEIL64, rate / 8);
        });
        self.ask(&mut message, "class of htb")
    }
}
