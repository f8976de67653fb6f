//! Path MTU of a sender, and the search for it by probes (packetization layer path MTU discovery, RFC 4821).
//!
//! Source: Linux 6.1 and 6.12 `tcp_mtup_init`, `tcp_sync_mss`, `tcp_mtu_to_mss`, `tcp_mtu_probing`, `tcp_mtu_probe`,
//! `tcp_mtu_check_reprobe`, `tcp_mtup_probe_success`, `tcp_mtup_probe_failed`.
//!
//! Limits:
//! - On 6.12 writes of 600 bytes with TCP_NODELAY differ after ICMP: a run of 60 ms each way is 5 % off in bytes. 6.1 agrees.
//!   The reason is not known.
//! - Where the peer takes more than the own card, 6.1 begins its search above the card's MTU, and probes fail. Here the
//!   search begins below it, as in 6.12.
//! - Where `tcp_min_snd_mss` is larger than the MTU of the path, segments are too large for the route. Linux refuses them
//!   (TCPRetransFail); here they leave the host.
//! - A probe that the own card refuses takes no more memory than other skbs. In 6.1 it takes a head of its own.

use super::Sender;
use super::output::Push;
use super::route::Route;
use crate::config::{Host, Sysctl};
use crate::ranges::SeqRange;
use crate::tcp::truesize::with_data_in_head;
use crate::tcp::{CaState, HEADERS, Output, headers};
use crate::units::Time;

/// Defaults of the sysctls (`include/net/tcp.h`): bytes of a segment, seconds, bytes of a packet.
const BASE_MSS: u32 = 1024;
const MIN_SND_MSS: u32 = 48;
const PROBE_INTERVAL_S: u32 = 600;
const PROBE_THRESHOLD: u32 = 8;
/// Least cwnd of a sender that probes, packets.
const LEAST_CWND: u32 = 11;
/// Timeout of the first retransmission, by which retries convert to time, ms (TCP_RTO_MIN), and retries that suggest a
/// black hole (tcp_retries1).
const RETRY_BASE_MS: u64 = 200;
const RETRIES1: u64 = 3;

/// State of the search. Sizes are bytes of an IP packet, unless they are an MSS.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct PathMtu {
    /// MTU of the route (icsk_pmtu_cookie).
    pub(in crate::tcp) route: u32,
    /// Route that the socket holds (`sk_dst_cache`).
    pub(super) dst: Route,
    /// Largest packet that leaves the host.
    card: u32,
    /// MSS that the peer announced, as its SYN arrived (`rx_opt.mss_clamp`), bytes without options.
    pub(super) mss_clamp: u32,
    /// Whether the search is on (icsk_mtup.enabled).
    enabled: bool,
    search_low: u32,
    search_high: u32,
    probe: Option<Probe>,
    /// Jiffy at which the search began (probe_timestamp).
    since: u32,
}

/// A larger packet in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    size: u32,
    start: u64,
    end: u64,
}

/// Result of an attempt to probe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum Probing {
    /// Other data may be sent.
    None,
    /// No data may be sent until there is room for a probe.
    Waits,
    /// A probe was sent.
    Sent,
}

impl PathMtu {
    /// State for a connection of `host`, on a path with packets of at most `mtu` bytes. The route has the MTU of the card.
    pub(in crate::tcp) fn new(host: &Host, mtu: u32) -> PathMtu {
        let sysctl = &host.sysctl;
        let card = host.mtu.unwrap_or(mtu);
        PathMtu {
            route: card,
            dst: Route { held: card, newer: None },
            card,
            mss_clamp: mtu.saturating_sub(HEADERS),
            enabled: sysctl.tcp_mtu_probing > Some(1),
            search_low: sysctl.tcp_base_mss.unwrap_or(BASE_MSS) + headers(host.timestamps),
            search_high: mtu,
            probe: None,
            since: 0,
        }
    }

    /// tcp_mtu_to_mss.
    fn mss_of(&self, mtu: u32, sysctl: &Sysctl, timestamps: bool) -> u32 {
        let without_options = mtu.saturating_sub(HEADERS).min(self.mss_clamp);
        let least = sysctl.tcp_min_snd_mss.unwrap_or(MIN_SND_MSS);
        without_options.max(least) + HEADERS - headers(timestamps)
    }

    /// The MSS under the MTU of the route, the peer's MSS and the search (tcp_sync_mss), bytes.
    pub(in crate::tcp) fn bound(&self, sysctl: &Sysctl, timestamps: bool) -> u32 {
        let low = if self.enabled { self.search_low } else { u32::MAX };
        self.mss_of(self.route.min(low), sysctl, timestamps)
    }

    /// Takes the route's MTU, bytes (tcp_sync_mss): the search ends there at the latest.
    pub(super) fn take_route(&mut self, mtu: u32) {
        self.route = mtu;
        self.search_high = self.search_high.min(mtu);
    }
}

impl Sender {
    fn mtu_to_mss(&self, mtu: u32) -> u32 {
        self.path_mtu.mss_of(mtu, &self.sysctl, self.timestamps)
    }

    /// Bound of the search as MSS (tcp_sync_mss). Each larger window sets it, so an accepted socket has none before.
    pub(super) fn sync_searched_mss(&mut self) {
        if self.path_mtu.enabled {
            self.sync_mss();
        }
    }

    /// Lets go of the search's bound until the connection is there: an accepted socket begins with the full MSS (6.12
    /// `tcp_v4_syn_recv_sock`, `tcp_init_transfer`).
    pub(super) fn suspend_search(&mut self) {
        if core::mem::take(&mut self.path_mtu.enabled) {
            self.sync_mss();
        }
    }

    /// tcp_sync_mss: adapts the MSS to the known path MTU.
    pub(super) fn sync_mss(&mut self) {
        let new = self.path_mtu.bound(&self.sysctl, self.timestamps).min(self.full_mss);
        let old = self.mss;
        if new == old {
            return;
        }
        self.queue.change_mss(old, new, SeqRange::new(self.seq.una(), self.seq.nxt()));
        self.mss = new;
        self.tso.bound_mss(self.bound_to_half_window(new));
        self.cc.sock_mut().mss_cache = new;
    }

    /// Bounds the route's MTU to `mtu` bytes, at the start of the connection.
    pub(crate) fn take_route_mtu(&mut self, mtu: u32) {
        if mtu < self.path_mtu.route {
            self.path_mtu.dst = Route { held: mtu, newer: None };
            self.follow_route();
        }
    }

    /// Takes the MSS that the peer announces, bytes without options, as its SYN arrives. The peer's card may take more than the
    /// path, and a router may have clamped it. The call precedes the end of the handshake (6.12 `tcp_parse_options`,
    /// `tcp_mtup_init`).
    pub fn take_peer_mss(&mut self, mss: u32) {
        let known = &mut self.path_mtu;
        known.mss_clamp = mss;
        known.search_high = (mss + HEADERS).min(known.route);
        self.sync_mss();
    }

    /// Begins the search when the connection is established (tcp_mtup_init).
    pub(super) fn init_path_mtu(&mut self, now: Time) {
        self.path_mtu.enabled = self.sysctl.tcp_mtu_probing > Some(1);
        self.path_mtu.since = self.jiffies(now);
    }

    /// tcp_mtu_probing, after a timeout: packets that are sent again and again may be too large. Begins the search, and
    /// later lowers its sizes.
    pub(in crate::tcp) fn suspect_black_hole(&mut self, now: Time) {
        if self.sysctl.tcp_mtu_probing.unwrap_or(0) == 0 || !self.retries_passed(now) {
            return;
        }
        if !self.path_mtu.enabled {
            self.path_mtu.enabled = true;
            self.path_mtu.since = self.jiffies(now);
        } else {
            let sysctl = &self.sysctl;
            let least = sysctl.tcp_min_snd_mss.unwrap_or(MIN_SND_MSS);
            let floor = sysctl.tcp_mtu_probe_floor.unwrap_or(MIN_SND_MSS).max(least);
            let base = sysctl.tcp_base_mss.unwrap_or(BASE_MSS);

            // Half of the last size that passed, between the base and the floor.
            let half = self.mtu_to_mss(self.path_mtu.search_low) >> 1;
            let mss = half.min(base).max(floor);
            self.path_mtu.search_low = mss + headers(self.timestamps);
        }
        self.sync_mss();
    }

    /// retransmits_timed_out, for tcp_retries1: whether retransmissions have had no answer for so long.
    fn retries_passed(&self, now: Time) -> bool {
        let Some(since) = self.recovery.retrans_stamp.filter(|_| self.retransmits > 0) else {
            return false;
        };
        let most = Time::ms(((2 << RETRIES1) - 1) * RETRY_BASE_MS);
        let waited = self.stamps.begin(self.timestamp(now).wrapping_sub(since).into());
        waited >= most
    }

    /// True where the search for a larger MSS is on, and nothing is under way that it would disturb.
    #[inline]
    pub(in crate::tcp) fn may_probe_mtu(&self) -> bool {
        let known = &self.path_mtu;
        let is_quiet = self.ca_state == CaState::Open && !self.tso.reports_sacks();
        known.enabled && known.probe.is_none() && is_quiet
    }

    /// tcp_mtu_probe, if [`Sender::may_probe_mtu`]: sends the next packet larger than the MSS, where there is enough data.
    pub(in crate::tcp) fn probe_mtu(&mut self, out: &mut impl Output) -> Probing {
        if self.cwnd() < LEAST_CWND {
            return Probing::None;
        }

        // The middle of the search range (tcp_mtu_probe).
        let known = &self.path_mtu;
        let size = self.mtu_to_mss((known.search_high + known.search_low) >> 1);
        let interval = known.search_high.saturating_sub(known.search_low);
        let threshold = self.sysctl.tcp_probe_threshold.unwrap_or(PROBE_THRESHOLD);
        if size > self.mtu_to_mss(known.search_high) || interval < threshold {
            self.check_reprobe(out.now());
            return Probing::None;
        }

        // Enough data must follow the probe to detect its loss.
        let behind = (self.recovery.reordering + 1) * self.tso.mss_cache();
        let needed = u64::from(size) + u64::from(behind);
        if self.seq.written() - self.seq.nxt() < needed || self.seq.wnd() < needed {
            return Probing::None;
        }
        if self.seq.nxt() + needed > self.seq.window_end() {
            return Probing::Waits;
        }
        let in_flight = self.in_flight();
        if in_flight + 2 > self.cwnd() {
            return if in_flight == 0 { Probing::None } else { Probing::Waits };
        }
        if self.keeps_pace(out.now()) {
            return Probing::None;
        }
        self.send_mtu_probe(size, out)
    }

    fn send_mtu_probe(&mut self, size: u32, out: &mut impl Output) -> Probing {
        let start = self.seq.nxt();
        let mtu = size + headers(self.timestamps);
        self.queue.gather_head(size);
        // The card refuses a larger packet (`ip_fragment`, -EMSGSIZE). Its data go as segments.
        if mtu > self.path_mtu.card {
            return Probing::None;
        }
        if !self.send_head_as(size, Push::All, size, out) {
            return Probing::None;
        }

        let end = start + u64::from(size);
        self.path_mtu.probe = Some(Probe { size: mtu, start, end });
        if self.profile.probe_in_head {
            let plain = u64::from(size) + self.profile.skb_overhead;
            self.queue.add_memory(end, with_data_in_head(size).saturating_sub(plain));
        }
        Probing::Sent
    }

    /// tcp_mtu_check_reprobe: begins the search anew after some time.
    fn check_reprobe(&mut self, now: Time) {
        let interval = self.sysctl.tcp_probe_interval.unwrap_or(PROBE_INTERVAL_S);
        let jiffies = u64::from(interval) * (1_000_000_000 / self.tick_ns);
        let now = self.jiffies(now);
        if u64::from(now.wrapping_sub(self.path_mtu.since)) < jiffies {
            return;
        }
        let low = self.mss_now() + headers(self.timestamps);
        let known = &mut self.path_mtu;
        known.search_high = known.mss_clamp + HEADERS;
        (known.search_low, known.probe, known.since) = (low, None, now);
    }

    /// Handles an ACK that covers the probe: packets may be as large (tcp_mtup_probe_success). cwnd and ssthresh count
    /// larger packets.
    pub(in crate::tcp) fn note_probe_acked(&mut self, now: Time) {
        let Some(probe) = self.path_mtu.probe.filter(|probe| probe.end <= self.seq.una()) else {
            return;
        };

        // cwnd keeps its bytes, so it counts fewer packets, which are larger.
        let packet = self.mss_now() + headers(self.timestamps);
        let cwnd = u64::from(self.cwnd()) * u64::from(packet) / u64::from(probe.size);
        let stamp = self.jiffies(now);
        let sock = self.cc.sock_mut();
        (sock.snd_cwnd, sock.snd_cwnd_cnt) = ((cwnd as u32).max(1), 0);
        sock.snd_cwnd_stamp = stamp;
        let ssthresh = self.current_ssthresh();
        self.cc.sock_mut().snd_ssthresh = ssthresh;
        (self.path_mtu.search_low, self.path_mtu.probe) = (probe.size, None);
        self.sync_mss();
    }

    /// Handles a loss of the probe alone: cwnd stays, and the data is sent again in smaller segments. Returns whether
    /// it was such a loss (6.12 `tcp_fastretrans_alert`, `tcp_mtup_probe_failed`).
    pub(in crate::tcp) fn mtu_probe_failed(&mut self, out: &mut impl Output) -> bool {
        let Some(probe) = self.path_mtu.probe else { return false };
        if self.ca_state >= CaState::Cwr || self.seq.una() != probe.start {
            return false;
        }
        (self.path_mtu.search_high, self.path_mtu.probe) = (probe.size - 1, None);
        self.cc.sock_mut().snd_cwnd += 1;
        self.simple_retransmit(out);
        true
    }

    /// Forgets the probe in flight after a retransmission, because its fate stays unknown (`__tcp_retransmit_skb`).
    #[inline]
    pub(in crate::tcp) fn forget_mtu_probe(&mut self) {
        self.path_mtu.probe = None;
    }

    /// Whether a packet that begins at `seq` may be in flight; ICMP for other ones is ignored (`tcp_v4_err`).
    pub(crate) fn is_out(&self, seq: u64) -> bool {
        (self.seq.una()..=self.seq.nxt()).contains(&seq)
    }

    /// Handles ICMP's new MTU of the route, `mtu`, for the packet with first byte `seq`. Larger packets in flight are
    /// sent again at once (`tcp_v4_err`, `tcp_v4_mtu_reduced`).
    pub fn on_fragmentation_needed(&mut self, seq: u64, mtu: u32, out: &mut impl Output) {
        if !self.is_out(seq) || !self.is_established {
            return;
        }
        self.path_mtu.dst = Route { held: mtu, newer: None };
        if self.path_mtu.route <= mtu {
            return;
        }
        self.path_mtu.take_route(mtu);
        self.sync_mss();
        self.with_resting_clock(out, Sender::simple_retransmit);
    }

    /// tcp_simple_retransmit: marks skbs lost that have too large segments now, which is no sign of congestion.
    fn simple_retransmit(&mut self, out: &mut impl Output) {
        let again = self.board.retrans_out;
        let mut at = self.seq.una();
        while at < self.seq.nxt() {
            let end = self.queue.skb_end(at).unwrap_or(self.seq.nxt());
            if self.first_segment(at) > self.mss_now() {
                let (board, window) = self.board_and_window();
                board.mark_range_lost(SeqRange::new(at, end), window);
            }
            at = end;
        }
        self.note_lost_retransmissions(again);
        if self.board.lost_out == 0 {
            return;
        }

        // tcp_simple_retransmit enters Loss, but leaves cwnd as it is.
        if self.ca_state != CaState::Loss {
            self.recovery.high_seq = self.seq.nxt();
            let ssthresh = self.current_ssthresh();
            self.cc.sock_mut().snd_ssthresh = ssthresh;
            (self.recovery.prior_ssthresh, self.recovery.undo_marker) = (0, None);
            self.set_ca_state(CaState::Loss);
        }
        self.xmit_retransmit_queue(out);
    }

    /// Bytes of the segment that begins at `seq` (tcp_skb_seglen).
    pub(in crate::tcp) fn first_segment(&self, seq: u64) -> u32 {
        let end = self.queue.segment_end(seq, self.mss, self.seq.nxt());
        let fin = self.queue.fin() == Some(end - 1);
        (end - seq) as u32 - u32::from(fin)
    }

    /// Cuts the skb at `start`, which is sent again now, into segments of the present size (`tcp_fragment`,
    /// `tcp_set_skb_tso_segs`).
    pub(in crate::tcp) fn refit(&mut self, start: u64) {
        if !self.queue.is_mixed(start) && !self.tso.reports_sacks() {
            return;
        }
        let nxt = self.seq.nxt();
        let end = self.queue.skb_end(start).unwrap_or(nxt).min(nxt);
        let end = self.board.next_sacked(start, end);
        let data = end - start - u64::from(self.queue.fin() == Some(end - 1));
        let fits = u64::from(self.first_segment(start)) == data.min(self.mss_now().into());
        if start >= end || fits {
            return;
        }
        self.queue.resegment(SeqRange::new(start, end), self.mss_now(), self.mss);

        // Tags and counts follow the new segments.
        let reno = self.is_reno();
        let (board, window) = self.board_and_window();
        board.forget_resent(start, end, window);
        board.recount(reno, window);
    }

    /// Counts packets anew after an ACK while segments of several sizes are out. The ACK may end within a segment that was
    /// cut anew.
    pub(in crate::tcp) fn recount_mixed(&mut self) {
        if !self.queue.is_mixed(self.seq.una()) {
            return;
        }
        let reno = self.is_reno();
        let (board, window) = self.board_and_window();
        board.recount(reno, window);
    }
}
