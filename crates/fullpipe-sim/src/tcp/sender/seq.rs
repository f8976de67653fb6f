//! Sequence numbers of the stream that a sender sends.

/// Numbers up to which the stream is written, sent and acknowledged, and the window that bounds it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct SendSeq {
    una: u64,
    nxt: u64,
    written: u64,
    pushed: u64,
    small: u64,
    wnd: u64,
    /// Number behind that of the segment that set the window last (snd_wl1).
    wnd_set_to: u64,
    max_wnd: u64,
}

impl SendSeq {
    /// First byte that is not acknowledged (snd_una).
    #[inline]
    pub(in crate::tcp) fn una(&self) -> u64 {
        self.una
    }

    /// First byte that was never sent (snd_nxt).
    #[inline]
    pub(in crate::tcp) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Byte after the last one that was written (write_seq).
    #[inline]
    pub(in crate::tcp) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of the offered window (snd_wnd).
    #[inline]
    pub(in crate::tcp) fn wnd(&self) -> u64 {
        self.wnd
    }

    /// Bytes of the largest window that the peer has offered (max_window).
    #[inline]
    pub(in crate::tcp) fn max_wnd(&self) -> u64 {
        self.max_wnd
    }

    /// Byte after the last one that the window allows (tcp_wnd_end).
    #[inline]
    pub(in crate::tcp) fn window_end(&self) -> u64 {
        self.una + self.wnd
    }

    /// Bytes that the window allows beyond what was sent.
    #[inline]
    pub(in crate::tcp) fn room(&self) -> u64 {
        self.window_end().saturating_sub(self.nxt)
    }

    /// Whether more than half of the largest window was written since the last push (forced_push).
    #[inline]
    pub(in crate::tcp) fn forces_push(&self) -> bool {
        self.written > self.pushed + (self.max_wnd >> 1)
    }

    /// Whether a segment smaller than the MSS is out (tcp_minshall_check).
    #[inline]
    pub(in crate::tcp) fn small_is_out(&self) -> bool {
        self.small > self.una
    }

    /// Notes an ACK of all bytes below `una`.
    #[inline]
    pub(in crate::tcp) fn acknowledge(&mut self, una: u64) {
        self.una = una;
    }

    /// Notes the transmission of all bytes below `nxt`.
    #[inline]
    pub(in crate::tcp) fn send_to(&mut self, nxt: u64) {
        self.nxt = nxt;
    }

    /// Adds so many numbers to the written ones.
    #[inline]
    pub(in crate::tcp) fn write(&mut self, numbers: u64) {
        self.written += numbers;
    }

    /// Marks all written data as not waiting for more (tcp_mark_push).
    #[inline]
    pub(in crate::tcp) fn push(&mut self) {
        self.pushed = self.written;
    }

    /// Marks all data below `seq` as not waiting for more.
    #[inline]
    pub(in crate::tcp) fn push_to(&mut self, seq: u64) {
        self.pushed = self.pushed.max(seq);
    }

    /// Notes that the last segment is smaller than the MSS (snd_sml).
    #[inline]
    pub(in crate::tcp) fn note_small(&mut self) {
        self.small = self.nxt;
    }

    /// Sets the window that the peer offers.
    #[inline]
    pub(in crate::tcp) fn offer(&mut self, window: u64) {
        self.wnd = window;
    }

    /// Whether a segment of the peer, an ACK of nothing new, changes the window: a later one does, or one with the same number and
    /// a larger window (tcp_may_update_window). `closes`: a window of 0 counts as well.
    #[inline]
    pub(in crate::tcp) fn is_another_window(&self, seq: u64, window: u64, closes: bool) -> bool {
        let is_larger = window > self.wnd || window == 0 && closes;
        seq >= self.wnd_set_to || seq + 1 == self.wnd_set_to && is_larger
    }

    /// Notes the number of the segment that sets the window (tcp_update_wl).
    #[inline]
    pub(in crate::tcp) fn note_window_of(&mut self, seq: u64) {
        self.wnd_set_to = seq + 1;
    }

    /// Remembers the largest window; returns whether `window` is larger than any before.
    #[inline]
    pub(in crate::tcp) fn raise_max_wnd(&mut self, window: u64) -> bool {
        let is_larger = window > self.max_wnd;
        if is_larger {
            self.max_wnd = window;
        }
        is_larger
    }

    /// Forgets the largest window, when a connection opens.
    pub(in crate::tcp) fn forget_max_wnd(&mut self) {
        self.max_wnd = 0;
    }
}
