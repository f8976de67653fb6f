//! Handshake of a sending endpoint: its negotiated options, its RTT, and the first cwnd.
//!
//! Source: Linux 6.12 `tcp_finish_connect`, `tcp_rcv_state_process`, `tcp_init_transfer`, `tcp_init_cwnd`.

use super::metrics::Metrics;
use super::{SYN_CWND, Sender};
use crate::tcp::profile::{RepeatedSyn, SndTuning};
use crate::units::Time;
use fullpipe_base::tcp::INFINITE_SSTHRESH;

impl Sender {
    /// Sets whether both ends use ECN, before the handshake ends.
    pub fn use_ecn(&mut self, agreed: bool) {
        self.ecn.agreed = agreed;
    }

    /// Takes the timestamp of a SYN-ACK, which the first data echoes, or of an ACK on the fast path (tcp_store_ts_recent).
    pub fn take_timestamp(&mut self, tsval: u32) {
        self.ts_recent = self.ts_recent.max(tsval);
    }

    /// Samples the RTT by the SYN-ACK's echo, where the SYN was repeated and timestamps are used.
    pub fn sample_handshake_rtt(&mut self, now: Time, tsecr: u32) {
        if self.timestamps && tsecr != 0 {
            let units = self.echo_units(tsecr, now);
            self.rtt.sample(units, 0, 0);
            self.pacing.min_rtt.take(self.jiffies(now), units.max(1));
        }
    }

    /// Notes how often the SYN was repeated, and whether the answer was to the first one and only late
    /// ([`RepeatedSyn`]). Call it before [`Sender::established`].
    pub fn repeated_syn(&mut self, times: u32, late: bool) {
        self.cut_by_syn = times > 1
            && match self.profile.repeated_syn {
                RepeatedSyn::Ignored => false,
                RepeatedSyn::OneSegment => true,
                RepeatedSyn::UnlessLate => !late,
            };
    }

    /// Handles the SYN-ACK. `window` is its unscaled window. `sent` is the time of the SYN, unless it was repeated.
    /// `cached` are the metrics of an earlier connection to the same host.
    pub fn established(
        &mut self,
        now: Time,
        window: u64,
        sent: Option<Time>,
        cached: Option<&Metrics>,
    ) {
        self.open(now, window, sent);

        // The SYN-ACK acknowledges the SYN, so tcp_ack sets the pace by the cwnd of that time.
        if !self.profile.cwnd_first() && !self.is_controlled() {
            self.update_pacing_rate();
        }

        self.init_transfer(now, cached);
        if self.profile.cwnd_first() {
            self.update_early_pacing_rate();
        }
    }

    /// Handles the ACK of this end's SYN-ACK, which accepts the connection. `window` is offered. `sent` is the time of
    /// the SYN-ACK, unless it was repeated. `cached` are the metrics of an earlier connection to the same host.
    pub fn accepted(
        &mut self,
        now: Time,
        window: u64,
        sent: Option<Time>,
        cached: Option<&Metrics>,
    ) {
        self.suspend_search();
        self.open(now, window, sent);
        // The peer's first number is that of its ACK; a SYN-ACK has the one before (tcp_init_wl).
        self.seq.note_window_of(0);
        self.init_transfer(now, cached);

        // An accepted socket had no packet out, so the first cwnd (`tcp_init_transfer`) sets its first pace (6.1 and 6.12
        // `tcp_rcv_state_process`, TCP_SYN_RECV).
        if self.profile.cwnd_first() {
            self.update_early_pacing_rate();
        } else if !self.is_controlled() {
            self.update_pacing_rate();
        }
    }

    /// Opens the connection with a window and perhaps an RTT. cwnd is still that of a socket that has sent no data.
    fn open(&mut self, now: Time, window: u64, sent: Option<Time>) {
        self.is_established = true;
        self.seq.offer(window);
        self.seq.forget_max_wnd();
        self.note_window(window);

        if let Some(sent) = sent {
            let units = self.rtt_units(sent, now);
            self.rtt.sample(units, 0, 0);
            let jiffies = self.jiffies(now);
            self.pacing.min_rtt.take(jiffies, now.us_since(sent).max(1) as u32);
        }

        let sock = self.cc.sock_mut();
        sock.mss_cache = self.mss;
        sock.snd_cwnd = if self.cut_by_syn { 1 } else { SYN_CWND };
        sock.snd_ssthresh = INFINITE_SSTHRESH;
        sock.snd_cwnd_clamp = u32::MAX;
    }

    /// tcp_init_transfer: cwnd by the route and the cache, the congestion control, the send buffer.
    fn init_transfer(&mut self, now: Time, cached: Option<&Metrics>) {
        let first = if self.cut_by_syn { 1 } else { self.initial_cwnd() };
        self.cc.sock_mut().snd_cwnd = first;
        self.lsndtime = self.jiffies(now);
        self.init_path_mtu(now);
        if let Some(cached) = cached {
            self.take_metrics(cached);
        }
        self.sync_clock(now);
        self.cc.init();
        self.obey_control();
        self.cc.sock_mut().snd_cwnd_stamp = self.jiffies(now);
        if self.profile.snd_tuning == SndTuning::Frames {
            self.expand_sndbuf();
        }
    }

    /// tcp_init_cwnd: cwnd of the route, or the kernel's own.
    pub(super) fn initial_cwnd(&self) -> u32 {
        self.initcwnd.unwrap_or_else(|| self.profile.initial_cwnd.packets(self.mss))
    }
}
