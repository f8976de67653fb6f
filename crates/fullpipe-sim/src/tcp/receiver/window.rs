//! The receive window: conversion of a buffer to a window, and growth of the window.
//!
//! Source: Linux 2.6.20 `tcp_win_from_space`, `tcp_select_initial_window`, `tcp_init_buffer_space`,
//! `tcp_grow_window`, `__tcp_select_window`, `tcp_select_window`.

use super::data_window::State;
use super::drs::{Grown, initial_rcvbuf, memory_per_segment};
use crate::config::Sysctl;
use crate::tcp::Segment;
use crate::tcp::counters::WindowMib;
use crate::tcp::memory::TcpMemory;
use crate::tcp::profile::{InitialWindow, SharedProfile, WindowShare};

/// Largest window of a SYN-ACK, bytes: it is not scaled.
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
    /// Share by sysctl tcp_adv_win_scale.
    AdvWinScale(i32),
    /// Share in 1/256 (scaling_ratio).
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
    /// State where data counts instead of memory.
    pub(super) data: Option<State>,
    /// sk_rcvbuf.
    pub rcvbuf: u64,
    /// Memory of packets in the receive and out-of-order queues.
    pub rmem_alloc: u64,
    /// Memory of packets in the socket's backlog, bytes (sk_backlog.len).
    pub backlog_len: u64,
    /// Window scale offered, bits.
    pub wscale: u32,
    /// Largest window that may be offered.
    pub window_clamp: u64,
    /// Present size of the window to offer.
    pub rcv_ssthresh: u64,
    /// Window last advertised.
    pub rcv_wnd: u64,
    /// `rcv_nxt` when this window was advertised.
    pub rcv_wup: u64,
    mss: u64,
    /// Largest buffer that autotuning gives.
    rmem_max: u64,
    /// Whether the next ACK announces a lack of memory (ICSK_ACK_NOMEM).
    is_shut: bool,
    /// Memory of the host's sockets, where it is bounded.
    memory: Option<TcpMemory>,
    /// Counters of `nstat`.
    pub mib: WindowMib,
}

impl ReceiveWindow {
    /// Window of an accepted connection; `rcvbuf` is the buffer that the program set by setsockopt.
    pub fn new(
        sysctl: &Sysctl,
        profile: impl Into<SharedProfile>,
        rcvbuf: Option<u64>,
        mss: u32,
    ) -> ReceiveWindow {
        ReceiveWindow::of_segments(sysctl, profile.into(), rcvbuf, mss, mss.into())
    }

    /// Window of a connection that first offers whole segments of `segment` bytes.
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
        let rcvbuf = granted.unwrap_or_else(|| initial_rcvbuf(sysctl, &profile, mss)).max(2048);
        let full = share.of(rcvbuf);
        // A buffer that the application has set does not grow (tcp_openreq_init_rwin).
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

    /// Window of the connecting end. It sends its SYN before it knows whether timestamps will take `option` bytes of
    /// each segment (6.12 `tcp_connect_init`).
    pub fn of_connecting(
        sysctl: &Sysctl,
        profile: impl Into<SharedProfile>,
        rcvbuf: Option<u64>,
        mss: u32,
        option: u32,
    ) -> ReceiveWindow {
        ReceiveWindow::of_segments(sysctl, profile.into(), rcvbuf, mss, (mss + option).into())
    }

    /// Window that the SYN-ACK advertises, unscaled.
    pub fn syn_ack_window(&self) -> u64 {
        self.rcv_wnd.min(SYN_ACK_WINDOW)
    }

    /// Scale for a buffer that the application has not set, bits (tcp_select_initial_window).
    pub fn unset_scale(sysctl: &Sysctl) -> u32 {
        let largest = sysctl.tcp_rmem[2].max(sysctl.rmem_max);
        if sysctl.tcp_window_scaling { Self::scale(largest) } else { 0 }
    }

    /// Smallest scale at which a window of `largest` bytes fits into 16 bits.
    fn scale(largest: u64) -> u32 {
        let space = largest.min(65_535 << 14);
        (0..14).find(|&bits| space >> bits <= 65_535).unwrap_or(14)
    }

    /// First window of a few segments.
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

    /// tcp_grow_window after a data segment of `len` bytes in order, unless it is small (tcp_event_data_recv).
    /// `rcv_mss` is the largest segment seen. Returns whether the window grew.
    pub fn grow(&mut self, len: u32, rcv_mss: u32) -> bool {
        len >= 128 && self.grow_by(len, rcv_mss, true)
    }

    /// tcp_grow_window after any segment. `joined`: it joined others in memory, or may; else its memory counts in full.
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

        // A segment with enough data for its memory opens the window by two MSS; others by __tcp_grow_window.
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

    /// Measures the share of data in the memory of a segment, the first of its length (tcp_measure_rcv_mss). Returns
    /// whether the share has changed.
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

    /// Takes the buffer and the window by the autotuning of 2.6.20.
    pub(super) fn grow_to(&mut self, grown: Grown) {
        match self.data {
            Some(_) => self.tune_data(grown.window_clamp),
            None => (self.rcvbuf, self.window_clamp) = (grown.rcvbuf, grown.window_clamp),
        }
    }

    /// Window for so much memory (tcp_win_from_space).
    pub(in crate::tcp) fn of_memory(&self, memory: u64) -> u64 {
        self.share.of(memory)
    }

    /// Whether a segment may be taken: the queues, without the segment itself, stay within the buffer.
    pub(in crate::tcp) fn has_room(&self) -> bool {
        self.data.is_some() || self.rmem_alloc <= self.rcvbuf
    }

    /// Bounds the window by the host's memory from now on.
    pub(in crate::tcp) fn share(&mut self, memory: TcpMemory) {
        self.memory = Some(memory);
    }

    /// Whether the host's sockets are to save memory.
    pub(in crate::tcp) fn is_under_pressure(&self) -> bool {
        self.memory.as_ref().is_some_and(TcpMemory::is_under_pressure)
    }

    /// Limits the window to four segments under pressure (tcp_adjust_rcv_ssthresh).
    pub(in crate::tcp) fn save_memory(&mut self) {
        if self.is_under_pressure() {
            self.rcv_ssthresh = self.rcv_ssthresh.min(4 * self.mss);
        }
    }

    /// tcp_clamp_window: grows the buffer, if it may grow, to the memory of its queues, up to sysctl tcp_rmem's
    /// maximum. If this is not enough, offers two segments at most.
    pub(in crate::tcp) fn clamp(&mut self, may_grow: bool) {
        let host_has_room = self.memory.as_ref().is_none_or(TcpMemory::lets_buffers_grow);
        if may_grow && host_has_room && self.rcvbuf < self.rmem_max {
            self.rcvbuf = self.rmem_alloc.min(self.rmem_max);
        }
        if !self.has_room() {
            self.rcv_ssthresh = self.window_clamp.min(2 * self.mss);
        }
    }

    /// Lets the next ACK close the window, and revoke the offered one (6.12 `tcp_select_window`).
    pub(in crate::tcp) fn shut(&mut self) {
        self.is_shut = true;
    }

    /// __tcp_grow_window: a small packet in a large buffer opens the window only while the window is small against the
    /// buffer.
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

    /// __tcp_select_window: the window that could be advertised now; `rcv_mss` is the largest segment seen.
    pub fn select(&mut self, rcv_mss: u32) -> u64 {
        if let Some(own) = self.data {
            return own.select(rcv_mss.into(), self.wscale);
        }
        let (mut free, full) = (self.space(), self.full_space().min(self.window_clamp));
        let mss = u64::from(rcv_mss).min(full).max(1);

        // With less than half of the buffer free, a window below a segment is closed (silly window syndrome).
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

        // With scaling the window is rounded up to a unit; without it, it moves by whole segments.
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

    /// tcp_receive_window: rest of the window last advertised.
    pub fn remaining(&self, rcv_nxt: u64) -> u64 {
        (self.rcv_wup + self.rcv_wnd).saturating_sub(rcv_nxt)
    }

    /// Counts an ACK that another one replaced, and that would have closed the window if windows might shrink.
    pub(in crate::tcp) fn note_unmade_ack(&mut self, rcv_nxt: u64, rcv_mss: u32) {
        let wants = self.select(rcv_mss) == 0 && self.remaining(rcv_nxt) > 0;
        self.mib.want_zero += u64::from(wants);
    }

    /// tcp_select_window: chooses the window of an ACK. It never revokes an offered window, unless it is shut.
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
        // The offered window may exceed the field of the header.
        let advertised = window.min(65_535 << self.wscale) >> self.wscale << self.wscale;
        match (before, advertised) {
            (1.., 0) => self.mib.to_zero += 1,
            (0, 1..) => self.mib.from_zero += 1,
            _ => {}
        }
        advertised
    }
}
