//! Work of the receiver without an arriving segment: reads of the application, and timers.
//!
//! Source: Linux 2.6.20 `tcp_cleanup_rbuf`, `tcp_delack_timer`; 6.12 `tcp_delack_timer_handler`,
//! `tcp_compressed_ack_kick`.

use super::Receiver;
use crate::tcp::Ack;
use crate::tcp::profile::SocketBacklog;
use crate::units::Time;

impl Receiver {
    /// Copies `bytes` for the reader, frees their memory, and returns the ACK that this allows (tcp_cleanup_rbuf).
    /// There is one in three cases: more than one segment is owed, the delayed ACK's timer found the socket locked, or
    /// the window has at least doubled.
    pub fn read(&mut self, now: Time, bytes: u64) -> Option<Ack> {
        self.copy(now, bytes);
        self.clean_up()
    }

    /// First part of a read: copies `bytes`; more may be copied before the rest.
    pub fn copy(&mut self, now: Time, bytes: u64) {
        self.tick(now);
        self.last_read = now;
        // tcp_recvmsg reads the clock after each skb, but all skbs after the first are copied at the same moment.
        let first = self.waiting.first_bytes().min(bytes);
        self.bytes_read += first;
        self.autotune(now);
        self.bytes_read += bytes - first;
        let (segments, freed) = self.waiting.read(bytes);
        self.segments_read += segments;
        self.window.rmem_alloc -= freed;
        self.window.note_unread(self.waiting.bytes());
        self.fast.follow(self.window.rmem_alloc);
    }

    /// Last part of a read: the ACK that it allows (tcp_cleanup_rbuf).
    pub fn clean_up(&mut self) -> Option<Ack> {
        let owed = self.rcv_nxt - self.window.rcv_wup;
        let drained = self.acks.asks_when_read() && self.window.rmem_alloc == 0;
        let many = self.acks.blocked || owed > u64::from(self.acks.rcv_mss);
        if self.acks.timer.is_some() && (many || drained) {
            return Some(self.make_ack());
        }

        // tcp_cleanup_rbuf: a window that has doubled is announced.
        let remaining = self.window.remaining(self.rcv_nxt);
        if !self.has_ended && 2 * remaining <= self.window.window_clamp {
            let possible = self.select_window();
            if possible > 0 && possible >= 2 * remaining {
                return Some(self.make_ack());
            }
        }
        None
    }

    /// Puts packets (their number, and bytes of each) into the backlog of a socket that a process owns; they are taken
    /// from there later.
    pub fn begin_backlog(&mut self, packets: impl Iterator<Item = (u32, u32)>) {
        self.in_backlog = true;
        if self.profile.socket_backlog == SocketBacklog::Plain {
            return;
        }
        let overhead = self.profile.rx_overhead;
        self.window.backlog_len =
            packets.map(|(count, len)| u64::from(count) * (u64::from(len) + overhead)).sum();
    }

    /// Ends the backlog; returns the ACK that waited for its end, if none was sent meanwhile (tcp_release_cb).
    pub fn end_backlog(&mut self) -> Option<Ack> {
        (self.in_backlog, self.window.backlog_len) = (false, 0);
        let deferred = core::mem::take(&mut self.ack_deferred) && self.acks.is_scheduled();
        deferred.then(|| self.make_ack())
    }

    /// Bytes from the end of data in order to the end of data beyond holes; 0 without holes.
    fn beyond_hole(&self) -> u64 {
        self.out_of_order.end().map_or(0, |end| end - self.rcv_nxt)
    }

    /// Tunes the buffer after a segment beyond a hole.
    pub(super) fn tune_beyond_hole(&mut self) {
        let beyond = self.beyond_hole();
        if let Some(growth) = self.growth.as_ref().filter(|_| !self.is_locked) {
            growth.on_beyond_hole(beyond, &mut self.window);
        }
    }

    fn autotune(&mut self, now: Time) {
        let beyond = self.beyond_hole();
        if let Some(growth) = &mut self.growth {
            let window = (!self.is_locked).then_some(&mut self.window);
            growth.on_read(now.as_us(), self.bytes_read, self.rcv_nxt, beyond, window);
        }
        let Some(space) = &mut self.space else { return };
        let jiffies = self.ticks.at(now) as u32;
        if let Some(grown) = space.on_read(jiffies, self.bytes_read, self.window.rcvbuf) {
            self.window.grow_to(grown);
        }
    }

    /// Latest time of compressed ACKs; they may be sent [`slack`](super::compressed::slack) earlier.
    pub fn compressed_due(&self) -> Option<Time> {
        self.compressed.due
    }

    /// Handles the timer of compressed ACKs: one ACK replaces all (tcp_compressed_ack_kick). This timer does not read
    /// the clock, so the ACK has the time of the last arrival.
    pub fn on_compressed_timer(&mut self, now: Time) -> Option<Ack> {
        self.compressed.is_due(now).then(|| self.make_ack())
    }

    /// Handles the delayed ACK's timer ([`AckPolicy::expiry`]). It also sends compressed ACKs, although it was not
    /// started for them (6.12 `tcp_delack_timer_handler`).
    pub fn on_delack_timer(&mut self, now: Time) -> Option<Ack> {
        if self.compressed.holds() {
            self.acks.expiry = None;
            self.tick(now);
            return Some(self.make_ack());
        }
        let owed = self.acks.on_timer(now) && self.rcv_nxt > self.window.rcv_wup;
        owed.then(|| {
            self.tick(now);
            self.make_ack()
        })
    }

    /// Handles the delayed ACK's timer while the reader owns the socket.
    pub fn on_delack_timer_while_locked(&mut self, now: Time) {
        self.acks.on_timer_while_locked(now, self.profile.locked_timers);
    }
}
