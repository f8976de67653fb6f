//! Compressed SACKs: the first three segments beyond a hole are acknowledged at once, the others together. The timer
//! fires at the end of its slack, or earlier with another timer of the softirq (Linux 6.12 `hrtimer_start_range_ns`,
//! `hrtimer_run_softirq`). So ACKs of several flows leave together.
//!
//! Source: Linux 4.18 and 6.12 `__tcp_ack_snd_check`, `tcp_compressed_ack_kick`, `tcp_event_ack_sent`.
//!
//! Limits:
//! - Timers of one host fire together within their slack of 100 us. In engine `linux` both hosts share a CPU and its
//!   timers. So runs with losses both ways may diverge for good (docs/how-true.md has cases).

use crate::units::Time;

/// Immediate ACKs per hole, as many as fast retransmit needs (TCP_FASTRETRANS_THRESH).
const AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr`: most ACKs that one ACK replaces.
const MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns`: the longest wait.
const LONGEST: Time = Time::ms(1);
/// `tcp_comp_sack_slack_ns`: slack of the wait's end.
pub const SLACK: Time = Time::us(100);
/// Divisor of the RTT for the wait.
const SHARE: u64 = 20;

/// State of compressed ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Compressed {
    /// ACKs that were not sent (compressed_ack).
    held: u32,
    /// Immediate ACKs while `rcv_nxt` had this value (dup_ack_counter, compressed_ack_rcv_nxt).
    at_once: u32,
    rcv_nxt: u64,
    /// Time at which one ACK is sent for all held ones.
    pub(in crate::tcp) due: Option<Time>,
}

impl Compressed {
    /// Handles a segment beyond a hole; returns whether its ACK is sent at once. `rtt_us8` is the RTT as far as it is
    /// known, us x 8.
    pub(in crate::tcp) fn acks_now(&mut self, now: Time, rcv_nxt: u64, rtt_us8: u64) -> bool {
        if self.held >= MOST {
            return true;
        }
        if self.rcv_nxt != rcv_nxt {
            (self.rcv_nxt, self.at_once) = (rcv_nxt, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return true;
        }
        self.held += 1;
        if self.due.is_none() {
            let wait = LONGEST.min(Time(rtt_us8 * 125 / SHARE));
            self.due = Some(now + wait + SLACK);
        }
        false
    }

    /// Whether ACKs are held.
    pub(in crate::tcp) fn holds(&self) -> bool {
        self.held > 0
    }

    /// Notes that an ACK was sent, for whatever reason.
    pub(in crate::tcp) fn on_ack_sent(&mut self) {
        (self.held, self.due) = (0, None);
    }

    /// Whether the ACK may be sent: the wait is over, or ends within the slack.
    pub(in crate::tcp) fn is_due(&self, now: Time) -> bool {
        self.held > 0 && self.due.is_some_and(|due| due <= now + SLACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_first_three_go_and_then_one_for_many() {
        let mut acks = Compressed::default();
        let at_once: Vec<bool> = (0..6).map(|i| acks.acks_now(Time::us(i), 1000, 80_000)).collect();
        assert_eq!(at_once, [true, true, true, false, false, false]);
        // A twentieth of 10 ms after the first held ACK, and the slack.
        assert_eq!(acks.due, Some(Time::us(3 + 500 + 100)));
        // Another timer releases the ACKs before the slack is over.
        assert!(!acks.is_due(Time::us(502)) && acks.is_due(Time::us(503)));
        acks.on_ack_sent();
        assert!(acks.due.is_none() && !acks.acks_now(Time::us(700), 1000, 80_000));
        assert!(acks.acks_now(Time::us(800), 2000, 80_000), "another hole");
    }

    #[test]
    fn one_stands_for_44_at_most() {
        let mut acks = Compressed::default();
        let at_once = (0..60).filter(|&i| acks.acks_now(Time::us(i), 1000, 8_000_000)).count();
        assert_eq!(at_once, 3 + (60 - 3 - 44), "none has been sent in this test");
    }
}
