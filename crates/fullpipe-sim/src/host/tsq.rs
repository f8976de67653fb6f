//! Memory of a flow in its host's queue and ring (sk_wmem_alloc), for TCP small queues (TSQ).
//!
//! Limits:
//! - The kernel cuts large skbs for the card (GSO), here and on engine `linux`, and the head of each segment counts.
//!   A card that cuts them itself (TSO) leaves the skb whole: there two small skbs more may go at once.
//! - A packet stays in the host until its last segment is on the wire; in user-mode Linux until the turn of its last
//!   segment.

use crate::units::Time;
use alloc::collections::VecDeque;

/// Skbs that have not left yet: their memory, and when they will have left, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Tsq {
    /// The first to leave, and those behind it. Of many flows most have one in the host: it lies at hand.
    first: Option<(Time, u64)>,
    others: VecDeque<(Time, u64)>,
    bytes: u64,
    /// Whether nothing that leaves is noticed for now.
    kept: bool,
}

impl Tsq {
    /// An skb that leaves at `leaves`, with `bytes` of memory. One that need not wait for the card has been cut for it, and
    /// counts with a head for each segment until the softirq ends (Linux 6.12 `tcp_gso_segment`).
    pub(crate) fn enter(&mut self, leaves: Time, bytes: u64) {
        self.bytes += bytes;
        match self.first {
            None => self.first = Some((leaves, bytes)),
            Some(_) => self.others.push_back((leaves, bytes)),
        }
    }

    /// An skb waits, it is not known how long.
    pub(crate) fn wait(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// One that was to wait is refused. That wakes nobody, or TCP would offer the next one to the same full queue at
    /// once, again and again (in Linux until ksoftirqd does the work, `tcp_wfree`).
    pub(crate) fn refuse(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }

    /// One that waited leaves, or is dropped, at `leaves`, cut with `heads` bytes more of memory. Without memory it is no
    /// matter (Linux 6.12 `skb_set_tcp_pure_ack`).
    pub(crate) fn settle(&mut self, leaves: Time, bytes: u64, heads: u64) {
        if bytes == 0 {
            return;
        }
        self.bytes += heads;
        let skb = (leaves, bytes + heads);
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

    /// A softirq begins: what leaves during it counts until it ends, for skbs are freed by softirqs, too
    /// (`tcp_wfree`).
    pub(crate) fn begin_softirq(&mut self) {
        self.kept = true;
    }

    /// The softirq ends.
    pub(super) fn end_softirq(&mut self) {
        self.kept = false;
    }

    /// Forgets what has left by `now`, as far as that is noticed; bytes that are still here.
    pub(crate) fn at(&mut self, now: Time) -> u64 {
        while !self.kept
            && let Some((_, bytes)) = self.first.filter(|(leaves, _)| *leaves <= now)
        {
            self.first = self.others.pop_front();
            self.bytes -= bytes;
        }
        self.bytes
    }

    /// Memory of skbs that have not left by `now`, bytes. It changes nothing.
    pub(crate) fn held(&self, now: Time) -> u64 {
        let skbs = self.first.iter().chain(&self.others);
        let left = skbs.take_while(|(leaves, _)| *leaves <= now).map(|(_, bytes)| bytes);
        self.bytes - left.sum::<u64>()
    }

    /// When the next skb leaves.
    pub(crate) fn next(&self) -> Option<Time> {
        self.first.map(|(leaves, _)| leaves)
    }
}
