//! The state of a sending flow: its beginning, its writes, its timers.

use super::clock::LimitClock;
use super::output::HostOutput;
use super::tsq::Tsq;
use super::turn::Turn;
use crate::cc::Congestion;
use crate::config::{self, After, App, Flow};
use crate::jiffy_clock::Expiry;
use crate::rng::Rng;
use crate::tcp::Ack;
use crate::tcp::profile::{LockedTimers, SharedProfile};
use crate::tcp::sender::socket::{Around, Scales};
use crate::tcp::sender::{Sender, Writer};
use crate::trace::SenderSocket;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

/// A flow whose data this host sends.
pub(crate) struct SendingFlow {
    pub(crate) tcp: Sender,
    pub(crate) limits: LimitClock,
    pub(super) config: Flow,
    /// The connection that follows in a loop.
    pub(super) next: Option<(usize, After)>,
    /// Where it takes turns with the other end's.
    pub(super) turn: Option<Turn>,
    /// When requests were begun that have no answer.
    pub(super) asked: VecDeque<Time>,
    /// The program has corked the socket for the message that it writes.
    pub(super) corked: bool,
    /// Answers that were read as a whole.
    pub(super) answered: u64,
    /// Bytes the application has written.
    pub(crate) written: u64,
    /// Of these, not acknowledged when this was last looked at.
    pub(super) buffered: u64,
    /// Bytes left of the write() in progress.
    pub(super) write_left: u32,
    pub(super) goal: u32,
    pub(super) locked: bool,
    /// Whether a write() is begun that did not have the socket yet.
    pub(super) begins_call: bool,
    /// Whether the end of the application's time has interrupted its write().
    pub(super) interrupted: bool,
    /// ACKs that wait while the socket is locked, with their serials.
    pub(super) backlog: VecDeque<(Ack, u64)>,
    /// Whether the backlog is being worked off.
    pub(super) releasing: bool,
    /// A timer that found the socket locked: when it was due, and when it is due instead (none: when the
    /// socket is given back).
    pub(super) put_off: Option<(Expiry, Option<Expiry>)>,
    pub(super) locked_timers: LockedTimers,
    /// What of it is in the host, and the memory of an skb besides its data where that limits it.
    pub(super) tsq: Tsq,
    /// When packets came that were heard last, if no timer of this flow has acted since.
    pub(super) heard: Option<Time>,
    pub(super) overhead: Option<u64>,
    /// Whether some left, or the timer of the pace was due, while the application had the socket
    /// (TCP_TSQ_DEFERRED).
    pub(super) wakes_when_released: bool,
    /// Deferred ICMP message: first byte of a segment that is too large, and the MTU (TCP_MTU_REDUCED_DEFERRED).
    pub(super) too_large: Option<(u64, u32)>,
    pub(super) syn_sent: Option<Time>,
    pub(super) syn_repeats: u32,
    pub(super) next_write: Time,
    /// Whether a write has been begun since that was set.
    pub(super) paces: bool,
    /// How long a writer rests.
    pub(super) rests: Rng,
    /// Since when the application sleeps for want of buffer, and how long it did before.
    pub(super) no_space: (Option<Time>, u64),
    pub(super) ca_state: u8,
    pub(super) finished: bool,
    pub(super) timeout_init_s: u32,
    pub(super) syn_linear_timeouts: u32,
}

/// Longest wait for the answer to a SYN, s (TCP_RTO_MAX).
const LONGEST_SYN_WAIT_S: u32 = 120;

/// HZ/20 jiffies.
fn twentieth_of_a_second(host: &config::Host) -> Time {
    let jiffies = u64::from(host.hz / 20).max(1);
    Time(jiffies * 1_000_000_000 / u64::from(host.hz))
}

impl SendingFlow {
    /// How long the answer to a SYN is waited for, s.
    pub(super) fn syn_wait_s(&self) -> u32 {
        let doublings = self.syn_repeats.saturating_sub(self.syn_linear_timeouts);
        (self.timeout_init_s << doublings.min(7)).min(LONGEST_SYN_WAIT_S)
    }

    pub(super) fn new(
        flow: &Flow,
        (host, profile): (&config::Host, &SharedProfile),
        seed: u64,
        mss: u32,
    ) -> Result<SendingFlow, String> {
        let stream = Rng::new(seed, &flow.name).next_u64();
        let cc = Congestion::of(flow, profile.name, host.hz, stream)
            .map_err(|e| format!("flow {}: {e}", flow.name))?;
        if cc.controls() && !profile.lets_control() {
            return Err(format!(
                "flow {}: {} needs ack_order = \"cwnd-last\", sack_marking = \"rack\" and departure_times = true",
                flow.name,
                cc.name()
            ));
        }
        let mut tcp = Sender::new(profile, host, cc, mss, flow.sndbuf);
        tcp.set_options(flow.sockopt);
        Ok(SendingFlow {
            tcp,
            limits: LimitClock::new(),
            config: flow.clone(),
            next: None,
            turn: None,
            written: 0,
            buffered: 0,
            asked: VecDeque::new(),
            corked: false,
            answered: 0,
            write_left: 0,
            goal: mss,
            locked: false,
            begins_call: false,
            interrupted: false,
            backlog: VecDeque::new(),
            releasing: false,
            put_off: None,
            locked_timers: profile.locked_timers,
            tsq: Tsq::default(),
            heard: None,
            wakes_when_released: false,
            too_large: None,
            overhead: profile.small_queues.then_some(profile.skb_overhead),
            syn_sent: None,
            syn_repeats: 0,
            next_write: Time::ZERO,
            paces: false,
            rests: Rng::new(seed, &format!("{}, rests", flow.name)),
            no_space: (None, 0),
            ca_state: 0,
            finished: false,
            timeout_init_s: profile.timeout_init_s,
            syn_linear_timeouts: profile.syn_linear_timeouts,
        })
    }

    /// When an application that writes all the time is interrupted, to stop after the write() it is in. One that pauses between
    /// its writes looks at the clock.
    pub(super) fn stops(&self) -> Option<Time> {
        let bulk = matches!(self.config.app, App::Bulk) && self.turn.is_none();
        self.config.stops().filter(|_| bulk)
    }

    /// Bytes of the next write: it ends with its message.
    pub(super) fn next_write_size(&self) -> u64 {
        let write = u64::from(self.config.write);
        let message = |turn: Turn| match turn.left(self.written) {
            0 => self.config.message(),
            left => left,
        };
        self.turn.map_or(write, |turn| write.min(message(turn)))
    }

    /// The application goes on.
    pub(super) fn wakes(&mut self, now: Time) {
        self.tcp.set_writer(Writer::Active);
        self.no_space.1 += self.no_space.0.take().map_or(0, |since| (now - since).0);
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, serial: u64, output: &mut HostOutput) {
        output.hear_and_settle(serial);
        self.tcp.on_ack(ack, output);
    }

    /// When TCP's timer is to act, as far as is known.
    pub(super) fn timer(&self) -> Option<Expiry> {
        let expiry = self.tcp.expiry()?;
        match self.put_off {
            Some((of, until)) if of == expiry => until,
            _ => Some(expiry),
        }
    }

    /// TCP's timer is due, and the application has the socket ([`LockedTimers`]).
    pub(super) fn put_timer_off(&mut self, now: Time, host: &config::Host) {
        let later = match self.locked_timers {
            LockedTimers::PutOff => Some(Expiry::alone(now + twentieth_of_a_second(host))),
            LockedTimers::Released => None,
        };
        self.put_off = self.tcp.expiry().map(|expiry| (expiry, later));
    }

    /// The socket at `now`, where window scaling is agreed to by these `scales`.
    pub(crate) fn socket(&self, now: Time, wscale: Option<Scales>) -> SenderSocket {
        let wmem_alloc = self.overhead.map_or(0, |_| self.tsq.held(now));
        let around = Around { wmem_alloc, wscale, syn_repeats: self.syn_repeats };
        self.tcp.socket(now, around)
    }

    /// Nanoseconds the application has slept for want of buffer, up to `now`.
    pub(crate) fn blocked_ns(&self, now: Time) -> u64 {
        self.no_space.1 + self.no_space.0.map_or(0, |since| (now - since).0)
    }
}
