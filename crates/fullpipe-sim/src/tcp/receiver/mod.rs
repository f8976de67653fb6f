//! The receiving endpoint: reassembly, receive buffer, ACKs.
//!
//! Source: Linux 2.6.20 `tcp_rcv_established`, `tcp_data_queue`, `tcp_send_dupack`, `tcp_cleanup_rbuf`.
//! What becomes of a segment that does not fit into the buffer is in `receiver/shortage.rs`.
//! Not modelled: the prequeue (the receiver behaves as with net.ipv4.tcp_low_latency = 1).

pub mod ack_policy;
mod acknowledging;
pub mod autotune;
mod beyond_hole;
pub mod compressed;
mod data_window;
mod empty;
mod fast_path;
mod handshake;
mod joining;
mod later;
mod out_of_order;
mod receive_queue;
mod refused;
mod shortage;
mod socket;
mod space;
mod timestamps;
pub mod window;

use crate::config::Host;
use crate::jiffy_clock::JiffyClock;
use crate::packet::Ecn;
use crate::tcp::counters::ReceiverMib;
use crate::tcp::ecn::{QUICKACKS, ReceiverEcn};
use crate::tcp::pieces::{Piece, Pieces};
use crate::tcp::profile::{RcvTuning, SharedProfile};
use crate::tcp::ration::Ration;
use crate::tcp::{Ack, IP_HEADER, Segment, headers};
use crate::units::Time;
use ack_policy::AckPolicy;
use autotune::RcvSpace;
use compressed::Compressed;
use fast_path::FastPath;
use out_of_order::OutOfOrder;
use receive_queue::{Came, ReceiveQueue};
use space::Space;
use window::ReceiveWindow;

/// What a segment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// This ACK at once.
    Ack(Ack),
    /// To look whether one is due ([`Receiver::ack_or_delay`]); whether the last hole is filled.
    Asks(bool),
    /// Nothing.
    Nothing,
}

/// See the module's description. Sequence numbers count from the first data byte.
pub struct Receiver {
    profile: SharedProfile,
    /// SACK blocks that an ACK has room for; 0 without SACK.
    sack_room: usize,
    dsack: bool,
    timestamps: bool,
    /// Whether the echo of the segment that comes now has told the handshake's RTT.
    echo_counted: bool,
    /// What came twice and is to be told with the next ACK (RFC 2883).
    duplicate: Option<(u64, u64)>,
    /// Timestamp to echo: of the segment that last moved the window's left edge (RFC 7323).
    ts_recent: u32,
    /// Window state.
    pub window: ReceiveWindow,
    /// ACK clock.
    pub acks: AckPolicy,
    /// Autotuning of the buffer as of 2.6.20; none when the application set its size.
    space: Option<RcvSpace>,
    /// The same as of today, with the RTT that is measured for it whoever has set the size.
    growth: Option<Space>,
    is_locked: bool,
    ecn: ReceiverEcn,
    compressed: Compressed,
    /// Whether what comes does so out of the socket's backlog.
    in_backlog: bool,
    /// Whether an ACK waits until that is empty (TCP_ACK_DEFERRED).
    ack_deferred: bool,
    /// Of answers to segments without data that lie outside the window.
    ration: Ration,
    /// Timestamp of what is sent now.
    clock: u32,
    ticks: JiffyClock,
    /// Of timestamps.
    stamps: JiffyClock,
    /// When the SYN-ACK left, and whether it was not the first.
    answered: Option<(Time, bool)>,
    /// Next byte expected.
    pub rcv_nxt: u64,
    /// True once the connection is there.
    is_connected: bool,
    /// Whether the stream has ended.
    pub(crate) has_ended: bool,
    out_of_order: OutOfOrder,
    fast: FastPath,
    waiting: ReceiveQueue,
    pieces: Pieces,
    /// When the application last read.
    last_read: Time,
    /// Bytes the application has read.
    pub bytes_read: u64,
    /// Segments whose last byte it has read.
    pub segments_read: u64,
    /// Segments that became readable.
    pub segments_queued: u64,
    /// Segments dropped for want of buffer: no memory, or nothing left of the window.
    pub dropped: u64,
    /// Skbs refused for a timestamp from the past (PAWS), as where packets have overtaken each other; Linux `PAWSEstab`.
    pub from_the_past: u64,
    /// Skbs refused as they begin beyond the window.
    pub beyond_window: u64,
    /// How often memory was sought (PruneCalled, `tcp_prune_queue`).
    pub prunes: u64,
    /// Of these, how often none was found (RcvPruned).
    pub prunes_failed: u64,
    /// Segments that brought nothing new.
    pub duplicates: u64,
    /// Counters of `nstat`.
    pub mib: ReceiverMib,
    mss: u32,
    advmss: u32,
}

/// Least MSS that a host announces, bytes with the options of each segment (sysctl net.ipv4.route.min_adv_mss; 6.12
/// `ipv4_default_advmss`).
const MIN_ADVMSS: u32 = 256;

/// Least first guess of how large segments are, bytes (TCP_MIN_MSS).
const MIN_MSS: u32 = 88;

/// The MSS that this end has announced, bytes of data, on a path whose segments have `mss`: its windows are in units of that.
fn advmss(mss: u32, host: &Host) -> u32 {
    let option = headers(host.timestamps) - headers(false);
    let of_card = host.mtu.map_or(mss, |mtu| mtu.saturating_sub(headers(host.timestamps)));
    mss.max(of_card).max(MIN_ADVMSS - option)
}

impl Receiver {
    /// A connection that is accepted; `rcvbuf` is what setsockopt asked for.
    pub fn new(
        profile: impl Into<SharedProfile>,
        host: &Host,
        mss: u32,
        rcvbuf: Option<u64>,
    ) -> Receiver {
        Receiver::of(profile.into(), host, mss, rcvbuf, 0)
    }

    /// The end that connects, whose data may be answered.
    pub fn of_connecting(
        profile: impl Into<SharedProfile>,
        host: &Host,
        mss: u32,
        rcvbuf: Option<u64>,
    ) -> Receiver {
        let option = headers(host.timestamps) - headers(false);
        Receiver::of(profile.into(), host, mss, rcvbuf, option)
    }

    /// `option`: bytes of each segment of which its window does not know at first ([`ReceiveWindow::of_connecting`]).
    fn of(
        profile: SharedProfile,
        host: &Host,
        mss: u32,
        rcvbuf: Option<u64>,
        option: u32,
    ) -> Receiver {
        let advmss = advmss(mss, host);
        let window = ReceiveWindow::of_connecting(&host.sysctl, &profile, rcvbuf, advmss, option);
        let own = host.system.window(rcvbuf, host.sysctl.tcp_window_scaling);
        let is_locked = own.map_or(rcvbuf.is_some(), |own| own.first == own.most);
        let window = own.map_or(window.clone(), |own| window.of_data(own));
        let space = RcvSpace::new(&host.sysctl, u64::from(advmss), window.rcv_wnd);
        let today = profile.rcv_tuning != RcvTuning::PerRtt;
        Receiver {
            dsack: host.sysctl.tcp_sack && host.sysctl.tcp_dsack,
            timestamps: host.timestamps,
            echo_counted: false,
            duplicate: None,
            ts_recent: 0,
            sack_room: match (host.sysctl.tcp_sack, host.timestamps) {
                (false, _) => 0,
                (true, false) => 4,
                // Timestamps take the place of one (RFC 2018, section 3).
                (true, true) => 3,
            },
            space: (!today && !is_locked).then_some(space),
            growth: today.then(|| Space::new(&window, advmss, &profile)),
            is_locked,
            ecn: ReceiverEcn::default(),
            compressed: Compressed::default(),
            in_backlog: false,
            ack_deferred: false,
            ration: Ration::default(),
            clock: 0,
            window,
            ticks: JiffyClock::jiffies(host.hz),
            stamps: profile.timestamp_clock.ticks(host.hz),
            acks: AckPolicy::new(host.hz, mss, headers(host.timestamps) - IP_HEADER, &profile),
            answered: None,
            rcv_nxt: 0,
            is_connected: false,
            has_ended: false,
            fast: FastPath::new(&profile),
            out_of_order: OutOfOrder::new(profile.rx_overhead, profile.joins_received),
            waiting: ReceiveQueue::new(profile.rx_overhead, profile.joins_received),
            pieces: Pieces::default(),
            last_read: Time::ZERO,
            bytes_read: 0,
            segments_read: 0,
            segments_queued: 0,
            dropped: 0,
            prunes: 0,
            prunes_failed: 0,
            from_the_past: 0,
            beyond_window: 0,
            duplicates: 0,
            mib: ReceiverMib::default(),
            mss,
            advmss,
            profile,
        }
    }

    /// The MSS that the peer announces, bytes without options, as its SYN arrives. No segment is thought to be larger than those
    /// that this end may send (6.12 `tcp_initialize_rcv_mss`). To be called before the connection is there.
    pub fn hear_mss(&mut self, mss: u32) {
        let option = headers(self.timestamps) - headers(false);
        let own = mss.saturating_sub(option).max(MIN_MSS);
        self.acks.rcv_mss = self.acks.rcv_mss.min(own);
    }

    /// Limit of the receive buffer, bytes of memory; none where the kernel tunes it.
    pub fn receive_buffer_limit(&self) -> Option<u64> {
        self.is_locked.then_some(self.window.rcvbuf)
    }

    /// What is to be known of the sender's memory ([`Output::begin_piece`]) before anything comes that stands there.
    ///
    /// [`Output::begin_piece`]: crate::tcp::Output::begin_piece
    pub fn begin_piece(&mut self, piece: Piece) {
        if self.profile.joins_received {
            self.pieces.begin(piece);
        }
    }

    /// Bytes ready for the reader.
    pub fn readable(&self) -> u64 {
        self.waiting.bytes()
    }

    /// A SYN was answered that asked for ECN, or one that did not.
    pub fn use_ecn(&mut self, agreed: bool) {
        self.ecn.agreed = agreed;
    }

    /// Whether both ends use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.agreed
    }

    /// A segment (without data and FIN: a window probe); the ACK that it causes at once.
    pub fn on_segment(&mut self, now: Time, segment: Segment) -> Option<Ack> {
        match self.take(now, &segment) {
            Taken::Ack(ack) => Some(ack),
            Taken::Asks(filled) => self.ack_or_delay(now, filled),
            Taken::Nothing => None,
        }
    }

    /// The same up to the moment at which the other way of the connection goes on.
    pub fn take(&mut self, now: Time, segment: &Segment) -> Taken {
        let taken = self.take_whole(now, segment);
        self.fast.follow(self.window.rmem_alloc);
        taken
    }

    fn take_whole(&mut self, now: Time, segment: &Segment) -> Taken {
        let (seq, end) = (segment.seq, segment.end());
        self.tick(now);
        if end == seq {
            return self.take_empty(now, segment);
        }
        if !self.is_acceptable(segment) {
            return self.refuse(segment);
        }
        self.hear_timestamps(segment);
        let remaining = self.window.remaining(self.rcv_nxt);
        let closed = seq >= self.rcv_nxt + remaining;
        if segment.cwr && !closed {
            self.ecn.hear_cwr();
            self.acks.now = true;
        }
        let packets = u64::from(segment.packets());
        if end <= self.rcv_nxt {
            self.duplicates += packets;
            self.tell_duplicate(seq, end);
            return self.ask_in_quick_mode();
        }
        let next = seq <= self.rcv_nxt;
        if next && segment.gso_size > 0 && self.out_of_order.overlap(seq, end).is_some() {
            return self.take_apart(now, segment);
        }
        if closed || next && remaining == 0 {
            self.tell_duplicate(seq, self.rcv_nxt);
            self.dropped += packets;
            return self.ask_in_quick_mode();
        }
        if seq != self.rcv_nxt && !self.profile.compresses_sacks {
            self.acks.enter_quick_mode(self.window.rcv_wnd);
        }
        if !next {
            self.hear_mark(segment.ecn);
        }
        let fast = self.is_fast(segment);
        if !fast && !self.has_room(segment, next) {
            self.dropped += packets;
            match next {
                true => self.mib.rcvq_drop += 1,
                false => self.mib.ofo_drop += 1,
            }
            return Taken::Asks(false);
        }
        if self.pieces.are_awaited() {
            let read = Some(self.last_read).filter(|_| self.waiting.bytes() == 0);
            self.pieces.reach(self.rcv_nxt, read);
        }
        if !next {
            self.fast.leave();
            return self.take_out_of_order(segment);
        }
        self.take_next(now, segment, fast)
    }

    /// Takes a segment that begins with the next number, or before it.
    fn take_next(&mut self, now: Time, segment: &Segment, fast: bool) -> Taken {
        let had_hole = !self.out_of_order.is_empty();
        self.tell_duplicate(segment.seq, self.rcv_nxt);
        self.take_in_order(segment);
        // While what lies behind a hole that this fills has the memory that it had there.
        if segment.len > 0 {
            self.follow_data(now, segment);
        }
        self.fast.follow(self.window.rmem_alloc);
        self.take_behind_hole(segment.fin);
        if !fast {
            self.check_fast_path();
        }
        self.window.note_unread(self.waiting.bytes());
        let filled = had_hole && self.out_of_order.is_empty();
        Taken::Asks(filled)
    }

    /// Takes what GRO has joined packet by packet, with one ACK in the end: a part of it came before, beyond a hole.
    fn take_apart(&mut self, now: Time, segment: &Segment) -> Taken {
        let mut at_once = false;
        let mut taken = Taken::Asks(false);
        for packet in segment.split() {
            taken = self.take_whole(now, &packet);
            at_once |= matches!(taken, Taken::Ack(_));
        }
        match taken {
            Taken::Asks(_) if at_once => Taken::Ack(self.make_ack()),
            _ => taken,
        }
    }

    /// tcp_event_data_recv: segments in order tell sizes and times.
    fn follow_data(&mut self, now: Time, segment: &Segment) {
        self.measure(segment);
        self.acks.on_data(now, self.window.rcv_wnd);
        self.hear_mark(segment.ecn);
        if let Some(space) = &mut self.space {
            space.on_data(self.ticks.at(now) as u32, self.rcv_nxt, self.window.rcv_wnd);
        }
        if let Some(growth) = &mut self.growth {
            growth.on_data(now.as_us(), self.rcv_nxt, self.window.rcv_wnd);
        }
        if self.window.grow(segment.len, self.acks.rcv_mss) && self.profile.quick_ack_on_growth {
            self.acks.quick |= 1;
        }
    }

    /// tcp_ecn_check_ce.
    fn hear_mark(&mut self, ecn: Ecn) {
        if self.ecn.hear(ecn) {
            self.acks.enter_quick_mode_for(self.window.rcv_wnd, QUICKACKS);
        }
    }

    /// tcp_measure_rcv_mss.
    fn measure(&mut self, segment: &Segment) {
        let len = segment.packet_len();
        if len > self.acks.rcv_mss {
            let truesize = self.truesize(segment);
            let changed = self.window.measure(segment, truesize);
            if let Some(growth) = self.growth.as_mut().filter(|_| changed) {
                growth.space = growth.space.min(self.window.window_clamp);
            }
        }
        self.acks.measure(len, segment.push);
    }

    fn take_in_order(&mut self, segment: &Segment) {
        let (end, next) = (segment.end(), self.rcv_nxt);
        let data_end = end - u64::from(segment.fin);
        if data_end > next {
            let known = ((next - segment.seq) / u64::from(segment.packet_len())) as u32;
            let new = segment.packets() - known;
            let skb =
                Came { seq: next, end: data_end, largest: segment.packet_len(), packets: new };
            self.window.rmem_alloc += self.waiting.push(skb, &self.pieces);
            self.segments_queued += u64::from(new);
            self.duplicates += u64::from(known);
        }
        self.rcv_nxt = end;
    }

    /// The stream ends, or what came before goes on where it is known now (tcp_fin, tcp_ofo_queue).
    fn take_behind_hole(&mut self, fin: bool) {
        if fin {
            return self.end();
        }
        if self.out_of_order.is_empty() {
            return;
        }
        let end = self.rcv_nxt;
        // What this makes readable has its memory accounted already.
        let held = self.out_of_order.memory();
        let runs = self.out_of_order.take_from(self.rcv_nxt, self.mss);
        for &(len, count) in &runs {
            self.segments_queued += u64::from(count);
            self.rcv_nxt += u64::from(len) * u64::from(count);
        }
        if self.out_of_order.ends_at(self.rcv_nxt) {
            self.rcv_nxt += 1;
            self.end();
        }
        let skbs = self.out_of_order.take_joined(self.rcv_nxt);
        let taken = held - self.out_of_order.memory();
        self.window.rmem_alloc -= self.waiting.push_runs(end, &runs, &skbs, taken);
    }

    /// tcp_fin.
    fn end(&mut self) {
        self.has_ended = true;
        self.acks.on_fin();
    }

    /// tcp_dsack_set: `[start, end)` came for the second time.
    fn tell_duplicate(&mut self, start: u64, end: u64) {
        if self.dsack && start < end {
            self.duplicate = Some((start, end));
        }
    }
}
