//! Sending: the data that cwnd, window, Nagle and the host's queue allow, and the sizes of skbs.
//!
//! Source: Linux 2.6.20 `tcp_write_xmit`; 3.17 and 6.12 `tcp_cwnd_test`; 6.12 `tcp_write_xmit`,
//! `tcp_mss_split_point`, `tcp_grow_skb`.

use super::app_side::Partial;
use super::deferral::Waits;
use super::mtu::Probing;
use super::{Sender, TimerKind};
use crate::cc::Event;
use crate::tcp::profile::{FinBeyondCwnd, IdleRestart, ProbeTimeout};
use crate::tcp::{Output, Transmission};

/// Bound of one call's transmissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum Push {
    /// All allowed data.
    All,
    /// One skb (tcp_push_one).
    One,
    /// One skb, even if cwnd is full.
    Probe,
}

impl Sender {
    /// tcp_write_xmit: sends allowed data and validates cwnd, also when no data is unsent.
    pub(in crate::tcp) fn write_xmit(&mut self, nagle_off: bool, out: &mut impl Output) {
        self.refresh_clock(out.now());
        self.follow_route();

        // tcp_mtu_probe: a probe is sent before other data, or holds it back.
        let mut probing = Probing::None;
        if self.may_probe_mtu() {
            let before = self.board.packets_out;
            probing = self.probe_mtu(out);
            self.count_prr_out(self.board.packets_out - before);
        }
        if probing == Probing::Waits {
            return;
        }

        let (sent, limited) = self.send_and_count(Push::All, nagle_off, out);
        let sent = sent + u32::from(probing == Probing::Sent);

        // tcp_schedule_loss_probe, if data was sent.
        if sent > 0 {
            self.schedule_loss_probe(out);
        }
        self.validate_after(sent, limited, out);
    }

    /// tcp_push_pending_frames: sends allowed data, if any is unsent. With `nagle_off` a partial last skb is sent too
    /// (TCP_NAGLE_PUSH: before the writer sleeps, or when it has finished).
    pub(in crate::tcp) fn push_pending(&mut self, nagle_off: bool, out: &mut impl Output) {
        if self.queue.head().is_some() {
            self.write_xmit(nagle_off, out);
            self.check_probe_timer(out);
        }
    }

    /// tcp_push_one: sends the allowed part of the first unsent skb.
    pub(in crate::tcp) fn push_one(&mut self, out: &mut impl Output) {
        self.refresh_clock(out.now());
        self.follow_route();
        let (sent, limited) = self.send_and_count(Push::One, true, out);
        if sent > 0 {
            self.schedule_loss_probe(out);
        }
        self.validate_after(sent, limited, out);
    }

    /// Sends a tail loss probe since RACK: one skb, and a segment even if cwnd is full. Returns whether it was sent.
    pub(in crate::tcp) fn push_probe(&mut self, out: &mut impl Output) -> bool {
        self.note_options(out.option_bytes());
        self.follow_route();
        let (sent, limited) = self.send_and_count(Push::Probe, true, out);
        self.validate_after(sent, limited, out);
        sent > 0
    }

    /// Sends a tail loss probe: the first unsent segment, even beyond cwnd.
    pub(in crate::tcp) fn push_beyond_cwnd(&mut self, out: &mut impl Output) {
        self.note_options(out.option_bytes());
        let room = self.seq.room();
        let Some(head) = self.queue.head() else { return };
        let fits = u64::from(self.first_numbers(head)) <= room;
        let sent = fits && self.send_head(head.min(self.mss_now()), Push::Probe, out);
        self.chrono_window(!fits, out.now());
        self.count_prr_out(sent.into());
        self.validate_after(sent.into(), false, out);
    }

    /// tcp_may_send_now.
    pub(in crate::tcp) fn may_send_now(&self) -> bool {
        self.allowed_head(false, self.quota(u32::MAX)).is_some()
    }

    /// [`Sender::send_while_allowed`]. Sent packets count against a reduction that is in progress afterwards. So do
    /// packets sent before the host refused an skb, with which the reduction began (`tcp_write_xmit`).
    fn send_and_count(
        &mut self,
        push: Push,
        nagle_off: bool,
        out: &mut impl Output,
    ) -> (u32, bool) {
        let before = self.board.packets_out;
        let (sent, waits) = self.send_while_allowed(push, nagle_off, out);
        self.chrono_window(waits == Waits::Window, out.now());
        self.count_prr_out(self.board.packets_out - before);
        (sent, waits == Waits::Cwnd)
    }

    /// Sends skbs; returns their number, and the room that the next one waits for.
    fn send_while_allowed(
        &mut self,
        push: Push,
        nagle_off: bool,
        out: &mut impl Output,
    ) -> (u32, Waits) {
        (self.refused, self.departures.waits) = (false, false);
        let segs = self.tso_segs();
        let mut sent = 0;
        loop {
            if self.queue.head().is_some() && self.keeps_pace(out.now()) {
                return (sent, Waits::Other);
            }
            let beyond = push == Push::Probe && self.in_flight() >= self.cwnd();

            // tcp_grow_skb fills the first skb from the next ones.
            if self.profile.grows_skbs {
                self.grow_head(if beyond { 1 } else { self.cwnd_quota(segs) });
            }

            // tcp_cwnd_test, then tcp_snd_wnd_test and tcp_nagle_test.
            let quota = if beyond { 1 } else { self.quota(segs) };
            let Some(len) = self.allowed_head(nagle_off, quota) else {
                let window = quota > 0 && self.window_stops_head();
                return (sent, if window { Waits::Window } else { Waits::Other });
            };

            // tcp_tso_should_defer: a larger skb later instead of a part now.
            if push == Push::All
                && let Some(waits) = self.defers(segs, out)
            {
                return (sent, waits);
            }
            // The skb is cut first, and stays cut if it may not be sent yet.
            self.queue.split_head(len);

            // tcp_small_queue_check: the host holds enough of the flow.
            if self.too_much_in_host(len, false, out) || !self.send_head(len, push, out) {
                return (sent, Waits::Other);
            }
            if len == 0 || !len.is_multiple_of(self.mss_now()) {
                self.seq.note_small();
            }
            sent += 1;
            if push != Push::All {
                return (sent, Waits::Other);
            }
        }
    }

    /// Segments of the first unsent skb that may be sent as one skb of at most `segs`: those within cwnd, which may not
    /// apply to the end of the stream (tcp_cwnd_test).
    fn quota(&self, segs: u32) -> u32 {
        let single = self.queue.head().is_some_and(|head| head <= self.mss_now());
        match self.profile.fin_beyond_cwnd {
            FinBeyondCwnd::Always if self.queue.head_ends() => 1,
            FinBeyondCwnd::Single if self.queue.head_ends() && single => 1,
            _ => self.cwnd_quota(segs),
        }
    }

    /// Segments within cwnd, as one skb of at most `segs`.
    fn cwnd_quota(&self, segs: u32) -> u32 {
        let cwnd = self.cwnd();
        let free = cwnd.saturating_sub(self.in_flight());
        let most = if self.profile.half_cwnd_skbs { (cwnd >> 1).max(1) } else { u32::MAX };
        free.min(most).min(segs)
    }

    /// Fills the first unsent skb up to `quota` segments.
    fn grow_head(&mut self, quota: u32) {
        let Some(head) = self.queue.head() else { return };
        let full = u64::from(quota) * u64::from(self.mss_now());
        if full > u64::from(head) {
            self.queue.grow_head(full.min(u64::from(u32::MAX)) as u32);
        }
    }

    /// Bytes of the first unsent skb that may be sent now, if cwnd allows `quota` segments.
    fn allowed_head(&self, nagle_off: bool, quota: u32) -> Option<u32> {
        let head = self.queue.head()?;
        if quota == 0 || !self.is_established {
            return None;
        }
        let window_end = self.seq.window_end();
        let ends = self.queue.head_ends();

        // tcp_snd_wnd_test: the first segment must fit.
        if self.seq.nxt() + u64::from(self.first_numbers(head)) > window_end {
            return None;
        }
        let mss = self.mss_now();
        if head <= mss {
            let last = !self.profile.sends_partial_end || self.queue.tail_is_only();
            return (nagle_off || ends || !last || self.nagle_allows(head)).then_some(head);
        }

        // tcp_mss_split_point: the part within window and cwnd, in whole segments.
        let room = (window_end - self.seq.nxt()).min(u64::from(u32::MAX)) as u32;
        let quota_bytes = u64::from(quota) * u64::from(mss);
        let whole = u64::from(head.min(room)).min(quota_bytes) as u32;
        let partial = whole % mss;
        // Only whole segments leave a larger skb, unless its partial end, or that of the window, may be sent too. An
        // skb with others behind it skips Nagle's rule, unless the window ends before cwnd.
        let ends = self.profile.sends_partial_end && whole == head.min(room);
        let unasked = !self.queue.tail_is_only() && quota_bytes <= u64::from(room);
        let goes = ends && (nagle_off || unasked || self.nagle_allows(partial));
        Some(if goes { whole } else { whole - partial })
    }

    /// Whether the receiver's window has no room for the first unsent segment (tcp_snd_wnd_test).
    fn window_stops_head(&self) -> bool {
        let numbers = self.queue.head().map(|head| u64::from(self.first_numbers(head)));
        numbers.is_some_and(|numbers| numbers > self.seq.room())
    }

    /// Sequence numbers of the first segment of the first unsent skb, which has `head` bytes.
    pub(in crate::tcp) fn first_numbers(&self, head: u32) -> u32 {
        let mss = self.mss_now();
        head.min(mss) + u32::from(head <= mss && self.queue.head_ends())
    }

    /// Nagle's rule in Minshall's form: a partial segment waits only while another one is in flight (Linux 2.6.20
    /// `tcp_nagle_check`).
    fn nagle_allows(&self, len: u32) -> bool {
        match self.app.partial() {
            Partial::Nagle => {}
            Partial::Goes => return true,
            Partial::Corked => return len >= self.mss_now(),
        }
        // Nagle's rule is off during F-RTO, which must send new data (RFC 4138).
        len >= self.mss_now()
            || self.recovery.frto_counter == 2
            || self.board.packets_out == 0
            || !self.seq.small_is_out()
    }

    /// Linux 2.6.20 and 6.12 `tcp_transmit_skb`: local congestion counts as congestion, and the skb as sent
    /// (`net_xmit_eval`).
    pub(in crate::tcp) fn heed_congestion(&mut self, out: &impl Output) {
        if out.congested() {
            self.enter_cwr(out.now());
        }
    }

    /// tcp_event_data_sent: notes a transmission of `len` bytes, first or repeated, so that the connection is not idle.
    /// A FIN alone is no data.
    pub(in crate::tcp) fn note_data_sent(&mut self, len: u32, out: &impl Output) {
        if len == 0 {
            return;
        }
        if self.in_flight() == 0 {
            self.sync_clock(out.now());
            self.emit_event(Event::TxStart);
        }
        self.lsndtime = self.jiffies(out.now());
    }

    /// Sends the first `len` bytes of the first unsent skb as an skb of their own; returns whether the host took it.
    pub(in crate::tcp) fn send_head(
        &mut self,
        len: u32,
        push: Push,
        out: &mut impl Output,
    ) -> bool {
        self.send_head_as(len, push, self.mss_now(), out)
    }

    /// [`Sender::send_head`] with segments of `segment` bytes.
    pub(super) fn send_head_as(
        &mut self,
        len: u32,
        push: Push,
        segment: u32,
        out: &mut impl Output,
    ) -> bool {
        // tcp_cwnd_restart after idle time, in kernels that check it here.
        if self.profile.idle_restart == IdleRestart::Sending {
            self.restart_after_idle(self.jiffies(out.now()));
        }
        let seq = self.seq.nxt();
        let departs = self.depart(out.now());
        let stamp = self.stamp(self.stamped(departs));
        self.queue.split_head(len);
        let (pushes, fin) = (self.queue.head_pushes(), self.queue.head_ends());
        let (ecn, cwr) = self.ecn.mark_new_data();
        let plain = Transmission { segment, ..self.transmission(seq, len, false, departs) };
        self.note_data_sent(plain.len, out);
        if self.exceeds_route(seq, plain.len) {
            return false;
        }
        let skb = Transmission { push: plain.push || pushes, fin, ecn, cwr, ..plain };
        // The host refused the skb: local congestion, and the skb stays unsent.
        if !out.transmit(skb) {
            self.counters.refused += 1;
            self.enter_cwr(out.now());
            self.refused = true;
            return false;
        }
        self.heed_congestion(out);
        self.sample_sent(seq, self.stamped(departs));
        self.seq.send_to(self.queue.send_in_segments(seq, stamp, self.mss, plain.segment));
        if segment > self.mss_now() {
            // A path MTU probe counts as two packets.
            self.cc.sock_mut().snd_cwnd -= 1;
        }
        // A FIN alone is a packet, but not one of data.
        let with_data = len.div_ceil(plain.segment);
        self.note_first_sending(with_data);
        self.counters.segments_sent += u64::from(with_data);
        self.counters.bytes_sent += u64::from(plain.len);
        self.pace(len);
        let segments = with_data.max(1);
        let first = self.board.packets_out == 0;
        self.board.packets_out += segments;
        if self.frto_suspends_nagle() {
            // Nagle's rule is off for one segment only.
            self.recovery.frto_counter = 3;
        }
        self.time_new_data(first, push, out);
        if !self.profile.cwnd_first() {
            // tcp_check_space, while cwnd is not used up.
            self.autotune_sndbuf(out.now());
        }
        true
    }

    /// tcp_event_new_data_sent: sets the timer of sent data, the `first` in flight or not. When all data was sent, the
    /// next probe replaces the timer of a running one (tcp_schedule_loss_probe); without a probe the timeout does.
    fn time_new_data(&mut self, first: bool, push: Push, out: &impl Output) {
        let probes = matches!(self.timer, Some((TimerKind::LossProbe, _)));
        if probes && self.profile.probe_timeout == ProbeTimeout::Rack {
            if push == Push::Probe || !self.may_probe() {
                self.rearm_rto(true, out);
            }
        } else if first || self.timer.is_none() {
            let timeout = self.rtt.rto;
            self.start_timer_at_pace(TimerKind::Retransmit, out.now(), timeout);
        }
    }
}
