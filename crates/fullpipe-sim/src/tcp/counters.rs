//! Counters of a sender for the trace.

use crate::tcp::CaState;
use core::ops::AddAssign;

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, including retransmissions.
    pub segments_sent: u64,
    /// Segments retransmitted.
    pub segments_retransmitted: u64,
    /// Bytes of data sent, including retransmissions.
    pub bytes_sent: u64,
    /// Bytes of retransmissions.
    pub bytes_retransmitted: u64,
    /// ACKs processed.
    pub acks_received: u64,
    /// Skbs visited on walks along the queue.
    pub walked: Walked,
    /// Segments delivered by ACKs that report a mark (tcpi_delivered_ce).
    pub delivered_ce: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// ACKs refused for an old timestamp (PAWSEstab).
    pub paws_estab: u64,
    /// Skbs that the qdisc refused.
    pub refused: u64,
    /// Counters of `nstat`.
    pub mib: Mib,
}

/// Kernel's counters of a connection that sends, all connections of a host together (include/uapi/linux/snmp.h). SACK
/// decides which of two names a counter has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mib {
    /// TCPSackRecovery or TCPRenoRecovery: fast recoveries (`tcp_enter_recovery`).
    pub recoveries: u64,
    /// TCPFastRetrans: segments of a known loss sent again outside of Loss (`tcp_xmit_retransmit_queue`).
    pub fast_retrans: u64,
    /// TCPSlowStartRetrans: segments of a known loss sent again in Loss, but not by the timer itself.
    pub slow_start_retrans: u64,
    /// TCPForwardRetrans: segments below the highest SACK sent again without a known loss, in kernels before RACK
    /// decides alone.
    pub forward_retrans: u64,
    /// TCPLostRetransmit: retransmitted segments that were lost again.
    pub lost_retransmit: u64,
    /// TCPLossProbes: tail loss probes, including those of new data (`tcp_send_loss_probe`).
    pub loss_probes: u64,
    /// TCPTimeouts: since 5.1 each timeout, before it those that fit none of the next three (`tcp_retransmit_timer`).
    pub timeouts: u64,
    /// TCPSackRecoveryFail or TCPRenoRecoveryFail: the first timeout in a row, in Recovery.
    pub recovery_fails: u64,
    /// TCPLossFailures: the first timeout in a row, in Loss.
    pub loss_failures: u64,
    /// TCPSackFailures or TCPRenoFailures: the first timeout in a row, in Disorder.
    pub failures: u64,
    /// TCPSACKReorder: reordering that SACKs or ACKs have shown (`tcp_check_sack_reordering`).
    pub sack_reorder: u64,
    /// TCPTSReorder: reordering that timestamps have shown.
    pub ts_reorder: u64,
    /// TCPRenoReorder: reordering that duplicate ACKs have shown, without SACK.
    pub reno_reorder: u64,
    /// TCPDSACKRecv: D-SACKs of acknowledged data (`tcp_check_dsack`).
    pub dsack_recv: u64,
    /// TCPDSACKOfoRecv: D-SACKs of data beyond a hole.
    pub dsack_ofo_recv: u64,
    /// TCPFullUndo: reductions undone when recovery ends (`tcp_try_undo_recovery`).
    pub full_undo: u64,
    /// TCPPartialUndo: reductions undone in recovery (`tcp_try_undo_partial`).
    pub partial_undo: u64,
    /// TCPDSACKUndo: reductions undone by D-SACKs (`tcp_try_undo_dsack`).
    pub dsack_undo: u64,
    /// TCPLossUndo: reductions of timeouts undone (`tcp_try_undo_loss`).
    pub loss_undo: u64,
    /// TCPSpuriousRTOs: needless timeouts by F-RTO.
    pub spurious_rtos: u64,
}

impl Mib {
    /// Observations of reordering (reord_seen).
    pub(super) fn reorderings(&self) -> u64 {
        self.sack_reorder + self.ts_reorder + self.reno_reorder
    }

    /// Counts the undo of the reduction that began `state`, at the state's end.
    pub(super) fn note_undo(&mut self, state: CaState) {
        match state {
            CaState::Loss => self.loss_undo += 1,
            _ => self.full_undo += 1,
        }
    }

    /// Counts segments that were sent again in this state; `lost`: the loss is known.
    pub(super) fn note_resent(&mut self, segments: u32, lost: bool, state: CaState) {
        let counter = match (lost, state) {
            (false, _) => &mut self.forward_retrans,
            (true, CaState::Loss) => &mut self.slow_start_retrans,
            (true, _) => &mut self.fast_retrans,
        };
        *counter += u64::from(segments);
    }

    /// Counts a timeout in this state, the `first` in a row; `each`: all timeouts are TCPTimeouts.
    pub(super) fn note_timeout(&mut self, state: CaState, sacked: bool, first: bool, each: bool) {
        self.timeouts += u64::from(each);
        if !first {
            return;
        }
        match state {
            CaState::Recovery => self.recovery_fails += 1,
            CaState::Loss => self.loss_failures += 1,
            CaState::Disorder => self.failures += 1,
            _ if each && sacked => self.failures += 1,
            _ => self.timeouts += u64::from(!each),
        }
    }
}

/// Kernel's counters of a connection that receives, all connections of a host together (include/uapi/linux/snmp.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverMib {
    /// Packets that arrived beyond a hole (rcv_ooopack).
    pub ooo_packets: u64,
    /// TCPOFOQueue: skbs that arrived beyond a hole (`tcp_data_queue_ofo`).
    pub ofo_queue: u64,
    /// TCPOFODrop: skbs beyond a hole that found no memory.
    pub ofo_drop: u64,
    /// TCPRcvQDrop: skbs in order that found no memory (`tcp_data_queue`).
    pub rcvq_drop: u64,
    /// TCPRcvCollapsed: skbs in the receive queue that were copied into others (`tcp_collapse_one`).
    pub collapsed: u64,
}

/// Kernel's counters of the windows that a connection offers (`tcp_select_window`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowMib {
    /// TCPWantZeroWindowAdv: the window should be 0, but must not shrink.
    pub want_zero: u64,
    /// TCPToZeroWindowAdv: the window becomes 0.
    pub to_zero: u64,
    /// TCPFromZeroWindowAdv: the window opens again.
    pub from_zero: u64,
}

/// Skbs that the CPU has visited on walks along the queue, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Look-up of SACK blocks, and of lost retransmissions.
    pub for_sacks: u64,
    /// Marking of losses.
    pub to_mark: u64,
    /// Search for packets to send again.
    pub to_resend: u64,
}

impl Walked {
    /// Sum over all purposes.
    pub fn total(&self) -> u64 {
        self.for_sacks + self.to_mark + self.to_resend
    }
}

impl AddAssign for Walked {
    fn add_assign(&mut self, more: Walked) {
        self.for_sacks += more.for_sacks;
        self.to_mark += more.to_mark;
        self.to_resend += more.to_resend;
    }
}
