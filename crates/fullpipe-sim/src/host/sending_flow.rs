//! State of a sending flow: its start, its writes, its timers.

use super::clock::LimitClock;
use super::output::HostOutput;
use super::tsq::Tsq;
use super::turn::Dialogue;
use crate::cc::Congestion;
use crate::config::{self, After, App, Flow};
use crate::jiffy_clock::Expiry;
use crate::rng::Rng;
use crate::tcp::Ack;
use crate::tcp::profile::{LockedTimers, SharedProfile};
use crate::tcp::sender::route::TooLarge;
use crate::tcp::sender::socket::{Around, Scales};
use crate::tcp::sender::{Sender, Writer};
use crate::trace::SenderSocket;
use crate::units::Time;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

/// A flow that this host sends.
pub(crate) struct SendingFlow {
    pub(crate) tcp: Sender,
    pub(crate) limits: LimitClock,
    pub(super) config: Flow,
    /// Whether the reader's FIN has arrived.
    pub(super) reader_closed: bool,
    /// Next connection in a loop.
    pub(super) next: Option<(usize, After)>,
    /// Turns of this end and the other end's program, where they take turns.
    pub(super) dialogue: Option<Dialogue>,
    /// Start of each request without an answer.
    pub(super) asked: VecDeque<Time>,
    /// Whether the program has corked the socket for the message that it writes.
    pub(super) corked: bool,
    /// Answers that were read completely.
    pub(super) answered: u64,
    /// Bytes the application has written.
    pub(crate) written: u64,
    /// Bytes of these that were not acknowledged at the last look.
    pub(super) buffered: u64,
    /// Bytes left of the write() in progress.
    pub(super) write_left: u32,
    pub(super) goal: u32,
    pub(super) locked: bool,
    /// Whether a write() has begun that does not have the socket yet.
    pub(super) begins_call: bool,
    /// Whether the end of the application's time has interrupted its write().
    pub(super) interrupted: bool,
    /// ACKs that wait while the socket is locked, with their serials.
    pub(super) backlog: VecDeque<(Ack, u64)>,
    /// Whether the backlog is being processed.
    pub(super) releasing: bool,
    /// A timer that found the socket locked: when it was due, and its new time (none: when the socket is released).
    pub(super) put_off: Option<(Expiry, Option<Expiry>)>,
    pub(super) locked_timers: LockedTimers,
    /// The flow's memory in the host, and the overhead of an skb where TSQ limits it.
    pub(super) tsq: Tsq,
    /// Arrival of the packets processed last, if no timer of this flow has acted since.
    pub(super) packets_at: Option<Time>,
    pub(super) overhead: Option<u64>,
    /// TSQ or pacing work was deferred because the application owned the socket (TCP_TSQ_DEFERRED).
    pub(super) wakes_when_released: bool,
    /// Deferred ICMP message (TCP_MTU_REDUCED_DEFERRED).
    pub(super) too_large: Option<TooLarge>,
    pub(super) syn_sent: Option<Time>,
    pub(super) syn_repeats: u32,
    pub(super) next_write: Time,
    /// Whether a write began since `next_write` was set.
    pub(super) paces: bool,
    /// Random numbers for a writer's rests.
    pub(super) rests: Rng,
    /// Sleep of the application for want of buffer: beginning of the present one, and sum of all earlier ones, ns.
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
    /// Wait for the answer to a SYN, s.
    pub(super) fn syn_wait_s(&self) -> u32 {
        let doublings = self.syn_repeats.saturating_sub(self.syn_linear_timeouts);
        (self.timeout_init_s << doublings.min(7)).min(LONGEST_SYN_WAIT_S)
    }

    pub(super) fn new(
        flow: &Flow,
        host: &config::Host,
        profile: &SharedProfile,
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
            reader_closed: false,
            next: None,
            dialogue: None,
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
            packets_at: None,
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

    /// Time at which the end of its time interrupts an application that writes all the time. The application stops
    /// after the write() in progress. An application that pauses between its writes checks the clock itself.
    pub(super) fn stops(&self) -> Option<Time> {
        let bulk = matches!(self.config.app, App::Bulk) && self.dialogue.is_none();
        self.config.stops().filter(|_| bulk)
    }

    /// Bytes of the next write, which ends with its message.
    pub(super) fn next_write_size(&self) -> u64 {
        let write = u64::from(self.config.write);
        let message = |dialogue: Dialogue| match dialogue.left(self.written) {
            0 => self.config.message(),
            left => left,
        };
        self.dialogue.map_or(write, |dialogue| write.min(message(dialogue)))
    }

    /// Wakes the application.
    pub(super) fn wakes(&mut self, now: Time) {
        self.tcp.set_writer(Writer::Active);
        self.no_space.1 += self.no_space.0.take().map_or(0, |since| (now - since).0);
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, serial: u64, output: &mut HostOutput) {
        output.capture_delivery(serial);
        self.tcp.on_ack(ack, output);
        if ack.fin {
            self.reader_closed = true;
            output.send_empty(self.tcp.empty());
        }
    }

    /// Time at which TCP's timer acts, as far as is known.
    pub(super) fn timer(&self) -> Option<Expiry> {
        let expiry = self.tcp.expiry()?;
        match self.put_off {
            Some((of, until)) if of == expiry => until,
            _ => Some(expiry),
        }
    }

    /// Defers TCP's timer, which is due while the application owns the socket ([`LockedTimers`]).
    pub(super) fn put_timer_off(&mut self, now: Time, host: &config::Host) {
        let later = match self.locked_timers {
            LockedTimers::PutOff => Some(Expiry::alone(now + twentieth_of_a_second(host))),
            LockedTimers::Released => None,
        };
        self.put_off = self.tcp.expiry().map(|expiry| (expiry, later));
    }

    /// State of the socket at `now`; `wscale` are the scales if window scaling was negotiated.
    pub(crate) fn socket(&self, now: Time, wscale: Option<Scales>) -> SenderSocket {
        let wmem_alloc = self.overhead.map_or(0, |_| self.tsq.held(now));
        let around = Around { wmem_alloc, wscale, syn_repeats: self.syn_repeats };
        self.tcp.socket(now, around)
    }

    /// Nanoseconds in which the application slept for want of buffer, up to `now`.
    pub(crate) fn blocked_ns(&self, now: Time) -> u64 {
        self.no_space.1 + self.no_space.0.map_or(0, |since| (now - since).0)
    }
}
