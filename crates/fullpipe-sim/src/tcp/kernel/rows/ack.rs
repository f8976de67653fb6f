//! Effect of an ACK on cwnd, and its report to the congestion control.

choice! {
    /// Order of cwnd and losses in an ACK.
    AckOrder {
        /// cwnd changes before losses are looked for: it grows, may be reduced, and lost packets are sent again at once
        /// (2.6.20 `tcp_ack`).
        CwndFirst = "cwnd-first",
        /// cwnd changes after losses are known, by the packets that the ACK delivered, SACKed ones too, and by those
        /// that it showed to be lost. Then TCP sends (4.6 `tcp_cong_control`; read in 6.1 and 6.12).
        CwndLast = "cwnd-last",
    }
}

choice! {
    /// Unit of the congestion control's `pkts_acked`.
    PktsAcked {
        /// Fully acknowledged skbs (Linux 2.6.20 `tcp_clean_rtx_queue`).
        Skbs = "skbs",
        /// Segments (2.6.24).
        Segments = "segments",
    }
}

choice! {
    /// Source of the RTT that a congestion control gets.
    CcRtt {
        /// Timestamp echoes alone (2.6.20).
        Echo = "echo",
        /// The last acknowledged packet, if none was sent again; in jiffies (2.6.24; 2.6.25 and 2.6.32
        /// `tcp_clean_rtx_queue`). CUBIC does not ask for microseconds there.
        Jiffies = "jiffies",
        /// The last acknowledged packet, in microseconds for controls that ask for it (`TCP_CONG_RTT_STAMP`). CUBIC
        /// with HyStart asks for it below 1000 jiffies per second (2.6.39, 3.14 `cubictcp_register`).
        Microseconds = "microseconds",
    }
}

choice! {
    /// Condition under which a sender with TSO counts as limited by cwnd although cwnd is not full.
    CwndLimited {
        /// However much of it is unused: cwnd without the check (no kernel).
        Always = "always",
        /// Less than a share of cwnd is unused (2.6.20 `tcp_is_cwnd_limited`).
        Share = "share",
        /// Less than that share and 64 KB is unused, or a burst or less (2.6.26; 2.6.32 `tcp_is_cwnd_limited`).
        ShareAndBytes = "share-and-bytes",
        /// Less than that share and a full skb is unused, or three packets or less (3.14 `tcp_is_cwnd_limited`).
        ShareAndSizeGoal = "share-and-size-goal",
        /// cwnd stopped the sender at some time since the oldest packet in flight was sent. In slow start also: more
        /// than half of cwnd was in flight (3.16 `tcp_is_cwnd_limited`, `tcp_cwnd_validate`).
        Used = "used",
    }
}

choice! {
    /// Event at which a sender restarts with a small cwnd after idle time (RFC 2861).
    IdleRestart {
        /// The sender sends data (2.6.20 `tcp_event_data_sent`), a window probe too.
        Sending = "sending",
        /// The application writes, or the receiver's window changes while data waits (4.3
        /// `tcp_slow_start_after_idle_check`).
        Writing = "writing",
    }
}

choice! {
    /// Growth of cwnd by the ACK of out-of-order data.
    GrowthUnderReordering {
        /// Never (2.6.20 `tcp_may_raise_cwnd`).
        Never = "never",
        /// Once reordering is known to be high (3.12).
        WhenHigh = "when-high",
    }
}

rows! { ($) ack_rows
    rows {
        ack_order: AckOrder {
            means: "when an ACK changes cwnd: before losses are looked for, or after",
            read_in: "tcp_ack, tcp_cong_control",
            values: { V2_6_20: CwndFirst, V6_1: CwndLast },
        }

        pkts_acked: PktsAcked {
            means: "what the congestion control's pkts_acked counts",
            read_in: "tcp_clean_rtx_queue",
            values: { V2_6_20: Skbs, V2_6_24: Segments },
            needs: [Need::CwndFirst("segments count")],
            tests: ["tcp_profile.rs: pkts_acked"],
        }

        cc_rtt: CcRtt {
            means: "the RTT that a congestion control is told",
            read_in: "tcp_clean_rtx_queue, cubictcp_register",
            values: { V2_6_20: Echo, V2_6_24: Jiffies, V3_14: Microseconds },
            needs: [Need::CwndFirst("the newest packet that was not sent again tells it, in microseconds")],
            tests: ["tcp_versions.rs: cc_rtt"],
        }

        /// In 6.12 `tcp_may_update_window`, not in 6.1.192.
        zero_window_updates: bool {
            means: "an ACK that says that the window is closed is no duplicate, though it was closed before",
            read_in: "tcp_may_update_window",
            values: { V2_6_20: false, V6_12: true },
        }

        cwnd_limited: CwndLimited {
            means: "when a sender with TSO counts as limited by cwnd",
            read_in: "tcp_is_cwnd_limited",
            values: { V2_6_20: Share, V2_6_32: ShareAndBytes, V3_14: ShareAndSizeGoal, V6_1: Used },
        }

        /// Since 2.6.24 `tcp_ack`; in 2.6.20 after.
        in_flight_before_sacks: bool {
            means: "packets in flight are counted before an ACK's SACKs are taken in",
            read_in: "tcp_ack",
            values: { V2_6_20: false, V2_6_24: true },
            needs: [Need::CwndFirst("they are")],
        }

        /// Since 2.6.24 `tcp_cwnd_validate`; in 2.6.20 it always shrinks.
        idle_sysctl_validates: bool {
            means: "tcp_slow_start_after_idle says whether an unused cwnd shrinks too",
            read_in: "tcp_cwnd_validate",
            values: { V2_6_20: false, V2_6_24: true },
        }

        idle_restart: IdleRestart {
            means: "when a sender that was idle begins anew with a small cwnd",
            read_in: "tcp_cwnd_restart",
            values: { V2_6_20: Sending, V6_1: Writing },
        }

        growth_under_reordering: GrowthUnderReordering {
            means: "cwnd grows by out-of-order data",
            read_in: "tcp_may_raise_cwnd",
            values: { V2_6_20: Never, V3_14: WhenHigh },
            needs: [Need::CwndFirst("once reordering is known to be high, it does")],
        }
    }
    constants {}
}
