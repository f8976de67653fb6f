//! Retransmission: lost packets first. Then, where nothing else can be sent, packets below the highest SACK that are
//! not known to be lost (RFC 6675 NextSeg, rule 3).
//!
//! Source: Linux 2.6.20 and 3.0 `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`,
//! `tcp_can_forward_retransmit`; 6.1 and 6.12 `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`.
//!
//! Limits:
//! - An skb that still waits in the host is sent again; Linux skips it (`skb_still_in_host_queue`).

use crate::tcp::Output;
use crate::tcp::sender::{Sender, TimerKind};
use crate::units::Time;

impl Sender {
    /// tcp_xmit_retransmit_queue since RACK: sends only lost packets, in their original skbs, unless these are larger
    /// than others now.
    fn resend_lost(&mut self, out: &mut impl Output) {
        self.renew_route();
        let most = self.tso_segs();
        let mut first_too = false;
        while self.in_flight() < self.cwnd() {
            // Linux checks the pace first, too, but only where there is a packet to send again.
            let more = self.board.lost_out > self.board.retrans_out;
            if more && self.keeps_pace(out.now()) {
                break;
            }
            let Some(start) = self.board.first_pending() else { break };

            // tcp_small_queue_check looks at the skb as it is, before it is cut or joined.
            let skb = self.queue.skb_end(start).min(self.board.lost_until());
            let whole = skb.map_or(0, |end| end - start);
            if self.too_much_in_host(whole as u32, true, out) {
                break;
            }
            self.refit(start);
            self.collapse(start);

            let quota = (self.cwnd() - self.in_flight()).min(most);
            let Some((start, end)) = self.board.next_lost_run(quota, self.window()) else { break };
            let end = self.queue.skb_end(start).map_or(end, |skb| end.min(skb));
            let Some(segments) = self.retransmit(start, end, out) else { break };
            self.counters.mib.note_resent(segments, true, self.ca_state);
            self.count_prr_out(segments);
            first_too |= start == self.seq.una();
        }
        if first_too && !matches!(self.timer, Some((TimerKind::Reordering, _))) {
            let timeout = self.rtt.rto;
            self.start_timer_at_pace(TimerKind::Retransmit, out.now(), timeout);
        }
    }

    pub(in crate::tcp) fn xmit_retransmit_queue(&mut self, out: &mut impl Output) {
        self.note_options(out.option_bytes());
        if !self.profile.cwnd_first() {
            return self.resend_lost(out);
        }
        let mut search = self.begin_resending();

        // Lost packets first, then forward retransmissions (tcp_can_forward_retransmit).
        while self.in_flight() < self.cwnd() {
            let lost = self.board.next_lost(self.window());
            let Some((start, end)) = lost.or_else(|| self.next_forward()) else {
                return self.end_resending(search, false);
            };
            self.walk_to_resend(&mut search, start, lost.is_some());
            let Some(segments) = self.retransmit(start, end, out) else {
                return self.forget_what_was_sent_again();
            };
            self.counters.mib.note_resent(segments, lost.is_some(), self.ca_state);
            self.count_prr_out(1);
            if start == self.seq.una() {
                let timeout = self.rtt.rto;
                self.start_timer(TimerKind::Retransmit, out.now(), timeout);
            }
        }
        self.end_resending(search, true);
    }

    fn next_forward(&mut self) -> Option<(u64, u64)> {
        let (board, window) = self.board_and_window();
        let found = board.next_forward(window)?;
        self.may_go_forward().then_some(found)
    }

    /// Sends `[start, end)` again; returns the number of packets. None if the window has shrunk below it, the skb may
    /// not be cut or the host's queue is full.
    pub(super) fn retransmit(
        &mut self,
        start: u64,
        end: u64,
        out: &mut impl Output,
    ) -> Option<u32> {
        let sent = self.resend(start, end, out);
        let packets = match sent {
            Some(packets) => {
                self.note_resent(start, end, out);
                packets
            }
            None if self.profile.cwnd_first() => return None,
            // A refused retransmission counts as sent all the same.
            None => self.window().count(start, end),
        };
        if !self.profile.cwnd_first() {
            self.recovery.undo_retrans = self.recovery.undo_retrans.max(0);
        }
        self.recovery.undo_retrans += packets as i32;

        // retrans_stamp is the time of the first retransmission, for the undo by timestamps.
        let when = match sent {
            Some(_) => self.last_stamp(out.now()),
            None => self.last_sent(start).unwrap_or(Time::ZERO),
        };
        let when = self.timestamp(when);
        self.recovery.retrans_stamp.get_or_insert(when);
        sent
    }

    /// Last transmission of the segment at `seq`, if there was one.
    pub(in crate::tcp) fn last_sent(&self, seq: u64) -> Option<Time> {
        self.board.resent_at(seq).or_else(|| self.queue.sent_at(seq))
    }

    /// Sends a tail loss probe, which does not count as a retransmission in flight (only `__tcp_retransmit_skb`).
    pub(super) fn resend_last(&mut self, out: &mut impl Output) -> bool {
        self.note_options(out.option_bytes());
        self.renew_route();
        let start = self.queue.segment_start(self.seq.nxt(), 1, self.mss).max(self.seq.una());
        self.refit(start);
        let end = self.queue.segment_end(start, self.mss, self.seq.nxt());
        let goes = self.resend(start, end, out).is_some();
        if goes {
            let when = self.last_stamp(out.now());
            self.board.note_probed(start, end, when);
        }
        goes
    }

    /// __tcp_retransmit_skb; returns the number of packets.
    fn resend(&mut self, start: u64, end: u64, out: &mut impl Output) -> Option<u32> {
        let len = (end - start) as u32;
        self.forget_mtu_probe();

        // Beyond a shrunk window only the first unacknowledged segment is sent, as a probe.
        if start >= self.seq.window_end() && start != self.seq.una() {
            return None;
        }
        if !self.profile.cwnd_first() {
            let skb_end = self.queue.skb_end(start);
            if skb_end.is_some_and(|skb_end| end < skb_end && self.refuses_cut(start, skb_end)) {
                return None;
            }
            self.queue.cut(start);
            self.queue.cut(end);
        }
        self.charge_walks(out);
        self.walks_split_at(end);
        let departs = self.depart(out.now());
        let skb = self.transmission(start, len, true, departs);
        self.note_data_sent(skb.len, out);

        // The qdisc refused the skb (NET_XMIT_DROP).
        if !out.transmit(skb) {
            self.counters.refused += 1;
            self.note_refused(start, end, out);
            return None;
        }
        self.heed_congestion(out);
        self.sample_resent(start, end, self.stamped(departs));
        let packets = self.window().count(start, end);
        // A FIN alone is a packet, but not one of data.
        self.counters.segments_sent += u64::from(if skb.len > 0 { packets } else { 0 });
        self.counters.segments_retransmitted += u64::from(packets);
        self.counters.bytes_sent += u64::from(skb.len);
        self.counters.bytes_retransmitted += u64::from(skb.len);
        self.pace(skb.len);
        Some(packets)
    }

    /// Handles a retransmission that the host's queue refused. Since 4.6, as in 6.12, this is congestion and counts as
    /// a retransmission. Its segments count as sent again, so they give no RTT. The copies in the network keep their
    /// age (`__tcp_transmit_skb`, `__tcp_retransmit_skb`).
    fn note_refused(&mut self, start: u64, end: u64, out: &impl Output) {
        if self.profile.cwnd_first() {
            return;
        }
        self.enter_cwr(out.now());
        self.counters.segments_retransmitted += u64::from(self.window().count(start, end));
        self.each_segment(start, end, |sender, at, next| {
            let when = sender.last_sent(at).unwrap_or(Time::ZERO);
            sender.board.note_probed(at, next, when);
        });
    }

    /// Notes the retransmission of each segment in the scoreboard.
    fn note_resent(&mut self, start: u64, end: u64, out: &impl Output) {
        let when = self.last_stamp(out.now());
        self.each_segment(start, end, |sender, at, next| {
            sender.board.note_retransmitted(at, next, when, sender.seq.nxt());
        });
    }

    /// Calls `note` with the bounds of each segment of `[start, end)`.
    fn each_segment(&mut self, start: u64, end: u64, note: impl Fn(&mut Sender, u64, u64)) {
        let mut at = start;
        while at < end {
            let next = self.queue.segment_end(at, self.mss, self.seq.nxt()).min(end);
            note(self, at, next);
            at = next;
        }
    }

    /// Sends the first packet again, whatever cwnd allows; returns whether it was sent.
    pub(super) fn retransmit_head(&mut self, out: &mut impl Output) -> bool {
        self.note_options(out.option_bytes());
        self.renew_route();
        self.refit(self.seq.una());
        self.collapse(self.seq.una());
        let end = self.queue.segment_end(self.seq.una(), self.mss, self.seq.nxt());
        self.retransmit(self.seq.una(), end, out).is_some()
    }
}
