//! Reduction of cwnd after a loss, and its undo.

choice! {
    /// Reduction of cwnd in CWR and Recovery.
    Reduction {
        /// One packet for every second ACK (2.6.20 `tcp_cwnd_down`).
        RateHalving = "rate-halving",
        /// Proportional rate reduction (3.2 in Recovery, 3.7 in CWR too; RFC 6937).
        Prr = "prr",
    }
}

choice! {
    /// Packets that a proportional reduction allows once no more than ssthresh are in flight.
    PrrBound {
        /// The packets of slow start, whatever is lost meanwhile (RFC 6937 PRR-SSRB; 3.2).
        SlowStart = "slow-start",
        /// The delivered packets, plus one if the ACK advances and shows no loss (5.12; RFC 6937bis).
        Delivered = "delivered",
    }
}

choice! {
    /// ACKs that count for rate halving.
    HalvingStep {
        /// All ACKs in CWR or Recovery (2.6.20).
        AnyAck = "any",
        /// ACKs that show progress (2.6.24).
        Progress = "progress",
    }
}

choice! {
    /// Packets that a moderated cwnd leaves beyond those in flight.
    MaxBurst {
        /// 3 (2.6.20 `tcp_max_burst`).
        Three = "three",
        /// The reordering metric (2.6.26).
        Reordering = "reordering",
    }
}

choice! {
    /// States in which D-SACKs undo a reduction.
    DsackUndo {
        /// Disorder (2.6.20), which waits for them.
        Disorder = "disorder",
        /// Open, Disorder (3.3) and Recovery (3.12).
        Recovery = "recovery",
    }
}

choice! {
    /// Part that ends when a partial ACK in Recovery proves that its segment was only late.
    SpuriousPartial {
        /// The reduction of cwnd; Recovery continues (2.6.20 `tcp_try_undo_partial`).
        Reduction = "reduction",
        /// Recovery, once no retransmission is out (3.12).
        Recovery = "recovery",
    }
}

rows! { ($) reduction_rows
    rows {
        reduction: Reduction {
            means: "how cwnd comes down in CWR and Recovery",
            read_in: "tcp_cwnd_down, tcp_cwnd_reduction",
            values: { V2_6_20: RateHalving, V3_14: Prr },
            needs: [Need::CwndFirst("by proportional rate reduction")],
        }

        prr_bound: PrrBound {
            means: "how many packets a proportional reduction lets go below ssthresh",
            read_in: "tcp_cwnd_reduction",
            values: { V2_6_20: SlowStart, V6_1: Delivered },
            needs: [Need::CwndLast("as slow start would")],
        }

        halving_step: HalvingStep {
            means: "which ACKs count for rate halving",
            read_in: "tcp_cwnd_down",
            values: { V2_6_20: AnyAck, V2_6_24: Progress },
            needs: [Need::CwndFirst("by proportional rate reduction"), Need::RateHalving],
        }

        /// In 2.6.20 to 3.11 `tcp_try_to_open`, in Open and Disorder.
        moderate_cwnd: bool {
            means: "a dubious ACK limits cwnd to what is in flight and a burst",
            read_in: "tcp_try_to_open",
            values: { V2_6_20: true, V3_14: false },
            needs: [Need::CwndFirst("it does not")],
        }

        max_burst: MaxBurst {
            means: "that burst",
            read_in: "tcp_max_burst",
            values: { V2_6_20: Three, V2_6_32: Reordering },
            needs: [Need::CwndFirst("cwnd is not moderated")],
        }

        /// In 2.6.20 to 2.6.37 `tcp_undo_cwr`.
        undo_moderates: bool {
            means: "an undone cwnd is moderated",
            read_in: "tcp_undo_cwr, tcp_undo_cwnd_reduction",
            values: { V2_6_20: true, V3_14: false },
            needs: [Need::CwndFirst("it is not")],
        }

        dsack_undo: DsackUndo {
            means: "in which states D-SACKs undo a reduction",
            read_in: "tcp_try_undo_dsack",
            values: { V2_6_20: Disorder, V3_14: Recovery },
            needs: [Need::CwndFirst("in Open, Disorder and Recovery")],
        }

        spurious_partial: SpuriousPartial {
            means: "what a partial ACK of a late segment ends",
            read_in: "tcp_try_undo_partial",
            values: { V2_6_20: Reduction, V3_14: Recovery },
            needs: [Need::CwndFirst("Recovery, once no retransmission is out")],
        }
    }
    constants {}
}
