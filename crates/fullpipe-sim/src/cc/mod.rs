//! Congestion controls and slow starts: the C sources of `cc/`, behind a safe interface.
//!
//! An algorithm is a set of callbacks on one flow's [`Sock`]. Its parameters and helpers decide which kernel version it
//! behaves like. It sees no clock and no random numbers but those of the flow, so equal calls have equal results.

mod ffi;
mod params;
mod sock;

pub use params::{
    Description, Error, KernelVersion, Parameter, algorithms, first_kernel, has_kernel, limited_to,
    slow_starts, takes_slow_start,
};
pub use sock::{
    ACK_ECE, ACK_SLOWPATH, ACK_WIN_UPDATE, AckSample, CWR, DISORDER, Event, Exits, LOSS, OPEN,
    RECOVERY, RateSample, Rates, Sock,
};

use crate::config;
use alloc::string::String;
use params::Helpers;
use sock::TcpSock;

/// Value of `snd_ssthresh` before the first reduction, in packets.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The congestion control of one flow.
///
/// The TCP sender sets the fields of [`Congestion::sock_mut`] and then calls, in this order: [`init`](Self::init) once;
/// for an ACK of new data [`pkts_acked`](Self::pkts_acked), then [`cong_avoid`](Self::cong_avoid). On a reduction it
/// calls [`ssthresh`](Self::ssthresh). On each change of state it calls [`set_state`](Self::set_state).
pub struct Congestion {
    flow: TcpSock,
    algorithm: &'static ffi::Algorithm,
    helpers: Helpers,
    version: KernelVersion,
    /// None: the kernel's slow start, and the algorithm's own rules.
    slow_start: Option<&'static ffi::SlowStart>,
}

impl Congestion {
    /// The algorithm `name` with `parameters`; absent ones have the default of `kernel` ("2.6.20"). `hz` is in jiffies
    /// per second. `seed` starts the flow's random numbers.
    ///
    /// # Errors
    /// An unknown algorithm or parameter, a value beyond its range, `hz` beyond 1 to 1000, or a kernel version without
    /// a known behaviour of the algorithm.
    pub fn new(
        name: &str,
        parameters: &[(String, i64)],
        kernel: &str,
        hz: u32,
        seed: u64,
    ) -> Result<Congestion, Error> {
        let algorithm = params::named(name).ok_or_else(|| Error::UnknownAlgorithm(name.into()))?;
        let version = params::version(algorithm, kernel)?;
        if !(1..=1000).contains(&hz) {
            return Err(Error::Hz(hz));
        }
        let helpers = version.helpers().unwrap_or(Helpers::Stretch);
        let flow = TcpSock {
            sock: Sock::new(hz),
            private: [0; sock::PRIVATE_WORDS],
            random: seed,
            helpers: helpers as u32,
            param: params::values(algorithm.name(), algorithm.params(), parameters, version)?,
            slow_param: [0; sock::SLOW_PARAMS],
            slow_private: [0; sock::SLOW_PRIVATE_WORDS],
            grow: None,
            exits: Exits::default(),
            rates: Rates::default(),
        };
        Ok(Congestion { flow, algorithm, helpers, version, slow_start: None })
    }

    /// Congestion control of a scenario's `flow`: its algorithm, and its slow start.
    ///
    /// # Errors
    /// As of [`new`](Self::new) and [`with_slow_start`](Self::with_slow_start).
    pub fn of(flow: &config::Flow, kernel: &str, hz: u32, seed: u64) -> Result<Congestion, Error> {
        let cc = Congestion::new(&flow.congestion, &flow.parameters, kernel, hz, seed)?;
        match &flow.slow_start {
            Some(own) => cc.with_slow_start(&own.name, &own.parameters),
            None => Ok(cc),
        }
    }

    /// Replaces the kernel's slow start by the slow start `name`; absent parameters have their defaults.
    ///
    /// # Errors
    /// An unknown slow start or parameter, a value beyond its range.
    pub fn with_slow_start(
        mut self,
        name: &str,
        parameters: &[(String, i64)],
    ) -> Result<Congestion, Error> {
        let own = params::slow_start(name).ok_or_else(|| Error::UnknownSlowStart(name.into()))?;
        self.flow.slow_param = params::values(own.name(), own.params(), parameters, self.version)?;
        self.flow.grow = own.grow;
        self.slow_start = Some(own);
        Ok(self)
    }

    /// The algorithm's name.
    pub fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Fields of the socket that the algorithm sees.
    pub fn sock(&self) -> &Sock {
        &self.flow.sock
    }

    /// Fields of the socket, for the sender to keep up to date.
    pub fn sock_mut(&mut self) -> &mut Sock {
        &mut self.flow.sock
    }

    /// The algorithm's private state (`icsk_ca_priv`), for records and comparisons.
    pub fn private(&self) -> &[u64; 13] {
        &self.flow.private
    }

    /// The slow start's private state, for records and comparisons.
    pub fn slow_private(&self) -> &[u64; 25] {
        &self.flow.slow_private
    }

    /// Exits from slow start that HyStart has found.
    pub fn exits(&self) -> Exits {
        self.flow.exits
    }

    /// Starts the connection: slow start first, then the algorithm.
    pub fn init(&mut self) {
        if let Some(init) = self.slow_start.and_then(|own| own.init) {
            // SAFETY: `flow` is a `struct tcp_sock`, valid and unshared during the call.
            unsafe { init(&mut self.flow) }
        }
        if let Some(init) = self.algorithm.init {
            // SAFETY: `flow` is a `struct tcp_sock`, valid and unshared during the call.
            unsafe { init(&mut self.flow) }
        }
    }

    /// New `snd_ssthresh` for a reduction of the window, packets (at least 2); the sender stores it.
    pub fn ssthresh(&mut self) -> u32 {
        // SAFETY: as in `init`.
        self.algorithm.ssthresh.map_or(2, |f| unsafe { f(&mut self.flow) })
    }

    /// Handles an ACK up to sequence number `ack`, of `acked` packets (at least 1).
    ///
    /// Kernels up to 3.12 count the ACK and not its packets; kernels up to 3.19 do so in congestion avoidance. There
    /// `acked` counts as 1.
    #[inline]
    pub fn cong_avoid(&mut self, ack: u32, acked: u32) {
        if let Some(cong_avoid) = self.algorithm.cong_avoid {
            let sock = &self.flow.sock;
            let acked = match self.helpers {
                Helpers::PerAck => 1,
                Helpers::SlowStart if sock.snd_cwnd > sock.snd_ssthresh => 1,
                _ => acked,
            };
            // SAFETY: as in `init`.
            unsafe { cong_avoid(&mut self.flow, ack, acked) }
        }
    }

    /// Passes the RTT and the packets of an ACK of whole packets.
    #[inline]
    pub fn pkts_acked(&mut self, sample: &AckSample) {
        if let Some(pkts_acked) = self.slow_start.and_then(|own| own.pkts_acked) {
            // SAFETY: as in `init`; `sample` is a `struct ack_sample`, read during the call only.
            unsafe { pkts_acked(&mut self.flow, sample) }
        }
        if let Some(pkts_acked) = self.algorithm.pkts_acked {
            // SAFETY: as in `init`; `sample` is a `struct ack_sample`, read during the call only.
            unsafe { pkts_acked(&mut self.flow, sample) }
        }
    }

    /// Changes the sender's state to `state` ([`OPEN`] to [`LOSS`]). The algorithm's callback still sees the former
    /// state; then `ca_state` has the new one.
    pub fn set_state(&mut self, state: u8) {
        if let Some(set_state) = self.algorithm.set_state {
            // SAFETY: as in `init`.
            unsafe { set_state(&mut self.flow, state) }
        }
        self.flow.sock.ca_state = u32::from(state);
    }

    /// Window to which the undo of the last reduction returns, packets.
    pub fn undo_cwnd(&mut self) -> u32 {
        let cwnd = self.flow.sock.snd_cwnd;
        // SAFETY: as in `init`.
        self.algorithm.undo_cwnd.map_or(cwnd, |f| unsafe { f(&mut self.flow) })
    }

    /// Calls the algorithm for an event other than an ACK.
    pub fn cwnd_event(&mut self, event: Event) {
        if let Some(cwnd_event) = self.algorithm.cwnd_event {
            // SAFETY: as in `init`.
            unsafe { cwnd_event(&mut self.flow, event as u32) }
        }
    }

    /// Whether the algorithm sets the whole window and the pace, from samples of the delivery rate (`cong_control`).
    #[inline]
    pub fn controls(&self) -> bool {
        self.algorithm.cong_control.is_some()
    }

    /// Further fields for an algorithm with `cong_control`, besides [`Congestion::sock`].
    pub fn rates(&self) -> &Rates {
        &self.flow.rates
    }

    /// [`Congestion::rates`], to be kept up to date by the sender.
    pub fn rates_mut(&mut self) -> &mut Rates {
        &mut self.flow.rates
    }

    /// Handles an ACK up to sequence number `ack` with its sample of the delivery rate. The algorithm may change
    /// `snd_cwnd`, `pacing_rate` and `app_limited`.
    pub fn cong_control(&mut self, ack: u32, sample: &RateSample) {
        if let Some(cong_control) = self.algorithm.cong_control {
            // SAFETY: as in `init`; `sample` is a `struct rate_sample`, read during the call only.
            unsafe { cong_control(&mut self.flow, ack, 0, sample) }
        }
    }

    /// Least segments of an skb, where the algorithm sets them.
    pub fn min_tso_segs(&mut self) -> Option<u32> {
        // SAFETY: as in `init`.
        self.algorithm.min_tso_segs.map(|f| unsafe { f(&mut self.flow) })
    }

    /// Factor between the send buffer and cwnd (`sndbuf_expand`); 2 unless the algorithm sets it.
    pub fn sndbuf_expand(&mut self) -> u32 {
        // SAFETY: as in `init`.
        self.algorithm.sndbuf_expand.map_or(2, |f| unsafe { f(&mut self.flow) })
    }

    /// Whether the algorithm has [`in_ack_event`](Self::in_ack_event).
    #[inline]
    pub fn hears_acks(&self) -> bool {
        self.algorithm.in_ack_event.is_some()
    }

    /// Passes an ACK that may acknowledge nothing. `flags` are [`ACK_SLOWPATH`], [`ACK_WIN_UPDATE`] and [`ACK_ECE`].
    pub fn in_ack_event(&mut self, flags: u32) {
        if let Some(in_ack_event) = self.algorithm.in_ack_event {
            // SAFETY: as in `init`.
            unsafe { in_ack_event(&mut self.flow, flags) }
        }
    }

    /// Whether the algorithm asks for RTTs in microseconds (`TCP_CONG_RTT_STAMP`); else RTTs have whole jiffies.
    pub fn wants_us(&self) -> bool {
        let param = (self.algorithm.us_rtt_param as usize).checked_sub(1);
        let algorithm = param.is_some_and(|param| self.flow.param[param] != 0);
        self.flow.sock.hz < 1000
            && (algorithm || self.slow_start.is_some_and(|own| own.us_rtt != 0))
    }

    /// Floor of rate halving in packets, in kernels that reduce the window so (before 3.2).
    pub fn min_cwnd(&self) -> u32 {
        self.flow.sock.snd_ssthresh >> self.algorithm.min_cwnd_shift
    }
}
