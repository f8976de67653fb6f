//! Use of cwnd: whether it counts as used up, so that it may grow, and its decay while the application leaves it
//! unused.
//!
//! Source: Linux 2.6.20 `tcp_is_cwnd_limited`, `tcp_cwnd_validate`, `tcp_cwnd_application_limited`,
//! `tcp_cwnd_restart`; 3.16 and 6.12 `tcp_is_cwnd_limited`, `tcp_cwnd_validate`.
//!
//! Limits:
//! - The RTO that decides about idle time and unused cwnd has no backoff. Linux 6.12 doubles `icsk_rto` itself, which
//!   has an effect until the next sample of the RTT.

use super::{Sender, Writer};
use crate::cc::Event;
use crate::tcp::profile::CwndLimited;
use crate::tcp::{CaState, Output};
use crate::units::Time;
use fullpipe_base::tcp::GSO_MAX_SIZE;

/// Most unused packets with which cwnd counts as used up (3.14 `tcp_max_tso_deferred_mss`).
const MAX_TSO_DEFERRED: u32 = 3;

/// Use of cwnd since the start of the window that is in flight now.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct CwndUsage {
    /// Whether cwnd, and nothing else, stopped the sender (is_cwnd_limited).
    limited: bool,
    /// Most packets in flight (max_packets_out).
    packets: u32,
    /// `snd_nxt` at the start of that window (cwnd_usage_seq).
    from: u64,
}

impl Sender {
    /// tcp_is_cwnd_limited: whether an ACK may grow cwnd that found `in_flight` packets in flight.
    pub(in crate::tcp) fn is_cwnd_limited(&self, in_flight: u32) -> bool {
        let cwnd = self.cwnd();
        if self.profile.cwnd_limited == CwndLimited::Used {
            let slow_start = cwnd < self.ssthresh();
            return self.cwnd_usage.limited || slow_start && cwnd < 2 * self.cwnd_usage.packets;
        }
        if in_flight >= cwnd || self.profile.cwnd_limited == CwndLimited::Always {
            return true;
        }
        let left = cwnd - in_flight;
        let divisor = u64::from(self.profile.tso_win_divisor);
        let share = self.tso.is_on() && u64::from(left) * divisor < u64::from(cwnd);
        match self.profile.cwnd_limited {
            CwndLimited::Always | CwndLimited::Share | CwndLimited::Used => share,
            CwndLimited::ShareAndBytes => {
                let bytes = u64::from(left) * u64::from(self.mss);
                share && bytes < u64::from(GSO_MAX_SIZE) || left <= self.recovery.reordering
            }
            CwndLimited::ShareAndSizeGoal => {
                share && left < self.size_goal() / self.mss_now() || left <= MAX_TSO_DEFERRED
            }
        }
    }

    /// tcp_cwnd_validate, after a transmission or where cwnd forbade it (RFC 2861); `limited`: cwnd stopped the sender.
    pub(in crate::tcp) fn validate_cwnd(&mut self, limited: bool, time: Time) {
        let now = self.jiffies(time);
        let packets_out = self.board.packets_out;
        let used = if self.profile.cwnd_limited == CwndLimited::Used {
            self.note_usage(limited);
            self.is_cwnd_limited(self.in_flight())
        } else {
            packets_out >= self.cwnd()
        };
        if used {
            self.cwnd_used = 0;
            self.cc.sock_mut().snd_cwnd_stamp = now;
            return;
        }

        // tcp_cwnd_application_limited: cwnd unused for an RTO moves halfway to its use.
        self.cwnd_used = self.cwnd_used.max(packets_out);
        self.chrono_starving(time);
        let shrinks = self.sysctl.tcp_slow_start_after_idle || !self.profile.idle_sysctl_validates;
        let shrinks = shrinks && !self.is_controlled();
        if shrinks && now.saturating_sub(self.cc.sock().snd_cwnd_stamp) >= self.rtt.rto {
            self.reduce_unused_cwnd(now);
        }
    }

    /// Keeps the largest number of packets out of the present round trip (`tcp_cwnd_validate`); `limited`: cwnd stopped
    /// the sender.
    fn note_usage(&mut self, limited: bool) {
        let packets = self.board.packets_out;
        let usage = self.cwnd_usage;
        let more = !usage.limited && packets > usage.packets;
        if self.seq.una() >= usage.from || limited || more {
            self.cwnd_usage = CwndUsage { limited, packets, from: self.seq.nxt() };
        }
    }

    #[cold]
    fn reduce_unused_cwnd(&mut self, now: u32) {
        let lacks_space = self.app.lacks_space() || self.app.writer() == Writer::NoSpace;
        if self.ca_state == CaState::Open && !lacks_space {
            let used = self.cwnd_used.max(self.initial_cwnd());
            if used < self.cwnd() {
                let ssthresh = self.current_ssthresh();
                let sock = self.cc.sock_mut();
                sock.snd_ssthresh = ssthresh;
                sock.snd_cwnd = (sock.snd_cwnd + used) >> 1;
            }
            self.cwnd_used = 0;
        }
        self.cc.sock_mut().snd_cwnd_stamp = now;
    }

    /// tcp_cwnd_restart: halves cwnd for each RTO, after an idle time of more than one RTO.
    pub(in crate::tcp) fn restart_after_idle(&mut self, now: u32) {
        let mut idle = now.saturating_sub(self.lsndtime);
        let rto = self.rtt.rto;
        let restarts = self.sysctl.tcp_slow_start_after_idle && !self.is_controlled();
        if !restarts || self.board.packets_out > 0 || idle <= rto {
            return;
        }
        self.emit_event(Event::CwndRestart);
        let restart = self.initial_cwnd().min(self.cwnd());
        let ssthresh = self.current_ssthresh();
        let mut cwnd = self.cwnd();

        // RFC 2861: cwnd halves for each idle RTO, down to the first cwnd.
        while idle > rto && cwnd > restart {
            cwnd >>= 1;
            idle -= rto;
        }
        let sock = self.cc.sock_mut();
        sock.snd_ssthresh = ssthresh;
        sock.snd_cwnd = cwnd.max(restart);
        sock.snd_cwnd_stamp = now;
        self.cwnd_used = 0;
    }

    /// tcp_current_ssthresh: bound of slow start after cwnd shrinks without congestion.
    pub(in crate::tcp) fn current_ssthresh(&self) -> u32 {
        if matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            return self.ssthresh();
        }
        self.ssthresh().max((self.cwnd() >> 1) + (self.cwnd() >> 2))
    }

    /// Validates cwnd after a burst that cwnd may have stopped.
    pub(in crate::tcp) fn validate_after(&mut self, sent: u32, limited: bool, out: &impl Output) {
        let limited = limited || self.in_flight() >= self.cwnd();
        let unsent_too = limited && self.profile.cwnd_limited == CwndLimited::Used;
        if sent > 0 || unsent_too {
            self.validate_cwnd(limited, out.now());
        }
    }
}
