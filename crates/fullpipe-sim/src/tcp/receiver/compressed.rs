//! Compressed SACKs: the first three segments beyond a hole are acknowledged at once, the others together. The timer
//! fires at the end of its slack, or earlier with another timer of the softirq (Linux 6.12 `hrtimer_start_range_ns`,
//! `hrtimer_run_softirq`). So ACKs of several flows leave together.
//!
//! Source: Linux 4.18 and 6.12 `__tcp_ack_snd_check`, `tcp_compressed_ack_kick`, `tcp_event_ack_sent`.
//!
//! Limits:
//! - Timers of one host fire together within their slack of 100 us. In engine `linux` both hosts share a CPU and its
//!   timers. So runs with losses both ways, or with losses of a flow that TCP paces, may diverge for good
//!   (docs/how-true.md has cases). With `tcp_comp_sack_slack_ns` = 0 they do not (scenarios/parity/bbr.toml).

use crate::config::Sysctl;
use crate::units::Time;

/// Immediate ACKs per hole, as many as fast retransmit needs (TCP_FASTRETRANS_THRESH).
const AT_ONCE: u32 = 3;
/// `tcp_comp_sack_nr` unless set: most ACKs that one ACK replaces.
const MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns` unless set.
const LONGEST: Time = Time::ms(1);
/// `tcp_comp_sack_slack_ns` unless set.
const SLACK: Time = Time::us(100);
/// Divisor of the RTT for the wait.
const SHARE: u64 = 20;

/// Slack of the end of a wait for more SACKs, on a host (`tcp_comp_sack_slack_ns`).
pub fn slack(sysctl: &Sysctl) -> Time {
    sysctl.tcp_comp_sack_slack_ns.map_or(SLACK, |ns| Time(ns.into()))
}

/// State of compressed ACKs.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Compressed {
    /// Most ACKs that one replaces.
    most: u32,
    /// Longest wait.
    longest: Time,
    /// Slack of its end.
    slack: Time,
    /// ACKs that were not sent (compressed_ack).
    held: u32,
    /// Immediate ACKs while `rcv_nxt` had this value (dup_ack_counter, compressed_ack_rcv_nxt).
    at_once: u32,
    rcv_nxt: u64,
    /// Time at which one ACK is sent for all held ones.
    pub(in crate::tcp) due: Option<Time>,
}

impl Compressed {
    /// State without held ACKs, on a host with these sysctls.
    pub(in crate::tcp) fn new(sysctl: &Sysctl) -> Compressed {
        Compressed {
            most: sysctl.tcp_comp_sack_nr.unwrap_or(MOST),
            longest: sysctl.tcp_comp_sack_delay_ns.map_or(LONGEST, |ns| Time(ns.into())),
            slack: slack(sysctl),
            held: 0,
            at_once: 0,
            rcv_nxt: 0,
            due: None,
        }
    }

    /// Handles a segment beyond a hole; returns whether its ACK is sent at once. `rtt_us8` is the RTT as far as it is
    /// known, us x 8.
    pub(in crate::tcp) fn acks_now(&mut self, now: Time, rcv_nxt: u64, rtt_us8: u64) -> bool {
        if self.held >= self.most {
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
            let wait = self.longest.min(Time(rtt_us8 * 125 / SHARE));
            self.due = Some(now + wait + self.slack);
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
        self.held > 0 && self.due.is_some_and(|due| due <= now + self.slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SYSCTL: Sysctl = Sysctl::LINUX_2_6_20;

    #[test]
    fn the_first_three_go_and_then_one_for_many() {
        let mut acks = Compressed::new(&SYSCTL);
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
        let mut acks = Compressed::new(&SYSCTL);
        let at_once = (0..60).filter(|&i| acks.acks_now(Time::us(i), 1000, 8_000_000)).count();
        assert_eq!(at_once, 3 + (60 - 3 - 44), "none has been sent in this test");
    }

    #[test]
    fn sysctls_bound_the_wait_and_its_slack() {
        let sysctl = Sysctl {
            tcp_comp_sack_delay_ns: Some(200_000),
            tcp_comp_sack_slack_ns: Some(0),
            ..SYSCTL
        };
        let mut acks = Compressed::new(&sysctl);
        (0..4).for_each(|i| _ = acks.acks_now(Time::us(i), 1000, 80_000));
        assert_eq!(acks.due, Some(Time::us(3 + 200)));
        assert!(!acks.is_due(Time::us(202)) && acks.is_due(Time::us(203)));
    }

    #[test]
    fn none_is_held_where_one_stands_for_none() {
        let mut acks = Compressed::new(&Sysctl { tcp_comp_sack_nr: Some(0), ..SYSCTL });
        assert!((0..60).all(|i| acks.acks_now(Time::us(i), 1000, 80_000)));
        assert!(!acks.holds());
    }
}
