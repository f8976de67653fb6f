//! The table of kernel versions.
//!
//! Read in `tcp_input.c`, `tcp_output.c` and `tcp.h` of these versions: 2.6.20 and 2.6.24 as released,
//! 2.6.25 as of its last release candidates, `tcp_input.c` and `tcp.h` of 2.6.32 as of its merge window,
//! 3.14 as released; 6.1 and 6.12 as the kernels of engine `linux` are built; of 6.18 single changes. `tcp_output.c` of 2.6.32 was read in 2.6.28 and 2.6.33, which agree but for
//! [`TsoDeferral`], whose change is of 2.6.29. `docs/kernels.md` shows the table.

use super::profile::{
    AckOrder, CachedMetrics, CcRtt, CwndLimited, DelackMax, DsackUndo, FinBeyondCwnd, FrtoVersion,
    GrowthUnderReordering, HalvingStep, HeadTimeout, HoleFilled, IdleRestart, InitialCwnd,
    InitialWindow, LockedTimers, LossStates, LostRetransmits, MaxBurst, PktsAcked, ProbeTimeout,
    Profile, PrrBound, RcvTuning, ReceiveShortage, Reduction, RepeatedSyn, RttClock, RttSource,
    SackMarking, SkbSize, SocketBacklog, SpuriousPartial, TimeoutReordering, TimerWheel,
    TimestampClock, TsoDeferral, WindowShare,
};

const LINUX_2_6_20: Profile = Profile {
    name: "2.6.20",
    unjudged: false,
    initial_cwnd: InitialCwnd::ByMss,
    repeated_syn: RepeatedSyn::Ignored,
    initial_window: InitialWindow::ByMss,
    window_share: WindowShare::AdvWinScale,
    offers_first_window: false,
    rx_overhead: 256,
    grows_by_data: false,
    closes_small_window: false,
    push_asks_ack: false,
    pushes_tso: false,
    quick_by_data: false,
    measures_beyond_hole: false,
    gro: false,
    joins_received: false,
    rcv_tuning: RcvTuning::PerRtt,
    copied_less_unread: false,
    same_tick_rtt: true,
    receive_shortage: ReceiveShortage::Discard,
    longer_rtt_when_read: false,
    compresses_sacks: false,
    rations_empty_answers: false,
    fq_bands: false,
    zero_window_updates: false,
    pkts_acked: PktsAcked::Skbs,
    cc_rtt: CcRtt::Echo,
    quick_ack_on_growth: true,
    size_goal_half_window: true,
    fin_beyond_cwnd: FinBeyondCwnd::Always,
    tso_deferral: TsoDeferral::Never,
    tso_win_divisor: 3,
    skb_size: SkbSize::AsWritten,
    grows_skbs: false,
    half_cwnd_skbs: false,
    sends_partial_end: false,
    small_queues: false,
    limit_output_bytes: 1 << 20,
    limits_paced_output: false,
    autocorks: false,
    departure_times: false,
    // The head (MAX_TCP_HEADER rounded up) and struct sk_buff on x86-64.
    skb_overhead: 512,
    cwnd_limited: CwndLimited::Share,
    in_flight_before_sacks: false,
    idle_sysctl_validates: false,
    cached_metrics: CachedMetrics::Own,
    caches_any_reordering: true,
    idle_restart: IdleRestart::Sending,
    growth_under_reordering: GrowthUnderReordering::Never,
    rtt_clock: RttClock::Jiffies,
    ack_order: AckOrder::CwndFirst,
    rtt_source: RttSource::Echo,
    rto_min_ms: 200,
    timeout_init_s: 3,
    syn_linear_timeouts: 0,
    sack_marking: SackMarking::HeadOnly,
    sacks_mark: false,
    marks_resent: false,
    marks_beyond_high_seq: false,
    marks_data_lost: true,
    data_lost_needs_fack: false,
    head_timeout: HeadTimeout::Any,
    lost_retransmits: LostRetransmits::ByDistance,
    hole_filled: HoleFilled::BySacks,
    reordering_after_loss: false,
    timeout_reordering: TimeoutReordering::Always,
    reduction: Reduction::RateHalving,
    prr_bound: PrrBound::SlowStart,
    halving_step: HalvingStep::AnyAck,
    moderate_cwnd: true,
    max_burst: MaxBurst::Three,
    undo_moderates: true,
    dsack_undo: DsackUndo::Disorder,
    spurious_partial: SpuriousPartial::Reduction,
    probe_timeout: ProbeTimeout::Draft,
    loss_states: LossStates::Classic,
    frto: FrtoVersion::Basic,
    delack_max: DelackMax::Half,
    locked_timers: LockedTimers::PutOff,
    socket_backlog: SocketBacklog::Plain,
    woken_first: false,
    timestamp_clock: TimestampClock::Jiffies,
    timer_wheel: TimerWheel::Cascading,
    walks_queue: true,
};

const LINUX_2_6_24: Profile = Profile {
    name: "2.6.24",
    pkts_acked: PktsAcked::Segments,
    cc_rtt: CcRtt::Jiffies,
    fin_beyond_cwnd: FinBeyondCwnd::Single,
    in_flight_before_sacks: true,
    idle_sysctl_validates: true,
    sacks_mark: true,
    marks_resent: true,
    hole_filled: HoleFilled::ByAck,
    halving_step: HalvingStep::Progress,
    frto: FrtoVersion::SackToHighmark,
    ..LINUX_2_6_20
};

const LINUX_2_6_25: Profile = Profile {
    name: "2.6.25",
    tso_deferral: TsoDeferral::Any,
    sack_marking: SackMarking::Rfc3517,
    data_lost_needs_fack: true,
    head_timeout: HeadTimeout::Fack,
    lost_retransmits: LostRetransmits::ByFack,
    reordering_after_loss: true,
    walks_queue: false,
    ..LINUX_2_6_24
};

const LINUX_2_6_32: Profile = Profile {
    name: "2.6.32",
    gro: true,
    tso_deferral: TsoDeferral::Last,
    cwnd_limited: CwndLimited::ShareAndBytes,
    max_burst: MaxBurst::Reordering,
    frto: FrtoVersion::Sack,
    ..LINUX_2_6_25
};

const LINUX_3_14: Profile = Profile {
    name: "3.14",
    initial_cwnd: InitialCwnd::Ten,
    repeated_syn: RepeatedSyn::OneSegment,
    initial_window: InitialWindow::Twenty,
    cc_rtt: CcRtt::Microseconds,
    tso_deferral: TsoDeferral::Once,
    cwnd_limited: CwndLimited::ShareAndSizeGoal,
    growth_under_reordering: GrowthUnderReordering::WhenHigh,
    rtt_source: RttSource::Ack,
    timeout_init_s: 1,
    cached_metrics: CachedMetrics::Timeout,
    caches_any_reordering: false,
    sack_marking: SackMarking::Rfc6675,
    marks_beyond_high_seq: true,
    marks_data_lost: false,
    head_timeout: HeadTimeout::Never,
    timeout_reordering: TimeoutReordering::Disordered,
    reduction: Reduction::Prr,
    moderate_cwnd: false,
    undo_moderates: false,
    dsack_undo: DsackUndo::Recovery,
    spurious_partial: SpuriousPartial::Recovery,
    loss_states: LossStates::Frto,
    frto: FrtoVersion::Rfc5682,
    locked_timers: LockedTimers::Released,
    ..LINUX_2_6_32
};

const LINUX_6_1: Profile = Profile {
    name: "6.1",
    repeated_syn: RepeatedSyn::UnlessLate,
    pushes_tso: true,
    idle_restart: IdleRestart::Writing,
    cached_metrics: CachedMetrics::TimeoutAlone,
    initial_window: InitialWindow::Full,
    offers_first_window: true,
    rx_overhead: 768,
    grows_by_data: true,
    closes_small_window: true,
    push_asks_ack: true,
    quick_by_data: true,
    delack_max: DelackMax::Fifth,
    joins_received: true,
    rcv_tuning: RcvTuning::Growth,
    receive_shortage: ReceiveShortage::Grow,
    compresses_sacks: true,
    rations_empty_answers: true,
    skb_size: SkbSize::PacedOrNear,
    half_cwnd_skbs: true,
    sends_partial_end: true,
    small_queues: true,
    autocorks: true,
    departure_times: true,
    // User-mode Linux as built here: sk_buff of 256 bytes, skb_shared_info of 320, a head of 192 (kmalloc of 512).
    skb_overhead: 768,
    tso_deferral: TsoDeferral::NextAck,
    cwnd_limited: CwndLimited::Used,
    ack_order: AckOrder::CwndLast,
    rtt_clock: RttClock::Microseconds,
    sack_marking: SackMarking::Rack,
    prr_bound: PrrBound::Delivered,
    probe_timeout: ProbeTimeout::Rack,
    socket_backlog: SocketBacklog::Counted,
    timestamp_clock: TimestampClock::Milliseconds,
    timer_wheel: TimerWheel::Levels,
    ..LINUX_3_14
};

const LINUX_6_12: Profile = Profile {
    name: "6.12",
    syn_linear_timeouts: 4,
    initial_window: InitialWindow::Unbounded,
    window_share: WindowShare::Measured,
    measures_beyond_hole: true,
    copied_less_unread: true,
    same_tick_rtt: false,
    fq_bands: true,
    zero_window_updates: true,
    receive_shortage: ReceiveShortage::GrowOrClose,
    fin_beyond_cwnd: FinBeyondCwnd::Never,
    grows_skbs: true,
    delack_max: DelackMax::BelowRtoMin,
    socket_backlog: SocketBacklog::OneAck,
    woken_first: true,
    // Since 6.3 small heads have a cache of their own (skb_small_head_cache), of 576 bytes with skb_shared_info.
    rx_overhead: 832,
    skb_overhead: 832,
    ..LINUX_6_1
};

/// 6.12.117 with what was published of 6.13 to 6.18 and is told of in `docs/kernels.md`; its sources were not read.
const LINUX_6_18: Profile = Profile {
    name: "6.18",
    unjudged: true,
    rcv_tuning: RcvTuning::GrowthAndHoles,
    longer_rtt_when_read: true,
    limit_output_bytes: 4 << 20,
    limits_paced_output: true,
    ..LINUX_6_12
};

/// All known profiles, oldest first.
pub const PROFILES: &[Profile] = &[
    LINUX_2_6_20,
    LINUX_2_6_24,
    LINUX_2_6_25,
    LINUX_2_6_32,
    LINUX_3_14,
    LINUX_6_1,
    LINUX_6_12,
    LINUX_6_18,
];

/// The profile called `name`.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|p| p.name == name)
}
