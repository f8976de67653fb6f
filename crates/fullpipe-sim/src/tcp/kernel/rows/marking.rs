//! Detection of losses and reordering.

choice! {
    /// Packets that count as lost, where there is SACK and FACK is off.
    SackMarking {
        /// The first in the queue (2.6.20 `tcp_update_scoreboard`).
        HeadOnly = "head",
        /// Packets below as many SACKed packets as reordering can explain. With fewer SACKs all packets below the first
        /// SACKed one, or, when recovery begins, the second (2.6.25, 2.6.32 `tcp_update_scoreboard`).
        Rfc3517 = "rfc3517",
        /// Packets below as many SACKed packets as reordering can explain. With fewer SACKs none, but the first packet
        /// when recovery begins (3.14; RFC 6675).
        Rfc6675 = "rfc6675",
        /// Packets sent long enough before one that has arrived (RFC 8985; 4.4 `tcp_rack_mark_lost`, alone since 4.18;
        /// `tcp_recovery` 0 turns it off).
        Rack = "rack",
    }
}

choice! {
    /// Whether the first packet's age alone proves a loss.
    HeadTimeout {
        /// Any kind of ACK (2.6.20 `tcp_head_timedout`).
        Any = "any",
        /// FACK only (2.6.25).
        Fack = "fack",
        /// Not at all (3.12).
        Never = "never",
    }
}

choice! {
    /// Detection of lost retransmissions.
    LostRetransmits {
        /// SACKs of later data; without FACK beyond them by the reordering metric (2.6.20).
        ByDistance = "distance",
        /// SACKs of later data, with FACK only (2.6.25 `tcp_mark_lost_retrans`).
        ByFack = "fack",
    }
}

choice! {
    /// Condition under which the cumulative ACK of a hole that was never sent again shows reordering.
    HoleFilled {
        /// The ACK carries SACKs (2.6.20 `tcp_sacktag_write_queue`).
        BySacks = "sacks",
        /// Always (2.6.24 `tcp_clean_rtx_queue`).
        ByAck = "ack",
    }
}

choice! {
    /// Timeouts that reset the reordering metric.
    TimeoutReordering {
        /// All (2.6.20 `tcp_enter_loss`).
        Always = "always",
        /// Timeouts in Disorder after many SACKs (3.12).
        Disordered = "disordered",
    }
}

rows! { ($) marking_rows
    rows {
        sack_marking: SackMarking {
            means: "what counts as lost by SACK, without FACK",
            read_in: "tcp_update_scoreboard, tcp_mark_head_lost",
            values: { V2_6_20: HeadOnly, V2_6_25: Rfc3517, V3_14: Rfc6675, V6_1: Rack },
        }

        /// Since 2.6.24 `tcp_fastretrans_alert`.
        sacks_mark: bool {
            means: "SACKs that are no duplicate ACK mark losses",
            read_in: "tcp_fastretrans_alert",
            values: { V2_6_20: false, V2_6_24: true },
            needs: [Need::CwndFirst("by count they do, where they reach further than reordering explains")],
        }

        /// Since 2.6.24 `tcp_mark_head_lost`.
        marks_resent: bool {
            means: "what was sent again without being lost may be marked",
            read_in: "tcp_mark_head_lost",
            values: { V2_6_20: false, V2_6_24: true },
            needs: [Need::CwndFirst("by count it is")],
        }

        /// Since 3.3 `tcp_mark_head_lost`.
        marks_beyond_high_seq: bool {
            means: "data sent after recovery began is marked",
            read_in: "tcp_mark_head_lost",
            values: { V2_6_20: false, V3_14: true },
            needs: [Need::CwndFirst("by count it is")],
        }

        /// In 2.6.20 to 3.2 `tcp_fastretrans_alert`.
        marks_data_lost: bool {
            means: "SACKs above high_seq mark losses in every state but Open",
            read_in: "tcp_fastretrans_alert",
            values: { V2_6_20: true, V3_14: false },
            needs: [Need::CwndFirst("they do not")],
        }

        /// Since 2.6.25 `tcp_fastretrans_alert`.
        data_lost_needs_fack: bool {
            means: "that needs FACK",
            read_in: "tcp_fastretrans_alert",
            values: { V2_6_20: false, V2_6_25: true },
            needs: [Need::CwndFirst("there is no FACK"), Need::MarksDataLost],
        }

        head_timeout: HeadTimeout {
            means: "the first packet's age alone proves a loss",
            read_in: "tcp_time_to_recover, tcp_update_scoreboard",
            values: { V2_6_20: Any, V2_6_25: Fack, V3_14: Never },
            needs: [Need::CwndFirst("it does not")],
        }

        lost_retransmits: LostRetransmits {
            means: "how lost retransmissions are found",
            read_in: "tcp_sacktag_write_queue, tcp_mark_lost_retrans",
            values: { V2_6_20: ByDistance, V2_6_25: ByFack },
            needs: [Need::CwndFirst("by their age, if losses are")],
        }

        hole_filled: HoleFilled {
            means: "how a cumulative ACK tells of reordering",
            read_in: "tcp_sacktag_write_queue, tcp_clean_rtx_queue",
            values: { V2_6_20: BySacks, V2_6_24: ByAck },
            needs: [Need::CwndFirst("always, where it lies below the highest SACK")],
        }

        /// Since 2.6.25 `tcp_sacktag_write_queue`.
        reordering_after_loss: bool {
            means: "reordering is believed after a timeout that may be undone",
            read_in: "tcp_sacktag_write_queue",
            values: { V2_6_20: false, V2_6_25: true },
            needs: [Need::CwndFirst("it is")],
        }

        timeout_reordering: TimeoutReordering {
            means: "which timeouts reset the reordering metric",
            read_in: "tcp_enter_loss",
            values: { V2_6_20: Always, V3_14: Disordered },
        }

        /// Before 2.6.25, from the queue's head or a hint, at the host's `cpu.walk` per skb.
        walks_queue: bool {
            means: "SACKs, marks and sending again cost walks along the send queue",
            read_in: "tcp_sacktag_write_queue, tcp_mark_head_lost, tcp_xmit_retransmit_queue",
            values: { V2_6_20: true, V2_6_25: false },
            needs: [Need::CwndFirst("the queue is a tree")],
            tests: ["tcp_walks.rs: of_single_segments"],
        }
    }
    constants {}
}
