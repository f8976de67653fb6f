//! Queues of the host: GRO, small queues, and the pace of `fq`.

choice! {
    /// Memory of a flow in the host at which it has to stop (TCP small queues).
    SmallQueueLimit {
        /// Bytes of 2^-10 s at the pacing rate, but at least `tcp_limit_output_bytes` (3.12 `tcp_write_xmit`). Before
        /// 3.12 only `tcp_limit_output_bytes`.
        AtLeastBytes = "at-least-bytes",
        /// Bytes of 2^-10 s at the pacing rate, two skbs at least, `tcp_limit_output_bytes` at most (3.19; read in 6.1
        /// `tcp_small_queue_check`).
        AtMostBytes = "at-most-bytes",
    }
}

choice! {
    /// Ratio of the pacing rate to cwnd per RTT.
    PacingRatio {
        /// Twice as fast (3.12 `tcp_update_pacing_rate`).
        Twice = "twice",
        /// `tcp_pacing_ss_ratio` (200 %) while cwnd is below half of ssthresh, then `tcp_pacing_ca_ratio` (120 %).
        /// Since 4.3, commit 43e122b014c9 "tcp: refine pacing rate determination"; read in 6.1 and 6.12.
        ByPhase = "by-phase",
    }
}

rows! { ($) host_queue_rows
    rows {
        /// Since 2.6.29 `tcp_gro_receive`.
        gro: bool {
            means: "segments of a flow that one poll of the card takes come to TCP as one",
            read_in: "tcp_gro_receive",
            values: { V2_6_20: false, V2_6_32: true },
            tests: ["gro.rs: what_goes_up"],
        }

        /// In 6.12 `fq_enqueue`, `fq_dequeue`; 6.1 has one band and no bypass.
        fq_bands: bool {
            means: "a host's fq has bands of flows, and packets go by while no flow has a turn",
            read_in: "fq_enqueue, fq_dequeue, fq_fastpath_check",
            values: { V2_6_20: false, V6_12: true },
            tests: ["qdisc.rs: fq_bands"],
        }

        /// Since 3.6 `tcp_small_queue_check`.
        small_queues: bool {
            means: "a flow waits while the host still has a millisecond of it to send",
            read_in: "tcp_small_queue_check",
            values: { V2_6_20: false, V3_14: true },
        }

        small_queue_limit: SmallQueueLimit {
            means: "how much of a flow may wait in the host",
            read_in: "tcp_write_xmit, tcp_small_queue_check",
            values: { V2_6_20: AtLeastBytes, V6_1: AtMostBytes },
        }

        pacing_ratio: PacingRatio {
            means: "how much faster than cwnd per RTT the pacing rate is",
            read_in: "tcp_update_pacing_rate",
            values: { V2_6_20: Twice, V6_1: ByPhase },
        }

        /// Since 6.16 `tcp_small_queue_check`, commit c4221a8cc3a7 "tcp: always use tcp_limit_output_bytes
        /// limitation".
        limits_paced_output: bool {
            means: "tcp_limit_output_bytes bounds what of a paced flow waits in the host, too",
            read_in: "tcp_small_queue_check",
            values: { V2_6_20: false, V6_16: true },
        }

        /// Since 4.20 `tcp_update_skb_after_send`.
        departure_times: bool {
            means: "an skb bears the time at which it is to leave, by the pacing rate, where fq or SO_MAX_PACING_RATE ask for it",
            read_in: "tcp_update_skb_after_send",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 3.12 `fq_dequeue`, until skbs have departure times.
        fq_paces: bool {
            means: "fq keeps each flow's pacing rate itself",
            read_in: "fq_dequeue",
            values: { V2_6_20: false, V3_14: true, V6_1: false },
            tests: ["tcp_in_host.rs: fq_paces"],
        }
    }
    constants {
        /// Default of `tcp_limit_output_bytes`, bytes of memory (3.6 128 KiB, 4.20 1 MiB; 6.16 4 MiB, commit
        /// 9ea3bfa61b09 "tcp: increase tcp_limit_output_bytes default value to 4MB").
        limit_output_bytes: u64 {
            read_in: "sysctl_tcp_limit_output_bytes",
            values: { V2_6_20: 131_072, V6_1: 1_048_576, V6_16: 4_194_304 },
        }
    }
}
