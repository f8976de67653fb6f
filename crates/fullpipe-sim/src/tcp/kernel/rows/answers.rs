//! Timing of a receiver's ACKs.

choice! {
    /// Longest wait of a delayed ACK, besides an RTT.
    DelackMax {
        /// HZ/2, after a small segment HZ/5 (2.6.20 `tcp_send_delayed_ack`).
        Half = "half",
        /// HZ/5 (5.10 `icsk_delack_max`).
        Fifth = "fifth",
        /// HZ/5, and a jiffy less than the least timeout. The learned wait does not exceed HZ/5 either (6.12
        /// `tcp_delack_max`, `tcp_event_data_recv`).
        BelowRtoMin = "below-rto-min",
    }
}

rows! { ($) answers_rows
    rows {
        /// Since 6.6 `tcp_measure_rcv_mss`.
        push_asks_ack: bool {
            means: "a full segment that ends a burst is acknowledged as soon as it is read",
            read_in: "tcp_measure_rcv_mss",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 6.7 `tcp_dec_quickack_mode`, and 6.1.192.
        quick_by_data: bool {
            means: "of the ACKs that go at once only those count that data asked for, not one of a larger window",
            read_in: "tcp_dec_quickack_mode",
            values: { V2_6_20: false, V6_1: true },
        }

        /// In 2.6.20 `tcp_grow_window`, where the segment raises `rcv_ssthresh`.
        quick_ack_on_growth: bool {
            means: "a segment that opens the window is acknowledged at once",
            read_in: "tcp_grow_window",
            values: { V2_6_20: true },
        }

        /// In 2.6.20 to 6.12 `tcp_event_data_sent`, icsk_ack.pingpong.
        answers_bear_acks: bool {
            means: "who has sent data soon after some came lets ACKs wait for more of it, and acknowledges no first segments at once",
            read_in: "tcp_event_data_sent",
            values: { V2_6_20: true },
            tests: ["answers.rs: ping_pong_mode"],
        }

        /// Since 4.18 `tcp_comp_sack_delay_ns`, for a twentieth of an RTT or a millisecond.
        compresses_sacks: bool {
            means: "the ACKs of segments beyond a hole are held, all but the first three",
            read_in: "__tcp_ack_snd_check",
            values: { V2_6_20: false, V6_1: true },
        }

        /// Since 4.0 `tcp_oow_rate_limited`, for all segments without data that lie outside the window.
        rations_empty_answers: bool {
            means: "probes of a closed window are answered twice a second at most",
            read_in: "tcp_oow_rate_limited",
            values: { V2_6_20: false, V6_1: true },
        }

        delack_max: DelackMax {
            means: "how long a delayed ACK waits at most, besides an RTT",
            read_in: "tcp_send_delayed_ack, tcp_delack_max",
            values: { V2_6_20: Half, V6_1: Fifth, V6_12: BelowRtoMin },
        }
    }
    constants {}
}
