//! What an ACK does to the sender.
//!
//! Source: Linux 2.6.20 `tcp_ack`, `tcp_clean_rtx_queue`, `tcp_ack_no_tstamp`,
//! `tcp_may_update_window`, `tcp_is_cwnd_limited`.

use super::profile::PktsAcked;
use super::sender::{Sender, TimerKind};
use super::{Ack, CaState, Output};
use crate::cc::AckSample;

/// What was learned from one ACK (Linux's FLAG_ bits).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    pub(super) data_acked: bool,
    pub(super) window_updated: bool,
    pub(super) data_sacked: bool,
    pub(super) packets_acked: u32,
    pub(super) una_advanced: bool,
}

impl Sender {
    /// Takes an ACK in; whatever may be sent after it goes to `out`.
    pub fn on_ack(&mut self, ack: &Ack, out: &mut dyn Output) {
        self.counters.acks_received += 1;
        if ack.ack > self.snd_nxt {
            return;
        }
        let prior_in_flight = self.in_flight();
        let nothing_out = self.board.packets_out == 0;
        let learned = self.learn(ack, out);
        if nothing_out {
            self.on_probe_answer(out);
        } else {
            self.follow(ack, &learned, prior_in_flight, out);
        }
        self.write_xmit(out);
        self.autotune_sndbuf();
    }

    /// What an ACK means for cwnd, when something was in flight before it.
    fn follow(&mut self, ack: &Ack, learned: &Learned, prior_in_flight: u32, out: &mut dyn Output) {
        let dubious = !learned.data_acked && !learned.window_updated
            || learned.data_sacked
            || self.ca_state != CaState::Open;
        let reducing = matches!(self.ca_state, CaState::Cwr | CaState::Recovery);
        if learned.data_acked && !(dubious && reducing) {
            self.avoid_congestion(ack.ack, prior_in_flight, out);
        }
        if dubious {
            self.fastretrans_alert(learned, out);
        }
    }

    fn learn(&mut self, ack: &Ack, out: &dyn Output) -> Learned {
        let mut learned = Learned::default();
        if ack.ack > self.snd_una || ack.ack == self.snd_una && ack.window > self.snd_wnd {
            learned.window_updated = true;
            self.snd_wnd = ack.window;
            self.max_window = self.max_window.max(ack.window);
        }
        if let Some(sacks) = &ack.sacks {
            learned.data_sacked = self.take_sacks(sacks);
        }
        if ack.ack > self.snd_una {
            learned.una_advanced = true;
            learned.data_acked = true;
            learned.packets_acked = self.clean_rtx_queue(ack.ack, out);
        }
        learned
    }

    fn take_sacks(&mut self, sacks: &super::Sacks) -> bool {
        let mut newly = 0;
        for &(start, end) in &sacks.blocks[..sacks.count] {
            let (board, window) = self.board_and_window();
            newly += board.sack(start, end, window);
        }
        newly > 0
    }

    /// Frees what is acknowledged, measures, tells the congestion control, restarts the timer.
    fn clean_rtx_queue(&mut self, una: u64, out: &dyn Output) -> u32 {
        let now = self.jiffies(out.now());
        let before = self.board.packets_out;
        let (board, window) = self.board_and_window();
        let resent = board.acknowledge(una, window);
        let packets = before - self.board.packets_out;
        let freed = self.queue.acknowledge(una);
        self.snd_una = una;
        self.retransmits = 0;
        // Karn's rule; but timestamps echo the last time at which the first segment was sent.
        let sent = match self.timestamps {
            true => resent.first.or(freed.first_when),
            false => freed.first_when.filter(|_| !resent.any),
        };
        let sample = sent.map(|when| now - when);
        if let Some(jiffies) = sample {
            self.rtt.sample(jiffies, una, self.snd_nxt);
        }
        self.timer = None;
        if self.board.packets_out > 0 {
            let timeout = self.rtt.timeout();
            self.start_timer(TimerKind::Retransmit, out.now(), timeout);
        }
        self.tell_pkts_acked(packets, freed.skbs, sample, out);
        packets
    }

    fn tell_pkts_acked(&mut self, packets: u32, skbs: u32, jiffies: Option<u32>, out: &dyn Output) {
        let counted = match self.profile.pkts_acked {
            PktsAcked::Skbs => skbs,
            PktsAcked::Segments => packets,
        };
        // Only timestamp echoes tell an RTT to the congestion control in these kernels.
        let echoed = jiffies.filter(|_| self.timestamps);
        let us = echoed.map_or(-1, |j| (u64::from(j) * self.tick_ns / 1000) as i32);
        self.sync_clock(out.now());
        let sock = self.cc.sock_mut();
        sock.saw_tstamp = u32::from(echoed.is_some());
        sock.rcv_tsecr = echoed.map_or(0, |j| sock.jiffies - j);
        let in_flight = self.in_flight();
        self.cc.pkts_acked(&AckSample { pkts_acked: counted as i32, rtt_us: us, in_flight });
    }

    fn avoid_congestion(&mut self, ack: u64, prior_in_flight: u32, out: &dyn Output) {
        self.sync_clock(out.now());
        let limited = self.is_cwnd_limited(prior_in_flight);
        let sock = self.cc.sock_mut();
        sock.prior_in_flight = prior_in_flight;
        sock.is_cwnd_limited = limited.into();
        self.cc.cong_avoid(ack as u32, 1);
        let now = self.jiffies(out.now());
        self.cc.sock_mut().snd_cwnd_stamp = now;
    }

    /// tcp_is_cwnd_limited: with TSO also when less than a share of cwnd is unused.
    fn is_cwnd_limited(&self, in_flight: u32) -> bool {
        let cwnd = self.cwnd();
        if in_flight >= cwnd {
            return true;
        }
        self.tso && (cwnd - in_flight) * self.profile.tso_win_divisor < cwnd
    }
}
