//! Parts of messages that wait in a sender although the windows have room: Nagle's rule or TCP_CORK holds them back.
//!
//! Samples show such a part as unsent data below one segment, while cwnd and the receiver's window would let it go.

use super::lookup::FlowTrace;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;

/// Least time beyond a round trip that is a delayed ACK, s: TCP_DELACK_MIN less a tick or two.
pub const DELAYED_S: f64 = 0.036;

/// Time for which a sender has held back parts of messages, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldParts {
    /// By Nagle's rule: earlier data was in flight.
    pub by_nagle_s: f64,
    /// By TCP_CORK: nothing was in flight.
    pub by_cork_s: f64,
}

impl HeldParts {
    /// Time for which the sender of a flow with segments of `mss` bytes has held back parts.
    pub fn of(flow: &FlowTrace, mss: u32) -> HeldParts {
        let mut held = HeldParts::default();
        let mut before = Time::ZERO;

        // Each sample stands for the time since the one before.
        for sample in &flow.samples {
            let lasted = sample.time.saturating_sub(before).as_secs_f64();
            before = sample.time;
            match holder(sample, mss) {
                Some(Holder::Nagle) => held.by_nagle_s += lasted,
                Some(Holder::Cork) => held.by_cork_s += lasted,
                None => {}
            }
        }
        held
    }

    /// Both together, s.
    pub fn all_s(&self) -> f64 {
        self.by_nagle_s + self.by_cork_s
    }
}

/// Holder of a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nagle's rule: earlier data is in flight.
    Nagle,
    /// TCP_CORK.
    Cork,
}

/// Holder of the part that waits at a sample; none where no part waits that both windows have room for.
pub fn holder(sample: &FlowSample, mss: u32) -> Option<Holder> {
    let sent = sample.bytes_sent.saturating_sub(sample.bytes_retransmitted);
    let in_flight = sent.saturating_sub(sample.bytes_acked);
    let is_part = sample.unsent > 0 && sample.unsent < u64::from(mss);
    let is_held = is_part
        && sample.in_flight < sample.cwnd
        && in_flight.saturating_add(sample.unsent) <= sample.snd_wnd;
    is_held.then_some(if sample.in_flight > 0 { Holder::Nagle } else { Holder::Cork })
}
