//! Memory of a flow in its host's queue and ring (sk_wmem_alloc), for TCP small queues (TSQ).
//!
//! Limits:
//! - The kernel cuts large skbs for the NIC (GSO), here and on engine `linux`, and the head of each segment counts. A
//!   NIC that cuts them itself (TSO) leaves the skb whole; then two small skbs more may leave at once.
//! - A packet stays in the host until its last segment is on the wire; in user-mode Linux until the turn of its last
//!   segment.

use crate::units::Time;
use alloc::collections::VecDeque;

/// Skbs of a flow in the host: their memory, and when they leave, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Tsq {
    /// The first to leave, and those behind it. With many flows most have one skb in the host, which lies at hand.
    first: Option<(Time, u64)>,
    others: VecDeque<(Time, u64)>,
    bytes: u64,
    /// Whether skbs that leave still count for now.
    kept: bool,
}

impl Tsq {
    /// Adds an skb that leaves at `leaves`, with `bytes` of memory. An skb that need not wait for the NIC has been cut
    /// for it. It counts with a head for each segment until the softirq ends (Linux 6.12 `tcp_gso_segment`).
    pub(crate) fn enter(&mut self, leaves: Time, bytes: u64) {
        self.bytes += bytes;
        match self.first {
            None => self.first = Some((leaves, bytes)),
            Some(_) => self.others.push_back((leaves, bytes)),
        }
    }

    /// Adds an skb that waits for an unknown time.
    pub(crate) fn wait(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Removes an skb that was refused after waiting. This does not wake TCP, or it would offer the next skb to the
    /// same full queue, again and again. In Linux it does so until ksoftirqd does the work (`tcp_wfree`).
    pub(crate) fn refuse(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }

    /// Sets the time at which a waiting skb leaves, or is dropped. It was cut with `heads` bytes more of memory. An skb
    /// without memory is ignored (Linux 6.12 `skb_set_tcp_pure_ack`).
    pub(crate) fn settle(&mut self, leaves: Time, bytes: u64, heads: u64) {
        if bytes == 0 {
            return;
        }
        self.bytes += heads;
        let skb = (leaves, bytes + heads);

        // Fair queues let skbs leave in another order, so the list stays sorted by time.
        match self.first {
            None => self.first = Some(skb),
            Some(first) if first.0 > leaves => {
                self.others.push_front(first);
                self.first = Some(skb);
            }
            Some(_) => {
                let at = self.others.partition_point(|&(time, _)| time <= leaves);
                self.others.insert(at, skb);
            }
        }
    }

    /// Begins a softirq. Skbs that leave during it count until its end, because softirqs free skbs, too (`tcp_wfree`).
    pub(crate) fn begin_softirq(&mut self) {
        self.kept = true;
    }

    /// Ends the softirq.
    pub(super) fn end_softirq(&mut self) {
        self.kept = false;
    }

    /// Removes skbs that have left by `now`, unless they still count; returns the bytes in the host.
    pub(crate) fn at(&mut self, now: Time) -> u64 {
        while !self.kept
            && let Some((_, bytes)) = self.first.filter(|(leaves, _)| *leaves <= now)
        {
            self.first = self.others.pop_front();
            self.bytes -= bytes;
        }
        self.bytes
    }

    /// Memory of skbs that have not left by `now`, bytes. Changes no state.
    pub(crate) fn held(&self, now: Time) -> u64 {
        let skbs = self.first.iter().chain(&self.others);
        let left = skbs.take_while(|(leaves, _)| *leaves <= now).map(|(_, bytes)| bytes);
        self.bytes - left.sum::<u64>()
    }

    /// Time at which the next skb leaves.
    pub(crate) fn next(&self) -> Option<Time> {
        self.first.map(|(leaves, _)| leaves)
    }
}
