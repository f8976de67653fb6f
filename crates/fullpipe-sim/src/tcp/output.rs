//! Sending: what cwnd, window and Nagle allow, in skbs as they were written.
//!
//! Source: Linux 2.6.20 `tcp_write_xmit`, `tcp_cwnd_validate`, `tcp_cwnd_application_limited`,
//! `tcp_cwnd_restart`; 2.6.25, 2.6.28, 2.6.33 and 3.14 `tcp_tso_should_defer`.

use super::input::GSO_MAX_SIZE;
use super::profile::TsoDeferral;
use super::sender::{Sender, TimerKind, Writer};
use super::{CaState, Output, Transmission};

impl Sender {
    /// tcp_write_xmit and what follows it: sends what may go, validates cwnd, arms the timer.
    pub(super) fn write_xmit(&mut self, out: &mut dyn Output) {
        self.push_pending(false, out);
    }

    /// As `write_xmit`, but a partial last skb goes too (TCP_NAGLE_PUSH: before the writer sleeps,
    /// or when it has finished).
    pub(super) fn push_pending(&mut self, nagle_off: bool, out: &mut dyn Output) {
        let sent = self.send_while_allowed(u32::MAX, nagle_off, out);
        if sent > 0 {
            self.schedule_loss_probe(out);
            self.validate_cwnd(out);
        }
        self.check_probe_timer(out);
    }

    /// tcp_push_one: the first unsent skb, as far as it may go.
    pub(super) fn push_one(&mut self, out: &mut dyn Output) {
        if self.send_while_allowed(1, true, out) > 0 {
            self.validate_cwnd(out);
        }
    }

    /// A tail loss probe: the first unsent segment, even beyond cwnd.
    pub(super) fn push_beyond_cwnd(&mut self, out: &mut dyn Output) {
        let room = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        let Some(len) = self.queue.head().map(|head| head.min(self.mss)) else { return };
        if u64::from(len) <= room && self.send_head(len, out) {
            self.validate_cwnd(out);
        }
    }

    /// tcp_may_send_now.
    pub(super) fn may_send_now(&self) -> bool {
        self.allowed_head(false).is_some()
    }

    fn send_while_allowed(&mut self, most: u32, nagle_off: bool, out: &mut dyn Output) -> u32 {
        self.refused = false;
        let mut sent = 0;
        while sent < most {
            let Some(len) = self.allowed_head(nagle_off) else { break };
            if most > 1 && self.defers(out) {
                break;
            }
            if !self.send_head(len, out) {
                break;
            }
            if !len.is_multiple_of(self.mss) {
                self.snd_sml = self.snd_nxt;
            }
            sent += 1;
        }
        sent
    }

    /// How many bytes of the first unsent skb may go now.
    fn allowed_head(&self, nagle_off: bool) -> Option<u32> {
        let head = self.queue.head()?;
        let quota = self.cwnd().saturating_sub(self.in_flight());
        if quota == 0 || !self.is_established {
            return None;
        }
        let window_end = self.snd_una + self.snd_wnd;
        if self.snd_nxt + u64::from(head.min(self.mss)) > window_end {
            return None;
        }
        if head <= self.mss {
            return (nagle_off || self.nagle_allows(head)).then_some(head);
        }
        let room = (window_end - self.snd_nxt).min(u64::from(u32::MAX)) as u32;
        let quota_bytes = u64::from(quota) * u64::from(self.mss);
        let whole = u64::from(head.min(room)).min(quota_bytes) as u32;
        // Only whole segments leave a larger skb; its partial end stays behind.
        Some(whole - whole % self.mss)
    }

    /// Nagle's rule in Minshall's form: a partial segment waits only while another one is in
    /// flight (Linux 2.6.20 `tcp_nagle_check`).
    fn nagle_allows(&self, len: u32) -> bool {
        // Not during F-RTO, which needs something to be sent (RFC 4138).
        len >= self.mss
            || self.recovery.frto_counter == 2
            || self.board.packets_out == 0
            || self.snd_sml <= self.snd_una
    }

    /// tcp_tso_should_defer: a large skb of which too little may go now waits for the next ACK.
    fn defers(&mut self, out: &dyn Output) -> bool {
        let now = self.jiffies(out.now());
        let rule = self.profile.tso_deferral;
        let defers = rule != TsoDeferral::Never && self.should_defer(now);
        let since = self.tso_deferred.filter(|_| rule == TsoDeferral::Once);
        self.tso_deferred = defers.then(|| since.unwrap_or(now));
        defers
    }

    fn should_defer(&self, now: u32) -> bool {
        let Some(head) = self.queue.head().filter(|&head| head > self.mss) else { return false };
        // Not for more than a tick.
        let waited = self.tso_deferred.is_some_and(|since| now - since > 1);
        if self.ca_state != CaState::Open || waited {
            return false;
        }
        let mss = u64::from(self.mss);
        let quota = u64::from(self.cwnd().saturating_sub(self.in_flight()));
        let room = (self.snd_una + self.snd_wnd).saturating_sub(self.snd_nxt);
        let limit = room.min(quota * mss);
        let rule = self.profile.tso_deferral;
        let last = self.queue.tail_is_only() || rule == TsoDeferral::Any;
        let whole = !last && limit >= u64::from(head);
        let full = match rule {
            TsoDeferral::Once => GSO_MAX_SIZE.min(u64::from(self.size_goal())),
            _ => GSO_MAX_SIZE,
        };
        let chunk = self.snd_wnd.min(u64::from(self.cwnd()) * mss);
        let share = limit >= chunk / u64::from(self.profile.tso_win_divisor);
        !(limit >= full || whole || share)
    }

    pub(super) fn send_head(&mut self, len: u32, out: &mut dyn Output) -> bool {
        let now = self.jiffies(out.now());
        self.restart_after_idle(now);
        let seq = self.snd_nxt;
        let stamp = self.stamp(out.now());
        let skb = Transmission { seq, len, retransmission: false, tsval: self.tsval(now) };
        if !out.transmit(skb) {
            self.counters.refused += 1;
            self.enter_cwr(out.now());
            self.refused = true;
            return false;
        }
        self.queue.send(len, seq, stamp, self.mss);
        let segments = len.div_ceil(self.mss);
        self.counters.segments_sent += u64::from(segments);
        self.snd_nxt += u64::from(len);
        let first = self.board.packets_out == 0;
        self.board.packets_out += segments;
        self.count_prr_out(segments);
        if self.frto_suspends_nagle() {
            // For one segment alone.
            self.recovery.frto_counter = 3;
        }
        self.lsndtime = now;
        if first || self.timer.is_none() {
            let timeout = self.rtt.timeout();
            self.start_timer(TimerKind::Retransmit, out.now(), timeout);
        }
        true
    }

    /// tcp_cwnd_restart: after an idle time of more than one RTO, cwnd decays by half per RTO.
    fn restart_after_idle(&mut self, now: u32) {
        let mut idle = now.saturating_sub(self.lsndtime);
        let rto = self.rtt.rto;
        if !self.sysctl.tcp_slow_start_after_idle || self.board.packets_out > 0 || idle <= rto {
            return;
        }
        let restart = self.profile.initial_cwnd.packets(self.mss).min(self.cwnd());
        let ssthresh = self.current_ssthresh();
        let mut cwnd = self.cwnd();
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

    /// tcp_current_ssthresh: what slow start may trust to if cwnd shrinks without congestion.
    pub(super) fn current_ssthresh(&self) -> u32 {
        if matches!(self.ca_state, CaState::Cwr | CaState::Recovery) {
            return self.ssthresh();
        }
        self.ssthresh().max((self.cwnd() >> 1) + (self.cwnd() >> 2))
    }

    /// tcp_cwnd_validate (RFC 2861).
    fn validate_cwnd(&mut self, out: &dyn Output) {
        let now = self.jiffies(out.now());
        let packets_out = self.board.packets_out;
        if packets_out >= self.cwnd() {
            self.cwnd_used = 0;
            self.cc.sock_mut().snd_cwnd_stamp = now;
            return;
        }
        self.cwnd_used = self.cwnd_used.max(packets_out);
        let shrinks = self.sysctl.tcp_slow_start_after_idle || !self.profile.idle_sysctl_validates;
        if shrinks && now.saturating_sub(self.cc.sock().snd_cwnd_stamp) >= self.rtt.rto {
            self.reduce_unused_cwnd(now);
        }
    }

    fn reduce_unused_cwnd(&mut self, now: u32) {
        if self.ca_state == CaState::Open && self.writer != Writer::NoSpace {
            let used = self.cwnd_used.max(self.profile.initial_cwnd.packets(self.mss));
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
}
