//! Processing of an ACK in kernels before 4.6, and the part that all kernels share.
//!
//! Source: Linux 2.6.20 `tcp_ack`, `tcp_clean_rtx_queue`, `tcp_ack_no_tstamp`,
//! `tcp_may_update_window`, `tcp_is_cwnd_limited`; 3.12 `tcp_ack_update_rtt`, `tcp_may_raise_cwnd`.

use crate::cc::AckSample;
use crate::tcp::paws::fails_paws;
use crate::tcp::profile::{
    AckOrder, CcRtt, DsackUndo, GrowthUnderReordering, PktsAcked, RttClock, RttSource,
};
use crate::tcp::scoreboard::Acked;
use crate::tcp::sender::Sender;
use crate::tcp::skb::Freed;
use crate::tcp::{Ack, CaState, Output, Segment};

/// Findings of one ACK (Linux's FLAG_ bits).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Flags {
    pub(in crate::tcp) data_acked: bool,
    pub(in crate::tcp) window_updated: bool,
    pub(in crate::tcp) data_sacked: bool,
    pub(in crate::tcp) una_advanced: bool,
    pub(in crate::tcp) packets_acked: u32,
    /// A D-SACK.
    pub(in crate::tcp) dsacking: bool,
    /// SACKs of data that was sent after the present state began.
    pub(in crate::tcp) data_lost: bool,
    /// The ACK covers retransmitted packets; the second field ignores the first packet.
    pub(in crate::tcp) retrans_data_acked: bool,
    pub(in crate::tcp) nonhead_retrans_acked: bool,
    /// SACKs cover only packets sent before the timeout and never again.
    pub(in crate::tcp) only_orig_sacked: bool,
    /// A packet has arrived that was sent before the present state began, and never again.
    pub(in crate::tcp) orig_sack_acked: bool,
    /// Lowest and highest newly SACKed packet that was never sent again.
    pub(in crate::tcp) first_original_sacked: Option<u64>,
    pub(in crate::tcp) last_original_sacked: Option<u64>,
    /// A D-SACK of a tail loss probe (FLAG_DSACK_TLP).
    pub(in crate::tcp) dsack_tlp: bool,
    /// The retransmission timer starts anew (FLAG_SET_XMIT_TIMER).
    pub(in crate::tcp) sets_timer: bool,
    /// A retransmission was lost (FLAG_LOST_RETRANS).
    pub(in crate::tcp) lost_retrans: bool,
    pub(in crate::tcp) reneging: bool,
    /// The receiver reports a mark (FLAG_ECE).
    pub(in crate::tcp) ece: bool,
    /// The ACK arrived with data (FLAG_DATA).
    pub(in crate::tcp) with_data: bool,
}

impl Flags {
    /// FLAG_NOT_DUP.
    pub(in crate::tcp) fn not_dup(&self) -> bool {
        self.window_updated || self.data_acked || self.with_data
    }

    pub(in crate::tcp) fn is_dupack(&self) -> bool {
        !self.una_advanced && !self.not_dup()
    }

    pub(in crate::tcp) fn forward_progress(&self) -> bool {
        self.data_acked || self.data_sacked
    }

    pub(in crate::tcp) fn any_progress(&self) -> bool {
        self.forward_progress() || self.una_advanced
    }
}

impl Sender {
    /// Processes an ACK, and sends to `out`.
    pub fn on_ack(&mut self, ack: &Ack, out: &mut impl Output) {
        self.counters.acks_received += 1;
        let known = ack.ack <= self.seq.nxt();
        self.process_ack(ack, false, out);
        if known {
            self.go_on_after_ack(out);
        }
    }

    /// Processes an ACK that arrived alone or `with_data`. Immediate retransmissions go to `out`.
    pub fn process_ack(&mut self, ack: &Ack, with_data: bool, out: &mut impl Output) {
        // tcp_validate_incoming: PAWS refuses an ACK of an earlier lap (tcp_paws_discard).
        if !with_data && self.fails_paws(ack) {
            self.counters.paws_estab += 1;
            self.answer_empty(out);
            return;
        }
        self.ts_recent = self.ts_recent.max(ack.tsval);

        // tcp_ack, invalid_ack: an ACK of unsent data is ignored.
        if ack.ack > self.seq.nxt() {
            return;
        }
        self.note_round(ack.ack);
        match self.profile.ack_order {
            AckOrder::CwndLast => self.ack_modern(ack, with_data, out),
            AckOrder::CwndFirst if ack.ack < self.seq.una() => self.process_overtaken_ack(ack, out),
            AckOrder::CwndFirst => self.ack_classic(ack, with_data, out),
        }
    }

    /// Whether an ACK is so old that its timestamp seems to be of an earlier lap of the clock, and is not a plain
    /// repetition (6.12 `tcp_paws_discard`, `tcp_disordered_ack`).
    fn fails_paws(&self, ack: &Ack) -> bool {
        if !self.timestamps || !fails_paws(ack.tsval, self.ts_recent) {
            return false;
        }
        let late = self.stamps.begin((self.ts_recent - ack.tsval).into());
        let repeats = ack.ack == self.seq.una() && !self.is_another_window(ack);
        !repeats || late > self.ticks.begin(self.rtt.rto.into())
    }

    /// Whether an ACK says nothing new. On the fast path a segment with such an ACK is taken without a look at the own data (6.1 and
    /// 6.12 `tcp_rcv_established`).
    pub fn expects(&self, ack: &Ack) -> bool {
        ack.ack == self.seq.una() && ack.window == self.seq.wnd() && ack.sacks.is_none() && !ack.ece
    }

    /// Sends a packet without data in answer to a refused packet, twice a second at most.
    pub fn answer_empty(&mut self, out: &mut impl Output) {
        if self.oow_ratelimit.allows(out.now(), &self.ticks) {
            let departs = self.depart(out.now());
            out.transmit(self.transmission(self.seq.nxt(), 0, false, departs));
        }
    }

    /// Sends data that an ACK allows (tcp_data_snd_check).
    pub fn go_on_after_ack(&mut self, out: &mut impl Output) {
        self.charge_walks(out);
        self.push_pending(false, out);
        self.autotune_sndbuf(out.now());
    }

    #[inline(never)]
    fn ack_classic(&mut self, ack: &Ack, with_data: bool, out: &mut impl Output) {
        let nothing_out = self.board.packets_out == 0;
        let (flags, prior_in_flight) = self.learn(ack, with_data, out);
        if nothing_out {
            self.on_late_dsack(&flags, out);
            self.on_probe_answer(out);
            self.process_tlp_ack(ack.ack, &flags, out);
        } else {
            self.follow(ack, &flags, prior_in_flight, out);
        }
    }

    /// Processes an ACK that a later one has overtaken; its SACKs may still be news.
    #[cold]
    fn process_overtaken_ack(&mut self, ack: &Ack, out: &mut impl Output) {
        if let Some(sacks) = &ack.sacks
            && ack.ack + self.seq.max_wnd() >= self.seq.una()
        {
            self.note_prior();
            let mut flags = Flags::default();
            self.take_sacks(ack, sacks, &mut flags, out);
            if self.profile.dsack_undo == DsackUndo::Recovery {
                self.fastretrans_alert(&flags, out);
            }
        }
    }

    /// Processes a D-SACK that arrives with nothing in flight (3.3 `tcp_ack`).
    fn on_late_dsack(&mut self, flags: &Flags, out: &mut impl Output) {
        if flags.dsacking && self.profile.dsack_undo == DsackUndo::Recovery {
            self.fastretrans_alert(flags, out);
        }
    }

    /// Keeps the state of the scoreboard before an ACK.
    pub(in crate::tcp) fn note_prior(&mut self) {
        self.recovery.prior_fack = self.board.snd_fack;
        self.recovery.prior_unsacked = self.board.packets_out.saturating_sub(self.board.sacked_out);
    }

    /// Changes cwnd by an ACK, where packets were in flight before it.
    fn follow(&mut self, ack: &Ack, flags: &Flags, prior_in_flight: u32, out: &mut impl Output) {
        // tcp_process_frto: F-RTO decides before cwnd may grow.
        let frto = self.recovery.frto_counter > 0 && self.process_frto(flags, out);
        if self.recovery.frto_highmark.is_some_and(|mark| mark < self.seq.una()) {
            self.recovery.frto_highmark = None;
        }

        // tcp_ack_is_dubious; tcp_may_raise_cwnd and tcp_cong_avoid for a plain ACK.
        let dubious = !flags.not_dup() || flags.data_sacked || self.ca_state != CaState::Open;
        if !frto && self.may_raise_cwnd(flags, dubious) {
            self.avoid_congestion(ack.ack, flags.packets_acked, prior_in_flight, out);
        }

        // tcp_fastretrans_alert: losses, reduction and retransmission at once.
        if dubious {
            self.fastretrans_alert(flags, out);
        }
        self.process_tlp_ack(ack.ack, flags, out);
        self.schedule_loss_probe(out);
        self.update_early_pacing_rate();
    }

    pub(in crate::tcp) fn may_raise_cwnd(&self, flags: &Flags, dubious: bool) -> bool {
        let reducing = matches!(self.ca_state, CaState::Cwr | CaState::Recovery);
        let high = self.recovery.reordering > self.sysctl.tcp_reordering;
        let sacks = high && self.profile.growth_under_reordering == GrowthUnderReordering::WhenHigh;
        (flags.data_acked || sacks && flags.data_sacked) && !(dubious && reducing)
    }

    /// tcp_may_update_window, for an ACK of nothing new: whether it changes the window.
    pub(in crate::tcp) fn is_another_window(&self, ack: &Ack) -> bool {
        self.seq.is_another_window(ack.seq, ack.window, self.profile.zero_window_updates)
    }

    /// Takes the window of an ACK (tcp_ack_update_window).
    pub(in crate::tcp) fn take_window(&mut self, ack: &Ack) {
        self.seq.note_window_of(ack.seq);
        self.seq.offer(ack.window);
        self.note_window(ack.window);
    }

    /// Notes a segment on the fast path of data, whose ACK says nothing new (6.1 and 6.12 `tcp_rcv_established`).
    pub fn note_window_of(&mut self, segment: &Segment) {
        self.seq.note_window_of(segment.seq);
    }

    /// Takes in the findings of an ACK; returns them and the packets in flight before it.
    pub(in crate::tcp) fn learn(
        &mut self,
        ack: &Ack,
        with_data: bool,
        out: &mut impl Output,
    ) -> (Flags, u32) {
        let mut flags = Flags { with_data, ..Flags::default() };
        let before_sacks = self.in_flight();
        self.recovery.rcv_tsecr = ack.tsecr;
        self.note_prior();
        if self.profile.cwnd_first() {
            self.on_ack_while_probing(out);
        }

        // tcp_may_update_window.
        let another = self.is_another_window(ack);
        if ack.ack > self.seq.una() || ack.ack == self.seq.una() && another {
            flags.window_updated = true;
            self.take_window(ack);
        }
        if let Some(sacks) = &ack.sacks {
            self.take_sacks(ack, sacks, &mut flags, out);
        }

        // Kernels differ in whether packets in flight are counted before the SACKs.
        let counted_first = self.profile.in_flight_before_sacks;
        let prior_in_flight = if counted_first { before_sacks } else { self.in_flight() };

        // tcp_clean_rtx_queue; without new data a SACK may give the RTT.
        if ack.ack > self.seq.una() {
            flags.una_advanced = true;
            self.clean_rtx_queue(ack, &mut flags, out);
        } else {
            self.sample_rtt_of_sack(&flags, out);
        }
        flags.reneging = self.board.has_reneged(self.seq.una());
        (flags, prior_in_flight)
    }

    /// Frees acknowledged packets, measures the RTT, informs the congestion control, restarts the timer.
    fn clean_rtx_queue(&mut self, ack: &Ack, flags: &mut Flags, out: &impl Output) {
        let una = ack.ack;
        let (board, window) = self.board_and_window();
        let acked = board.acknowledge(una, window);
        flags.data_acked = true;
        flags.packets_acked = acked.packets;
        flags.retrans_data_acked = acked.resent;
        flags.nonhead_retrans_acked = acked.resent_beyond_head;
        self.note_original(&acked, ack.sacks.is_some(), flags);
        self.walks_are_freed(una);
        let freed = self.queue.acknowledge(una, self.mss);
        self.seq.acknowledge(una);
        self.chrono_acked(out.now());

        // tcp_ack_update_rtt, then the timer (tcp_rearm_rto; tcp_ack_packets_out before).
        self.sample_rtt(ack, &freed, flags, out);
        self.retransmits = 0;
        self.rearm_rto(false, out);

        // tcp_remove_reno_sacks: the ACK covers packets that duplicates had counted.
        self.board.delivered += u64::from(acked.delivered);
        if self.is_reno() {
            self.remove_reno_sacks(acked.packets);
        }
        self.pkts_acked_classic(&freed, ack.tsecr, flags, out);
    }

    /// Notes packets that the ACK covers first, and that were never sent again.
    fn note_original(&mut self, acked: &Acked, with_sacks: bool, flags: &mut Flags) {
        let Some(original) = acked.original else { return };
        let forged = self.is_reno() && acked.resent;
        flags.orig_sack_acked |= original < self.recovery.high_seq && !forged;
        if original < self.recovery.prior_fack {
            self.note_reordering_by_ack(original, with_sacks);
        }
    }

    /// Karn's rule: a retransmitted packet gives no sample, unless a timestamp shows which copy arrived.
    fn sample_rtt(&mut self, ack: &Ack, freed: &Freed, flags: &Flags, out: &impl Output) {
        let own = freed.first_when.filter(|_| !flags.retrans_data_acked);
        let echo = (self.timestamps && ack.tsecr != 0).then_some(ack.tsecr);
        let by_own = own.map(|when| self.rtt_units(when, out.now()));
        let by_echo = || echo.map(|at| self.echo_units(at, out.now()));
        let sample = match self.profile.rtt_source {
            RttSource::Echo => by_echo().or(by_own),
            RttSource::Ack => by_own.or_else(|| self.rtt_of_sack(flags, out)).or_else(by_echo),
        };
        if let Some(units) = sample {
            self.rtt.sample(units, self.seq.una(), self.seq.nxt());
        }
    }

    fn rtt_of_sack(&self, flags: &Flags, out: &impl Output) -> Option<u32> {
        let when = flags.first_original_sacked.and_then(|seq| self.queue.sent_at(seq))?;
        Some(self.rtt_units(when, out.now()))
    }

    /// Samples the RTT of a SACK, which since 3.12 is enough. It restarts the timer only if its packets were sent before
    /// the first packet's last transmission.
    fn sample_rtt_of_sack(&mut self, flags: &Flags, out: &impl Output) {
        if self.profile.rtt_source != RttSource::Ack {
            return;
        }
        let Some(units) = self.rtt_of_sack(flags, out) else { return };
        self.rtt.sample(units, self.seq.una(), self.seq.nxt());
        let head = self.last_sent(self.seq.una());
        if head.is_some_and(|at| units > self.rtt_units(at, out.now())) {
            self.rearm_rto(false, out);
        }
    }

    fn pkts_acked_classic(&mut self, freed: &Freed, tsecr: u32, flags: &Flags, out: &impl Output) {
        let counted = match self.profile.pkts_acked {
            PktsAcked::Skbs => freed.skbs,
            PktsAcked::Segments => flags.packets_acked,
        };
        let now = self.jiffies(out.now());
        let last = freed.last_when.filter(|_| !flags.retrans_data_acked);
        let jiffies_us = |jiffies: u32| u64::from(jiffies) * self.tick_ns / 1000;
        let in_jiffies = || last.map(|when| jiffies_us(now - self.jiffies(when)));
        let us = match self.profile.cc_rtt {
            CcRtt::Echo => (tsecr != 0).then(|| jiffies_us(now.saturating_sub(tsecr))),
            CcRtt::Jiffies => in_jiffies().filter(|&us| us > 0),
            CcRtt::Microseconds if self.cc.wants_us() => {
                // Before, stamps were in nanoseconds (2.6.24 `net_timedelta`).
                let whole = self.profile.rtt_clock == RttClock::Microseconds;
                let now = out.now();
                last.map(|when| if whole { now.us_since(when) } else { (now - when).as_us() })
            }
            CcRtt::Microseconds => in_jiffies(),
        };
        self.sync_clock(out.now());
        let sock = self.cc.sock_mut();
        sock.saw_tstamp = u32::from(tsecr != 0);
        sock.rcv_tsecr = tsecr;
        let in_flight = self.in_flight();
        let rtt_us = us.map_or(-1, |us| us.min(i32::MAX as u64) as i32);
        self.cc.pkts_acked(&AckSample { pkts_acked: counted as i32, rtt_us, in_flight });
    }

    pub(in crate::tcp) fn avoid_congestion(
        &mut self,
        ack: u64,
        acked: u32,
        prior_in_flight: u32,
        out: &impl Output,
    ) {
        self.sync_clock(out.now());
        let limited = self.is_cwnd_limited(prior_in_flight);
        let sock = self.cc.sock_mut();
        sock.prior_in_flight = prior_in_flight;
        sock.is_cwnd_limited = limited.into();
        self.cc.cong_avoid(ack as u32, acked);
        let now = self.jiffies(out.now());
        self.cc.sock_mut().snd_cwnd_stamp = now;
    }
}
