//! State of a connection's losses. Fields keep Linux's names where it has them.

use super::walks::Walks;
use crate::config::Sysctl;
use crate::ranges::SeqRange;
use crate::tcp::profile::Profile;

/// Largest reordering metric, packets (Linux `TCP_MAX_REORDERING`).
pub(in crate::tcp) const MAX_REORDERING: u32 = 127;

/// State of a connection's losses, in its sender.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Recovery {
    /// `snd_nxt` when the present state began.
    pub(in crate::tcp) high_seq: u64,
    /// Duplicate ACKs, or packets below the highest SACKed one, that count as loss.
    pub(in crate::tcp) reordering: u32,
    /// Whether losses are marked by forward acknowledgement (until reordering is seen; before 4.15).
    pub(in crate::tcp) fack: bool,
    /// `snd_una` when the reduction that may be undone began.
    pub(in crate::tcp) undo_marker: Option<u64>,
    /// Retransmissions since then that no D-SACK has shown to be needless.
    pub(in crate::tcp) undo_retrans: i32,
    /// ssthresh after an undo; 0: no undo.
    pub(in crate::tcp) prior_ssthresh: u32,
    /// Jiffy of the first retransmission.
    pub(in crate::tcp) retrans_stamp: Option<u32>,
    /// Timestamp echoed by the last ACK, jiffies; 0: none.
    pub(in crate::tcp) rcv_tsecr: u32,
    /// F-RTO before 3.10: ACKs since the timeout plus one; 0: not in progress.
    pub(in crate::tcp) frto_counter: u8,
    /// F-RTO before 3.10: `snd_nxt` at the timeout.
    pub(in crate::tcp) frto_highmark: Option<u64>,
    /// F-RTO since 3.10: in progress.
    pub(in crate::tcp) frto: bool,
    /// PRR: cwnd before the reduction, packets delivered and sent since.
    pub(in crate::tcp) prior_cwnd: u32,
    pub(in crate::tcp) prr_delivered: u32,
    pub(in crate::tcp) prr_out: u32,
    /// `snd_nxt` when a tail loss probe sent the last segment again.
    pub(in crate::tcp) tlp_high_seq: Option<u64>,
    /// Whether that probe was a retransmission.
    pub(in crate::tcp) tlp_retrans: bool,
    /// Segments that D-SACKs have reported in total (dsack_dups).
    pub(in crate::tcp) dsack_dups: u64,
    /// Whether early retransmit is still allowed (no reordering was seen).
    pub(in crate::tcp) do_early_retrans: bool,
    /// Highest SACKed byte before the ACK in hand.
    pub(in crate::tcp) prior_fack: u64,
    /// Packets neither acknowledged nor SACKed before the ACK in hand.
    pub(in crate::tcp) prior_unsacked: u32,
    /// Hints and costs of walks along the queue (before 2.6.25; none: no walks).
    pub(in crate::tcp) walks: Option<Walks>,
    /// The SACK blocks of the last ACK (recv_sack_cache).
    pub(in crate::tcp) recv_sack_cache: [SeqRange; 4],
    /// Whether a partly SACKed skb could ever not be cut.
    pub(in crate::tcp) sacks_uncut: bool,
}

impl Recovery {
    /// State of a new connection.
    pub(in crate::tcp) fn new(sysctl: &Sysctl, profile: &Profile) -> Recovery {
        let early = (1..4).contains(&sysctl.tcp_early_retrans) && sysctl.tcp_reordering == 3;
        Recovery {
            high_seq: 0,
            reordering: sysctl.tcp_reordering,
            fack: sysctl.tcp_sack && sysctl.tcp_fack && profile.cwnd_first(),
            undo_marker: None,
            undo_retrans: 0,
            prior_ssthresh: 0,
            retrans_stamp: None,
            rcv_tsecr: 0,
            frto_counter: 0,
            frto_highmark: None,
            frto: false,
            prior_cwnd: 0,
            prr_delivered: 0,
            prr_out: 0,
            tlp_high_seq: None,
            tlp_retrans: false,
            dsack_dups: 0,
            do_early_retrans: early,
            prior_fack: 0,
            prior_unsacked: 0,
            walks: (profile.walks_queue && profile.cwnd_first()).then(Walks::default),
            recv_sack_cache: [SeqRange::default(); 4],
            sacks_uncut: false,
        }
    }

    /// Lets walks begin at the head of the queue again.
    pub(in crate::tcp) fn clear_hints(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.clear_hints();
        }
    }
}
