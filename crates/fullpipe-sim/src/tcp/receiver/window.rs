//! The receive window: how a buffer becomes a window, and how the window opens.
//!
//! Source: Linux 2.6.20 `tcp_win_from_space`, `tcp_select_initial_window`, `tcp_init_buffer_space`,
//! `tcp_grow_window`, `__tcp_select_window`, `tcp_select_window`.

use super::autotune::{Grown, initial_rcvbuf, memory_per_segment};
use super::data_window::State;
use crate::config::Sysctl;
use crate::tcp::Segment;
use crate::tcp::counters::WindowMib;
use crate::tcp::memory::TcpMemory;
use crate::tcp::profile::{InitialWindow, SharedProfile, WindowShare};

/// Largest window that a SYN-ACK can tell, bytes: it is not scaled.
pub(super) const SYN_ACK_WINDOW: u64 = 65_535;

/// Share of `space` that may be offered as window (tcp_adv_win_scale).
pub fn win_from_space(space: u64, adv_win_scale: i32) -> u64 {
    if adv_win_scale <= 0 {
        space >> adv_win_scale.unsigned_abs()
    } else {
        space - (space >> adv_win_scale)
    }
}

/// Share of a buffer that is window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// By sysctl tcp_adv_win_scale.
    AdvWinScale(i32),
    /// In 1/256 (scaling_ratio).
    Ratio(u8),
}

impl Share {
    fn of(self, space: u64) -> u64 {
        match self {
            Share::AdvWinScale(scale) => win_from_space(space, scale),
            Share::Ratio(ratio) => (space * u64::from(ratio)) >> 8,
        }
    }
}

/// The receive window's state. Fields keep Linux's names; bytes throughout.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    share: Share,
    profile: SharedProfile,
    /// Its state where data counts, not memory.
    pub(super) data: Option<State>,
    /// sk_rcvbuf.
    pub rcvbuf: u64,
    /// Memory of packets in the receive and out-of-order queues.
    pub rmem_alloc: u64,
    /// Memory of what is in the socket's backlog, bytes (sk_backlog.len).
    pub backlog_len: u64,
    /// Window scale offered, bits.
    pub wscale: u32,
    /// Largest window ever to be offered.
    pub window_clamp: u64,
    /// Present size of the window to offer.
    pub rcv_ssthresh: u64,
    /// Window last advertised.
    pub rcv_wnd: u64,
    /// `rcv_nxt` when it was advertised.
    pub rcv_wup: u64,
    mss: u64,
    /// Largest buffer that autotuning gives.
    rmem_max: u64,
    /// Whether the next ACK says that there is no memory (ICSK_ACK_NOMEM).
    is_shut: bool,
    /// The memory of the host's sockets, where that has an end.
    memory: Option<TcpMemory>,
    /// Counters of `nstat`.
    pub mib: WindowMib,
}

impl ReceiveWindow {
    /// The window of a connection that is accepted; `rcvbuf` is what setsockopt asked for.
    pub fn new(
        sysctl: &Sysctl,
        profile: impl Into<SharedProfile>,
        rcvbuf: Option<u64>,
        mss: u32,
    ) -> ReceiveWindow {
        ReceiveWindow::of_segments(sysctl, profile.into(), rcvbuf, mss, mss.into())
    }

    /// The same, offered first in whole segments of so many bytes.
    fn of_segments(
        sysctl: &Sysctl,
        profile: SharedProfile,
        rcvbuf: Option<u64>,
        mss: u32,
        segment: u64,
    ) -> ReceiveWindow {
        let is_locked = rcvbuf.is_some();
        let granted = rcvbuf.map(|request| 2 * request.min(sysctl.rmem_max));
        let mss = u64::from(mss);
        let measured = profile.window_share == WindowShare::Measured;
        let share = match measured {
            true => Share::Ratio(128),
            false => Share::AdvWinScale(sysctl.tcp_adv_win_scale),
        };
        let unset = || initial_rcvbuf(sysctl, &profile, mss);
        let rcvbuf = granted.unwrap_or_else(unset).max(2048);
        let full = share.of(rcvbuf);
        // A buffer that the application has set is not going to be larger (tcp_openreq_init_rwin).
        let wscale = match profile.offers_first_window && is_locked {
            true if sysctl.tcp_window_scaling => Self::scale(full),
            true => 0,
            false => Self::unset_scale(sysctl),
        };
        let segments = profile.initial_window.segments(segment);
        let mut window = ReceiveWindow {
            share,
            profile,
            data: None,
            rcvbuf,
            rmem_alloc: 0,
            backlog_len: 0,
            wscale,
            window_clamp: 65_535u64 << wscale,
            rcv_ssthresh: 0,
            rcv_wnd: Self::initial(segments, full, segment, wscale),
            rcv_wup: 0,
            mss,
            rmem_max: sysctl.tcp_rmem[2],
            is_shut: false,
            memory: None,
            mib: WindowMib::default(),
        };
        let unbounded = window.profile.initial_window == InitialWindow::Unbounded;
        if !(window.profile.offers_first_window && unbounded) {
            window.rcv_wnd = window.rcv_wnd.min(SYN_ACK_WINDOW);
        }
        window.init_buffer_space(full);
        window
    }

    /// The window of one that connects: its SYN goes before it is known whether there will be timestamps, which take
    /// `option` bytes of each segment (6.12 `tcp_connect_init`).
    pub fn of_connecting(
        sysctl: &Sysctl,
        profile: impl Into<SharedProfile>,
        rcvbuf: Option<u64>,
        mss: u32,
        option: u32,
    ) -> ReceiveWindow {
        ReceiveWindow::of_segments(sysctl, profile.into(), rcvbuf, mss, (mss + option).into())
    }

    /// The window that a SYN-ACK tells; it is not scaled.
    pub fn told_first(&self) -> u64 {
        self.rcv_wnd.min(SYN_ACK_WINDOW)
    }

    /// The scale of a buffer that the application has not set, bits (tcp_select_initial_window).
    pub fn unset_scale(sysctl: &Sysctl) -> u32 {
        let largest = sysctl.tcp_rmem[2].max(sysctl.rmem_max);
        if sysctl.tcp_window_scaling { Self::scale(largest) } else { 0 }
    }

    /// The smallest scale at which a window of `largest` bytes can be told in 16 bits.
    fn scale(largest: u64) -> u32 {
        let space = largest.min(65_535 << 14);
        (0..14).find(|&bits| space >> bits <= 65_535).unwrap_or(14)
    }

    /// A few segments at first.
    fn initial(segments: u64, full: u64, mss: u64, wscale: u32) -> u64 {
        let whole = if full > mss { full / mss * mss } else { full };
        if mss > 1 << wscale { whole.min(segments.saturating_mul(mss)) } else { whole }
    }

    fn init_buffer_space(&mut self, full: u64) {
        self.window_clamp = self.window_clamp.min(full);
        if self.window_clamp > 2 * self.mss && self.window_clamp + self.mss > full {
            self.window_clamp = (2 * self.mss).max(full.saturating_sub(self.mss));
        }
        self.rcv_ssthresh = self.rcv_wnd.min(self.window_clamp);
    }

    /// tcp_space: room in the receive buffer as window.
    pub fn space(&self) -> u64 {
        if let Some(own) = self.data {
            return own.free();
        }
        self.share.of(self.rcvbuf.saturating_sub(self.rmem_alloc + self.backlog_len))
    }

    /// tcp_full_space.
    pub fn full_space(&self) -> u64 {
        self.data.map_or_else(|| self.share.of(self.rcvbuf), State::full)
    }

    /// tcp_grow_window after a data segment of `len` bytes in order, if that is no small one (tcp_event_data_recv);
    /// `rcv_mss` is the largest segment seen. Whether the window grew.
    pub fn grow(&mut self, len: u32, rcv_mss: u32) -> bool {
        len >= 128 && self.grow_by(len, rcv_mss, true)
    }

    /// The same of any segment, which was `joined` to others in memory or may be; the memory of one that stays apart
    /// counts in whole.
    pub(in crate::tcp) fn grow_by(&mut self, len: u32, rcv_mss: u32, joined: bool) -> bool {
        let is_given = self.data.is_some() || self.rcv_ssthresh >= self.window_clamp;
        if is_given || self.rcv_ssthresh >= self.space() {
            return false;
        }
        if self.is_under_pressure() {
            self.save_memory();
            return false;
        }
        let overhead =
            if self.profile.grows_by_data && joined { 0 } else { self.profile.rx_overhead };
        let truesize = u64::from(len) + overhead;
        let honest = self.share.of(truesize) <= u64::from(len);
        let increment =
            if honest { 2 * self.mss } else { self.slow_growth(len, rcv_mss, truesize) };
        let least = if increment > 0 { 2 * u64::from(len) } else { 0 };
        let grown = self.rcv_ssthresh + increment.max(least);
        self.rcv_ssthresh = grown.min(self.growth_limit());
        increment > 0
    }

    fn growth_limit(&self) -> u64 {
        match self.profile.grows_by_data {
            true => self.window_clamp.min(self.space()),
            false => self.window_clamp,
        }
    }

    /// The first segment of its length, which takes so much memory: how much of its memory is data (tcp_measure_rcv_mss).
    /// Whether the share has changed.
    pub(in crate::tcp) fn measure(&mut self, segment: &Segment, truesize: u64) -> bool {
        if self.data.is_some() || self.profile.window_share != WindowShare::Measured {
            return false;
        }

        let len = u64::from(segment.len);
        let ratio = ((len << 8) / truesize).clamp(1, 255) as u8;
        let changed = self.share != Share::Ratio(ratio);
        if changed {
            self.share = Share::Ratio(ratio);
            self.window_clamp = self.full_space();
        }
        changed
    }

    /// Lets the buffer grow until `window` bytes may be offered, up to sysctl tcp_rmem's maximum.
    pub(in crate::tcp) fn tune(&mut self, window: u64) {
        if self.data.is_some() {
            return self.tune_data(window);
        }
        let space = match self.share {
            Share::Ratio(ratio) => (window << 8) / u64::from(ratio),
            Share::AdvWinScale(scale) => {
                // 6.1 `tcp_rcv_space_adjust`: SKB_TRUESIZE of a segment and MAX_TCP_HEADER.
                let overhead = self.profile.skb_overhead;
                (window / self.mss) * memory_per_segment(self.mss, overhead, scale)
            }
        };
        let rcvbuf = space.min(self.rmem_max);
        if rcvbuf > self.rcvbuf {
            self.rcvbuf = rcvbuf;
            self.window_clamp = self.full_space();
        }
    }

    /// The buffer and the window that autotuning of 2.6.20 gives.
    pub(super) fn grow_to(&mut self, grown: Grown) {
        match self.data {
            Some(_) => self.tune_data(grown.window_clamp),
            None => (self.rcvbuf, self.window_clamp) = (grown.rcvbuf, grown.window_clamp),
        }
    }

    /// The window that so much memory stands for (tcp_win_from_space).
    pub(in crate::tcp) fn of_memory(&self, memory: u64) -> u64 {
        self.share.of(memory)
    }

    /// Whether a segment may be taken: queues take no more memory than there is, but for the segment itself.
    pub(in crate::tcp) fn has_room(&self) -> bool {
        self.data.is_some() || self.rmem_alloc <= self.rcvbuf
    }

    /// From now on the host's memory has an end.
    pub(in crate::tcp) fn share(&mut self, memory: TcpMemory) {
        self.memory = Some(memory);
    }

    /// Whether the host's sockets are to save memory.
    pub(in crate::tcp) fn is_under_pressure(&self) -> bool {
        self.memory.as_ref().is_some_and(TcpMemory::is_under_pressure)
    }

    /// Under pressure no more than four segments are offered (tcp_adjust_rcv_ssthresh).
    pub(in crate::tcp) fn save_memory(&mut self) {
        if self.is_under_pressure() {
            self.rcv_ssthresh = self.rcv_ssthresh.min(4 * self.mss);
        }
    }

    /// tcp_clamp_window: a buffer that may grow takes in what its queues hold, up to sysctl tcp_rmem's maximum; if that is not
    /// enough, no more than two segments are offered.
    pub(in crate::tcp) fn clamp(&mut self, may_grow: bool) {
        let host_has_room = self.memory.as_ref().is_none_or(TcpMemory::lets_buffers_grow);
        if may_grow && host_has_room && self.rcvbuf < self.rmem_max {
            self.rcvbuf = self.rmem_alloc.min(self.rmem_max);
        }
        if !self.has_room() {
            self.rcv_ssthresh = self.window_clamp.min(2 * self.mss);
        }
    }

    /// The next ACK offers no window, and takes back what was offered (6.12 `tcp_select_window`).
    pub(in crate::tcp) fn shut(&mut self) {
        self.is_shut = true;
    }

    /// __tcp_grow_window: a small packet in a large buffer opens the window only while it is small
    /// against the buffer.
    fn slow_growth(&self, len: u32, rcv_mss: u32, truesize: u64) -> u64 {
        let mut truesize = self.share.of(truesize) / 2;
        let mut window = match self.profile.grows_by_data {
            true => self.share.of(self.rmem_max) / 2,
            false => self.full_space() / 2,
        };
        while self.rcv_ssthresh <= window {
            if truesize <= u64::from(len) {
                return 2 * u64::from(rcv_mss);
            }
            truesize >>= 1;
            window >>= 1;
        }
        0
    }

    /// __tcp_select_window: what could be advertised now; `rcv_mss` is the largest segment seen.
    pub fn select(&mut self, rcv_mss: u32) -> u64 {
        if let Some(own) = self.data {
            return own.select(rcv_mss.into(), self.wscale);
        }
        let (mut free, full) = (self.space(), self.full_space().min(self.window_clamp));
        let mss = u64::from(rcv_mss).min(full).max(1);
        if free < full / 2 {
            if self.profile.closes_small_window {
                free &= !((1 << self.wscale) - 1);
            }
            let sixteenth = self.full_space() >> 4;
            if free < mss || self.profile.closes_small_window && free < sixteenth {
                return 0;
            }
        }
        free = free.min(self.rcv_ssthresh);
        if self.wscale > 0 {
            let unit = 1 << self.wscale;
            return (free + unit - 1) & !(unit - 1);
        }
        let kept = self.rcv_wnd;
        if kept <= free.saturating_sub(mss) || kept > free { free / mss * mss } else { kept }
    }

    /// Whether less than half of the buffer is free, which ends quick ACKs (`__tcp_select_window`).
    pub fn is_tight(&self) -> bool {
        self.space() < self.full_space().min(self.window_clamp) / 2
    }

    /// tcp_receive_window: what the peer may still send of the window last advertised.
    pub fn remaining(&self, rcv_nxt: u64) -> u64 {
        (self.rcv_wup + self.rcv_wnd).saturating_sub(rcv_nxt)
    }

    /// Counts an ACK that was not made by itself, and would have offered nothing if a window might shrink.
    pub(in crate::tcp) fn note_unmade_ack(&mut self, rcv_nxt: u64, rcv_mss: u32) {
        let wants = self.select(rcv_mss) == 0 && self.remaining(rcv_nxt) > 0;
        self.mib.want_zero += u64::from(wants);
    }

    /// tcp_select_window: chooses the window of an ACK; it never takes back what it has offered, unless it is shut.
    pub fn advertise(&mut self, rcv_nxt: u64, rcv_mss: u32) -> u64 {
        if core::mem::take(&mut self.is_shut) {
            (self.rcv_wnd, self.rcv_wup) = (0, rcv_nxt);
            return 0;
        }
        let (select, remaining) = (self.select(rcv_mss), self.remaining(rcv_nxt));
        let window = match self.profile.closes_small_window {
            true if select < remaining && self.data.is_none() => {
                remaining.next_multiple_of(1 << self.wscale)
            }
            _ => select.max(remaining),
        };
        self.mib.want_zero += u64::from(select == 0 && remaining > 0);
        let before = core::mem::replace(&mut self.rcv_wnd, window);
        self.rcv_wup = rcv_nxt;
        // What is offered may be more than can be told.
        let told = window.min(65_535 << self.wscale) >> self.wscale << self.wscale;
        match (before, told) {
            (1.., 0) => self.mib.to_zero += 1,
            (0, 1..) => self.mib.from_zero += 1,
            _ => {}
        }
        told
    }
}
