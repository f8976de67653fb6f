//! Tail loss probes and retransmission timeouts.

choice! {
    /// Time of a tail loss probe.
    ProbeTimeout {
        /// Two RTTs, 10 ms at least; for a lone packet 1.5 RTTs and 200 ms (3.10).
        Draft = "draft",
        /// Two RTTs and 2 ms; for a lone packet two RTTs and the least timeout. Each ACK of data restarts the time, in
        /// CWR too (4.12; RFC 8985; read in 6.1 and 6.12).
        Rack = "rack",
    }
}

choice! {
    /// Rules of the Loss state.
    LossStates {
        /// Loss ends at high_seq; cwnd is moderated in it (2.6.20 `tcp_fastretrans_alert`).
        Classic = "classic",
        /// Loss contains F-RTO, without moderation (3.10 `tcp_process_loss`).
        Frto = "frto",
    }
}

choice! {
    /// Detection of spurious timeouts; sysctl tcp_frto switches it on.
    FrtoVersion {
        /// RFC 4138, by cumulative ACKs (2.6.20).
        Basic = "rfc4138",
        /// RFC 4138 with SACK; packets sent before the timeout are lost (2.6.24).
        SackToHighmark = "rfc4138-sack",
        /// RFC 4138 with SACK; packets sent after the timeout are lost too (2.6.26).
        Sack = "rfc4138-sack-all",
        /// RFC 5682 (3.10).
        Rfc5682 = "rfc5682",
    }
}

rows! { ($) timeout_rows
    rows {
        probe_timeout: ProbeTimeout {
            means: "when a tail loss probe goes",
            read_in: "tcp_schedule_loss_probe",
            values: { V2_6_20: Draft, V6_1: Rack },
        }

        loss_states: LossStates {
            means: "how the Loss state works",
            read_in: "tcp_fastretrans_alert, tcp_process_loss",
            values: { V2_6_20: Classic, V3_14: Frto },
            needs: [Need::CwndFirst("with F-RTO inside, without moderation")],
        }

        frto: FrtoVersion {
            means: "how spurious timeouts are told from losses",
            read_in: "tcp_enter_frto, tcp_process_frto, tcp_process_loss",
            values: { V2_6_20: Basic, V2_6_24: SackToHighmark, V2_6_32: Sack, V3_14: Rfc5682 },
            needs: [Need::CwndFirst("by RFC 5682, inside Loss")],
        }
    }
    constants {}
}
