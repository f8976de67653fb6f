//! The receiving endpoint: reassembly, receive buffer, ACKs.
//!
//! Source: Linux 2.6.20 `tcp_rcv_established`, `tcp_data_queue`, `tcp_send_dupack`, `tcp_cleanup_rbuf`.
//! `receiver/prune.rs` handles segments that do not fit into the buffer. Not modelled: the prequeue (the receiver
//! behaves as with net.ipv4.tcp_low_latency = 1).

pub mod ack_policy;
mod acknowledging;
mod beyond_hole;
mod coalesce;
pub mod compressed;
mod data_window;
pub mod drs;
mod empty;
mod fast_path;
mod handshake;
mod out_of_order;
mod prune;
mod read;
mod receive_queue;
mod refused;
mod socket;
mod timestamps;
pub mod window;
mod window_growth;

use crate::config::Host;
use crate::jiffy_clock::JiffyClock;
use crate::packet::Ecn;
use crate::ranges::SeqRange;
use crate::tcp::counters::ReceiverMib;
use crate::tcp::ecn::{QUICKACKS, ReceiverEcn};
use crate::tcp::oow_ratelimit::OowRatelimit;
use crate::tcp::page_frag::{PageFrag, PageFrags};
use crate::tcp::profile::{RcvTuning, SharedProfile};
use crate::tcp::{Ack, IP_HEADER, Segment, headers};
use crate::units::Time;
use ack_policy::AckPolicy;
use compressed::Compressed;
use drs::RcvSpace;
use fast_path::FastPath;
use out_of_order::OutOfOrder;
use receive_queue::{Came, ReceiveQueue};
use window::ReceiveWindow;
use window_growth::Space;

/// Action after a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Sends this ACK at once.
    Ack(Ack),
    /// Checks whether an ACK is due ([`Receiver::ack_or_delay`]); true if the last hole is filled.
    Asks(bool),
    /// No action.
    Nothing,
}

/// State of a receiving endpoint. Sequence numbers count from the first data byte.
pub struct Receiver {
    profile: SharedProfile,
    /// Most SACK blocks of an ACK; 0 without SACK.
    sack_room: usize,
    dsack: bool,
    timestamps: bool,
    /// Whether the echo of the segment in hand has given the handshake's RTT.
    echo_counted: bool,
    /// Whether the timestamp of the segment in hand was taken before the ACK that it carries.
    stamped: bool,
    /// D-SACK for the next ACK: data that arrived twice (RFC 2883).
    duplicate: Option<SeqRange>,
    /// Timestamp to echo: of the segment that last moved the window's left edge (RFC 7323).
    ts_recent: u32,
    /// Window state.
    pub window: ReceiveWindow,
    /// ACK clock.
    pub acks: AckPolicy,
    /// Autotuning of the buffer as in 2.6.20; none when the application set its size.
    space: Option<RcvSpace>,
    /// Autotuning of the buffer in newer kernels. It measures the RTT also where the application set the size.
    growth: Option<Space>,
    is_locked: bool,
    ecn: ReceiverEcn,
    compressed: Compressed,
    /// Whether segments come from the socket's backlog now.
    in_backlog: bool,
    /// Whether an ACK waits for the end of the backlog (TCP_ACK_DEFERRED).
    ack_deferred: bool,
    /// Rate limit of answers to segments without data outside the window.
    oow_ratelimit: OowRatelimit,
    /// Time at which TCP last read the clock (tcp_clock_cache), which packets sent now have.
    clock: Time,
    ticks: JiffyClock,
    /// Clock of timestamps.
    stamps: JiffyClock,
    /// Transmission time of the SYN-ACK, and whether it was a repetition.
    answered: Option<(Time, bool)>,
    /// Next byte expected.
    pub rcv_nxt: u64,
    /// Whether the connection is established.
    is_connected: bool,
    /// Whether the stream has ended.
    pub(crate) has_ended: bool,
    out_of_order: OutOfOrder,
    fast: FastPath,
    waiting: ReceiveQueue,
    page_frags: PageFrags,
    /// Time at which the application last read.
    last_read: Time,
    /// Bytes the application has read.
    pub bytes_read: u64,
    /// Segments that the application has read to their last byte.
    pub segments_read: u64,
    /// Segments that became readable.
    pub segments_queued: u64,
    /// Segments dropped for want of buffer: no memory, or no window left.
    pub dropped: u64,
    /// Skbs refused for an old timestamp (PAWS), as after reordering; Linux `PAWSEstab`.
    pub paws_estab: u64,
    /// Skbs refused because they begin beyond the window.
    pub beyond_window: u64,
    /// Attempts to free memory (PruneCalled, `tcp_prune_queue`).
    pub prunes: u64,
    /// Failed attempts of these (RcvPruned).
    pub prunes_failed: u64,
    /// Segments without new data.
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

/// MSS that this end has announced, bytes of data, on a path with segments of `mss`: the unit of its windows.
fn advmss(mss: u32, host: &Host) -> u32 {
    let option = headers(host.timestamps) - headers(false);
    let of_card = host.mtu.map_or(mss, |mtu| mtu.saturating_sub(headers(host.timestamps)));
    mss.max(of_card).max(MIN_ADVMSS - option)
}

impl Receiver {
    /// Receiver of an accepted connection; `rcvbuf` is the buffer that the program set by setsockopt.
    pub fn new(
        profile: impl Into<SharedProfile>,
        host: &Host,
        mss: u32,
        rcvbuf: Option<u64>,
    ) -> Receiver {
        Receiver::of(profile.into(), host, mss, rcvbuf, 0)
    }

    /// Receiver of the connecting end, for answers to its data.
    pub fn of_connecting(
        profile: impl Into<SharedProfile>,
        host: &Host,
        mss: u32,
        rcvbuf: Option<u64>,
    ) -> Receiver {
        let option = headers(host.timestamps) - headers(false);
        Receiver::of(profile.into(), host, mss, rcvbuf, option)
    }

    /// Receiver with a window; `option`: bytes of each segment that the window does not know at first
    /// ([`ReceiveWindow::of_connecting`]).
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
            stamped: false,
            duplicate: None,
            ts_recent: 0,
            sack_room: match (host.sysctl.tcp_sack, host.timestamps) {
                (false, _) => 0,
                (true, false) => 4,
                // Timestamps take the space of one block (RFC 2018, section 3).
                (true, true) => 3,
            },
            space: (!today && !is_locked).then_some(space),
            growth: today.then(|| Space::new(&window, advmss, &profile)),
            is_locked,
            ecn: ReceiverEcn::default(),
            compressed: Compressed::new(&host.sysctl),
            in_backlog: false,
            ack_deferred: false,
            oow_ratelimit: OowRatelimit::default(),
            clock: Time::ZERO,
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
            page_frags: PageFrags::default(),
            last_read: Time::ZERO,
            bytes_read: 0,
            segments_read: 0,
            segments_queued: 0,
            dropped: 0,
            prunes: 0,
            prunes_failed: 0,
            paws_estab: 0,
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
    pub fn take_peer_mss(&mut self, mss: u32) {
        let option = headers(self.timestamps) - headers(false);
        let own = mss.saturating_sub(option).max(MIN_MSS);
        self.acks.rcv_mss = self.acks.rcv_mss.min(own);
    }

    /// Limit of the receive buffer, bytes of memory; none where the kernel tunes it.
    pub fn receive_buffer_limit(&self) -> Option<u64> {
        self.is_locked.then_some(self.window.rcvbuf)
    }

    /// Takes a change of the sender's memory layout ([`Output::begin_page_frag`]) before the data arrives that it concerns.
    ///
    /// [`Output::begin_page_frag`]: crate::tcp::Output::begin_page_frag
    pub fn begin_page_frag(&mut self, page_frag: PageFrag) {
        if self.profile.joins_received {
            self.page_frags.begin(page_frag);
        }
    }

    /// Bytes ready for the reader.
    pub fn readable(&self) -> u64 {
        self.waiting.bytes()
    }

    /// Sets whether both ends use ECN, after the handshake.
    pub fn use_ecn(&mut self, agreed: bool) {
        self.ecn.agreed = agreed;
    }

    /// Whether both ends use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.agreed
    }

    /// Processes a segment (without data and FIN: a window probe); returns its immediate ACK.
    pub fn on_segment(&mut self, now: Time, segment: Segment) -> Option<Ack> {
        match self.take(now, &segment) {
            Taken::Ack(ack) => Some(ack),
            Taken::Asks(filled) => self.ack_or_delay(now, filled),
            Taken::Nothing => None,
        }
    }

    /// Processes a segment up to the moment at which the reverse flow of the connection continues.
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
        self.take_timestamps(segment);
        let remaining = self.window.remaining(self.rcv_nxt);
        let closed = seq >= self.rcv_nxt + remaining;
        if segment.cwr && !closed {
            self.ecn.accept_cwr();
            self.acks.now = true;
        }
        let packets = u64::from(segment.packets());
        // tcp_data_queue: a repetition is answered by a D-SACK.
        if end <= self.rcv_nxt {
            self.duplicates += packets;
            self.set_dsack(seq, end);
            return self.ask_in_quick_mode();
        }
        let next = seq <= self.rcv_nxt;
        if next && segment.gso_size > 0 && self.out_of_order.overlap(seq, end).is_some() {
            return self.take_apart(now, segment);
        }
        // tcp_data_queue: data outside the window is dropped (out_of_window).
        if closed || next && remaining == 0 {
            self.set_dsack(seq, self.rcv_nxt);
            self.dropped += packets;
            return self.ask_in_quick_mode();
        }
        if seq != self.rcv_nxt && !self.profile.compresses_sacks {
            self.acks.enter_quick_mode(self.window.rcv_wnd);
        }
        if !next {
            self.check_ce(segment.ecn);
        }
        // tcp_try_rmem_schedule, unless the fast path skips it.
        let fast = self.is_fast(segment);
        if !fast && !self.has_room(segment, next) {
            self.dropped += packets;
            match next {
                true => self.mib.rcvq_drop += 1,
                false => self.mib.ofo_drop += 1,
            }
            return Taken::Asks(false);
        }
        if self.page_frags.are_awaited() {
            let read = Some(self.last_read).filter(|_| self.waiting.bytes() == 0);
            self.page_frags.reach(self.rcv_nxt, read);
        }
        if !next {
            self.fast.leave();
            return self.take_out_of_order(segment);
        }
        self.take_next(now, segment, fast)
    }

    /// Takes a segment that begins at or before the next expected number.
    fn take_next(&mut self, now: Time, segment: &Segment, fast: bool) -> Taken {
        let had_hole = !self.out_of_order.is_empty();
        self.set_dsack(segment.seq, self.rcv_nxt);
        self.take_in_order(segment);
        // Data behind a hole that this segment fills still has its old memory here.
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

    /// Takes the packets of a GRO segment one by one, with one ACK at the end, where a part of it has arrived before,
    /// beyond a hole.
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

    /// tcp_event_data_recv: measures sizes and times of segments in order.
    fn follow_data(&mut self, now: Time, segment: &Segment) {
        self.measure(segment);
        self.acks.on_data(now, self.window.rcv_wnd);
        self.check_ce(segment.ecn);
        if let Some(space) = &mut self.space {
            space.on_data(self.ticks.at(now) as u32, self.rcv_nxt, self.window.rcv_wnd);
        }
        if let Some(growth) = &mut self.growth {
            growth.on_data(now.as_us(), self.rcv_nxt, self.window.rcv_wnd);
        }

        // tcp_grow_window: the window opens with the data that arrives.
        if self.window.grow(segment.len, self.acks.rcv_mss) && self.profile.quick_ack_on_growth {
            self.acks.quick |= 1;
        }
    }

    /// tcp_ecn_check_ce.
    fn check_ce(&mut self, ecn: Ecn) {
        if self.ecn.check_ce(ecn) {
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
        self.acks.measure(len, segment.options, segment.push);
    }

    fn take_in_order(&mut self, segment: &Segment) {
        let (end, next) = (segment.end(), self.rcv_nxt);
        let data_end = end - u64::from(segment.fin);
        if data_end > next {
            let known = ((next - segment.seq) / u64::from(segment.packet_len())) as u32;
            let new = segment.packets() - known;
            let skb =
                Came { seq: next, end: data_end, largest: segment.packet_len(), packets: new };
            self.window.rmem_alloc += self.waiting.push(skb, &self.page_frags);
            self.segments_queued += u64::from(new);
            self.duplicates += u64::from(known);
        }
        self.rcv_nxt = end;
    }

    /// Takes data that waited behind a hole, and the end of the stream, when their number is next (tcp_fin,
    /// tcp_ofo_queue).
    fn take_behind_hole(&mut self, fin: bool) {
        if fin {
            return self.end();
        }
        if self.out_of_order.is_empty() {
            return;
        }
        let end = self.rcv_nxt;
        // Data that becomes readable has its memory counted already.
        let held = self.out_of_order.memory();
        if let Some(twice) = self.out_of_order.drop_below(end, self.mss) {
            self.set_dsack(twice, end);
        }
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

    /// tcp_dsack_set: notes that `[start, end)` arrived for the second time.
    fn set_dsack(&mut self, start: u64, end: u64) {
        if self.dsack && start < end {
            self.duplicate = Some(SeqRange::new(start, end));
        }
    }
}
