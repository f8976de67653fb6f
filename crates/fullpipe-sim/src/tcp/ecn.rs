//! Explicit congestion notification (RFC 3168): state of both ends.
//!
//! The path marks a packet (CE). The receiver reports the mark in every ACK (ECE) until the sender announces a
//! reduction of cwnd (CWR). `ack/modern.rs` and `recovery/fastretrans_alert.rs` contain the effect of an ECE on cwnd.
//!
//! Source: Linux 6.1 and 6.12, which agree: `tcp_ecn_send_syn`, `tcp_ecn_clear_syn`, `tcp_ecn_create_request`,
//! `tcp_ecn_rcv_synack`, `tcp_ecn_send`, `tcp_ecn_queue_cwr`, `tcp_ecn_withdraw_cwr`, `tcp_ecn_accept_cwr`,
//! `__tcp_ecn_check_ce`. Other kernels' rules were not read: [`check`].
//!
//! Limits:
//! - `tcp_ecn_fallback` is 1. DCTCP and AccECN are not modelled.

use crate::cc::KernelVersion;
use crate::config::{Config, Host, Station};
use crate::packet::Ecn;
use crate::tcp::modelled::{are_modelled, modelled_since};
use alloc::format;
use alloc::string::String;

/// Segments acknowledged at once after the first mark, or after a retransmitted segment.
pub(super) const QUICKACKS: u32 = 2;

/// First kernel that agrees to ECN by default.
const AGREES_SINCE: KernelVersion = KernelVersion::new(2, 6, 31);

/// Whether a SYN asks for ECN after `repeats` repetitions: only the first one, if net.ipv4.tcp_ecn is 1 (RFC 3168,
/// section 6.1.1.1; net.ipv4.tcp_ecn_fallback is 1 here).
pub fn asks(sender: &Host, repeats: u32) -> bool {
    sender.sysctl.tcp_ecn == Some(1) && repeats == 0
}

/// Whether a host agrees to ECN when its peer asks: where net.ipv4.tcp_ecn is 1 or 2.
pub fn agrees(receiver: &Host) -> bool {
    let kernel = || KernelVersion::parse(&receiver.kernel);
    receiver.sysctl.tcp_ecn.map_or_else(|| kernel() >= Some(AGREES_SINCE), |level| level > 0)
}

/// Checks that the ECN rules of both hosts' kernels are known, where they use ECN.
///
/// # Errors
/// The host with unknown rules, or with an unknown kernel.
pub fn check(config: &Config) -> Result<(), String> {
    for flow in &config.flows {
        let ends @ [sender, receiver] = config.hosts_of(flow);
        if !asks(sender.host, 0) || !agrees(receiver.host) {
            continue;
        }
        for Station { name, host, .. } in ends {
            if !are_modelled(host)? {
                let since = modelled_since();
                return Err(format!(
                    "ECN is modelled of {since} and later, not of Linux {}, which the {name} has",
                    host.kernel
                ));
            }
        }
    }
    Ok(())
}

/// The sender's side. Fields are bits of Linux's `ecn_flags`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderEcn {
    /// TCP_ECN_OK: both ends agreed to ECN.
    pub(super) agreed: bool,
    /// TCP_ECN_QUEUE_CWR: the next new data announces a reduction of cwnd.
    queue_cwr: bool,
}

impl SenderEcn {
    /// Notes the start of a reduction of cwnd, for whatever reason.
    pub(super) fn reduce(&mut self) {
        self.queue_cwr |= self.agreed;
    }

    /// Notes the undo of a reduction, before or after its announcement.
    pub(super) fn undo(&mut self) {
        self.queue_cwr = false;
    }

    /// Codepoint and CWR of an skb of new data; retransmissions and packets without data have neither.
    pub(super) fn mark_new_data(&mut self) -> (Ecn, bool) {
        match self.agreed {
            true => (Ecn::Ect0, core::mem::take(&mut self.queue_cwr)),
            false => (Ecn::NotEct, false),
        }
    }
}

/// The receiver's side. Fields are bits of Linux's `ecn_flags`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverEcn {
    /// TCP_ECN_OK: both ends agreed to ECN.
    pub(super) agreed: bool,
    /// TCP_ECN_DEMAND_CWR: ACKs have ECE.
    pub(super) echoes: bool,
    /// TCP_ECN_SEEN: a segment with an ECN codepoint has arrived.
    seen: bool,
}

impl ReceiverEcn {
    /// Notes that data of the sender announces a reduction of cwnd. It may be down to one packet, so the ACK is sent at
    /// once.
    pub(super) fn accept_cwr(&mut self) {
        self.echoes = false;
    }

    /// Notes the codepoint of a segment; returns whether quick ACKs follow. A segment without a codepoint after others
    /// that had one was probably sent again.
    pub(super) fn check_ce(&mut self, ecn: Ecn) -> bool {
        if !self.agreed {
            return false;
        }
        let quick = match ecn {
            Ecn::NotEct => return self.seen,
            Ecn::Ce => !core::mem::replace(&mut self.echoes, true),
            Ecn::Ect0 | Ecn::Ect1 => false,
        };
        self.seen = true;
        quick
    }
}
