//! Sizes into which a sender cuts its stream, and the wait of a large skb for more data.
//!
//! Source: Linux 6.12 `tcp_current_mss`, `tcp_send_mss`, `tcp_tso_should_defer`.

/// Segmentation offload of one connection. Times are jiffies.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Tso {
    /// Whether the NIC cuts skbs into segments (sk_can_gso).
    is_on: bool,
    /// Bytes of a segment under the largest window that the peer has offered, with no SACK blocks (mss_cache).
    mss_cache: u32,
    /// Bytes that SACK blocks take in each segment now, and those that are left for data.
    options: u32,
    mss_now: u32,
    /// Size to which the last write filled its skbs, bytes (size_goal).
    goal: u32,
    /// Jiffy since which a large skb has waited for more data (tso_deferred).
    deferred: Option<u32>,
}

impl Tso {
    /// Sizes of a new connection: a segment has `mss` bytes, and so has an skb.
    pub(in crate::tcp) fn new(is_on: bool, mss: u32) -> Tso {
        Tso { is_on, mss_cache: mss, options: 0, mss_now: mss, goal: mss, deferred: None }
    }

    /// Whether the NIC cuts skbs into segments.
    #[inline]
    pub(in crate::tcp) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Most bytes of one segment without SACK blocks (mss_cache).
    #[inline]
    pub(in crate::tcp) fn mss_cache(&self) -> u32 {
        self.mss_cache
    }

    /// Most bytes of one segment now: SACK blocks leave less room for data (6.12 `tcp_current_mss`).
    #[inline]
    pub(in crate::tcp) fn mss_now(&self) -> u32 {
        self.mss_now
    }

    /// Whether segments carry SACK blocks now.
    #[inline]
    pub(in crate::tcp) fn reports_sacks(&self) -> bool {
        self.options > 0
    }

    /// Notes the bytes that SACK blocks take in each segment from now on.
    #[inline]
    pub(in crate::tcp) fn note_options(&mut self, bytes: u32) {
        if bytes != self.options {
            self.options = bytes;
            self.leave_room();
        }
    }

    fn leave_room(&mut self) {
        self.mss_now = self.mss_cache.saturating_sub(self.options).max(1);
    }

    /// Bounds a segment to `bytes` from now on.
    #[inline]
    pub(in crate::tcp) fn bound_mss(&mut self, bytes: u32) {
        self.mss_cache = bytes;
        self.leave_room();
    }

    /// Size to which the last write filled its skbs, bytes.
    #[inline]
    pub(in crate::tcp) fn goal(&self) -> u32 {
        self.goal
    }

    /// Sets the size to which a write fills its skbs.
    #[inline]
    pub(in crate::tcp) fn fill_to(&mut self, goal: u32) {
        self.goal = goal;
    }

    /// Whether a large skb waits for more data.
    #[inline]
    pub(in crate::tcp) fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// Whether the large skb has waited for more than a jiffy.
    #[inline]
    pub(in crate::tcp) fn has_waited(&self, now: u32) -> bool {
        self.deferred.is_some_and(|since| now - since > 1)
    }

    /// Notes whether the first unsent skb waits. With `once` a continued wait counts from its start.
    #[inline]
    pub(in crate::tcp) fn note_deferral(&mut self, waits: bool, now: u32, once: bool) {
        let since = self.deferred.filter(|_| once);
        self.deferred = waits.then(|| since.unwrap_or(now));
    }
}
