//! Route of a socket after ICMP has told another socket of the host the MTU of the same path.
//!
//! The first message replaces the route, and a socket holds the old one until it sends a packet. That packet may be too large for
//! the new route. The host then refuses it, and says so to itself by ICMP. Later messages change the route that all use.
//!
//! Source: Linux 6.1 and 6.12 `update_or_create_fnhe`, `ipv4_dst_check`, `ip_queue_xmit`, `inet_sk_rebuild_header`,
//! `tcp_current_mss`, `ip_fragment`.
//!
//! Limits:
//! - Kernels before 3.6 change the route that all sockets use with the first message, too.

use super::Sender;
use crate::tcp::headers;

/// MTUs of the routes that a socket holds and finds, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// MTU of the route that the socket holds (`dst_mtu` of `sk_dst_cache`).
    pub(super) held: u32,
    /// MTU of the route that has replaced it.
    pub(super) newer: Option<u32>,
}

/// Content of ICMP "fragmentation needed".
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLarge {
    /// First byte of the packet's data.
    pub(crate) seq: u64,
    /// Largest packet that passes, bytes.
    pub(crate) mtu: u32,
}

impl Sender {
    /// Notes that ICMP has told another socket `mtu`, bytes; `replaced`: by a new route, which this socket finds when it sends.
    pub(crate) fn note_route(&mut self, mtu: u32, replaced: bool) {
        let route = &mut self.path_mtu.dst;
        match route.newer.is_some() || replaced {
            true => route.newer = Some(mtu),
            false => route.held = mtu,
        }
    }

    /// Takes the route that has replaced the socket's own, as a packet is sent (`__sk_dst_check`).
    #[inline]
    pub(crate) fn look_up_route(&mut self) {
        if let Some(mtu) = self.path_mtu.dst.newer.take() {
            self.path_mtu.dst.held = mtu;
        }
    }

    /// Adapts the MSS to the route that the socket holds (`tcp_current_mss`).
    #[inline]
    pub(in crate::tcp) fn follow_route(&mut self) {
        if self.path_mtu.dst.held < self.path_mtu.route {
            self.follow_smaller_route();
        }
    }

    #[cold]
    fn follow_smaller_route(&mut self) {
        self.path_mtu.take_route(self.path_mtu.dst.held);
        self.sync_mss();
    }

    /// Takes a newer route before data is sent again, and adapts the MSS (`inet_sk_rebuild_header`, `tcp_current_mss`).
    #[inline]
    pub(in crate::tcp) fn renew_route(&mut self) {
        self.look_up_route();
        self.follow_route();
    }

    /// Looks for a newer route, and whether the packet at `seq` with `len` bytes of data is too large for it. The host then
    /// refuses the packet, which counts as sent all the same (-EMSGSIZE).
    #[inline]
    pub(super) fn exceeds_route(&mut self, seq: u64, len: u32) -> bool {
        self.path_mtu.dst.newer.is_some() && self.exceeds_newer_route(seq, len)
    }

    #[cold]
    fn exceeds_newer_route(&mut self, seq: u64, len: u32) -> bool {
        self.look_up_route();
        let segment = self.mss_now();
        let options = self.tso.mss_cache() - segment;
        if len.min(segment) + options + headers(self.timestamps) <= self.path_mtu.dst.held {
            return false;
        }
        self.counters.segments_sent += u64::from(len.div_ceil(segment));
        self.counters.bytes_sent += u64::from(len);
        self.too_large = Some(TooLarge { seq, mtu: self.path_mtu.dst.held });
        true
    }

    /// ICMP of the host itself for a packet that it has refused since the last call.
    #[inline]
    pub(crate) fn take_too_large(&mut self) -> Option<TooLarge> {
        self.too_large.take()
    }
}
