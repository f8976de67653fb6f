//! The sockets of a host that receive datagrams, as one place on the way: what they hold, for how long, and what they drop.
//!
//! Their capacity is memory in bytes; counters count datagrams.

use crate::trace::StageSample;
use crate::units::Time;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct UdpSockets {
    /// Memory of all of them, bytes; none where there is no such socket.
    pub(crate) capacity: Option<u64>,
    /// Sockets that take no more.
    full: u64,
    /// What there is since [`UdpSockets::since`].
    now: StageSample,
    since: Time,
    /// Bytes of memory times how long they were held, ns.
    held_ns: u128,
}

impl UdpSockets {
    /// Sockets with these buffers, bytes of memory, and nothing in them.
    pub(super) fn new(buffers: impl Iterator<Item = u64>) -> UdpSockets {
        let capacity = buffers.fold(None, |sum, bytes| Some(sum.unwrap_or(0) + bytes));
        UdpSockets { capacity, ..UdpSockets::default() }
    }

    /// A socket takes a datagram of so much memory, after which it is full or not.
    pub(super) fn take(&mut self, at: Time, memory: u64, full: bool) {
        self.pass(at);
        self.now.entered += 1;
        self.now.waiting += 1;
        self.now.waiting_bytes += memory;
        self.now.peak = self.now.peak.max(self.now.waiting);
        self.full += u64::from(full);
    }

    /// A socket has no room for a datagram.
    pub(super) fn lose(&mut self) {
        self.now.dropped += 1;
    }

    /// A program has read one; `was_full`: before that.
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
        let told = StageSample { waiting_byte_us, ..self.now };
        self.now.peak = self.now.waiting;
        told
    }

    /// Time has passed since the last change.
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
