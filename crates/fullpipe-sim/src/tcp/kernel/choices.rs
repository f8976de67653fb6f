//! What kernel versions do differently, each as a choice: its strategies in the order in which kernels had them,
//! with the version in which each appeared and the place where it was read.

use crate::jiffy_clock::JiffyClock;

/// Declares a choice: its names in scenarios, for `behaviour = { ... }`.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Name and choice, in the order in which kernels had them.
            pub const CHOICES: &'static [(&'static str, $name)] =
                &[$(($text, $name::$variant),)*];
        }
    };
}

// Below the macro, which it uses.
mod cpu;

pub use crate::jiffy_clock::TimerWheel;
pub use cpu::*;

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
    /// First window that a receiver offers, in segments.
    InitialWindow {
        /// 2 above an MSS of 4380, 3 above 1460, else 4 (2.6.20 `tcp_select_initial_window`).
        ByMss = "by-mss",
        /// 14,600 bytes in whole segments, at least 2 (2.6.39).
        Ten = "ten",
        /// 29,200 bytes in whole segments, at least 2 (3.11 `tcp_default_init_rwnd`).
        Twenty = "twenty",
        /// All that the buffer allows and a SYN-ACK can say, 65,535 bytes (4.20).
        Full = "full",
        /// All that the buffer allows; a SYN-ACK says what it can of it (6.12 `tcp_select_initial_window`).
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
    /// A send buffer that the application has not set: twice cwnd, and what counts for each packet of it.
    SndTuning {
        /// A segment and an skb, as soon as cwnd is not used up for want of memory (2.6.20 `tcp_new_space`).
        Segments = "segments",
        /// A frame whose head is rounded up to a power of two, and so much for ten of them from the first moment on (3.13
        /// `tcp_sndbuf_expand`, commit 6ae705323b71 "tcp: sndbuf autotuning improvements").
        Frames = "frames",
    }
}

choice! {
    /// The least receive buffer of a connection whose application has set none.
    FirstRcvbuf {
        /// What four segments take (2.6.20 to 2.6.32 `tcp_fixup_rcvbuf`).
        FourSegments = "four-segments",
        /// Eight times what the first window's segments take (3.13 `tcp_fixup_rcvbuf`, commit b0983d3c9b13 "tcp: fix dynamic right
        /// sizing").
        EightWindows = "eight-windows",
        /// The default of sysctl tcp_rmem (4.20, commit a337531b942b "tcp: up initial rmem to 128KB and SYN rwin to around 64KB").
        Default = "default",
    }
}

choice! {
    /// Which share of a receive buffer may be offered as window.
    WindowShare {
        /// That of `tcp_adv_win_scale` (2.6.20 `tcp_win_from_space`).
        AdvWinScale = "adv-win-scale",
        /// A half, until the first full segment shows how much of its memory is data (6.6
        /// `tcp_measure_rcv_mss`, scaling_ratio).
        Measured = "measured",
    }
}

choice! {
    /// How a receive buffer grows that the application has not set.
    RcvTuning {
        /// To twice what was read in an RTT, which is measured by windows (2.6.20 `tcp_rcv_space_adjust`).
        PerRtt = "per-rtt",
        /// To twice that and, while it grows, as much more as it will in the next two RTTs; timestamps tell the
        /// RTT (4.13 and later; read in 6.1 and 6.12).
        Growth = "growth",
        /// The same without 16 segments for small variations, and with room for what lies beyond a hole, from when it
        /// comes on (6.16 `tcp_rcvbuf_grow`, commits 65c5287892e9 "tcp: fix sk_rcvbuf overshoot" and 63ad7dfedfae
        /// "tcp: adjust rcvbuf in presence of reorders"; 6.18 aa251c84636c "tcp: fix too slow tcp_rcvbuf_grow() action").
        GrowthAndHoles = "growth-and-holes",
    }
}

choice! {
    /// What a receiver does whose queues take more memory than its buffer has when a segment comes.
    ReceiveShortage {
        /// It throws away all that is beyond a hole, SACKed or not, if what comes is the next one expected; if that is not
        /// enough, it drops the segment and acknowledges (2.6.20 `tcp_prune_queue`).
        Discard = "discard",
        /// A buffer that the application has not set grows to what is in it. If that may not be, it throws away what
        /// is furthest beyond a hole, an eighth of the buffer at a time; if that is not enough, it drops the segment and
        /// says nothing. Of data in order the first is always taken (read in 6.1 `tcp_clamp_window`,
        /// `tcp_prune_ofo_queue`).
        Grow = "grow",
        /// The same, but spares what lies before the segment, and says that the window is shut when it drops data in
        /// order (6.6; read in 6.12 `tcp_select_window`, `tcp_prune_ofo_queue`).
        GrowOrClose = "grow-or-close",
    }
}

choice! {
    /// What the congestion control's `pkts_acked` counts.
    PktsAcked {
        /// Fully acknowledged skbs (Linux 2.6.20 `tcp_clean_rtx_queue`).
        Skbs = "skbs",
        /// Segments (2.6.24).
        Segments = "segments",
    }
}

choice! {
    /// Whether the skb that ends the stream goes though cwnd is full.
    FinBeyondCwnd {
        /// Yes (2.6.20 `tcp_cwnd_test`).
        Always = "always",
        /// If it is a single segment (2.6.22; read in 3.14 and 6.1).
        Single = "single",
        /// No (6.10; read in 6.12).
        Never = "never",
    }
}

choice! {
    /// Where the RTT comes from that a congestion control is told.
    CcRtt {
        /// Timestamp echoes alone (2.6.20).
        Echo = "echo",
        /// The last packet acknowledged, if none was sent again; in jiffies (2.6.24; 2.6.25 and
        /// 2.6.32 `tcp_clean_rtx_queue`, where CUBIC does not ask for microseconds).
        Jiffies = "jiffies",
        /// The same in microseconds for controls that ask for it (`TCP_CONG_RTT_STAMP`), as CUBIC with
        /// HyStart does below 1000 jiffies per second (2.6.39, 3.14 `cubictcp_register`).
        Microseconds = "microseconds",
    }
}

choice! {
    /// What a packet has to be to count as lost, where there is SACK and FACK is off.
    SackMarking {
        /// First in the queue (2.6.20 `tcp_update_scoreboard`).
        HeadOnly = "head",
        /// Below as many SACKed packets as reordering can explain; with fewer SACKs everything below
        /// the first, when recovery begins below the second (2.6.25, 2.6.32 `tcp_update_scoreboard`).
        Rfc3517 = "rfc3517",
        /// The same; with fewer SACKs nothing, when recovery begins the first packet (3.14; RFC 6675).
        Rfc6675 = "rfc6675",
        /// Sent long enough before one that has arrived (RFC 8985; 4.4 `tcp_rack_mark_lost`, alone since
        /// 4.18; `tcp_recovery` 0 turns it off).
        Rack = "rack",
    }
}

choice! {
    /// Whether the first packet's age alone proves a loss.
    HeadTimeout {
        /// With any kind of ACK (2.6.20 `tcp_head_timedout`).
        Any = "any",
        /// With FACK only (2.6.25).
        Fack = "fack",
        /// Not at all (3.12).
        Never = "never",
    }
}

choice! {
    /// When an ACK changes cwnd.
    AckOrder {
        /// Before losses are looked for: it grows, may be reduced, and what is lost is sent again at once
        /// (2.6.20 `tcp_ack`).
        CwndFirst = "cwnd-first",
        /// After it: by what the ACK has delivered, SACKed packets too, and what it has shown to be lost; then
        /// things are sent (4.6 `tcp_cong_control`; read in 6.1 and 6.12).
        CwndLast = "cwnd-last",
    }
}

choice! {
    /// How many packets a proportional reduction lets go once no more than ssthresh are in flight.
    PrrBound {
        /// As slow start would, whatever is lost meanwhile (RFC 6937 PRR-SSRB; 3.2).
        SlowStart = "slow-start",
        /// As many as were delivered; one more if the ACK advances and shows no loss (5.12; RFC 6937bis).
        Delivered = "delivered",
    }
}

choice! {
    /// When a tail loss probe goes.
    ProbeTimeout {
        /// After two RTTs, 10 ms at least; of a lone packet 1.5 RTTs and 200 ms (3.10).
        Draft = "draft",
        /// After two RTTs and 2 ms; of a lone packet two RTTs and the least timeout; anew with each ACK of data,
        /// in CWR too (4.12; RFC 8985; read in 6.1 and 6.12).
        Rack = "rack",
    }
}

choice! {
    /// How lost retransmissions are found.
    LostRetransmits {
        /// By SACKs of later data; without FACK as far beyond as reordering (2.6.20).
        ByDistance = "distance",
        /// With FACK only (2.6.25 `tcp_mark_lost_retrans`).
        ByFack = "fack",
    }
}

choice! {
    /// How the cumulative ACK of a hole that was never sent again tells of reordering.
    HoleFilled {
        /// Only if the ACK carries SACKs (2.6.20 `tcp_sacktag_write_queue`).
        BySacks = "sacks",
        /// Always (2.6.24 `tcp_clean_rtx_queue`).
        ByAck = "ack",
    }
}

choice! {
    /// Which timeouts reset the reordering metric.
    TimeoutReordering {
        /// All (2.6.20 `tcp_enter_loss`).
        Always = "always",
        /// Those in Disorder after many SACKs (3.12).
        Disordered = "disordered",
    }
}

choice! {
    /// How cwnd comes down in CWR and Recovery.
    Reduction {
        /// By one for every second ACK (2.6.20 `tcp_cwnd_down`).
        RateHalving = "rate-halving",
        /// Proportional rate reduction (3.2 in Recovery, 3.7 in CWR too; RFC 6937).
        Prr = "prr",
    }
}

choice! {
    /// Which ACKs count for rate halving.
    HalvingStep {
        /// All that come in CWR or Recovery (2.6.20).
        AnyAck = "any",
        /// Those that tell of progress (2.6.24).
        Progress = "progress",
    }
}

choice! {
    /// Packets that a moderated cwnd leaves beyond those in flight.
    MaxBurst {
        /// 3 (2.6.20 `tcp_max_burst`).
        Three = "three",
        /// As many as the reordering metric (2.6.26).
        Reordering = "reordering",
    }
}

choice! {
    /// In which states D-SACKs undo a reduction.
    DsackUndo {
        /// In Disorder (2.6.20), which waits for them.
        Disorder = "disorder",
        /// In Open, Disorder (3.3) and Recovery (3.12).
        Recovery = "recovery",
    }
}

choice! {
    /// What ends when a partial ACK in Recovery proves that its segment was only late.
    SpuriousPartial {
        /// The reduction of cwnd; Recovery goes on (2.6.20 `tcp_try_undo_partial`).
        Reduction = "reduction",
        /// Recovery, once no retransmission is out (3.12).
        Recovery = "recovery",
    }
}

choice! {
    /// How the Loss state works.
    LossStates {
        /// It ends at high_seq; cwnd is moderated in it (2.6.20 `tcp_fastretrans_alert`).
        Classic = "classic",
        /// With F-RTO inside, without moderation (3.10 `tcp_process_loss`).
        Frto = "frto",
    }
}

choice! {
    /// How spurious timeouts are told from losses; sysctl tcp_frto says whether.
    FrtoVersion {
        /// RFC 4138, by cumulative ACKs (2.6.20).
        Basic = "rfc4138",
        /// RFC 4138 with SACK; lost is what was sent before the timeout (2.6.24).
        SackToHighmark = "rfc4138-sack",
        /// The same, and what was sent after it is lost too (2.6.26).
        Sack = "rfc4138-sack-all",
        /// RFC 5682 (3.10).
        Rfc5682 = "rfc5682",
    }
}

choice! {
    /// The clock of srtt and the timeout.
    RttClock {
        /// Jiffies (2.6.20 `tcp_rtt_estimator`).
        Jiffies = "jiffies",
        /// Microseconds (3.15).
        Microseconds = "microseconds",
    }
}

choice! {
    /// Which RTT sample is taken where there are timestamps.
    RttSource {
        /// The timestamp echoed (2.6.20 `tcp_ack_saw_tstamp`).
        Echo = "echo",
        /// The ACK's own, then a SACK's, then the timestamp's (3.12 `tcp_ack_update_rtt`).
        Ack = "ack",
    }
}

choice! {
    /// When a sender with TSO counts as limited by cwnd although cwnd is not full.
    CwndLimited {
        /// However much of it is unused: what cwnd would do without the check (no kernel).
        Always = "always",
        /// Less than a share of cwnd is unused (2.6.20 `tcp_is_cwnd_limited`).
        Share = "share",
        /// And less than 64 KB; or a burst or less is (2.6.26; 2.6.32 `tcp_is_cwnd_limited`).
        ShareAndBytes = "share-and-bytes",
        /// And less than a full skb; or three packets or less are (3.14 `tcp_is_cwnd_limited`).
        ShareAndSizeGoal = "share-and-size-goal",
        /// It has stopped the sender at some time since the oldest packet in flight was sent; in slow start
        /// also when more than half of it was in flight (3.16 `tcp_is_cwnd_limited`, `tcp_cwnd_validate`).
        Used = "used",
    }
}

choice! {
    /// Which skbs larger than a segment wait until enough of them may go.
    TsoDeferral {
        /// None: an inverted test lets them go at once (2.6.20 and 2.6.24 `tcp_tso_should_defer`).
        Never = "never",
        /// Any that may not go as 64 KB; each ACK can prolong the wait by a tick (2.6.25).
        Any = "any",
        /// Not one that may go whole and has others behind it (2.6.29; 2.6.32).
        Last = "last",
        /// Nor one that may go as a full skb; a wait lasts two ticks at most (3.14).
        Once = "once",
        /// The same, where something was sent in the last millisecond, and only for an ACK that is due within
        /// one, and within half an RTT (read in 6.1 and 6.12).
        NextAck = "next-ack",
    }
}

choice! {
    /// How large an skb is when it is sent.
    SkbSize {
        /// As the application's writes have made it, at most 64 KB.
        AsWritten = "as-written",
        /// The same, and a write makes none larger than what the flow sends in half a millisecond at its pacing rate, which is
        /// twice its rate; two segments at least (3.12 `tcp_xmit_size_goal`, `tcp_min_tso_segs`).
        PacedWhenWritten = "paced-when-written",
        /// What the flow sends in a millisecond, two segments at least (read in 6.1; 3.12
        /// `tcp_tso_autosize`).
        Paced = "paced",
        /// The same, and more the nearer the peer is: 64 KB more, halved for each 512 us of RTT (5.18).
        PacedOrNear = "paced-or-near",
    }
}

choice! {
    /// How much of a flow may wait in the host before it has to stop (TCP small queues).
    SmallQueueLimit {
        /// What the pacing rate sends in 2^-10 s, and `tcp_limit_output_bytes` where that is more (3.12
        /// `tcp_write_xmit`); before, those bytes alone.
        AtLeastBytes = "at-least-bytes",
        /// What the pacing rate sends in that time, two skbs at least and those bytes at most (3.19; read in 6.1
        /// `tcp_small_queue_check`).
        AtMostBytes = "at-most-bytes",
    }
}

choice! {
    /// When cwnd grows by the ACK of out-of-order data.
    GrowthUnderReordering {
        /// Never (2.6.20 `tcp_may_raise_cwnd`).
        Never = "never",
        /// Once reordering is known to be high (3.12).
        WhenHigh = "when-high",
    }
}

choice! {
    /// What a timer does that finds its socket locked by a process.
    LockedTimers {
        /// It is put off: that of retransmissions by HZ/20, that of delayed ACKs by HZ/25 (2.6.20
        /// `tcp_write_timer`, `tcp_delack_timer`).
        PutOff = "put-off",
        /// It is made up for when the process gives the socket back (3.14 `tcp_release_cb`; that it
        /// is so since 2012 is inferred).
        Released = "released",
    }
}

choice! {
    /// With what a connection begins whose SYN was sent more than twice (RFC 5681, 3.1).
    RepeatedSyn {
        /// As any other.
        Ignored = "ignored",
        /// With one segment (3.14 `tcp_init_metrics`).
        OneSegment = "one-segment",
        /// So, unless the answer echoes the first SYN's timestamp, which was only late (6.1 `tcp_try_undo_spurious_syn`,
        /// `tcp_init_transfer`).
        UnlessLate = "unless-late",
    }
}

choice! {
    /// What comes while a process has the socket, and waits in its backlog.
    SocketBacklog {
        /// It counts for nothing until it is taken.
        Plain = "plain",
        /// Its memory is no room in the receive buffer (4.20 `tcp_space`).
        Counted = "counted",
        /// Nor is it here, and what all of it asks for is acknowledged once, when it is empty (6.6 `tcp_release_cb`).
        OneAck = "one-ack",
    }
}

impl TimerWheel {
    /// Name and choice, in the order in which kernels had them.
    pub const CHOICES: &'static [(&'static str, TimerWheel)] =
        &[("cascading", TimerWheel::Cascading), ("levels", TimerWheel::Levels)];
}

choice! {
    /// What a timestamp (RFC 7323) counts.
    TimestampClock {
        /// Jiffies.
        Jiffies = "jiffies",
        /// Milliseconds, whatever HZ is (4.13 `TCP_TS_HZ`).
        Milliseconds = "milliseconds",
    }
}

impl TimestampClock {
    /// Its ticks in a kernel with so many jiffies per second.
    pub(crate) fn ticks(self, hz: u32) -> JiffyClock {
        JiffyClock::jiffies(if self == TimestampClock::Jiffies { hz } else { 1000 })
    }
}

choice! {
    /// When a sender that was idle begins anew with a small cwnd (RFC 2861).
    IdleRestart {
        /// When it sends data (2.6.20 `tcp_event_data_sent`), a window probe too.
        Sending = "sending",
        /// When the application writes, or the receiver's window changes while data waits (4.3
        /// `tcp_slow_start_after_idle_check`).
        Writing = "writing",
    }
}

choice! {
    /// What a connection takes over from an earlier one to the same host, unless tcp_no_metrics_save.
    CachedMetrics {
        /// RTT, its deviation and ssthresh as if they were its own (2.6.20 `tcp_init_metrics`).
        Own = "own",
        /// ssthresh; of a longer RTT no more than the first timeout (3.12 `tcp_init_metrics`).
        Timeout = "timeout",
        /// The first timeout alone: tcp_no_ssthresh_metrics_save is 1 (5.6 `tcp_init_metrics`).
        TimeoutAlone = "timeout-alone",
    }
}

choice! {
    /// How long a delayed ACK waits at most, besides an RTT.
    DelackMax {
        /// HZ/2, after a small segment HZ/5 (2.6.20 `tcp_send_delayed_ack`).
        Half = "half",
        /// HZ/5 (5.10 `icsk_delack_max`).
        Fifth = "fifth",
        /// That, and a jiffy less than the least timeout; nor does the wait that it learns become longer than HZ/5 (6.12
        /// `tcp_delack_max`, `tcp_event_data_recv`).
        BelowRtoMin = "below-rto-min",
    }
}
