//! A sending socket as Linux shows it.
//!
//! Source: Linux 6.12 `tcp_get_info`, `sk_get_meminfo`.

use super::Sender;
use crate::trace::{SenderSocket, option};
use crate::units::Time;

/// Parts of a sender's socket state that its host and its peer have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    /// Memory of its skbs in the host, bytes.
    pub wmem_alloc: u64,
    /// Scales of both ends' windows; none without window scaling.
    pub wscale: Option<Scales>,
    /// SYNs that were sent again.
    pub syn_repeats: u32,
}

/// Window scales of a connection, bits.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    /// Scale of windows from the peer.
    pub snd: u32,
    /// Scale of windows to the peer.
    pub rcv: u32,
}

impl Sender {
    /// State of the socket at `now`; all values are 0 before the connection is established.
    pub fn socket(&self, now: Time, around: Around) -> SenderSocket {
        if !self.is_established {
            return SenderSocket::default();
        }

        let times = self.chrono_times(now);
        let us = |jiffies: u32| u64::from(jiffies) * self.tick_ns / 1000;
        SenderSocket {
            min_rtt_us: self.pacing.min_rtt.us(),
            rttvar_us: self.rtt.mdev_us(),
            unacked: self.board.packets_out,
            sacked: self.board.sacked_out,
            lost: self.board.lost_out,
            retrans_out: self.board.retrans_out,
            reordering: self.recovery.reordering,
            reord_seen: self.counters.mib.reorderings(),
            dsack_dups: self.recovery.dsack_dups,
            pacing_rate: self.pacing.rate,
            max_pacing_rate: self.pacing.most(),
            busy_time_us: us(times.busy),
            rwnd_limited_us: us(times.rwnd_limited),
            sndbuf_limited_us: us(times.sndbuf_limited),
            snd_mss: self.tso.mss_cache(),
            pmtu: self.path_mtu.route,
            // The SYN, or the SYN-ACK, has arrived.
            delivered: self.board.delivered + 1,
            delivered_ce: self.counters.delivered_ce,
            wmem_queued: self.wmem_queued(),
            sndbuf: self.sndbuf.bytes(),
            wmem_alloc: around.wmem_alloc,
            options: self.options(around),
            snd_wscale: around.wscale.map_or(0, |scales| scales.snd as u8),
            rcv_wscale: around.wscale.map_or(0, |scales| scales.rcv as u8),
            backoff: self.rtt.backoff.min(u8::MAX.into()) as u8,
            retransmits: self.retransmits.min(u8::MAX.into()) as u8,
            total_rto: self.counters.timeouts + u64::from(around.syn_repeats),
        }
    }

    fn options(&self, around: Around) -> u8 {
        let agreed = [
            (self.timestamps, option::TIMESTAMPS),
            (!self.is_reno(), option::SACK),
            (around.wscale.is_some(), option::WSCALE),
            (self.ecn.agreed, option::ECN),
        ];
        agreed.into_iter().filter(|(is_on, _)| *is_on).map(|(_, bit)| bit).sum()
    }
}
