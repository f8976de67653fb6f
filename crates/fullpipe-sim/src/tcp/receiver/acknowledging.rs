//! ACKs of the receiver: their time, their window, and their SACK blocks.
//!
//! Source: Linux 6.1 and 6.12 `__tcp_ack_snd_check`, `tcp_send_ack`, `tcp_event_data_sent`, `__tcp_select_window`.

use super::window_growth::Space;
use super::{Receiver, Taken};
use crate::ranges::SeqRange;
use crate::tcp::profile::SocketBacklog;
use crate::tcp::{Ack, Sacks};
use crate::units::Time;

impl Receiver {
    /// tcp_ack_snd_check: the ACK that is due, unless one was sent meanwhile. `filled`: the segment filled the last
    /// hole, which is reported at once.
    pub fn ack_or_delay(&mut self, now: Time, filled: bool) -> Option<Ack> {
        if !self.acks.is_scheduled() {
            return None;
        }
        let owed = self.rcv_nxt - self.window.rcv_wup;
        let advertised = self.window.rcv_wnd;
        let second = owed > u64::from(self.acks.rcv_mss) && self.select_window() >= advertised;
        let beyond_hole = !self.out_of_order.is_empty();
        let reports_fill = filled && self.profile.compresses_sacks;

        // __tcp_ack_snd_check: a second full segment, quick mode, or ICSK_ACK_NOW.
        if second || self.acks.is_quick() || self.acks.now || reports_fill {
            self.ack_deferred |=
                self.in_backlog && self.profile.socket_backlog == SocketBacklog::OneAck;
            return (!self.ack_deferred).then(|| self.make_ack());
        }

        // Data beyond a hole: tcp_comp_sack_nr and the timer may hold the ACK.
        if beyond_hole {
            return self.acks_hole(now).then(|| self.make_ack());
        }
        self.acks.delay(now).then(|| self.make_ack())
    }

    /// The ACK that is due after an ACK without data that took the slow path: a window that could not be announced before may be
    /// open now (`tcp_rcv_established`).
    pub(crate) fn ack_after_pure_ack(&mut self, now: Time) -> Option<Ack> {
        if !self.acks.is_scheduled() {
            return None;
        }
        self.tick(now);
        self.ack_or_delay(now, false)
    }

    /// Whether data beyond a hole is acknowledged at once.
    fn acks_hole(&mut self, now: Time) -> bool {
        if !self.profile.compresses_sacks || self.sack_room == 0 {
            return true;
        }
        let echoed = self.growth.as_ref().map_or(0, Space::rtt_us8);
        let handshake = self.acks.rtt.srtt_us8();
        let rtt = if handshake > 0 { echoed.min(handshake) } else { echoed };
        self.compressed.acks_now(now, self.rcv_nxt, rtt)
    }

    /// Whether ACKs of data beyond a hole may be compressed.
    pub fn compresses_sacks(&self) -> bool {
        self.profile.compresses_sacks
    }

    /// Requests an immediate ACK for a segment with no new data, or beyond a closed window; the next segments are
    /// acknowledged at once, too (tcp_enter_quickack_mode).
    pub(super) fn ask_in_quick_mode(&mut self) -> Taken {
        self.acks.schedule();
        self.acks.enter_quick_mode(self.window.rcv_wnd);
        Taken::Asks(false)
    }

    /// Sets TCP_QUICKACK, and returns a delayed ACK that is due by this. It is due where the reader has read all, or where
    /// more than one segment is owed (2.6.20 `do_tcp_setsockopt`, 6.12 `__tcp_sock_set_quickack`).
    pub fn set_quickack(&mut self, now: Time, on: bool) -> Option<Ack> {
        self.acks.set_pingpong(!on);
        if !on || !self.is_connected || !self.acks.is_scheduled() {
            return None;
        }
        self.tick(now);
        self.acks.pushed = true;
        self.clean_up()
    }

    /// The program has set TCP_QUICKACK to 0 before it connects: the last packet of the handshake waits for data, which
    /// carries it. Quick ACKs follow (6.12 `tcp_rcv_synsent_state_process`).
    pub(crate) fn delay_last_of_handshake(&mut self) {
        self.acks.schedule();
        self.acks.enter_quick_mode(self.window.rcv_wnd);
    }

    /// An ACK of the present state (tcp_send_ack).
    pub fn make_ack(&mut self) -> Ack {
        if self.window.is_tight() {
            self.acks.quick = 0;
            self.window.save_memory();
        }
        let window = self.window.advertise(self.rcv_nxt, self.acks.rcv_mss);
        if window == 0 {
            self.fast.leave();
        }
        self.acks.on_ack_sent();
        self.compressed.on_ack_sent();
        let sacks = self.sack_blocks();
        let (tsecr, tsval) = if self.timestamps { (self.ts_recent, self.tsval()) } else { (0, 0) };
        Ack {
            seq: 0,
            ack: self.rcv_nxt,
            window,
            sacks,
            tsecr,
            tsval,
            ece: self.ecn.echoes,
            fin: false,
        }
    }

    /// ACK that a packet of this socket carries; `data`: the packet has data (tcp_event_data_sent).
    pub fn carry(&mut self, now: Time, data: bool) -> Ack {
        self.tick(now);
        let ack = self.make_ack();
        if data {
            self.acks.on_data_sent(now);
        }
        ack
    }

    /// Bytes of the option with the SACK blocks that a packet carries now (tcp_established_options).
    pub fn option_bytes(&self) -> u32 {
        let blocks = self.out_of_order.blocks().len() + usize::from(self.duplicate.is_some());
        crate::tcp::sack_option(blocks.min(self.sack_room))
    }

    /// Notes that the connection is established; at the connecting end received data may be answers to its own data.
    pub fn on_connected(&mut self, now: Time) {
        self.is_connected = true;
        self.acks.begin(now);
        if let Some(growth) = &mut self.growth {
            growth.begin(now.as_us());
        }
    }

    /// SACK blocks: at most four, three with timestamps. A D-SACK is the first of them.
    fn sack_blocks(&mut self) -> Option<Sacks> {
        let duplicate = self.duplicate.take();
        if self.sack_room == 0 || self.out_of_order.is_empty() && duplicate.is_none() {
            return None;
        }
        let mut sacks = Sacks { blocks: [SeqRange::default(); 4], count: 0 };
        if let Some(twice) = duplicate {
            (sacks.blocks[0], sacks.count) = (twice, 1);
        }
        for &block in self.out_of_order.blocks().iter().take(self.sack_room - sacks.count) {
            sacks.blocks[sacks.count] = block;
            sacks.count += 1;
        }
        Some(sacks)
    }

    /// __tcp_select_window: where memory is tight, the choice of a window ends quick ACKs.
    pub(super) fn select_window(&mut self) -> u64 {
        if self.window.is_tight() {
            self.acks.quick = 0;
            self.window.save_memory();
        }
        self.window.select(self.acks.rcv_mss)
    }
}
