//! `tbf`: a token bucket, which gives a rate.

use super::{LINKLAYER_ETHERNET, TCA_KIND, TCA_OPTIONS, put_overhead};
use crate::netlink::message::Message;

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;

/// Nanoseconds of a tick, the unit of a bucket (PSCHED_SHIFT).
const TICK_NS: u64 = 64;

/// Burst of a rate: `burst` bytes, and the bytes of the rate in `ahead_ns`.
#[derive(Clone, Copy)]
pub struct Bucket {
    pub burst: u32,
    pub ahead_ns: u64,
}

impl Bucket {
    /// The time that it takes at a rate, in ticks, if that is no more than the kernel takes (`tbf_change`). In bytes the
    /// bucket of a slow rate could only be much larger: one byte takes 8 us at 1 Mb/s.
    fn ticks(self, bytes_per_second: u64) -> Option<u32> {
        let ns = (u64::from(self.burst) * 1_000_000_000).div_ceil(bytes_per_second.max(1));
        let ticks = u32::try_from((ns + self.ahead_ns).div_ceil(TICK_NS)).ok()?;
        (u64::from(ticks) * TICK_NS <= u32::MAX.into()).then_some(ticks)
    }
}

/// `struct tc_tbf_qopt`: rate and peak rate (`struct tc_ratespec`, 12 bytes each), limit, buffer, mtu.
fn parameters(bytes_per_second: u64, limit: u32, ticks: Option<u32>) -> [u8; 36] {
    let mut parameters = [0; 36];
    parameters[1] = LINKLAYER_ETHERNET;
    let low = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    parameters[8..12].copy_from_slice(&low.to_ne_bytes());
    parameters[24..28].copy_from_slice(&limit.to_ne_bytes());
    parameters[28..32].copy_from_slice(&ticks.unwrap_or(0).to_ne_bytes());
    parameters
}

/// `rate` is in bits per second; the kernel rounds it down to whole bytes.
pub fn put(to: &mut Message, rate: u64, bucket: Bucket, limit: u32, overhead: i32) -> &'static str {
    let ticks = bucket.ticks(rate / 8);
    to.text(TCA_KIND, "tbf").nest(TCA_OPTIONS, &[], |options| {
        options.attr(TCA_TBF_PARMS, &parameters(rate / 8, limit, ticks));
        options.u64(TCA_TBF_RATE64, rate / 8);
        if ticks.is_none() {
            options.u32(TCA_TBF_BURST, bucket.burst);
        }
    });
    put_overhead(to, overhead);
    "tbf"
}
