//! Start of a connection, and metrics of an earlier one.

choice! {
    /// Initial congestion window in packets.
    InitialCwnd {
        /// 2 above an MSS of 1460, 3 above 1095, else 4 (Linux 2.6.20 `tcp_init_cwnd`, RFC 2414).
        ByMss = "by-mss",
        /// 10 (Linux 2.6.39, RFC 6928).
        Ten = "ten",
    }
}

impl InitialCwnd {
    /// Packets for `mss` bytes.
    pub fn packets(self, mss: u32) -> u32 {
        match self {
            InitialCwnd::ByMss if mss > 1460 => 2,
            InitialCwnd::ByMss if mss > 1095 => 3,
            InitialCwnd::ByMss => 4,
            InitialCwnd::Ten => 10,
        }
    }
}

choice! {
    /// First cwnd of a connection after its SYN was sent more than twice (RFC 5681, 3.1).
    RepeatedSyn {
        /// Cwnd as of any other connection.
        Ignored = "ignored",
        /// One segment (3.14 `tcp_init_metrics`).
        OneSegment = "one-segment",
        /// One segment, unless the answer echoes the first SYN's timestamp, which was only late (6.1
        /// `tcp_try_undo_spurious_syn`, `tcp_init_transfer`).
        UnlessLate = "unless-late",
    }
}

choice! {
    /// Metrics that a connection takes from an earlier one to the same host, unless tcp_no_metrics_save.
    CachedMetrics {
        /// RTT, its deviation and ssthresh, used as its own (2.6.20 `tcp_init_metrics`).
        Own = "own",
        /// ssthresh, and the first timeout if the RTT is longer (3.12 `tcp_init_metrics`).
        Timeout = "timeout",
        /// Only the first timeout: tcp_no_ssthresh_metrics_save is 1 (5.6 `tcp_init_metrics`).
        TimeoutAlone = "timeout-alone",
    }
}

rows! { ($) handshake_rows
    rows {
        initial_cwnd: InitialCwnd {
            means: "initial congestion window, packets",
            read_in: "tcp_init_cwnd",
            values: { V2_6_20: ByMss, V3_14: Ten },
        }

        repeated_syn: RepeatedSyn {
            means: "with what a connection begins whose SYN was sent more than twice",
            read_in: "tcp_init_metrics, tcp_try_undo_spurious_syn, tcp_init_transfer",
            values: { V2_6_20: Ignored, V3_14: OneSegment, V6_1: UnlessLate },
            tests: ["syn.rs: a_syn_that_was_lost_twice_cuts_cwnd"],
        }

        cached_metrics: CachedMetrics {
            means: "what a connection takes over from an earlier one to the same host",
            read_in: "tcp_init_metrics",
            values: { V2_6_20: Own, V3_14: Timeout, V6_1: TimeoutAlone },
        }

        /// In 2.6.20 `tcp_update_metrics`. Since 3.6 (`tcp_metrics.c`) only where cwnd is below an ssthresh, or a loss
        /// is not over.
        caches_any_reordering: bool {
            means: "a connection leaves its reordering to the next one whatever state it ends in",
            read_in: "tcp_update_metrics",
            values: { V2_6_20: true, V3_14: false },
        }
    }
    constants {
        /// Timeout before the first sample, s: 3, since 3.1 1 (RFC 6298).
        timeout_init_s: u32 {
            read_in: "TCP_TIMEOUT_INIT",
            values: { V2_6_20: 3, V3_14: 1 },
        }

        /// SYNs that are sent again before their timeout doubles (6.5 `tcp_retransmit_timer`; sysctl
        /// tcp_syn_linear_timeouts).
        syn_linear_timeouts: u32 {
            values: { V2_6_20: 0, V6_12: 4 },
        }
    }
}
