//! When skbs are to leave the host: each one as long after the one before it as that takes at the pacing rate. `fq`
//! keeps an skb until then; where the application asks for a rate and there is no `fq`, TCP itself waits.
//!
//! Source: Linux 6.1 and 6.12, which agree: `__tcp_transmit_skb`, `tcp_update_skb_after_send`, `tcp_pacing_check`,
//! `tcp_pace_kick`, `tcp_pacing_delay`, `tcp_reset_xmit_timer`, `sk_setsockopt`, `fq_classify`. Before 4.20 `fq` keeps the pace
//! alone (3.12 `fq_dequeue`).

use super::{Sender, TimerKind};
use crate::config::Host;
use crate::tcp::Output;
use crate::tcp::profile::Profile;
use crate::units::Time;

/// Bytes of an Ethernet header (`psched_mtu`).
const ETHERNET: u32 = 14;
/// Data segments of a connection that are not paced.
const UNPACED_SEGMENTS: u64 = 10;

/// Who keeps a flow's pace (`enum sk_pacing`, numbered as there, but for the last).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum PacedBy {
    Nobody = 0,
    /// TCP itself, with a timer.
    Tcp = 1,
    /// The host's `fq`, by the time that an skb bears.
    Fq = 2,
    /// The host's `fq`, by the flow's rate.
    FqAlone = 3,
}

/// See the module's description.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Departures {
    pub(in crate::tcp) by: PacedBy,
    /// When the next skb may leave (tcp_wstamp_ns); before the clock where nothing keeps it.
    pub(in crate::tcp) next: Time,
    /// When the skb that was made last is to leave (its tstamp).
    last: Time,
    /// How long after it might have it was made.
    late: Time,
    /// When TCP may go on (pacing_timer).
    timer: Option<Time>,
    /// Whether data waits for its pace.
    pub(in crate::tcp) waits: bool,
    /// When the last skb was made.
    made: Time,
    /// Bytes that were sent beyond what goes without a pace, where `fq` alone keeps it.
    spent: i64,
    /// How many those are (`initial_quantum`). `fq` counts them for itself too, for its largest rate.
    first_turn: i64,
    /// Full packets of each later turn.
    turn: i64,
    /// Longest wait for a turn.
    longest: Time,
}

impl Departures {
    /// Those of a socket at `host`. That `fq` is there is known from the SYN on.
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
        }
    }

    /// What the congestion control is told (sk_pacing_status), which knows nothing of an `fq` that keeps the pace alone.
    pub(in crate::tcp) fn status(&self) -> u32 {
        match self.by {
            PacedBy::FqAlone => PacedBy::Nobody as u32,
            by => by as u32,
        }
    }
}

impl Sender {
    /// SO_MAX_PACING_RATE, bytes per second.
    pub(in crate::tcp) fn limit_pacing_rate(&mut self, most: u64) {
        self.pacing.limit(most);
        if self.departures.by == PacedBy::Nobody && self.profile.departure_times {
            self.departures.by = PacedBy::Tcp;
        }
    }

    /// An skb is made: when it is to leave. Where nobody keeps the pace that is now.
    pub(in crate::tcp) fn depart(&mut self, now: Time) -> Time {
        let Departures { next, by, .. } = self.departures;
        self.departures.made = now;
        self.departures.late = now.saturating_sub(next);
        self.departures.next = if by == PacedBy::Nobody { now } else { next.max(now) };
        self.departures.last = self.departures.next;
        self.departures.last
    }

    /// When an skb counts as sent that was made last and is to leave at `departs`: it bears that time, unless `fq` alone
    /// knows it.
    pub(in crate::tcp) fn stamped(&self, departs: Time) -> Time {
        if self.departures.by == PacedBy::FqAlone { self.departures.made } else { departs }
    }

    /// The skb of `len` bytes of data was taken: the next one may leave after the time that it takes. What it was
    /// late by is made up for, up to half of that time.
    pub(in crate::tcp) fn pace(&mut self, len: u32) {
        let rate = self.pacing.rate;
        if self.departures.by == PacedBy::FqAlone {
            return self.pace_by_turns(len, rate);
        }
        let paces = self.departures.by != PacedBy::Nobody && rate != u64::MAX && rate > 0;
        if paces && self.counters.segments_sent >= UNPACED_SEGMENTS {
            let takes = u64::from(len) * 1_000_000_000 / rate;
            let made_up = self.departures.late.0.min(takes / 2);
            self.departures.next += Time(takes - made_up);
        }
    }

    /// The same in fq of 3.12: a flow that has used its turn up waits as long as the skb takes at the rate, or a turn of
    /// full packets where that is longer (`fq_dequeue`).
    fn pace_by_turns(&mut self, len: u32, rate: u64) {
        let packet = i64::from(self.mss + crate::tcp::headers(self.timestamps) + ETHERNET);
        let bytes = packet * i64::from(len) / i64::from(self.mss);
        let quantum = self.departures.turn * packet;
        self.departures.spent += bytes;
        let first_turn = self.departures.first_turn;
        if self.departures.spent < first_turn || rate == u64::MAX || rate == 0 {
            return;
        }
        while self.departures.spent >= first_turn {
            self.departures.spent -= quantum;
        }
        let takes = Time(bytes.max(quantum) as u64 * 1_000_000_000 / rate);
        self.departures.next += takes.min(self.departures.longest);
    }

    /// The time stamped on what was sent last.
    pub(in crate::tcp) fn last_stamp(&self, now: Time) -> Time {
        match self.departures.by {
            PacedBy::Nobody | PacedBy::FqAlone => self.stamp(now),
            PacedBy::Tcp | PacedBy::Fq => self.stamp(self.departures.last),
        }
    }

    /// Whether nothing may be sent yet, because TCP itself keeps the pace: then a timer runs.
    pub(in crate::tcp) fn keeps_pace(&mut self, now: Time) -> bool {
        let keeps = self.departures.by == PacedBy::Tcp && self.departures.next > now;
        if keeps {
            self.departures.timer.get_or_insert(self.departures.next);
        }
        self.departures.waits |= keeps;
        keeps
    }

    /// Whether anything is sent at a pace, without which there is no timer of it.
    pub fn is_paced(&self) -> bool {
        self.departures.by != PacedBy::Nobody
    }

    /// When TCP may go on sending at its pace.
    pub fn pacing_timer(&self) -> Option<Time> {
        self.departures.timer
    }

    /// The timer of the pace is due; unless the socket is `locked`, sends what may go now. While it is, the one who
    /// has it does that when he gives it back ([`Sender::on_released`]).
    pub fn on_pacing_timer(&mut self, locked: bool, out: &mut impl Output) {
        self.departures.timer = None;
        if !locked {
            self.write_from_queue(out);
        }
    }

    /// Starts a timer whose time counts from when the next skb may leave (tcp_reset_xmit_timer).
    pub(in crate::tcp) fn start_timer_at_pace(&mut self, kind: TimerKind, now: Time, jiffies: u32) {
        let ahead = match self.departures.by {
            PacedBy::Nobody | PacedBy::FqAlone => 0,
            PacedBy::Tcp | PacedBy::Fq => self.departures.next.saturating_sub(now).0 / self.tick_ns,
        };
        let jiffies = u64::from(jiffies).saturating_add(ahead).min(u64::from(u32::MAX)) as u32;
        self.start_timer(kind, now, jiffies);
    }
}
