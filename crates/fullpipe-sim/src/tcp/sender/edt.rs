//! Departure times of skbs: each leaves after the one before by the time that one takes at the pacing rate. `fq` keeps
//! an skb until then. Without `fq`, TCP itself waits if the application sets a rate.
//!
//! Source: Linux 6.1 and 6.12, which agree: `__tcp_transmit_skb`, `tcp_update_skb_after_send`, `tcp_pacing_check`,
//! `tcp_pace_kick`, `tcp_pacing_delay`, `tcp_reset_xmit_timer`, `sk_setsockopt`, `fq_classify`. Before 4.20 only `fq`
//! keeps the pace (3.12 `fq_dequeue`).

use super::{Sender, TimerKind};
use crate::config::Host;
use crate::tcp::Output;
use crate::tcp::profile::Profile;
use crate::units::Time;

/// Bytes of an Ethernet header (`psched_mtu`).
const ETHERNET: u32 = 14;
/// First data segments of a connection, which are not paced.
const UNPACED_SEGMENTS: u64 = 10;

/// Keeper of a flow's pace (`enum sk_pacing`, with its numbers except for the last).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum PacedBy {
    Nobody = 0,
    /// TCP itself, with a timer.
    Tcp = 1,
    /// The host's `fq`, by the departure time of each skb.
    Fq = 2,
    /// The host's `fq`, by the flow's rate.
    FqAlone = 3,
}

/// Departure times of a socket.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Departures {
    pub(in crate::tcp) by: PacedBy,
    /// Time at which the next skb may leave (tcp_wstamp_ns); in the past where it may leave at once.
    pub(in crate::tcp) next: Time,
    /// Departure time of the last skb (its tstamp).
    last: Time,
    /// Delay of the last skb after its possible departure.
    late: Time,
    /// Time at which TCP may continue (pacing_timer).
    timer: Option<Time>,
    /// Whether data waits for its pace.
    pub(in crate::tcp) waits: bool,
    /// Time at which the last skb was made.
    made: Time,
    /// Bytes sent beyond the unpaced first turn, where `fq` alone keeps the pace.
    spent: i64,
    /// Bytes of that first turn (`initial_quantum`). `fq` also counts them itself, for its largest rate.
    first_turn: i64,
    /// Full packets of each later turn.
    turn: i64,
    /// Longest wait for a turn.
    longest: Time,
    /// Time at which TCP last read the clock (tcp_clock_cache).
    clock: Time,
    /// Whether skbs made now have that time, because their sender does not read the clock.
    clock_rests: bool,
}

impl Departures {
    /// Departure times of a socket at `host`. The presence of `fq` is known from the SYN on.
    pub(in crate::tcp) fn new(profile: &Profile, host: &Host) -> Departures {
        let fq = host.qdisc.fq();
        let by = match fq {
            Some(_) if profile.departure_times => PacedBy::Fq,
            Some(_) if profile.fq_paces => PacedBy::FqAlone,
            _ => PacedBy::Nobody,
        };

        Departures {
            by,
            next: Time::ZERO,
            last: Time::ZERO,
            late: Time::ZERO,
            timer: None,
            waits: false,
            made: Time::ZERO,
            spent: 0,
            first_turn: fq.map_or(0, |fq| fq.initial_quantum.into()),
            turn: fq.map_or(0, |fq| fq.turn()),
            longest: fq.map_or(Time::ZERO, |fq| fq.longest_paced()),
            clock: Time::ZERO,
            clock_rests: false,
        }
    }

    /// Keeper of the pace in the congestion control's view (sk_pacing_status). It does not know of an `fq` that keeps
    /// the pace alone.
    pub(in crate::tcp) fn status(&self) -> u32 {
        match self.by {
            PacedBy::FqAlone => PacedBy::Nobody as u32,
            by => by as u32,
        }
    }
}

impl Sender {
    /// tcp_mstamp_refresh: TCP reads the clock.
    #[inline]
    pub(in crate::tcp) fn refresh_clock(&mut self, now: Time) {
        self.departures.clock = now;
    }

    /// Runs `send` without a look at the clock: its skbs have the time of the last look, and the congestion control
    /// sees that time. Timers and jiffies are those of now (6.1 and 6.12 `tcp_v4_mtu_reduced`).
    pub(super) fn with_resting_clock<O: Output>(
        &mut self,
        out: &mut O,
        send: impl Fn(&mut Sender, &mut O),
    ) {
        self.sync_clock(out.now());

        // Older kernels read the clock for each skb (3.12 `tcp_transmit_skb`).
        if !self.profile.departure_times {
            return send(self, out);
        }
        let clock = self.departures.clock;
        self.cc.sock_mut().now_us = clock.as_us();
        self.sync_rates_at(clock);

        self.departures.clock_rests = true;
        send(self, out);
        self.departures.clock_rests = false;
    }

    /// Time at which TCP last read the clock (tcp_clock_cache).
    #[inline]
    pub fn last_clock(&self) -> Time {
        self.departures.clock
    }

    /// Takes the time at which the same socket's receiver read the clock, if that was later.
    #[inline]
    pub fn follow_clock(&mut self, read: Time) {
        self.departures.clock = self.departures.clock.max(read);
    }

    /// TCP's clock (tcp_clock_cache).
    #[inline]
    fn clock(&self, now: Time) -> Time {
        if self.departures.clock_rests { self.departures.clock } else { now }
    }

    /// SO_MAX_PACING_RATE, bytes per second.
    pub(in crate::tcp) fn limit_pacing_rate(&mut self, most: u64) {
        self.pacing.limit(most);
        if self.departures.by == PacedBy::Nobody && self.profile.departure_times {
            self.departures.by = PacedBy::Tcp;
        }
    }

    /// Departure time of a new skb. Without a keeper of the pace it is now.
    pub(in crate::tcp) fn depart(&mut self, now: Time) -> Time {
        let now = self.clock(now);
        let Departures { next, by, .. } = self.departures;
        self.departures.made = now;
        self.departures.late = now.saturating_sub(next);
        self.departures.next = if by == PacedBy::Nobody { now } else { next.max(now) };
        self.departures.last = self.departures.next;
        self.departures.last
    }

    /// Moves the departure time for an ACK without data: the ACK has a departure time as an skb has, and takes no time at the
    /// pacing rate (`__tcp_transmit_skb`). The time is that of `clock`, at which TCP last read the clock. The timer of
    /// compressed ACKs does not read it.
    pub fn depart_ack(&mut self, clock: Time) {
        if self.profile.departure_times {
            self.departures.next = self.departures.next.max(clock);
        }
    }

    /// Time at which the last skb counts as sent; `departs` is its departure time. The skb has this time, unless `fq`
    /// alone keeps the pace.
    pub(in crate::tcp) fn stamped(&self, departs: Time) -> Time {
        if self.departures.by == PacedBy::FqAlone { self.departures.made } else { departs }
    }

    /// Moves the next departure by the time of an skb of `len` bytes, which the host has taken. Earlier delay shortens
    /// this time, down to half of it.
    pub(in crate::tcp) fn pace(&mut self, len: u32) {
        let rate = self.pacing.rate;
        if self.departures.by == PacedBy::FqAlone {
            return self.pace_by_turns(len, rate);
        }
        let paces = self.departures.by != PacedBy::Nobody && rate != u64::MAX && rate > 0;
        if paces && self.counters.segments_sent >= UNPACED_SEGMENTS {
            // tcp_update_skb_after_send: len / rate, less half of it at most for lateness.
            let takes = u64::from(len) * 1_000_000_000 / rate;
            let made_up = self.departures.late.0.min(takes / 2);
            self.departures.next += Time(takes - made_up);
        }
    }

    /// Paces as fq of 3.12: a flow that has used up its turn waits for the time of the skb at the rate, or of a turn of
    /// full packets if that is longer (`fq_dequeue`).
    fn pace_by_turns(&mut self, len: u32, rate: u64) {
        let packet = i64::from(self.mss + crate::tcp::headers(self.timestamps) + ETHERNET);
        let bytes = packet * i64::from(len) / i64::from(self.mss);
        let quantum = self.departures.turn * packet;
        self.departures.spent += bytes;
        let first_turn = self.departures.first_turn;
        if self.departures.spent < first_turn || rate == u64::MAX || rate == 0 {
            return;
        }

        // A new turn adds credit; several are due if the skb was larger than one.
        while self.departures.spent >= first_turn {
            self.departures.spent -= quantum;
        }
        let takes = Time(bytes.max(quantum) as u64 * 1_000_000_000 / rate);
        self.departures.next += takes.min(self.departures.longest);
    }

    /// Time stamp of the last skb.
    pub(in crate::tcp) fn last_stamp(&self, now: Time) -> Time {
        match self.departures.by {
            PacedBy::Nobody | PacedBy::FqAlone => self.stamp(self.clock(now)),
            PacedBy::Tcp | PacedBy::Fq => self.stamp(self.departures.last),
        }
    }

    /// Whether TCP itself keeps the pace and must wait now; then a timer runs.
    pub(in crate::tcp) fn keeps_pace(&mut self, now: Time) -> bool {
        let keeps = self.departures.by == PacedBy::Tcp && self.departures.next > self.clock(now);
        if keeps {
            self.departures.timer.get_or_insert(self.departures.next);
        }
        self.departures.waits |= keeps;
        keeps
    }

    /// Whether any pace holds; else there is no timer for it.
    pub fn is_paced(&self) -> bool {
        self.departures.by != PacedBy::Nobody
    }

    /// Time at which TCP may continue at its pace.
    pub fn pacing_timer(&self) -> Option<Time> {
        self.departures.timer
    }

    /// Handles the timer of the pace: sends, unless the socket is `locked`. Then the owner sends when it releases the
    /// socket ([`Sender::on_released`]).
    pub fn on_pacing_timer(&mut self, locked: bool, out: &mut impl Output) {
        self.departures.timer = None;
        if !locked {
            self.write_from_queue(out);
        }
    }

    /// Starts a timer that counts from the next departure (tcp_reset_xmit_timer).
    pub(in crate::tcp) fn start_timer_at_pace(&mut self, kind: TimerKind, now: Time, jiffies: u32) {
        let ahead = match self.departures.by {
            PacedBy::Nobody | PacedBy::FqAlone => 0,
            PacedBy::Tcp | PacedBy::Fq => self.departures.next.saturating_sub(now).0 / self.tick_ns,
        };
        let jiffies = u64::from(jiffies).saturating_add(ahead).min(u64::from(u32::MAX)) as u32;
        self.start_timer(kind, now, jiffies);
    }
}
