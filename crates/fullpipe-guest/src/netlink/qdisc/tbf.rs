//! `tbf`: a token bucket, which gives a rate.

use super::{LINKLAYER_ETHERNET, TCA_KIND, TCA_OPTIONS, put_overhead};
use crate::netlink::message::Message;

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;

/// `struct tc_tbf_qopt`: rate and peak rate (`struct tc_ratespec`, 12 bytes each), limit, buffer, mtu.
fn parameters(bytes_per_second: u64, limit: u32) -> [u8; 36] {
    let mut parameters = [0; 36];
    parameters[1] = LINKLAYER_ETHERNET;
    let low = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    parameters[8..12].copy_from_slice(&low.to_ne_bytes());
    parameters[24..28].copy_from_slice(&limit.to_ne_bytes());
    parameters
}

/// `rate` in bits per second, of which the kernel takes whole bytes.
pub fn put(to: &mut Message, rate: u64, burst: u32, limit: u32, overhead: i32) -> &'static str {
    to.text(TCA_KIND, "tbf").nest(TCA_OPTIONS, &[], |options| {
        options.attr(TCA_TBF_PARMS, &parameters(rate / 8, limit));
        options.u64(TCA_TBF_RATE64, rate / 8).u32(TCA_TBF_BURST, burst);
    });
    put_overhead(to, overhead);
    "tbf"
}
