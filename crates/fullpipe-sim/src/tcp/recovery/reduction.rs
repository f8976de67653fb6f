//! Reduction of cwnd: rate halving, proportional rate reduction (PRR), moderation.
//!
//! Source: Linux 2.6.20 and 2.6.24 `tcp_enter_cwr`, `tcp_cwnd_down`, `tcp_complete_cwr`, `tcp_moderate_cwnd`, 2.6.26
//! `tcp_max_burst`. PRR: RFC 6937, Linux 3.2 (in Recovery) and 3.7 (in CWR too) `tcp_init_cwnd_reduction`,
//! `tcp_cwnd_reduction`, `tcp_end_cwnd_reduction`.
//!
//! Limits:
//! - PRR leaves a cwnd of at least one packet.

use crate::cc::Event;
use crate::tcp::ack::classic::Flags;
use crate::tcp::profile::{HalvingStep, MaxBurst, PrrBound, Reduction};
use crate::tcp::sender::{INFINITE_SSTHRESH, Sender};
use crate::tcp::{CaState, Output};
use crate::units::Time;

impl Sender {
    /// Kind of reduction; since 4.6 there is only one.
    fn reduction(&self) -> Reduction {
        if self.profile.cwnd_first() { self.profile.reduction } else { Reduction::Prr }
    }

    pub(super) fn reduce_ssthresh(&mut self) {
        let ssthresh = self.cc.ssthresh();
        let sock = self.cc.sock_mut();
        sock.snd_ssthresh = ssthresh;
        sock.snd_cwnd_cnt = 0;
    }

    /// Reduces cwnd without a loss, after local congestion or a receiver's report of a mark. It happens once until all
    /// packets in flight are acknowledged.
    pub(in crate::tcp) fn enter_cwr(&mut self, now: Time) {
        self.recovery.prior_ssthresh = 0;

        // tcp_enter_cwr does nothing in CWR, Recovery and Loss: cwnd falls once per window.
        if self.ca_state >= CaState::Cwr {
            return;
        }
        self.sync_clock(now);
        self.recovery.undo_marker = None;
        self.begin_reduction(true);
        if self.reduction() == Reduction::RateHalving {
            self.limit_cwnd(self.in_flight() + 1, now);
        }
        self.set_ca_state(CaState::Cwr);
    }

    fn limit_cwnd(&mut self, limit: u32, now: Time) {
        let stamp = self.jiffies(now);
        let sock = self.cc.sock_mut();
        sock.snd_cwnd = sock.snd_cwnd.min(limit);
        sock.snd_cwnd_stamp = stamp;
    }

    /// tcp_init_cwnd_reduction; ssthresh falls unless a reduction is in progress.
    pub(super) fn begin_reduction(&mut self, set_ssthresh: bool) {
        self.recovery.high_seq = self.seq.nxt();
        self.recovery.tlp_high_seq = None;
        self.ecn.reduce();
        let cwnd = self.cwnd();
        let sock = self.cc.sock_mut();
        (sock.snd_cwnd_cnt, sock.prior_cwnd) = (0, cwnd);
        (self.recovery.prior_cwnd, self.recovery.prr_delivered, self.recovery.prr_out) =
            (cwnd, 0, 0);
        if set_ssthresh {
            self.reduce_ssthresh();
        }
    }

    /// Begins the reduction with Recovery, in kernels before 4.6. `first`: none was in progress.
    pub(super) fn begin_recovery_reduction(&mut self, first: bool) {
        match self.reduction() {
            Reduction::RateHalving => {
                self.recovery.high_seq = self.seq.nxt();
                if first {
                    self.reduce_ssthresh();
                }
                self.cc.sock_mut().snd_cwnd_cnt = 0;
            }
            Reduction::Prr if first => self.begin_reduction(true),
            Reduction::Prr => {}
        }
    }

    /// Reduces cwnd by one ACK in CWR or Recovery; `fast`: Recovery has just begun.
    pub(super) fn reduce_cwnd(&mut self, flags: &Flags, fast: bool, out: &impl Output) {
        match self.reduction() {
            Reduction::RateHalving => self.cwnd_down(flags, out),
            Reduction::Prr => self.cwnd_reduction(fast),
        }
    }

    /// Rate halving: takes one packet off cwnd for every second ACK, and keeps cwnd at or below the packets in flight +
    /// 1.
    fn cwnd_down(&mut self, flags: &Flags, out: &impl Output) {
        let counts = match self.profile.halving_step {
            HalvingStep::AnyAck => true,
            HalvingStep::Progress => {
                flags.any_progress() || flags.dsacking || self.is_reno() && !flags.not_dup()
            }
        };
        if !counts {
            return;
        }

        // Every second ACK takes one packet off cwnd, down to tcp_cwnd_min.
        let floor = self.cc.min_cwnd();
        let sock = self.cc.sock_mut();
        let count = sock.snd_cwnd_cnt + 1;
        sock.snd_cwnd_cnt = count & 1;
        if count >> 1 > 0 && sock.snd_cwnd > floor {
            sock.snd_cwnd -= count >> 1;
        }
        self.limit_cwnd(self.in_flight() + 1, out.now());
    }

    /// PRR: while more than ssthresh is in flight, sent packets are a share of delivered ones. Below, cwnd slow-starts
    /// up to ssthresh.
    fn cwnd_reduction(&mut self, fast: bool) {
        let (in_flight, ssthresh) = (i64::from(self.in_flight()), i64::from(self.ssthresh()));
        let unsacked = self.board.packets_out.saturating_sub(self.board.sacked_out);
        let delivered = i64::from(self.recovery.prior_unsacked) - i64::from(unsacked);
        self.recovery.prr_delivered =
            (i64::from(self.recovery.prr_delivered) + delivered).max(0) as u32;
        let (all, out) = (i64::from(self.recovery.prr_delivered), i64::from(self.recovery.prr_out));
        let prior = i64::from(self.recovery.prior_cwnd.max(1));

        // Above ssthresh a share of delivered packets; below it slow start (RFC 6937, PRR-SSRB).
        let send = if in_flight > ssthresh {
            (ssthresh * all + prior - 1) / prior - out
        } else {
            (ssthresh - in_flight).min((all - out).max(delivered) + 1)
        };
        let send = send.max(i64::from(fast));
        self.cc.sock_mut().snd_cwnd = (in_flight + send).max(1) as u32;
    }

    /// Proportional rate reduction by packets that an ACK delivered and showed to be lost; `advances`: the ACK moves
    /// the window's left edge (6.12 `tcp_cwnd_reduction`).
    pub(in crate::tcp) fn reduce_by_delivered(
        &mut self,
        delivered: u32,
        lost: u32,
        advances: bool,
    ) {
        if delivered == 0 || self.recovery.prior_cwnd == 0 {
            return;
        }
        self.recovery.prr_delivered += delivered;
        let (in_flight, ssthresh) = (i64::from(self.in_flight()), i64::from(self.ssthresh()));
        let (all, out) = (i64::from(self.recovery.prr_delivered), i64::from(self.recovery.prr_out));
        let prior = i64::from(self.recovery.prior_cwnd);

        // Above ssthresh a share of delivered packets; below it a bound against bursts (prr_bound).
        let send = if in_flight > ssthresh {
            (ssthresh * all + prior - 1) / prior - out
        } else {
            let bound = (all - out).max(i64::from(delivered));
            let one_more = match self.profile.prr_bound {
                PrrBound::SlowStart => true,
                PrrBound::Delivered => advances && lost == 0,
            };
            (ssthresh - in_flight).min(bound + i64::from(one_more))
        };
        // The first retransmission is sent in any case.
        let send = send.max(i64::from(out == 0));
        self.cc.sock_mut().snd_cwnd = (in_flight + send).max(1) as u32;
    }

    /// Ends the reduction (tcp_complete_cwr, tcp_end_cwnd_reduction).
    pub(super) fn complete_cwr(&mut self, out: &impl Output) {
        if self.is_controlled() {
            return;
        }
        let stamp = self.jiffies(out.now());
        let cwr = self.ca_state == CaState::Cwr;
        let undoable = self.recovery.undo_marker.is_some();
        let reduction = self.reduction();
        let sock = self.cc.sock_mut();

        // A proportional reduction ends exactly at ssthresh; an undone one in Recovery leaves cwnd.
        match reduction {
            Reduction::RateHalving => {
                sock.snd_cwnd = sock.snd_cwnd.min(sock.snd_ssthresh);
                sock.snd_cwnd_stamp = stamp;
            }
            Reduction::Prr if sock.snd_ssthresh < INFINITE_SSTHRESH && (cwr || undoable) => {
                sock.snd_cwnd = sock.snd_ssthresh;
                sock.snd_cwnd_stamp = stamp;
            }
            Reduction::Prr => {}
        }
        self.emit_event(Event::CompleteCwr);
    }

    /// Limits cwnd to the packets in flight and a small burst.
    pub(super) fn moderate_cwnd(&mut self, out: &impl Output) {
        let burst = match self.profile.max_burst {
            MaxBurst::Three => 3,
            MaxBurst::Reordering => self.recovery.reordering,
        };
        self.limit_cwnd(self.in_flight() + burst, out.now());
    }

    /// Counts sent packets in a proportional reduction (tcp_in_cwnd_reduction).
    pub(in crate::tcp) fn count_prr_out(&mut self, packets: u32) {
        if matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            self.recovery.prr_out += packets;
        }
    }
}
