//! The receive buffer, and its share in the offered window.

choice! {
    /// First window that a receiver offers, in segments.
    InitialWindow {
        /// 2 above an MSS of 4380, 3 above 1460, else 4 (2.6.20 `tcp_select_initial_window`).
        ByMss = "by-mss",
        /// 14,600 bytes in whole segments, at least 2 (2.6.39).
        Ten = "ten",
        /// 29,200 bytes in whole segments, at least 2 (3.11 `tcp_default_init_rwnd`).
        Twenty = "twenty",
        /// The whole buffer, up to the limit of a SYN-ACK, 65,535 bytes (4.20).
        Full = "full",
        /// The whole buffer; a SYN-ACK states as much of it as it can (6.12 `tcp_select_initial_window`).
        Unbounded = "unbounded",
    }
}

impl InitialWindow {
    /// Segments of `mss` bytes.
    pub fn segments(self, mss: u64) -> u64 {
        let share = |segments: u64| match mss {
            0..=1460 => segments,
            _ => (1460 * segments / mss).max(2),
        };
        match self {
            InitialWindow::ByMss if mss > 1460 * 3 => 2,
            InitialWindow::ByMss if mss > 1460 => 3,
            InitialWindow::ByMss => 4,
            InitialWindow::Ten => share(10),
            InitialWindow::Twenty => share(20),
            InitialWindow::Full | InitialWindow::Unbounded => u64::MAX,
        }
    }
}

choice! {
    /// Least receive buffer of a connection, if its application sets none.
    FirstRcvbuf {
        /// Memory of four segments (2.6.20 to 2.6.32 `tcp_fixup_rcvbuf`).
        FourSegments = "four-segments",
        /// Eight times the memory of the first window's segments (3.13 `tcp_fixup_rcvbuf`, commit b0983d3c9b13 "tcp:
        /// fix dynamic right sizing").
        EightWindows = "eight-windows",
        /// The default of sysctl tcp_rmem (4.20, commit a337531b942b "tcp: up initial rmem to 128KB and SYN rwin to around 64KB").
        Default = "default",
    }
}

choice! {
    /// Share of a receive buffer that may be offered as window.
    WindowShare {
        /// The share by `tcp_adv_win_scale` (2.6.20 `tcp_win_from_space`).
        AdvWinScale = "adv-win-scale",
        /// A half, until the first full segment shows how much of its memory is data (6.6
        /// `tcp_measure_rcv_mss`, scaling_ratio).
        Measured = "measured",
    }
}

choice! {
    /// Growth of a receive buffer that the application has not set.
    RcvTuning {
        /// Twice the bytes read in an RTT, which windows measure (2.6.20 `tcp_rcv_space_adjust`).
        PerRtt = "per-rtt",
        /// Twice the bytes read in an RTT, plus their expected growth in the next two RTTs. Timestamps measure the RTT
        /// (4.13 and later; read in 6.1 and 6.12).
        Growth = "growth",
        /// Twice the bytes read in an RTT, without their expected growth and without 16 segments for small variations.
        /// Data beyond a hole gets room from its arrival on (6.16 `tcp_rcvbuf_grow`, commits 65c5287892e9 "tcp: fix
        /// sk_rcvbuf overshoot" and 63ad7dfedfae "tcp: adjust rcvbuf in presence of reorders").
        CopiedAndHoles = "copied-and-holes",
        /// The rule of `CopiedAndHoles`, plus the expected growth in the next two RTTs as in `Growth` (6.18
        /// `tcp_rcvbuf_grow`, commit aa251c84636c "tcp: fix too slow tcp_rcvbuf_grow() action").
        GrowthAndHoles = "growth-and-holes",
    }
}

choice! {
    /// Reaction of a receiver to a segment when its queues take more memory than its buffer has.
    ReceiveShortage {
        /// The receiver discards all data beyond a hole, SACKed or not, if the segment is the next one expected. If
        /// this is not enough, it drops the segment and acknowledges (2.6.20 `tcp_prune_queue`).
        Discard = "discard",
        /// A buffer that the application has not set grows to its content. If it may not grow, the receiver discards
        /// the data furthest beyond a hole, an eighth of the buffer at a time. If this is not enough, it drops the
        /// segment silently. It always takes the first data in order (read in 6.1 `tcp_clamp_window`,
        /// `tcp_prune_ofo_queue`).
        Grow = "grow",
        /// The rule of `Grow`, but the receiver keeps data before the segment. When it drops data in order, it
        /// announces a closed window (6.6; read in 6.12 `tcp_select_window`, `tcp_prune_ofo_queue`).
        GrowOrClose = "grow-or-close",
    }
}

rows! { ($) receive_buffer_rows
    rows {
        initial_window: InitialWindow {
            means: "first window that a receiver offers, segments",
            read_in: "tcp_select_initial_window, tcp_default_init_rwnd",
            values: { V2_6_20: ByMss, V3_14: Twenty, V6_1: Full, V6_12: Unbounded },
        }

        first_rcvbuf: FirstRcvbuf {
            means: "receive buffer with which a connection begins whose application has set none",
            read_in: "tcp_fixup_rcvbuf, tcp_init_buffer_space",
            values: { V2_6_20: FourSegments, V3_14: EightWindows, V6_1: Default },
        }

        window_share: WindowShare {
            means: "which share of a receive buffer may be offered as window",
            read_in: "tcp_win_from_space, tcp_measure_rcv_mss",
            values: { V2_6_20: AdvWinScale, V6_12: Measured },
        }

        /// Since 4.20 `tcp_openreq_init_rwin`.
        offers_first_window: bool {
            means: "the first window counts as offered in whole, although a SYN-ACK tells 65,535 bytes at most",
            read_in: "tcp_openreq_init_rwin",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 5.14 `truesize_adjust`, for drivers that leave data in place.
        grows_by_data: bool {
            means: "the memory of a segment's head does not count when the window opens",
            read_in: "truesize_adjust",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 4.1 `__tcp_select_window`.
        closes_small_window: bool {
            means: "a window of less than a sixteenth of the buffer is none",
            read_in: "__tcp_select_window",
            values: { V2_6_20: false, V6_1: true },
        }

        /// In 6.12.117 `tcp_data_queue_ofo`, not in 6.1.
        measures_beyond_hole: bool {
            means: "segments beyond a hole, too, tell how large segments are and what share of the buffer is window",
            read_in: "tcp_data_queue_ofo",
            values: { V2_6_20: false, V6_12: true },
        }

        /// Since 3.5 `tcp_try_coalesce`.
        joins_received: bool {
            means: "received segments that follow each other share the memory of one head",
            read_in: "tcp_try_coalesce",
            values: { V2_6_20: false, V6_1: true },
        }

        rcv_tuning: RcvTuning {
            means: "how a receive buffer grows that the application has not set",
            read_in: "tcp_rcv_space_adjust, tcp_rcvbuf_grow",
            values: { V2_6_20: PerRtt, V6_1: Growth, V6_16: CopiedAndHoles, V6_18: GrowthAndHoles },
        }

        /// Since 5.10 `tcp_init_buffer_space`, commit 72d05c00d7ec "tcp: select sane initial rcvq_space.space for big MSS".
        space_within_ssthresh: bool {
            means: "what must be copied in a round trip before the receive buffer grows is at first no more than rcv_ssthresh",
            read_in: "tcp_init_buffer_space",
            values: { V2_6_20: false, V6_1: true },
            tests: ["tcp_buffers.rs: space_within_ssthresh"],
        }

        /// In 6.12.117 `tcp_rcv_space_adjust`; 6.1.192 counts unread data.
        copied_less_unread: bool {
            means: "the receive buffer grows by what was copied less what waits for the reader",
            read_in: "tcp_rcv_space_adjust",
            values: { V2_6_20: false, V6_12: true },
        }

        /// In 6.1 `tcp_rcv_rtt_measure_ts`; 6.12 takes no RTT from such an echo.
        same_tick_rtt: bool {
            means: "a timestamp echoed within its tick is an RTT of one tick to the receiver",
            read_in: "tcp_rcv_rtt_measure_ts",
            values: { V2_6_20: true, V6_12: false },
            tests: ["tcp_buffers.rs: same_tick_rtt"],
        }

        receive_shortage: ReceiveShortage {
            means: "what becomes of a segment for which the receive buffer has no room",
            read_in: "tcp_prune_queue, tcp_clamp_window, tcp_select_window",
            values: { V2_6_20: Discard, V6_1: Grow, V6_12: GrowOrClose },
        }

        /// Since 6.16 `tcp_rcv_rtt_update`, commit a00f135cd986 "tcp: skip big rtt sample if receive queue is not
        /// empty".
        longer_rtt_when_read: bool {
            means: "a receiver believes that the RTT has become longer only while nothing waits for the reader",
            read_in: "tcp_rcv_rtt_update",
            values: { V2_6_20: false, V6_16: true },
        }
    }
    constants {
        /// Memory of a received segment besides its data, bytes.
        rx_overhead: u64 {
            values: {
                V2_6_20: 256,
                V6_1: 768,
                // Small heads have a cache of their own since 6.3 (skb_small_head_cache), of 576 bytes with
                // skb_shared_info.
                V6_12: 832,
            },
        }
    }
}
