//! Receiving sockets of a host as one stage: content, waiting times, and drops.
//!
//! Their capacity is memory in bytes; counters count datagrams.

use crate::trace::StageSample;
use crate::units::Time;

/// Stage of a host's receiving sockets.
#[derive(Debug, Default)]
pub(crate) struct UdpSockets {
    /// Memory of all sockets, bytes; none where there is no such socket.
    pub(crate) capacity: Option<u64>,
    /// Sockets that refuse datagrams.
    full: u64,
    /// Sample at [`UdpSockets::since`].
    now: StageSample,
    since: Time,
    /// Bytes of memory times their time in the sockets, ns.
    held_ns: u128,
}

impl UdpSockets {
    /// Empty sockets with these buffers, bytes of memory.
    pub(super) fn new(buffers: impl Iterator<Item = u64>) -> UdpSockets {
        let capacity = buffers.fold(None, |sum, bytes| Some(sum.unwrap_or(0) + bytes));
        UdpSockets { capacity, ..UdpSockets::default() }
    }

    /// Adds a datagram of so much memory; `full`: its socket refuses further ones.
    pub(super) fn take(&mut self, at: Time, memory: u64, full: bool) {
        self.pass(at);
        self.now.entered += 1;
        self.now.waiting += 1;
        self.now.waiting_bytes += memory;
        self.now.peak = self.now.peak.max(self.now.waiting);
        self.full += u64::from(full);
    }

    /// Counts a datagram without room in its socket.
    pub(super) fn lose(&mut self) {
        self.now.dropped += 1;
    }

    /// Removes a datagram that was read; `was_full`: its socket was full before.
    pub(super) fn give(&mut self, at: Time, memory: u64, was_full: bool, full: bool) {
        self.pass(at);
        self.now.left += 1;
        self.now.waiting -= 1;
        self.now.waiting_bytes -= memory;
        self.full -= u64::from(was_full && !full);
    }

    /// The sample at `now`.
    pub(crate) fn sample(&mut self, now: Time) -> StageSample {
        self.pass(now);
        let waiting_byte_us = (self.held_ns / 1000) as u64;
        let sample = StageSample { waiting_byte_us, ..self.now };
        self.now.peak = self.now.waiting;
        sample
    }

    /// Accounts the time since the last change.
    fn pass(&mut self, at: Time) {
        let passed = (at - self.since).0;
        self.since = at;
        let now = &mut self.now;
        now.waiting_ns = now.waiting_ns.wrapping_add(now.waiting * passed);
        self.held_ns += u128::from(now.waiting_bytes) * u128::from(passed);
        now.full_ns += if self.full > 0 { passed } else { 0 };
        now.empty_ns += if now.waiting == 0 { passed } else { 0 };
    }
}
