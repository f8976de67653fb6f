//! What the receiver does when no segment comes: when the application reads, and when its timers are due.
//!
//! Source: Linux 2.6.20 `tcp_cleanup_rbuf`, `tcp_delack_timer`; 6.12 `tcp_delack_timer_handler`,
//! `tcp_compressed_ack_kick`.

use super::Receiver;
use crate::tcp::Ack;
use crate::tcp::profile::SocketBacklog;
use crate::units::Time;

impl Receiver {
    /// The reader has copied `bytes`: frees their memory and sends the ACK that this allows
    /// (tcp_cleanup_rbuf): more than one segment is owed, the delayed ACK's timer found the socket
    /// locked, or the window has at least doubled.
    pub fn read(&mut self, now: Time, bytes: u64) -> Option<Ack> {
        self.copy(now, bytes);
        self.clean_up()
    }

    /// The first part of a read: so much is copied, and more may be before the rest.
    pub fn copy(&mut self, now: Time, bytes: u64) {
        self.tick(now);
        self.last_read = now;
        // tcp_recvmsg looks at the time after each skb, but the rest of them comes at the same moment.
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

    /// The last part of a read: the ACK that it asks for (tcp_cleanup_rbuf).
    pub fn clean_up(&mut self) -> Option<Ack> {
        let owed = self.rcv_nxt - self.window.rcv_wup;
        let drained = self.acks.asks_when_read() && self.window.rmem_alloc == 0;
        let many = self.acks.blocked || owed > u64::from(self.acks.rcv_mss);
        if self.acks.timer.is_some() && (many || drained) {
            return Some(self.make_ack());
        }
        let remaining = self.window.remaining(self.rcv_nxt);
        if !self.has_ended && 2 * remaining <= self.window.window_clamp {
            let possible = self.select_window();
            if possible > 0 && possible >= 2 * remaining {
                return Some(self.make_ack());
            }
        }
        None
    }

    /// Packets (how many, and bytes of each) have come while a process has the socket: they are in its backlog, from which they
    /// are taken.
    pub fn begin_backlog(&mut self, packets: impl Iterator<Item = (u32, u32)>) {
        self.in_backlog = true;
        if self.profile.socket_backlog == SocketBacklog::Plain {
            return;
        }
        let overhead = self.profile.rx_overhead;
        let memory = |(count, len)| u64::from(count) * (u64::from(len) + overhead);
        self.window.backlog_len = packets.map(memory).sum();
    }

    /// The backlog is empty: the ACK that waited for that, if none was sent meanwhile (tcp_release_cb).
    pub fn end_backlog(&mut self) -> Option<Ack> {
        (self.in_backlog, self.window.backlog_len) = (false, 0);
        let deferred = core::mem::take(&mut self.ack_deferred) && self.acks.is_scheduled();
        deferred.then(|| self.make_ack())
    }

    /// Bytes from what is in order to the end of what lies beyond holes; 0 without holes.
    fn beyond_hole(&self) -> u64 {
        self.out_of_order.end().map_or(0, |end| end - self.rcv_nxt)
    }

    /// A segment came beyond a hole.
    pub(super) fn tune_beyond_hole(&mut self) {
        let beyond = self.beyond_hole();
        if let Some(growth) = self.growth.as_ref().filter(|_| !self.is_locked) {
            growth.on_beyond_hole(beyond, &mut self.window);
        }
    }

    fn autotune(&mut self, now: Time) {
        let beyond = self.beyond_hole();
        if let Some(growth) = &mut self.growth {
            let read = (self.bytes_read, self.rcv_nxt, beyond);
            let window = (!self.is_locked).then_some(&mut self.window);
            growth.on_read(now.as_us(), read, window);
        }
        let Some(space) = &mut self.space else { return };
        let jiffies = self.ticks.at(now) as u32;
        if let Some(grown) = space.on_read(jiffies, self.bytes_read, self.window.rcvbuf) {
            self.window.grow_to(grown);
        }
    }

    /// When compressed ACKs are due at the latest; [`slack`](super::compressed::slack) earlier they may go.
    pub fn compressed_due(&self) -> Option<Time> {
        self.compressed.due
    }

    /// Their timer fires: one ACK for all of them (tcp_compressed_ack_kick). This timer does not look at the clock: the ACK
    /// bears the time of what came last.
    pub fn on_compressed_timer(&mut self, now: Time) -> Option<Ack> {
        self.compressed.is_due(now).then(|| self.make_ack())
    }

    /// The delayed ACK's timer fired ([`AckPolicy::expiry`]). ACKs that are held go, though it was not started for
    /// them (6.12 `tcp_delack_timer_handler`).
    pub fn on_delack_timer(&mut self, now: Time) -> Option<Ack> {
        self.tick(now);
        if self.compressed.holds() {
            self.acks.expiry = None;
            return Some(self.make_ack());
        }
        let owed = self.acks.on_timer(now) && self.rcv_nxt > self.window.rcv_wup;
        owed.then(|| self.make_ack())
    }

    /// It fired while the reader had the socket.
    pub fn on_delack_timer_while_locked(&mut self, now: Time) {
        self.acks.on_timer_while_locked(now, self.profile.locked_timers);
    }
}
