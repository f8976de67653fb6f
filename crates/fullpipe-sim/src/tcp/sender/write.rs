//! Writes of the application: skbs are filled up to the size goal while the send buffer has room.
//!
//! Source: Linux 2.6.20 `tcp_sendmsg`, `tcp_current_mss`, `forced_push`, `sk_stream_write_space`; 6.1 and 6.12
//! `__sk_stream_memory_free`, `tcp_stream_memory_free`, `tcp_push`.
//!
//! Limits:
//! - A segment may fill a window of up to 536 bytes, as in 6.12 (`tcp_bound_to_half_wnd`). Kernels before 2.6.36 take
//!   half of such a window too.
//! - The end of a rest clears SOCK_NOSPACE, and the buffer grows until a woken writer has run. Linux lets the flag stay
//!   in the first case, and the buffer does not grow in the second.
//! - A send buffer below some ten skbs is inexact: with a `tcp_wmem` of 4096 bytes throughput is 25 % off.

use super::{Sender, Writer};
use crate::rng::Rng;
use crate::tcp::Output;
use crate::tcp::profile::{AckOrder, IdleRestart, SkbSize, SndTuning};
use crate::tcp::truesize::{SHARED_INFO, SKB_BYTES};
use crate::units::Time;
use fullpipe_base::tcp::GSO_MAX_SIZE;

/// Room for headers in front of the data, bytes (`MAX_TCP_HEADER`); a kernel with WLAN or tunnels has up to 320.
const MAX_TCP_HEADER: u32 = 192;
/// Least packets of a send buffer (TCP_INIT_CWND).
const FIRST_CWND: u32 = 10;
/// Largest IP packet that a TSO skb may describe.
const GSO_MAX: u32 = 65_535;
/// Bytes of these that a socket with autosizing uses (`sk_gso_max_size`; Linux 6.12 `sk_dst_gso_max_size`).
pub(in crate::tcp) const SK_GSO_MAX_SIZE: u32 = GSO_MAX_SIZE - (MAX_TCP_HEADER + 1);

/// Most pages of an skb by reference (6.12 `MAX_SKB_FRAGS`).
const FRAGMENTS: u32 = 17;
/// MSS of a peer that announces none, bytes (TCP_MSS_DEFAULT).
const DEFAULT_MSS: u64 = 536;
/// Least MTU, bytes (RFC 791).
const MIN_MTU: u32 = 68;
/// IPv4 header without options, bytes.
const IP_HEADER: u32 = 20;
/// Bytes of a page.
const PAGE: u32 = 4096;

/// Bytes of the first skb of a server's record of `record` bytes: the marker, the rest in front of the data, and whole
/// pages (6.12 `svc_tcp_sendmsg`, `skb_splice_from_iter`).
///
/// The skb does not reach the size goal, so nothing is sent before the end of the record. Each skb of the record
/// therefore finds the connection as idle as the first one did. After an idle RTO cwnd is halved for each of them
/// (`tcp_skb_entail`, `tcp_slow_start_after_idle_check`).
pub(crate) fn spliced(record: u32) -> u32 {
    (FRAGMENTS - 2) * PAGE + record % PAGE
}

impl Sender {
    /// Most bytes of one segment now: the MSS, unless half of the largest window is less (6.12 `tcp_sync_mss`, which
    /// each larger window calls).
    pub(in crate::tcp) fn mss_now(&self) -> u32 {
        self.tso.mss_now()
    }

    /// Notes the bytes that SACK blocks of this socket take in each segment from now on. The host does so before each turn of
    /// TCP; calls that send again look anew, for a D-SACK goes with one segment (6.12 `tcp_current_mss`).
    pub(crate) fn note_options(&mut self, bytes: u32) {
        self.tso.note_options(bytes);
    }

    /// Notes a window that the peer has announced; the largest one bounds segments.
    pub(in crate::tcp) fn note_window(&mut self, window: u64) {
        if self.seq.raise_max_wnd(window) {
            self.sync_searched_mss();
            self.tso.bound_mss(self.bound_to_half_window(self.mss));
        }
    }

    /// `bytes`, but at most half of the largest window that the peer has announced. One segment may fill a window of up
    /// to 536 bytes. No bound is below the space that the least MTU leaves behind TCP's header (6.1 and 6.12
    /// `tcp_bound_to_half_wnd`).
    pub(super) fn bound_to_half_window(&self, bytes: u32) -> u32 {
        let tiny = self.seq.max_wnd() <= DEFAULT_MSS;
        let most = if tiny { self.seq.max_wnd() } else { self.seq.max_wnd() >> 1 };
        if most == 0 || u64::from(bytes) <= most {
            return bytes;
        }
        let tcp_header = crate::tcp::headers(self.timestamps) - IP_HEADER;
        bytes.min((most as u32).max(MIN_MTU - tcp_header))
    }

    /// Largest skb to build now, bytes (`xmit_size_goal`). While the window bounds the MSS, it is one bounded segment.
    pub fn size_goal(&self) -> u32 {
        let mss_now = self.mss_now();
        if !self.tso.is_on() || self.tso.mss_cache() < self.mss {
            return mss_now;
        }

        // The largest IP packet, less headers; some kernels bound it by the pace.
        let mut goal = match self.profile.skb_size {
            SkbSize::AsWritten => GSO_MAX - crate::tcp::headers(self.timestamps),
            SkbSize::PacedWhenWritten => {
                (GSO_MAX - crate::tcp::headers(self.timestamps)).min(self.paced_size())
            }
            _ => SK_GSO_MAX_SIZE,
        };
        if self.profile.size_goal_half_window {
            goal = self.bound_to_half_window(goal);
        }
        (goal - goal % mss_now).max(mss_now)
    }

    /// Bytes that the next step of a write copies: the rest of the last skb, or one new skb. `None` while the send
    /// buffer is full, or has enough unsent data.
    pub fn next_copy(&self, goal: u32, left: u32) -> Option<u32> {
        let room = self.queue.tail_room(goal);
        let may_begin = !self.sndbuf.counts_data() || self.has_memory();
        if room > 0 && may_begin {
            return Some(room.min(left));
        }
        self.has_memory().then_some(goal.min(self.app.next_skb(goal)).min(left))
    }

    /// Begins a write() that is a message of pages, by reference (MSG_SPLICE_PAGES). `first_skb` bounds the first skb,
    /// if the message begins one; see [`spliced`].
    pub(crate) fn begin_spliced(&mut self, first_skb: Option<u32>) {
        self.app.bound_first_skb(first_skb);
    }

    /// Notes `bytes` of a copied step; pushes as `tcp_sendmsg` when an skb is complete.
    pub fn copied(&mut self, bytes: u32, goal: u32, more_to_come: bool, out: &mut impl Output) {
        let into_tail = self.queue.tail_room(goal) > 0;

        // tcp_slow_start_after_idle_check, with each new skb (tcp_skb_entail).
        if !into_tail && self.profile.idle_restart == IdleRestart::Writing {
            self.restart_after_idle(self.jiffies(out.now()));
        }
        let acknowledged = self.seq.una() == self.seq.written();
        if let Some(page_frag) =
            self.filling.begin_copy(self.seq.written(), out.now(), acknowledged)
        {
            out.begin_page_frag(page_frag);
        }
        self.chrono_queue(out.now());
        self.queue.write(bytes, into_tail, self.app.begins_write());
        self.take_memory();
        if let Some(most) = self.app.note_copy(into_tail) {
            self.queue.bound_tail(most);
        }
        self.tso.fill_to(goal);
        self.seq.write(bytes.into());
        if self.queue.tail_room(goal) > 0 || !more_to_come {
            return;
        }
        // An skb without room for another page is not pushed (tcp_sendmsg_locked: new_segment).
        if self.queue.tail_is_bound(goal) {
            return self.mark_push();
        }

        // forced_push: more than half of the largest window was written since the last push.
        if self.seq.forces_push() {
            self.mark_push();
            self.push_pending(true, out);
        } else if self.queue.tail_is_only() {
            self.push_one(out);
        }
    }

    /// Ends a write().
    pub fn end_write(&mut self, out: &mut impl Output) {
        self.mark_push();
        self.app.end_write();
        if !self.autocorks(out) {
            self.push_pending(false, out);
        }
    }

    /// Interrupts a sleeping write(): its data is pushed, and the rest is another write().
    pub fn interrupt_write(&mut self, out: &mut impl Output) {
        if !self.app.begins_write() {
            self.end_write(out);
        }
    }

    /// Lets the writer sleep for want of memory. Data that the write() has written is pushed.
    pub fn push_before_sleep(&mut self, out: &mut impl Output) {
        self.app.sleep();
        if self.app.begins_write() {
            return;
        }
        self.mark_push();
        if !self.autocorks(out) {
            self.push_pending(true, out);
        }
        self.app.set_rest(self.has_memory());
    }

    /// Longest sleep, in jiffies, of a writer that sleeps although its push made room: 2 to a fifth of a second, at
    /// random (6.12 `sk_stream_wait_memory`).
    pub fn rest(&self, hz: u32, chance: &mut Rng) -> Option<u64> {
        self.app.rests().then(|| chance.next_u64() % u64::from(hz / 5).max(1) + 2)
    }

    /// Marks the writer as one that does not sleep in the socket: only room wakes it.
    pub(crate) fn does_not_rest(&mut self) {
        self.app.set_rest(false);
    }

    /// sk_stream_memory_free.
    fn has_memory(&self) -> bool {
        // Winsock counts data, not memory.
        if self.sndbuf.counts_data() {
            let out = self.seq.written() - self.seq.una();
            let begins = self.app.begins_write();
            return if begins { self.sndbuf.takes_write(out) } else { self.sndbuf.takes_more(out) };
        }
        self.sndbuf.has_memory(&self.queue)
    }

    /// Whether written data waits for more, because the last skb is not full and the host holds other data of the flow
    /// (6.12 `tcp_should_autocork`). It is sent when an skb has left.
    fn autocorks(&mut self, out: &mut impl Output) -> bool {
        let room = self.queue.tail_room(self.tso.goal());
        if !self.profile.autocorks || room == 0 || self.queue.skbs_in_flight() == 0 {
            return false;
        }
        let truesize = u64::from(self.tso.goal() - room) + self.profile.skb_overhead;
        // sk_wmem_alloc counts one for the socket itself.
        let corks = out.in_host() >= truesize;
        self.pacing.throttled |= corks;
        corks
    }

    /// Closes the stream: a FIN is sent with the last unsent skb, else by itself (tcp_send_fin).
    pub fn close(&mut self, out: &mut impl Output) {
        if self.queue.is_closed() {
            return;
        }
        self.chrono_queue(out.now());
        self.queue.close();
        self.seq.write(1);
        self.push_pending(true, out);
    }

    /// Marks written data as not waiting for more (tcp_mark_push).
    fn mark_push(&mut self) {
        self.queue.push_tail();
        self.seq.push();
    }

    /// Whether a writer that sleeps for want of memory is woken. A third of the buffer must be free, and unsent data
    /// must be below half of its bound. It is also woken if this held after the transmission of an skb.
    pub fn has_write_space(&self) -> bool {
        !self.app.lacks_space() || !self.app.rests() && self.is_writeable()
    }

    /// Whether a sleeping writer goes on when arriving data wakes it. Data wakes all who sleep on the socket. The
    /// writer then needs only memory for an skb, not a third of the buffer (`sock_def_readable`,
    /// `sk_stream_wait_memory`).
    pub fn goes_on_when_woken(&self) -> bool {
        self.app.writer() == Writer::NoSpace && self.has_memory()
    }

    /// Ends the writer's sleep because data has arrived. SOCK_NOSPACE stays as it is.
    pub fn wake_by_data(&mut self) {
        self.app.wake_by_data();
    }

    /// sk_stream_is_writeable.
    fn is_writeable(&self) -> bool {
        if self.sndbuf.counts_data() {
            return self.sndbuf.takes_write(self.seq.written() - self.seq.una());
        }
        self.sndbuf.is_writeable(&self.queue)
    }

    /// Largest memory of a frame: its head rounded up to a power of two (3.14 and 6.12 `tcp_sndbuf_expand`).
    fn memory_of_frame(&self) -> u64 {
        let largest = self.mss.max(self.path_mtu.mss_clamp);
        let head = u64::from(largest) + self.profile.max_tcp_header + SHARED_INFO;
        head.next_power_of_two() + SKB_BYTES
    }

    /// tcp_check_space, tcp_should_expand_sndbuf and tcp_new_space: grows the send buffer with cwnd while SOCK_NOSPACE is
    /// set and cwnd is not used up. A buffer that the application has set stays. If there is room then, the
    /// writer is woken. The next transmission may take the room, because an skb that is cut has two heads.
    pub(in crate::tcp) fn autotune_sndbuf(&mut self, now: Time) {
        self.settle_memory();
        let used = match self.profile.ack_order {
            AckOrder::CwndFirst => self.board.packets_out,
            AckOrder::CwndLast => self.in_flight(),
        };
        let sleeps = self.app.writer() == Writer::NoSpace;
        if !(sleeps || self.app.lacks_space() && self.app.writer() != Writer::Done) {
            return;
        }

        // tcp_should_expand_sndbuf: cwnd is not used up, and the host has memory.
        if used < self.cwnd() && self.memory_lets_grow() {
            self.expand_sndbuf();
        }
        if self.is_writeable() && self.app.lacks_space() {
            self.app.wake();
            self.chrono_space(now);
        }
    }

    /// tcp_sndbuf_expand.
    pub(in crate::tcp) fn expand_sndbuf(&mut self) {
        if self.sndbuf.is_locked() {
            return;
        }
        let (per_segment, first) = match self.profile.snd_tuning {
            SndTuning::Segments => (u64::from(self.mss) + self.profile.skb_overhead, 0),
            SndTuning::Frames => (self.memory_of_frame(), FIRST_CWND),
        };
        if self.sndbuf.counts_data() {
            return self.sndbuf.grow_to(2 * u64::from(self.cwnd()) * u64::from(self.mss));
        }

        // Room for the packets of one RTT, times sndbuf_expand of the congestion control.
        let packets = u64::from(self.cwnd().max(first).max(self.recovery.reordering + 1));
        let windows = u64::from(self.cc.sndbuf_expand());
        let wanted = (windows * packets * per_segment).min(self.sysctl.tcp_wmem[2]);
        self.sndbuf.grow_to(wanted);
    }
}
