//! The receiver's clock, and received timestamps.
//!
//! Source: RFC 7323; Linux 6.12 `tcp_validate_incoming`, `tcp_paws_check`, `tcp_replace_ts_recent`, `tcp_rcv_rtt_measure_ts`.

use super::Receiver;
use crate::tcp::Segment;
use crate::tcp::paws::fails_paws;
use crate::units::Time;
use core::mem;

impl Receiver {
    /// tcp_mstamp_refresh: TCP reads the clock.
    #[inline]
    pub(super) fn tick(&mut self, now: Time) {
        self.clock = now;
    }

    /// Time at which TCP last read the clock (tcp_clock_cache).
    #[inline]
    pub fn clock(&self) -> Time {
        self.clock
    }

    /// Takes the time at which the same socket's sender read the clock, if that was later.
    #[inline]
    pub fn follow_clock(&mut self, read: Time) {
        self.clock = self.clock.max(read);
    }

    /// Timestamp of a packet that is sent now.
    pub(super) fn tsval(&self) -> u32 {
        self.stamps.since_boot(self.clock)
    }

    /// Whether the timestamp of a segment is so old that it seems to be of an earlier lap of the sequence numbers
    /// (tcp_paws_discard).
    pub(super) fn fails_paws(&self, tsval: u32) -> bool {
        self.timestamps && fails_paws(tsval, self.ts_recent)
    }

    /// Takes the timestamps of a segment that passes tcp_validate_incoming. Its own is echoed from now on if the
    /// segment covers the last acknowledged number (tcp_replace_ts_recent).
    pub(super) fn take_timestamps(&mut self, segment: &Segment) {
        self.measure_echo(segment);
        if !self.stamped {
            self.replace_ts_recent(segment);
        }
    }

    /// Takes the timestamp of a segment before the ACK that it carries: data that the ACK lets out echoes it already (6.12
    /// `tcp_ack`, FLAG_UPDATE_TS_RECENT).
    pub fn stamp_before_ack(&mut self, segment: &Segment) {
        self.replace_ts_recent(segment);
        self.stamped = true;
    }

    /// Ends the work on such a segment.
    pub fn end_stamped(&mut self) {
        self.stamped = false;
    }

    /// tcp_replace_ts_recent.
    #[inline]
    fn replace_ts_recent(&mut self, segment: &Segment) {
        if segment.seq <= self.window.rcv_wup && segment.tsval >= self.ts_recent {
            self.ts_recent = segment.tsval;
        }
    }

    /// tcp_rcv_rtt_measure_ts: samples the RTT by the echo of a full segment.
    fn measure_echo(&mut self, segment: &Segment) {
        let tick_us = self.stamps.begin(1).as_us();
        let waits = self.rcv_nxt != self.bytes_read;
        let counted = mem::take(&mut self.echo_counted);
        if let Some(growth) = &mut self.growth
            && segment.tsecr != 0
            && !counted
        {
            let is_full = segment.len >= self.acks.rcv_mss;
            let least = u32::from(self.profile.same_tick_rtt);
            let clock = self.stamps.since_boot(self.clock);
            let age = if is_full { clock.saturating_sub(segment.tsecr).max(least) } else { 0 };
            growth.on_echo(segment.tsecr, u64::from(age) * tick_us, waits);
        }
    }

    /// Takes the timestamp of an ACK without data and with the sequence number `seq`, if all earlier data of its sender has
    /// arrived and is acknowledged (tcp_replace_ts_recent).
    pub fn take_ack_timestamp(&mut self, seq: u64, tsval: u32) {
        if seq <= self.window.rcv_wup {
            self.ts_recent = self.ts_recent.max(tsval);
        }
    }

    /// Takes the echo of an ACK without data: later data with the same echo is no sample of the RTT (6.12
    /// `tcp_rcv_established`).
    pub fn take_echo(&mut self, tsecr: u32) {
        if let Some(growth) = &mut self.growth {
            growth.on_echo(tsecr, 0, false);
        }
    }
}
