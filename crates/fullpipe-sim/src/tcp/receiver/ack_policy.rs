//! Timing of ACKs: at once, at the second segment, or after a delay.
//!
//! Source: `tcp_event_data_recv`, `tcp_incr_quickack`, `tcp_dec_quickack_mode`, `__tcp_ack_snd_check`,
//! `tcp_send_delayed_ack`, read in Linux 2.6.20, 2.6.25, 2.6.32 and 3.14, which agree, and in 6.12. `tcp_delack_timer`
//! is that of 2.6.20, 3.14 and 6.12.

use crate::jiffy_clock::{Expiry, JiffyClock};
use crate::tcp::profile::{DelackMax, LockedTimers, Profile, TimerWheel};
use crate::tcp::rtt::Rtt;
use crate::units::Time;

/// Most segments acknowledged at once in a row (TCP_MAX_QUICKACKS).
const MAX_QUICKACKS: u32 = 16;
/// Divisor of hz for the first wait of a delayed ACK, hz / 25 ticks (TCP_ATO_MIN; TCP_DELACK_MIN is as long). Later
/// waits are up to hz / 2, after a small segment hz / 5 (TCP_DELACK_MAX), or the bound of newer kernels
/// ([`DelackMax`]).
const ATO_MIN_DIVISOR: u32 = 25;
const ATO_MAX_DIVISOR: u32 = 2;
const PUSHED_MAX_DIVISOR: u32 = 5;

/// Least TCP header and data of a segment that may show an MSS smaller than the largest one seen, bytes:
/// TCP_MSS_DEFAULT. Without the end of a burst TCP_MIN_MSS. Each counts with the least header.
const PLAUSIBLE: u32 = 536 + 20;
const PLAUSIBLE_INSIDE: u32 = 88 + 20;

/// Longest remembered wait, jiffies (6.12 `tcp_event_data_recv`, `tcp_delack_timer_handler`). 2.6.20 remembers any wait
/// up to the timeout.
fn ato_max(hz: u32, profile: &Profile) -> u32 {
    match profile.delack_max {
        DelackMax::Half | DelackMax::Fifth => u32::MAX,
        DelackMax::BelowRtoMin => hz / PUSHED_MAX_DIVISOR,
    }
}

/// Longest wait of a delayed ACK, jiffies (6.12 `tcp_delack_max`).
fn delack_max(hz: u32, profile: &Profile) -> u32 {
    let fifth = hz / PUSHED_MAX_DIVISOR;
    let rto_min = (u64::from(hz) * profile.rto_min_ms / 1000) as u32;
    match profile.delack_max {
        DelackMax::Half => hz / ATO_MAX_DIVISOR,
        DelackMax::Fifth => fifth,
        DelackMax::BelowRtoMin => fifth.min(rto_min.max(2) - 1),
    }
}

/// The receiver's ACK clock. Fields keep Linux's names (icsk_ack).
#[derive(Clone, Debug)]
pub struct AckPolicy {
    hz: u32,
    ticks: JiffyClock,
    wheel: TimerWheel,
    /// Segments still to be acknowledged at once.
    pub quick: u32,
    /// Whether quick ACKs are off, because own data carries ACKs or the stream has ended (icsk_ack.pingpong).
    pingpong: bool,
    /// Whether the next ACK is sent at once (ICSK_ACK_NOW).
    pub now: bool,
    /// Delayed ACK's timeout, jiffies; 0 before the first data.
    ato: u32,
    lrcvtime: u32,
    /// RTT by the handshake.
    pub rtt: Rtt,
    /// Estimated bytes of a segment: the largest size, or the size of two in a row.
    pub rcv_mss: u32,
    /// Bytes of the last segment, if it was a smaller one.
    last_seg_size: u32,
    /// Bytes of a TCP header.
    header: u32,
    push_asks_ack: bool,
    quick_by_data: bool,
    answers_bear_acks: bool,
    /// Largest `ato`, jiffies.
    ato_max: u32,
    /// Longest wait of an ACK, jiffies.
    delack_max: u32,
    /// Whether data arrived since the last ACK (ICSK_ACK_SCHED).
    scheduled: bool,
    /// Whether a segment smaller than the largest, or one that ends a burst, arrived since the last ACK
    /// (ICSK_ACK_PUSHED).
    pub pushed: bool,
    /// Whether a second small one arrived (ICSK_ACK_PUSHED2).
    pushed_twice: bool,
    /// Time at which the delayed ACK is due.
    pub timer: Option<Time>,
    /// Expiry of the kernel's timer. An ACK does not stop the timer, so it may fire without effect.
    pub expiry: Option<Expiry>,
    /// Whether the timer found the socket locked since the last ACK (icsk_ack.blocked).
    pub blocked: bool,
}

impl AckPolicy {
    /// ACK clock before the first data segment, for TCP headers of `header` bytes.
    pub fn new(hz: u32, mss: u32, header: u32, profile: &Profile) -> AckPolicy {
        AckPolicy {
            hz,
            ticks: JiffyClock::jiffies(hz),
            wheel: profile.timer_wheel,
            quick: 0,
            pingpong: false,
            now: false,
            ato: 0,
            lrcvtime: 0,
            rtt: Rtt::new(hz, profile),
            // The first guess is the least MSS that every host must take (TCP_MIN_RCVMSS).
            rcv_mss: mss.min(536),
            last_seg_size: 0,
            header,
            push_asks_ack: profile.push_asks_ack,
            quick_by_data: profile.quick_by_data,
            answers_bear_acks: profile.answers_bear_acks,
            ato_max: ato_max(hz, profile),
            delack_max: delack_max(hz, profile),
            scheduled: false,
            pushed: false,
            pushed_twice: false,
            timer: None,
            expiry: None,
            blocked: false,
        }
    }

    /// Begins the count of gaps between segments, when the connection is established (6.12 `tcp_create_openreq_child`,
    /// `tcp_finish_connect`).
    pub fn begin(&mut self, now: Time) {
        self.lrcvtime = self.ticks.at(now) as u32;
    }

    fn ato_min(&self) -> u32 {
        (self.hz / ATO_MIN_DIVISOR).max(1)
    }

    /// Estimates the size of segments from one of `len` bytes, whose SACK blocks take `options` bytes more
    /// (tcp_measure_rcv_mss); `push`: it ends a burst.
    pub fn measure(&mut self, len: u32, options: u32, push: bool) {
        let last = core::mem::take(&mut self.last_seg_size);
        if len >= self.rcv_mss {
            self.rcv_mss = len;
            self.pushed |= push && self.push_asks_ack;
            return;
        }
        // SACK blocks come and go, so they count as data here.
        let len = len + options;
        let on_wire = len + self.header;
        // Without PSH in the model, a small segment counts as having it.
        let inside = self.push_asks_ack && !push;

        // A smaller size counts as the new MSS if two segments in a row have it.
        if on_wire >= PLAUSIBLE || on_wire >= PLAUSIBLE_INSIDE && inside {
            self.last_seg_size = len;
            if len == last {
                self.rcv_mss = len;
                return;
            }
        }
        self.pushed_twice |= self.pushed;
        self.pushed = true;
    }

    /// Notes own data: soon after received data it counts as an answer (tcp_event_data_sent).
    pub fn on_data_sent(&mut self, now: Time) {
        let since = (self.ticks.at(now) as u32).wrapping_sub(self.lrcvtime);
        self.pingpong |= self.answers_bear_acks && since < self.ato;
    }

    /// Whether data, or a packet that counts as data, arrived since the last ACK.
    pub fn is_scheduled(&self) -> bool {
        self.scheduled
    }

    /// Notes a data segment that arrived while `rcv_wnd` was advertised.
    pub fn on_data(&mut self, now: Time, rcv_wnd: u64) {
        self.schedule();
        let jiffies = self.ticks.at(now) as u32;

        // The first data starts quick ACKs (tcp_incr_quickack); later gaps adapt the delay.
        if self.ato == 0 {
            self.raise_quick(rcv_wnd, MAX_QUICKACKS);
            self.ato = self.ato_min();
        } else {
            self.adapt_ato(jiffies - self.lrcvtime, rcv_wnd);
        }
        self.lrcvtime = jiffies;
    }

    /// Acknowledges the next segments at once (tcp_enter_quickack_mode).
    pub fn enter_quick_mode(&mut self, rcv_wnd: u64) {
        self.enter_quick_mode_for(rcv_wnd, MAX_QUICKACKS);
    }

    /// Acknowledges at most `most` of the next segments at once (4.18 `tcp_enter_quickack_mode`).
    pub(in crate::tcp) fn enter_quick_mode_for(&mut self, rcv_wnd: u64, most: u32) {
        self.raise_quick(rcv_wnd, most);
        self.pingpong = false;
        self.ato = self.ato_min();
    }

    /// Notes the end of the stream (tcp_fin): its last ACK is delayed as in a dialogue.
    pub fn on_fin(&mut self) {
        self.schedule();
        self.pingpong = true;
    }

    /// Begins or ends pingpong mode (6.12 `inet_csk_enter_pingpong_mode`, `inet_csk_exit_pingpong_mode`).
    pub(super) fn set_pingpong(&mut self, pingpong: bool) {
        self.pingpong = pingpong;
    }

    /// Whether segments are acknowledged at once (inet_csk_in_quickack_mode).
    pub fn is_quick(&self) -> bool {
        self.quick > 0 && !self.pingpong
    }

    /// Whether an ACK is sent after all data is read (tcp_cleanup_rbuf).
    pub fn asks_when_read(&self) -> bool {
        self.pushed_twice || self.pushed && !self.pingpong
    }

    fn raise_quick(&mut self, rcv_wnd: u64, most: u32) {
        let two = 2 * u64::from(self.rcv_mss);
        let quickacks = match rcv_wnd {
            wnd if wnd >= two * u64::from(most) => most,
            wnd if wnd < two => 2,
            wnd => (wnd / two) as u32,
        };
        self.quick = self.quick.max(quickacks);
    }

    /// Adapts `ato` to the gap between segments; a pause beyond the timeout begins quick ACKs anew.
    fn adapt_ato(&mut self, gap: u32, rcv_wnd: u64) {
        let least = self.ato_min();

        // A short gap averages ato with its minimum, a longer gap with itself; a pause beyond the RTO is a new burst.
        if gap <= least / 2 {
            self.ato = (self.ato >> 1) + least / 2;
        } else if gap < self.ato {
            self.ato = ((self.ato >> 1) + gap).min(self.rtt.rto).min(self.ato_max);
        } else if gap > self.rtt.rto {
            self.raise_quick(rcv_wnd, MAX_QUICKACKS);
        }
    }

    /// Requests an ACK for data, or for a packet that counts as data (inet_csk_schedule_ack).
    pub fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Notes an ACK that was sent: one quick ACK less, if it counts as one, and the delayed one is no longer due.
    pub fn on_ack_sent(&mut self) {
        let counts = core::mem::take(&mut self.scheduled) || !self.quick_by_data;
        if counts && self.quick == 1 {
            self.ato = self.ato_min();
        }
        self.quick = self.quick.saturating_sub(u32::from(counts));
        (self.pushed, self.pushed_twice) = (false, false);
        self.now = false;
        self.timer = None;
        self.blocked = false;
    }

    /// Starts the timer for an ACK that is owed, unless it runs and is due sooner. Returns whether the ACK is sent at
    /// once, because the timer is due soon or found the socket locked.
    pub fn delay(&mut self, now: Time) -> bool {
        let patience = self.patience();
        let soon = |due| due <= self.ticks.after(now, u64::from(patience / 4));
        if self.timer.is_some_and(|due| self.blocked || soon(due)) {
            return true;
        }
        let due = self.ticks.after(now, patience.into());
        // A timer for an unchanged time stays in its slot of the wheel (`__mod_timer`).
        if self.timer.is_none_or(|running| due < running) {
            self.timer = Some(due);
            self.expiry = Some(self.ticks.expiry(self.wheel, now, patience));
        }
        false
    }

    /// Expiry of the kernel's timer that is started at `now` for `due`.
    fn expiry_of(&self, now: Time, due: Time) -> Expiry {
        let wait = self.ticks.at(due) - self.ticks.at(now);
        self.ticks.expiry(self.wheel, now, wait as u32)
    }

    /// Longest wait of a delayed ACK now, jiffies: at most an RTT, at least [`Self::ato_min`].
    fn patience(&self) -> u32 {
        let least = self.ato_min();
        if self.ato <= least {
            return self.ato.max(1);
        }
        let divisor =
            if self.pushed || self.pingpong { PUSHED_MAX_DIVISOR } else { ATO_MAX_DIVISOR };

        // tcp_send_delayed_ack: bounds of a dialogue or a small segment, of the RTT, and of the kernel.
        let most = self.hz / divisor;
        let round = match self.rtt.srtt_jiffies() {
            0 => most,
            rtt => rtt.max(least),
        };
        self.ato.min(most).min(round).min(self.delack_max).max(1)
    }

    /// Handles the timer while the socket is free; returns whether a delayed ACK is due. If so, the next one waits
    /// longer.
    pub fn on_timer(&mut self, now: Time) -> bool {
        self.expiry = self.timer.filter(|&due| due > now).map(|due| self.expiry_of(now, due));
        let is_due = self.timer.is_some() && self.expiry.is_none();
        if is_due {
            self.timer = None;
            self.ato = match core::mem::take(&mut self.pingpong) {
                true => self.ato_min(),
                false => (self.ato << 1).min(self.rtt.rto).min(self.ato_max).max(1),
            };
        }
        is_due
    }

    /// Handles the timer while the reader owns the socket. The end of the read sends the ACK that is owed, so no work
    /// is left for the release of the socket.
    pub fn on_timer_while_locked(&mut self, now: Time, rule: LockedTimers) {
        self.blocked = true;
        self.expiry = match rule {
            LockedTimers::PutOff => {
                Some(Expiry::alone(self.ticks.after(now, self.ato_min().into())))
            }
            LockedTimers::Released => None,
        };
    }
}
