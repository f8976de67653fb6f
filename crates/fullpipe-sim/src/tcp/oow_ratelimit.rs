//! Rate limit of answers to refused packets.

use crate::jiffy_clock::JiffyClock;
use crate::units::Time;

/// Least time between two answers to packets without data (net.ipv4.tcp_invalid_ratelimit).
const INVALID_RATELIMIT: Time = Time::ms(500);

/// Jiffy of the last answer (last_oow_ack_time).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OowRatelimit(Option<u64>);

impl OowRatelimit {
    /// Whether another answer may go now, which is then the last one (6.12 `tcp_oow_rate_limited`).
    pub(super) fn allows(&mut self, now: Time, ticks: &JiffyClock) -> bool {
        let pause = INVALID_RATELIMIT.as_ns() / ticks.begin(1).as_ns().max(1);
        let now = ticks.at(now);
        let allows = self.0.is_none_or(|last| now - last >= pause);
        if allows {
            self.0 = Some(now);
        }
        allows
    }
}
