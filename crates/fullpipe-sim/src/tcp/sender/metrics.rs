//! Metrics that a connection leaves for the next one to the same host: ssthresh, cwnd, RTT, reordering.
//!
//! Source: Linux 2.6.20 `tcp_update_metrics`, `tcp_init_metrics`; off with sysctl tcp_no_metrics_save = 1. A cached
//! cwnd limits nothing there (only a locked one would), so it is not kept. Since 3.6 fewer connections leave their
//! reordering (`caches_any_reordering`). 3.14 and 6.12 (`tcp_metrics.c`) take over fewer metrics (`CachedMetrics`).

use super::Sender;
use crate::tcp::CaState;
use crate::tcp::profile::CachedMetrics;
use crate::tcp::rtt::Rtt;

/// Metrics of a host; 0 means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Smoothed RTT, units x 8.
    rtt: u32,
    /// Mean deviation, in the estimator's scale.
    rttvar: u32,
    /// Slow start threshold, packets.
    ssthresh: u32,
    /// Reordering, packets.
    reordering: u32,
}

/// Bound from which on ssthresh counts as infinite (Linux 2.6.20 `tcp_update_metrics`).
const SSTHRESH_UNSET: u32 = 0xffff;

impl Metrics {
    /// Sets an end's estimator by the cached RTT, after the handshake has sampled one.
    pub(in crate::tcp) fn apply_rtt(
        &self,
        taken: CachedMetrics,
        timestamps: bool,
        rtt: &mut Rtt,
        snd_nxt: u64,
    ) {
        if taken != CachedMetrics::Own {
            rtt.take_cached_timeout(self.rtt);
        } else if self.rtt > 0 && rtt.srtt > 0 && timestamps {
            // Without timestamps TCP would never notice that a timeout is too short.
            rtt.take_cached(self.rtt, self.rttvar, snd_nxt);
        }
    }
}

impl Sender {
    /// Stores the metrics of a finished connection in `cache`.
    pub fn leave_metrics(&self, cache: &mut Metrics) {
        if self.sysctl.tcp_no_metrics_save {
            return;
        }
        if self.rtt.backoff > 0 || self.rtt.srtt == 0 {
            cache.rtt = 0;
            return;
        }
        self.leave_rtt(cache);
        self.leave_ssthresh(cache);
        let at_rest = self.ssthresh() >= SSTHRESH_UNSET
            || self.cwnd() >= self.ssthresh() && self.ca_state == CaState::Open;
        let leaves_reordering = self.profile.caches_any_reordering || !at_rest;
        if leaves_reordering && self.recovery.reordering != self.sysctl.tcp_reordering {
            cache.reordering = cache.reordering.max(self.recovery.reordering);
        }
    }

    fn leave_ssthresh(&self, cache: &mut Metrics) {
        let (cwnd, ssthresh) = (self.cwnd(), self.ssthresh());
        if ssthresh >= SSTHRESH_UNSET {
            if cache.ssthresh > 0 {
                cache.ssthresh = cache.ssthresh.max(cwnd >> 1);
            }
        } else if cwnd > ssthresh && self.ca_state == CaState::Open {
            cache.ssthresh = ssthresh.max(cwnd >> 1);
        } else if cache.ssthresh > 0 {
            cache.ssthresh = cache.ssthresh.max(ssthresh);
        }
    }

    /// Stores a longer RTT as it is, a shorter one by an eighth.
    fn leave_rtt(&self, cache: &mut Metrics) {
        let difference = i64::from(cache.rtt) - i64::from(self.rtt.srtt);
        match difference {
            ..=0 => cache.rtt = self.rtt.srtt,
            _ => cache.rtt -= (difference >> 3) as u32,
        }
        let deviation = ((difference.unsigned_abs() >> 1) as u32).max(self.rtt.mdev);
        match deviation.cmp(&cache.rttvar) {
            core::cmp::Ordering::Less => cache.rttvar -= (cache.rttvar - deviation) >> 2,
            _ => cache.rttvar = deviation,
        }
    }

    /// Takes the cached metrics of the host, at the start of a connection.
    pub(in crate::tcp) fn take_metrics(&mut self, cached: &Metrics) {
        let taken = self.profile.cached_metrics;
        if cached.ssthresh > 0 && taken != CachedMetrics::TimeoutAlone {
            self.cc.sock_mut().snd_ssthresh = cached.ssthresh;
        }
        if cached.reordering > 0 && cached.reordering != self.recovery.reordering {
            self.recovery.fack = false;
            self.recovery.reordering = cached.reordering;
        }
        cached.apply_rtt(taken, self.timestamps, &mut self.rtt, self.seq.nxt());
    }

    /// Whether all data was written and acknowledged.
    pub fn is_finished(&self) -> bool {
        let sent = self.queue.head().is_none() && self.board.packets_out == 0;
        self.app.writer() == crate::tcp::sender::Writer::Done && sent
    }
}
