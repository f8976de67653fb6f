//! Size of skbs, and conditions for sending them.

use crate::tcp::truesize::{SHARED_INFO, SKB_BYTES};

choice! {
    /// Size of a send buffer that the application has not set: twice cwnd times the memory of a packet.
    SndTuning {
        /// Memory of a segment and an skb; the buffer grows when its shortage leaves cwnd unused (2.6.20
        /// `tcp_new_space`).
        Segments = "segments",
        /// Memory of a frame, with its head rounded up to a power of two. From the first moment on the buffer has room
        /// for ten frames (3.13 `tcp_sndbuf_expand`, commit 6ae705323b71 "tcp: sndbuf autotuning improvements").
        Frames = "frames",
    }
}

choice! {
    /// Whether the skb that ends the stream is sent although cwnd is full.
    FinBeyondCwnd {
        /// Yes (2.6.20 `tcp_cwnd_test`).
        Always = "always",
        /// Yes, if it is a single segment (2.6.22; read in 3.14 and 6.1).
        Single = "single",
        /// No (6.10; read in 6.12).
        Never = "never",
    }
}

choice! {
    /// skbs larger than a segment that wait until more of them may be sent.
    TsoDeferral {
        /// None: an inverted test sends them at once (2.6.20 and 2.6.24 `tcp_tso_should_defer`).
        Never = "never",
        /// Any that may not be sent as 64 KB; each ACK can prolong the wait by a tick (2.6.25).
        Any = "any",
        /// The skbs of `Any`, but not an skb that may be sent whole and has others behind it (2.6.29; 2.6.32).
        Last = "last",
        /// The skbs of `Last`, but not one that may be sent as a full skb; a wait lasts two ticks at most (3.14).
        Once = "once",
        /// The skbs of `Once`, if TCP sent data in the last millisecond. The wait is for an ACK that is due within a
        /// millisecond, and within half an RTT (read in 6.1 and 6.12).
        NextAck = "next-ack",
    }
}

choice! {
    /// Size of an skb when it is sent.
    SkbSize {
        /// The size by the application's writes, at most 64 KB.
        AsWritten = "as-written",
        /// The size of `AsWritten`. A write makes no skb larger than half a millisecond at the flow's pacing rate,
        /// which is twice its rate; two segments at least (3.12 `tcp_xmit_size_goal`, `tcp_min_tso_segs`).
        PacedWhenWritten = "paced-when-written",
        /// Bytes of a millisecond at the flow's rate, two segments at least (read in 6.1; 3.12 `tcp_tso_autosize`).
        Paced = "paced",
        /// The size of `Paced`, plus a size for near peers: 64 KB, halved for each 512 us of RTT (5.18).
        PacedOrNear = "paced-or-near",
    }
}

/// Size in a distribution's x86-64 kernel; inferred.
pub(in crate::tcp::kernel) const MAX_TCP_HEADER_3_14: u64 = 320;
/// Memory of an skb besides its data.
pub(in crate::tcp::kernel) const SKB_OVERHEAD_3_14: u64 =
    SKB_BYTES + SHARED_INFO + MAX_TCP_HEADER_3_14;

rows! { ($) sending_rows
    rows {
        /// Since 5.4 `__tcp_transmit_skb`, commit 051ba67447de "tcp: force a PSH flag on TSO packets".
        pushes_tso: bool {
            means: "what leaves as several segments at once ends a burst (PSH)",
            read_in: "__tcp_transmit_skb",
            values: { V2_6_20: false, V6_1: true },
        }

        snd_tuning: SndTuning {
            means: "how a send buffer grows that the application has not set",
            read_in: "tcp_new_space, tcp_sndbuf_expand",
            values: { V2_6_20: Segments, V3_14: Frames },
        }

        /// In 2.6.20 `tcp_current_mss`: the largest window that the peer has offered.
        size_goal_half_window: bool {
            means: "an skb is at most half the largest window seen",
            read_in: "tcp_current_mss, tcp_bound_to_half_wnd",
            values: { V2_6_20: true },
        }

        fin_beyond_cwnd: FinBeyondCwnd {
            means: "the skb that ends the stream goes though cwnd is full",
            read_in: "tcp_cwnd_test",
            values: { V2_6_20: Always, V2_6_24: Single, V6_12: Never },
        }

        tso_deferral: TsoDeferral {
            means: "which large skbs wait until enough of them may go",
            read_in: "tcp_tso_should_defer",
            values: { V2_6_20: Never, V2_6_25: Any, V2_6_32: Last, V3_14: Once, V6_1: NextAck },
        }

        skb_size: SkbSize {
            means: "how large an skb is when it is sent",
            read_in: "tcp_tso_autosize",
            values: { V2_6_20: AsWritten, V3_14: PacedWhenWritten, V6_1: PacedOrNear },
        }

        /// Since 6.10 `tcp_grow_skb`.
        grows_skbs: bool {
            means: "an skb that is smaller than may go takes bytes from the next one",
            read_in: "tcp_grow_skb",
            values: { V2_6_20: false, V6_12: true },
        }

        /// Since 3.17 `tcp_cwnd_test`.
        half_cwnd_skbs: bool {
            means: "no skb is larger than half of cwnd",
            read_in: "tcp_cwnd_test",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 3.14 `tcp_mss_split_point`.
        sends_partial_end: bool {
            means: "the partial end of a large skb goes with it where Nagle's rule lets it",
            read_in: "tcp_mss_split_point",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 3.14 `tcp_should_autocork`; here in all profiles with small queues.
        autocorks: bool {
            means: "the end of a write waits for more to be written while the host still has some of the flow to send",
            read_in: "tcp_should_autocork",
            values: { V2_6_20: false, V6_1: true },
        }
    }
    constants {
        /// Room for headers in front of an skb's data, bytes (`MAX_TCP_HEADER`: 192, with WLAN or tunnels up to 320).
        max_tcp_header: u64 {
            values: { V2_6_20: 192, V3_14: MAX_TCP_HEADER_3_14, V6_1: 192 },
        }

        /// Share of cwnd below which a sender with TSO still counts as limited, and above which it does not wait
        /// (`tcp_tso_win_divisor`).
        tso_win_divisor: u32 {
            read_in: "sysctl_tcp_tso_win_divisor",
            values: { V2_6_20: 3 },
        }

        /// Overhead of an skb in the send queue, bytes: struct sk_buff and the head that is allocated for headers
        /// (`tcp_stream_alloc_skb`, `SKB_TRUESIZE`).
        skb_overhead: u64 {
            values: {
                // The head (MAX_TCP_HEADER rounded up) and struct sk_buff on x86-64.
                V2_6_20: 512,
                // A head of 2 KiB also holds as much data as fits (`select_size`).
                V3_14: SKB_OVERHEAD_3_14,
                // User-mode Linux as built here: sk_buff of 256 bytes, skb_shared_info of 320, a head of 192 (kmalloc
                // of 512).
                V6_1: 768,
                // Small heads have a cache of their own since 6.3 (skb_small_head_cache), of 576 bytes with
                // skb_shared_info.
                V6_12: 832,
            },
        }

        /// Whether the data of a path MTU probe lies in its skb's head, which is as large as an allocation is
        /// (`tcp_mtu_probe`).
        probe_in_head: bool {
            // Until 6.5.
            values: { V2_6_20: true, V6_12: false },
        }
    }
}
