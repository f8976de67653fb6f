//! When the receiver acknowledges: at once, at the second segment, or after a while.
//!
//! Source: `tcp_event_data_recv`, `tcp_incr_quickack`, `tcp_dec_quickack_mode`, `__tcp_ack_snd_check`,
//! `tcp_send_delayed_ack`, read in Linux 2.6.20, 2.6.25, 2.6.32 and 3.14, which agree, and in 6.12;
//! `tcp_delack_timer` of 2.6.20, 3.14 and 6.12.

use crate::jiffy_clock::{Expiry, JiffyClock};
use crate::tcp::profile::{DelackMax, LockedTimers, Profile, TimerWheel};
use crate::tcp::rtt::Rtt;
use crate::units::Time;

/// Segments acknowledged at once in a row, at most (TCP_MAX_QUICKACKS).
const MAX_QUICKACKS: u32 = 16;
/// A delayed ACK waits hz / 25 ticks at first (TCP_ATO_MIN; TCP_DELACK_MIN is as long), and then up to
/// hz / 2, after a small segment hz / 5 (TCP_DELACK_MAX), or what newer kernels allow ([`DelackMax`]).
const ATO_MIN_DIVISOR: u32 = 25;
const ATO_MAX_DIVISOR: u32 = 2;
const PUSHED_MAX_DIVISOR: u32 = 5;

/// TCP header and data from which on a segment may be one of an MSS smaller than the largest seen, bytes:
/// TCP_MSS_DEFAULT, and TCP_MIN_MSS where it does not end a burst, each with the least header.
const PLAUSIBLE: u32 = 536 + 20;
const PLAUSIBLE_INSIDE: u32 = 88 + 20;

/// The longest wait that is remembered, jiffies (6.12 `tcp_event_data_recv`, `tcp_delack_timer_handler`); 2.6.20 remembers any up to
/// the timeout.
fn ato_max(hz: u32, profile: &Profile) -> u32 {
    match profile.delack_max {
        DelackMax::Half | DelackMax::Fifth => u32::MAX,
        DelackMax::BelowRtoMin => hz / PUSHED_MAX_DIVISOR,
    }
}

/// How long a delayed ACK waits at most, jiffies (6.12 `tcp_delack_max`).
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
    /// Whether they are not, for what is sent back bears ACKs, or the stream has ended (icsk_ack.pingpong).
    pingpong: bool,
    /// Whether the next ACK goes at once (ICSK_ACK_NOW).
    pub now: bool,
    /// Delayed ACK's timeout, jiffies; 0 before the first data.
    ato: u32,
    lrcvtime: u32,
    /// What the handshake told of the RTT.
    pub rtt: Rtt,
    /// Bytes that a segment is taken to have: those of the largest, or of two in a row.
    pub rcv_mss: u32,
    /// Those of the last segment, if it was a smaller one.
    last_seg_size: u32,
    /// Bytes of a TCP header.
    header: u32,
    push_asks_ack: bool,
    quick_by_data: bool,
    answers_bear_acks: bool,
    /// The longest `ato`, jiffies.
    ato_max: u32,
    /// How long an ACK waits at most, jiffies.
    delack_max: u32,
    /// Whether data came since the last ACK (ICSK_ACK_SCHED).
    scheduled: bool,
    /// Whether a segment smaller than the largest, or one that ends a burst, came since the last ACK
    /// (ICSK_ACK_PUSHED).
    pub pushed: bool,
    /// Whether a second small one did (ICSK_ACK_PUSHED2).
    pushed_twice: bool,
    /// When the delayed ACK is due.
    pub timer: Option<Time>,
    /// When the kernel's timer fires. An ACK does not stop it: it may fire for nothing.
    pub expiry: Option<Expiry>,
    /// Whether it found the socket locked since the last ACK (icsk_ack.blocked).
    pub blocked: bool,
}

impl AckPolicy {
    /// Before the first data segment, for TCP headers of `header` bytes.
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

    /// The connection is there: from then on the first gap between segments counts (6.12 `tcp_create_openreq_child`,
    /// `tcp_finish_connect`).
    pub fn begin(&mut self, now: Time) {
        self.lrcvtime = self.ticks.at(now) as u32;
    }

    fn ato_min(&self) -> u32 {
        (self.hz / ATO_MIN_DIVISOR).max(1)
    }

    /// Learns how large segments are from one of `len` bytes (tcp_measure_rcv_mss); `push`: whether it ends
    /// a burst.
    pub fn measure(&mut self, len: u32, push: bool) {
        let last = core::mem::take(&mut self.last_seg_size);
        if len >= self.rcv_mss {
            self.rcv_mss = len;
            self.pushed |= push && self.push_asks_ack;
            return;
        }
        let on_wire = len + self.header;
        // Where PSH is not told, a small segment is taken to have it.
        let inside = self.push_asks_ack && !push;
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

    /// Data is sent: soon after some came it is taken for an answer (tcp_event_data_sent).
    pub fn on_data_sent(&mut self, now: Time) {
        let since = (self.ticks.at(now) as u32).wrapping_sub(self.lrcvtime);
        self.pingpong |= self.answers_bear_acks && since < self.ato;
    }

    /// Whether data or what looks like it came since the last ACK.
    pub fn is_scheduled(&self) -> bool {
        self.scheduled
    }

    /// A data segment came while `rcv_wnd` was advertised.
    pub fn on_data(&mut self, now: Time, rcv_wnd: u64) {
        self.schedule();
        let jiffies = self.ticks.at(now) as u32;
        if self.ato == 0 {
            self.raise_quick(rcv_wnd, MAX_QUICKACKS);
            self.ato = self.ato_min();
        } else {
            self.adapt_ato(jiffies - self.lrcvtime, rcv_wnd);
        }
        self.lrcvtime = jiffies;
    }

    /// The next segments are acknowledged at once (tcp_enter_quickack_mode).
    pub fn enter_quick_mode(&mut self, rcv_wnd: u64) {
        self.enter_quick_mode_for(rcv_wnd, MAX_QUICKACKS);
    }

    /// So many of the next segments at `most` are acknowledged at once (4.18 `tcp_enter_quickack_mode`).
    pub(in crate::tcp) fn enter_quick_mode_for(&mut self, rcv_wnd: u64, most: u32) {
        self.raise_quick(rcv_wnd, most);
        self.pingpong = false;
        self.ato = self.ato_min();
    }

    /// The stream has ended (tcp_fin): its last ACK is delayed like those of a dialogue.
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

    /// Whether an ACK goes when all is read (tcp_cleanup_rbuf).
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

    /// `ato` follows the gaps between segments; a pause beyond the timeout begins quick ACKs anew.
    fn adapt_ato(&mut self, gap: u32, rcv_wnd: u64) {
        let least = self.ato_min();
        if gap <= least / 2 {
            self.ato = (self.ato >> 1) + least / 2;
        } else if gap < self.ato {
            self.ato = ((self.ato >> 1) + gap).min(self.rtt.rto).min(self.ato_max);
        } else if gap > self.rtt.rto {
            self.raise_quick(rcv_wnd, MAX_QUICKACKS);
        }
    }

    /// Data, or what looks like it, asks for an ACK (inet_csk_schedule_ack).
    pub fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// An ACK went out: one quick ACK less, if it counts as one, and the delayed one is no longer due.
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

    /// An ACK is owed: starts the timer, unless it runs and is due sooner. Whether the ACK goes at once,
    /// for the timer is due soon or found the socket locked.
    pub fn delay(&mut self, now: Time) -> bool {
        let patience = self.patience();
        let soon = |due| due <= self.ticks.after(now, u64::from(patience / 4));
        if self.timer.is_some_and(|due| self.blocked || soon(due)) {
            return true;
        }
        let due = self.ticks.after(now, patience.into());
        // One that runs for the same time stays in its slot of the wheel (`__mod_timer`).
        if self.timer.is_none_or(|running| due < running) {
            self.timer = Some(due);
            self.expiry = Some(self.ticks.expiry(self.wheel, now, patience));
        }
        false
    }

    /// When the kernel's timer fires that is started for `due`.
    fn expiry_of(&self, now: Time, due: Time) -> Expiry {
        let wait = self.ticks.at(due) - self.ticks.at(now);
        self.ticks.expiry(self.wheel, now, wait as u32)
    }

    /// How long a delayed ACK may wait, jiffies: no longer than an RTT, but [`Self::ato_min`].
    fn patience(&self) -> u32 {
        let least = self.ato_min();
        if self.ato <= least {
            return self.ato.max(1);
        }
        let divisor =
            if self.pushed || self.pingpong { PUSHED_MAX_DIVISOR } else { ATO_MAX_DIVISOR };
        let most = self.hz / divisor;
        let round = match self.rtt.srtt_jiffies() {
            0 => most,
            rtt => rtt.max(least),
        };
        self.ato.min(most).min(round).min(self.delack_max).max(1)
    }

    /// The timer fired, and the socket is free; whether a delayed ACK is due. If so, the next one waits
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

    /// The timer fired, and the reader has the socket: the end of its read sends what is owed, so that
    /// there is nothing left to do when it gives the socket back.
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
