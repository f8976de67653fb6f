//! How a kernel version behaves: per concern a choice among strategies, and constants.
//!
//! Versions differ in the tables of `profiles.rs`, not in code. The strategies are those of `choices.rs`; a flip
//! of each changes a golden conversation (`tests/golden`), where the profile reads it (`behaviour/needs.rs`).
//!
//! Limits:
//! - Memory of a packet beyond its data is a constant: 256 bytes received and 512 sent, in 6.1 768 both ways, from
//!   6.12 on 832 both ways, as in user-mode Linux.

pub use super::choices::*;
pub use super::profiles::{PROFILES, find};

use alloc::rc::Rc;
use core::ops::Deref;

/// A profile that all flows of a host look at.
#[derive(Clone, Debug)]
pub struct SharedProfile(Rc<Profile>);

impl Deref for SharedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.0
    }
}

impl From<&Profile> for SharedProfile {
    fn from(profile: &Profile) -> SharedProfile {
        SharedProfile(Rc::new(*profile))
    }
}

impl From<&SharedProfile> for SharedProfile {
    fn from(profile: &SharedProfile) -> SharedProfile {
        profile.clone()
    }
}

/// The behaviour of one kernel version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Whether no genuine kernel judges it: it is another row with the changes that were published since.
    pub unjudged: bool,
    /// Initial congestion window.
    pub initial_cwnd: InitialCwnd,
    /// First window offered.
    pub initial_window: InitialWindow,
    /// Receive buffer at first.
    pub first_rcvbuf: FirstRcvbuf,
    /// Share of the receive buffer.
    pub window_share: WindowShare,
    /// Whether the first window counts as offered in whole, although a SYN-ACK tells no more than 65,535 bytes
    /// of it (4.20 `tcp_openreq_init_rwin`).
    pub offers_first_window: bool,
    /// Memory of a received segment besides its data, bytes.
    pub rx_overhead: u64,
    /// Whether the memory of its head is not counted when the window opens, as of a driver that leaves data
    /// where it is (5.14 `truesize_adjust`).
    pub grows_by_data: bool,
    /// Whether a window of less than a sixteenth of the buffer is none (4.1 `__tcp_select_window`).
    pub closes_small_window: bool,
    /// Whether a full segment that ends a burst is acknowledged as soon as it is read (6.6
    /// `tcp_measure_rcv_mss`).
    pub push_asks_ack: bool,
    /// Whether an skb of several segments carries PSH on its last (5.4 `__tcp_transmit_skb`, commit 051ba67447de "tcp: force
    /// a PSH flag on TSO packets").
    pub pushes_tso: bool,
    /// Whether only an ACK that data asked for is one of the quick ones; else all are, also one that tells of a
    /// larger window (6.7 `tcp_dec_quickack_mode`, and 6.1.192).
    pub quick_by_data: bool,
    /// Whether segments beyond a hole tell the size of segments, and so the share of the buffer that is window
    /// (6.12.117 `tcp_data_queue_ofo`; 6.1 does not).
    pub measures_beyond_hole: bool,
    /// Whether segments of a flow that one poll of the card takes come to TCP as one (2.6.29 `tcp_gro_receive`).
    pub gro: bool,
    /// Whether received segments that follow each other join in memory (3.5 `tcp_try_coalesce`).
    pub joins_received: bool,
    /// Growth of the send buffer.
    pub snd_tuning: SndTuning,
    /// Room for headers in front of an skb's data, bytes (`MAX_TCP_HEADER`: 192, with WLAN or tunnels up to 320).
    pub max_tcp_header: u64,
    /// Growth of the receive buffer.
    pub rcv_tuning: RcvTuning,
    /// Whether what waits for the reader does not count as copied when the buffer grows by what was copied (6.12.117
    /// `tcp_rcv_space_adjust`; 6.1.192 counts it).
    pub copied_less_unread: bool,
    /// Whether the echo of a timestamp within the tick in which it was told is an RTT of one tick to the receiver, as in 6.1
    /// `tcp_rcv_rtt_measure_ts`; 6.12 learns nothing from it.
    pub same_tick_rtt: bool,
    /// A receive buffer that is more than full.
    pub receive_shortage: ReceiveShortage,
    /// Whether the receiver believes that the RTT has become longer only while nothing waits for the reader (6.16
    /// `tcp_rcv_rtt_update`, commit a00f135cd986 "tcp: skip big rtt sample if receive queue is not empty").
    pub longer_rtt_when_read: bool,
    /// Whether the ACKs of segments beyond a hole are held, all but the first three, for a twentieth of an RTT or
    /// a millisecond (4.18 `tcp_comp_sack_delay_ns`).
    pub compresses_sacks: bool,
    /// Whether a receiver answers segments without data that lie outside its window, such as probes of a closed one, twice a
    /// second at most (4.0 `tcp_oow_rate_limited`).
    pub rations_empty_answers: bool,
    /// Whether the host's `fq` has bands of flows, and lets packets go by while no flow has a turn (6.12 `fq_enqueue`,
    /// `fq_dequeue`; 6.1 has one band and lets none go by).
    pub fq_bands: bool,
    /// Whether an ACK that tells of a closed window is one that changes the window, and so no duplicate, though the window was
    /// closed before (6.12 `tcp_may_update_window`; not in 6.1.192).
    pub zero_window_updates: bool,
    /// Unit of `pkts_acked`.
    pub pkts_acked: PktsAcked,
    /// RTT told to the congestion control.
    pub cc_rtt: CcRtt,
    /// Whether a data segment that raises `rcv_ssthresh` is acknowledged at once
    /// (Linux 2.6.20 `tcp_grow_window`).
    pub quick_ack_on_growth: bool,
    /// Whether data that is sent soon after some came is taken for an answer, so that ACKs wait for more of them
    /// (Linux 2.6.20 to 6.12 `tcp_event_data_sent`, icsk_ack.pingpong).
    pub answers_bear_acks: bool,
    /// Whether an skb is at most half the largest window seen from the peer
    /// (Linux 2.6.20 `tcp_current_mss`).
    pub size_goal_half_window: bool,
    /// Whether the skb that ends the stream goes though cwnd is full.
    pub fin_beyond_cwnd: FinBeyondCwnd,
    /// Waiting of large skbs.
    pub tso_deferral: TsoDeferral,
    /// `tcp_tso_win_divisor`: share of cwnd below which a sender with TSO still counts as limited, and
    /// above which it does not wait.
    pub tso_win_divisor: u32,
    /// Size of skbs when they are sent.
    pub skb_size: SkbSize,
    /// Whether an skb that is smaller than may go takes bytes from the next one (6.10 `tcp_grow_skb`).
    pub grows_skbs: bool,
    /// Whether no skb is larger than half of cwnd (3.17 `tcp_cwnd_test`).
    pub half_cwnd_skbs: bool,
    /// Whether the partial end of a large skb goes with it where Nagle's rule lets it (3.14
    /// `tcp_mss_split_point`).
    pub sends_partial_end: bool,
    /// Whether a flow waits while the host still has a millisecond of it to send (3.6
    /// `tcp_small_queue_check`).
    pub small_queues: bool,
    /// How much of it that is.
    pub small_queue_limit: SmallQueueLimit,
    /// `tcp_limit_output_bytes` unless set: see there, bytes of memory (3.6 128 KiB, 4.20 1 MiB; 6.16 4 MiB, commit
    /// 9ea3bfa61b09 "tcp: increase tcp_limit_output_bytes default value to 4MB").
    pub limit_output_bytes: u64,
    /// Whether that bounds paced flows too (6.16 `tcp_small_queue_check`, commit c4221a8cc3a7 "tcp: always use
    /// tcp_limit_output_bytes limitation").
    pub limits_paced_output: bool,
    /// Whether the end of a write waits for more to be written while the host still has some of the flow to send (3.14
    /// `tcp_should_autocork`; in the profiles since small queues are).
    pub autocorks: bool,
    /// Whether an skb bears the time at which it is to leave, by the pacing rate, where fq or SO_MAX_PACING_RATE
    /// ask for it (4.20 `tcp_update_skb_after_send`).
    pub departure_times: bool,
    /// Whether `fq` keeps each flow's pacing rate itself (3.12 `fq_dequeue`, until skbs bear their times).
    pub fq_paces: bool,
    /// Memory of an skb in the send buffer besides its data, bytes: struct sk_buff and the head that is
    /// allocated for headers (`tcp_stream_alloc_skb`, `SKB_TRUESIZE`).
    pub skb_overhead: u64,
    /// When cwnd counts as used up.
    pub cwnd_limited: CwndLimited,
    /// Whether packets in flight before an ACK are counted before its SACKs are taken in (2.6.24
    /// `tcp_ack`; in 2.6.20 after).
    pub in_flight_before_sacks: bool,
    /// Whether `tcp_slow_start_after_idle` also says if a cwnd that the application leaves unused shrinks
    /// (2.6.24 `tcp_cwnd_validate`; in 2.6.20 it always does).
    pub idle_sysctl_validates: bool,
    /// What an earlier connection leaves.
    pub cached_metrics: CachedMetrics,
    /// Whether a connection leaves its reordering whatever state it ends in (2.6.20 `tcp_update_metrics`). 3.6 and later leave it
    /// where cwnd is below an ssthresh, or a loss is not over (`tcp_metrics.c`).
    pub caches_any_reordering: bool,
    /// Restart after idle time.
    pub idle_restart: IdleRestart,
    /// Growth while packets are reordered.
    pub growth_under_reordering: GrowthUnderReordering,
    /// Clock of srtt.
    pub rtt_clock: RttClock,
    /// Whether an RTT of less than a jiffy counts as one (2.6.20 `tcp_rtt_estimator`; not since the change of 2014,
    /// "tcp: remove 1ms offset in srtt computation").
    pub whole_jiffy_rtt: bool,
    /// Order of things in an ACK.
    pub ack_order: AckOrder,
    /// Source of RTT samples.
    pub rtt_source: RttSource,
    /// Least retransmission timeout, ms (Linux 2.6.20 `TCP_RTO_MIN`).
    pub rto_min_ms: u64,
    /// Timeout before the first sample, s: 3, since 3.1 1 (RFC 6298).
    pub timeout_init_s: u32,
    /// How often a SYN is sent again before its timeout doubles (6.5 `tcp_retransmit_timer`; sysctl tcp_syn_linear_timeouts).
    pub syn_linear_timeouts: u32,
    /// What a SYN that was sent again means for cwnd.
    pub repeated_syn: RepeatedSyn,
    /// Losses without FACK.
    pub sack_marking: SackMarking,
    /// Whether SACKs that are no duplicate ACK mark losses too (2.6.24 `tcp_fastretrans_alert`).
    pub sacks_mark: bool,
    /// Whether what was sent again without being lost may be marked (2.6.24 `tcp_mark_head_lost`).
    pub marks_resent: bool,
    /// Whether data sent after recovery began is marked (3.3 `tcp_mark_head_lost`).
    pub marks_beyond_high_seq: bool,
    /// Whether SACKs above `high_seq` mark losses in every state but Open (2.6.20 to 3.2).
    pub marks_data_lost: bool,
    /// Whether that needs FACK (2.6.25).
    pub data_lost_needs_fack: bool,
    /// Age of the first packet.
    pub head_timeout: HeadTimeout,
    /// Lost retransmissions.
    pub lost_retransmits: LostRetransmits,
    /// Reordering told by cumulative ACKs.
    pub hole_filled: HoleFilled,
    /// Whether reordering is believed after a timeout that may be undone (2.6.25
    /// `tcp_sacktag_write_queue`).
    pub reordering_after_loss: bool,
    /// Timeouts that reset reordering.
    pub timeout_reordering: TimeoutReordering,
    /// How cwnd comes down.
    pub reduction: Reduction,
    /// Bound of a proportional reduction.
    pub prr_bound: PrrBound,
    /// Steps of rate halving.
    pub halving_step: HalvingStep,
    /// Whether a dubious ACK in Open or Disorder limits cwnd to the packets in flight plus a small
    /// burst (Linux 2.6.20 to 3.11 `tcp_try_to_open`).
    pub moderate_cwnd: bool,
    /// That burst.
    pub max_burst: MaxBurst,
    /// Whether an undone cwnd is moderated (2.6.20 to 2.6.37 `tcp_undo_cwr`).
    pub undo_moderates: bool,
    /// Undo by D-SACK.
    pub dsack_undo: DsackUndo,
    /// Undo by a partial ACK.
    pub spurious_partial: SpuriousPartial,
    /// Tail loss probes.
    pub probe_timeout: ProbeTimeout,
    /// The Loss state.
    pub loss_states: LossStates,
    /// Spurious timeouts.
    pub frto: FrtoVersion,
    /// Longest wait of a delayed ACK.
    pub delack_max: DelackMax,
    /// Timers of a locked socket.
    pub locked_timers: LockedTimers,
    /// A locked socket's backlog.
    pub socket_backlog: SocketBacklog,
    /// Whether a program that is woken has the CPU before what softirqs have left to do: packets that come in the same
    /// nanosecond, and what of a flow waited for the host. Of two that became ready at one time EEVDF (6.6) picks the one that
    /// did first, the program; CFS gives more credit to ksoftirqd, which has slept longer (`handle_softirqs`,
    /// `place_entity`).
    pub woken_first: bool,
    /// What one pass of NET_RX_SOFTIRQ takes.
    pub net_rx: NetRx,
    /// When softirqs leave the rest to ksoftirqd.
    pub softirq_end: SoftirqEnd,
    /// Whether no softirq runs elsewhere while ksoftirqd is to run: neither as an interrupt or the tick ends nor as a program's
    /// call does (4.9 to 6.4 `ksoftirqd_running`; the revert is of 6.5, which is remembered).
    pub ksoftirqd_alone: bool,
    /// Whether reading a datagram lets softirqs run, as it takes and gives back the socket's lock: since UDP counts its memory
    /// (2.6.25 `udp_recvmsg`, commit 95766fff6b9a "[UDP]: Add memory accounting."; 6.12 `__skb_recv_udp`, the queue's lock). Before,
    /// the queue is locked against interrupts, and what waits comes with the next tick or interrupt.
    pub datagram_read_locks: bool,
    /// How ksoftirqd and programs share the CPU.
    pub scheduler: Scheduler,
    /// What timestamps count.
    pub timestamp_clock: TimestampClock,
    /// How late timers are.
    pub timer_wheel: TimerWheel,
    /// Whether the queue is walked along from its head or a hint for SACK blocks, marks and
    /// retransmissions, at the host's `cpu.walk` an skb (before 2.6.25).
    pub walks_queue: bool,
}

impl Profile {
    /// Whether an ACK changes cwnd before losses are looked for, as before 4.6: code of its own, with rows of its own
    /// (`behaviour/needs.rs`).
    pub(crate) fn cwnd_first(&self) -> bool {
        self.ack_order == AckOrder::CwndFirst
    }
}
