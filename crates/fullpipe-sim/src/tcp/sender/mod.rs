//! The sending endpoint: its state, its set-up, its timers.
//!
//! Order of calls: [`Sender::established`] or [`Sender::accepted`] once. Then [`Sender::on_ack`] for each ACK, the
//! calls of `write.rs` for the application, and [`Sender::on_timer`] when [`Sender::timer`] is due. Invariants:
//! `snd_una <= snd_nxt <= write_seq`; in flight never exceeds cwnd when new data is sent.

mod app_side;
mod chrono;
pub(super) mod control;
mod cwnd_validation;
mod deferral;
mod edt;
mod handshake;
mod limit;
pub(super) mod loss_state;
mod memory;
pub mod metrics;
pub(super) mod mtu;
pub mod options;
pub mod output;
mod pacing;
pub mod probe;
pub mod rounds;
pub(crate) mod route;
mod seq;
mod sndbuf;
pub mod socket;
mod tso;
pub(super) mod walks;
pub mod write;

use crate::cc::Congestion;
use crate::config::{Host, Sockopt, Sysctl};
use crate::jiffy_clock::{Expiry, JiffyClock};
use crate::packet::Ecn;
use crate::tcp::counters::Counters;
use crate::tcp::ecn::SenderEcn;
use crate::tcp::oow_ratelimit::OowRatelimit;
use crate::tcp::page_frag::Filling;
use crate::tcp::profile::{CcRtt, RttClock, SackMarking, SharedProfile};
use crate::tcp::rtt::Rtt;
use crate::tcp::scoreboard::{Scoreboard, Window};
use crate::tcp::skb::SendQueue;
use crate::tcp::{CaState, EmptySegment, Output, Transmission};
use crate::units::Time;
pub use app_side::Writer;
use app_side::{AppSide, Partial};
use chrono::Chrono;
use cwnd_validation::CwndUsage;
use edt::Departures;
use loss_state::Recovery;
use memory::SndMemory;
use mtu::PathMtu;
use pacing::Pacing;
use rounds::Rounds;
use seq::SendSeq;
use sndbuf::SndBuf;
use tso::Tso;

pub use fullpipe_base::tcp::INFINITE_SSTHRESH;

/// Purpose of the running timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    Retransmit,
    /// A probe of the window.
    Probe,
    /// A pause before an early retransmit.
    EarlyRetransmit,
    /// A tail loss probe.
    LossProbe,
    /// The wait for packets that may only be late (RACK).
    Reordering,
}

/// The sending end of a connection. Fields keep Linux's names.
pub struct Sender {
    pub(super) profile: SharedProfile,
    pub(super) sysctl: Sysctl,
    pub(super) cc: Congestion,
    pub(super) rtt: Rtt,
    pub(super) queue: SendQueue,
    pub(super) filling: Filling,
    pub(super) board: Scoreboard,
    pub(super) tick_ns: u64,
    pub(super) ticks: JiffyClock,
    /// Clock of the timestamp option.
    pub(super) stamps: JiffyClock,
    pub(super) timestamps: bool,
    /// First cwnd of the route, packets.
    pub(super) initcwnd: Option<u32>,
    /// MSS now (mss_cache), and on a path without a smaller MTU, bytes.
    pub(super) mss: u32,
    full_mss: u32,
    path_mtu: PathMtu,
    pub(super) tso: Tso,
    pub(super) seq: SendSeq,
    pub(super) app: AppSide,
    pub(super) ca_state: CaState,
    pub(super) recovery: Recovery,
    pub(super) ecn: SenderEcn,
    pub(super) cwnd_used: u32,
    pub(super) cwnd_usage: CwndUsage,
    pub(super) pacing: Pacing,
    pub(super) departures: Departures,
    /// Timestamp to echo: the last ACK's.
    pub(super) ts_recent: u32,
    pub(super) oow_ratelimit: OowRatelimit,
    pub(super) lsndtime: u32,
    pub(super) sndbuf: SndBuf,
    /// Share of the host's memory, where that is bounded.
    pub(super) memory: Option<SndMemory>,
    pub(super) chrono: Chrono,
    pub(super) retransmits: u32,
    pub(super) timer: Option<(TimerKind, Expiry)>,
    pub(super) refused: bool,
    /// ICMP for a packet that the host has refused as too large for its route.
    too_large: Option<route::TooLarge>,
    pub(super) is_established: bool,
    /// Whether cwnd begins at one segment.
    cut_by_syn: bool,
    /// Rounds of the first slow start, for the trace.
    pub(super) rounds: Rounds,
    /// Counters for the trace.
    pub counters: Counters,
}

/// cwnd while the SYN is out, packets (6.12 `tcp_init_sock`, TCP_INIT_CWND).
const SYN_CWND: u32 = 10;

impl Sender {
    /// A socket before connect(); `sndbuf` is the buffer that the program set by setsockopt.
    pub fn new(
        profile: impl Into<SharedProfile>,
        host: &Host,
        cc: Congestion,
        mss: u32,
        sndbuf: Option<u64>,
    ) -> Sender {
        let profile = profile.into();
        let tick_ns = 1_000_000_000 / u64::from(host.hz);
        let full_mss = mss;
        let mtu = mss + crate::tcp::headers(host.timestamps);

        // tcp_mtup_init: with probing, the search for the path MTU may begin below the full MSS.
        let path_mtu = PathMtu::new(host, mtu);
        let mss = path_mtu.bound(&host.sysctl, host.timestamps).min(full_mss);
        let mut board = Scoreboard::new(profile.sack_marking == SackMarking::Rack);
        board.rate = cc.controls().then(Default::default);
        Sender {
            sysctl: host.sysctl,
            cc,
            rtt: Rtt::new(host.hz, &profile),
            queue: SendQueue::new(profile.skb_overhead),
            filling: Filling::default(),
            board,
            tick_ns,
            ticks: JiffyClock::jiffies(host.hz),
            stamps: profile.timestamp_clock.ticks(host.hz),
            timestamps: host.timestamps,
            initcwnd: host.initcwnd,
            mss,
            full_mss,
            path_mtu,
            tso: Tso::new(host.tso, mss),
            seq: SendSeq::default(),
            app: AppSide::new(),
            ca_state: CaState::Open,
            recovery: Recovery::new(&host.sysctl, &profile),
            ecn: SenderEcn::default(),
            cwnd_used: 0,
            cwnd_usage: CwndUsage::default(),
            pacing: Pacing::new(host.hz),
            departures: Departures::new(&profile, host),
            ts_recent: 0,
            oow_ratelimit: OowRatelimit::default(),
            lsndtime: 0,
            sndbuf: SndBuf::new(host, sndbuf, u64::from(full_mss) + profile.skb_overhead),
            memory: None,
            chrono: Chrono::new(),
            retransmits: 0,
            timer: None,
            refused: false,
            too_large: None,
            is_established: false,
            cut_by_syn: false,
            rounds: Rounds::default(),
            counters: Counters::default(),
            profile,
        }
    }

    /// Sets the application's socket options, before the handshake ends.
    pub fn set_options(&mut self, options: Sockopt) {
        if let Some(most) = options.max_pacing_rate {
            self.limit_pacing_rate(most);
        }
        if let Some(lowat) = options.notsent_lowat.filter(|&lowat| lowat > 0) {
            self.sndbuf.set_notsent_lowat(lowat);
        }
        if options.nodelay {
            self.app.set_nodelay();
        }
        if options.cork {
            self.cork_message();
        }
    }

    /// Sets TCP_CORK for the program.
    pub(crate) fn cork_message(&mut self) {
        self.app.set_partial(Partial::Corked);
    }

    /// Clears TCP_CORK for the program, and sends (6.12 `__tcp_sock_set_cork`).
    pub(crate) fn uncork_message(&mut self, out: &mut impl Output) {
        self.app.uncork();
        self.push_pending(false, out);
    }

    /// Prepares the socket for remote procedure calls, before the handshake ends: sets TCP_NODELAY (6.12
    /// `xs_tcp_finish_connecting`, `svc_tcp_init`).
    pub(crate) fn carry_messages(&mut self) {
        self.app.set_partial(Partial::Goes);
    }

    /// Corks such a socket while other messages follow the one that is written (since 5.12 `xs_tcp_send_request`,
    /// `svc_tcp_sendto`).
    pub(crate) fn cork(&mut self, corks: bool) {
        self.app.set_partial(if corks { Partial::Corked } else { Partial::Goes });
    }

    /// State of the application, set by its host.
    #[inline]
    pub fn writer(&self) -> Writer {
        self.app.writer()
    }

    /// Changes the state of the application.
    #[inline]
    pub fn set_writer(&mut self, writer: Writer) {
        self.app.set_writer(writer);
    }

    /// Timestamp of a packet sent at `time`; 0 without timestamps.
    pub fn tsval(&self, time: Time) -> u32 {
        if self.timestamps { self.timestamp(time) } else { 0 }
    }

    /// Jiffies at `time`.
    pub(super) fn jiffies(&self, time: Time) -> u32 {
        self.ticks.since_boot(time)
    }

    /// The time at which a jiffy began.
    pub(super) fn tick(&self, jiffies: u32) -> Time {
        self.ticks.begin_since_boot(jiffies)
    }

    /// Timestamp of a packet sent at `time` (tcp_time_stamp_ts).
    pub(super) fn timestamp(&self, time: Time) -> u32 {
        self.stamps.since_boot(time)
    }

    /// Time of the next timestamp after this one.
    pub(super) fn after_timestamp(&self, timestamp: u32) -> Time {
        self.stamps.begin_since_boot(timestamp.wrapping_add(1))
    }

    /// Age of an echoed timestamp, in the units of the RTT's clock (tcp_rtt_tsopt_us).
    pub(super) fn echo_units(&self, echo: u32, now: Time) -> u32 {
        let age = self.timestamp(now).wrapping_sub(echo);
        self.profile.rtt_clock.of_stamps(age, &self.stamps)
    }

    /// Time stamp of packets sent now: the jiffy, or the exact time where a reader needs it.
    pub(super) fn stamp(&self, now: Time) -> Time {
        let exact = self.profile.cc_rtt == CcRtt::Microseconds
            || self.profile.rtt_clock == RttClock::Microseconds;
        if exact { now } else { self.ticks.begin(self.ticks.at(now)) }
    }

    /// Time from `sent` to `now` in the units of the RTT's clock.
    pub(super) fn rtt_units(&self, sent: Time, now: Time) -> u32 {
        match self.profile.rtt_clock {
            RttClock::Jiffies => self.jiffies(now).saturating_sub(self.jiffies(sent)),
            RttClock::Microseconds => now.us_since(sent).min(1 << 27) as u32,
        }
    }

    /// First byte that was never sent.
    pub fn snd_nxt(&self) -> u64 {
        self.seq.nxt()
    }

    /// A packet without data.
    pub fn empty(&self) -> EmptySegment {
        let tsecr = if self.timestamps { self.ts_recent } else { 0 };
        EmptySegment { seq: self.seq.nxt(), tsecr }
    }

    /// A transmission of `len` bytes from `seq` on, to leave at `departs`.
    pub(super) fn transmission(
        &self,
        seq: u64,
        numbers: u32,
        retransmission: bool,
        departs: Time,
    ) -> Transmission {
        let (tsval, tsecr) = match self.timestamps {
            true => (self.timestamp(self.stamped(departs)), self.ts_recent),
            false => (0, 0),
        };
        let segment = self.mss_now();
        let several = self.profile.pushes_tso && numbers > segment;

        // The FIN has a number, but no data.
        let fin = numbers > 0 && self.queue.fin() == Some(seq + u64::from(numbers) - 1);
        Transmission {
            seq,
            len: numbers - u32::from(fin),
            segment,
            retransmission,
            departs,
            push: several || retransmission && self.queue.pushes_at(seq + u64::from(numbers)),
            fin,
            tsval,
            tsecr,
            ecn: Ecn::NotEct,
            cwr: false,
        }
    }

    /// Copies the time and the state to the congestion control.
    pub(super) fn sync_clock(&mut self, now: Time) {
        let jiffies = self.jiffies(now);
        let sock = self.cc.sock_mut();
        sock.jiffies = jiffies;
        sock.now_us = now.as_us();
        sock.srtt_us = self.rtt.srtt_us8() as u32;
        sock.packets_out = self.board.packets_out;
        sock.delivered = self.board.delivered as u32;
        sock.snd_nxt = self.seq.nxt() as u32;
        sock.snd_una = self.seq.una() as u32;
        sock.lsndtime = self.lsndtime;
        sock.pacing_rate = self.pacing.rate;
        sock.pacing_status = self.departures.status();
        self.sync_rates_at(now);
    }

    pub(super) fn window(&self) -> Window<'_> {
        Window {
            queue: &self.queue,
            snd_una: self.seq.una(),
            snd_nxt: self.seq.nxt(),
            mss: self.mss,
        }
    }

    /// The scoreboard for changes, and its window.
    pub(super) fn board_and_window(&mut self) -> (&mut Scoreboard, Window<'_>) {
        let window = Window {
            queue: &self.queue,
            snd_una: self.seq.una(),
            snd_nxt: self.seq.nxt(),
            mss: self.mss,
        };
        (&mut self.board, window)
    }

    /// The congestion control, for records and comparisons.
    pub fn congestion(&self) -> &Congestion {
        &self.cc
    }

    /// Congestion window, packets.
    pub fn cwnd(&self) -> u32 {
        self.cc.sock().snd_cwnd
    }

    /// Slow start threshold, packets.
    pub fn ssthresh(&self) -> u32 {
        self.cc.sock().snd_ssthresh
    }

    /// Packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Congestion state.
    pub fn ca_state(&self) -> CaState {
        self.ca_state
    }

    /// The RTT's estimator.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Smoothed RTT, us.
    pub fn srtt_us(&self) -> u32 {
        self.rtt.srtt_us()
    }

    /// Retransmission timeout, us, doubled for each timeout. Window probes are counted separately (icsk_backoff).
    pub fn rto_us(&self) -> u32 {
        (u64::from(self.rtt.rto) * self.tick_ns / 1000).min(u64::from(u32::MAX)) as u32
    }

    /// Bytes acknowledged.
    pub fn bytes_acked(&self) -> u64 {
        let fin = self.queue.fin().is_some_and(|fin| fin < self.seq.una());
        self.seq.una() - u64::from(fin)
    }

    /// Advertised window in the sender's view, bytes.
    pub fn snd_wnd(&self) -> u64 {
        self.seq.wnd()
    }

    /// Bytes written and not sent.
    pub fn unsent(&self) -> u64 {
        self.queue.unsent_bytes
    }

    /// Memory in the send buffer, bytes.
    pub fn wmem_queued(&self) -> u64 {
        self.queue.wmem_queued
    }

    /// Limit of the send buffer, bytes; none where the kernel tunes it.
    pub fn send_buffer_limit(&self) -> Option<u64> {
        self.sndbuf.is_locked().then_some(self.sndbuf.bytes())
    }

    /// Whether the handshake is over.
    pub fn is_established(&self) -> bool {
        self.is_established
    }

    /// Time at which the running timer expires.
    pub fn timer(&self) -> Option<Time> {
        self.expiry().map(|expiry| expiry.at)
    }

    /// Expiry of the running timer, with its place in the wheel.
    pub fn expiry(&self) -> Option<Expiry> {
        self.timer.map(|(_, expiry)| expiry)
    }

    /// Starts a timer `jiffies` from now; it fires on a tick (Linux `sk_reset_timer`).
    pub(super) fn start_timer(&mut self, kind: TimerKind, now: Time, jiffies: u32) {
        let expiry = self.ticks.expiry(self.profile.timer_wheel, now, jiffies);
        self.timer = Some((kind, expiry));
    }

    /// Handles the timer that is due.
    pub fn on_timer(&mut self, out: &mut impl Output) {
        let now = out.now();
        let Some((kind, Expiry { at, .. })) = self.timer else { return };
        if at > now {
            return;
        }
        self.timer = None;
        self.refresh_clock(now);
        self.sync_clock(now);
        match kind {
            TimerKind::Retransmit => self.on_retransmit_timeout(out),
            TimerKind::Probe => self.on_probe_timeout(out),
            TimerKind::EarlyRetransmit => self.resume_early_retransmit(out),
            TimerKind::LossProbe => self.send_loss_probe(out),
            TimerKind::Reordering => self.on_reordering_timeout(out),
        }
    }
}
