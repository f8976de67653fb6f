//! Rows of a profile by name, so that a scenario can override one of them:
//! `behaviour = { reduction = "prr" }`. A row also says what a profile must have chosen elsewhere to read it.

mod needs;

pub use needs::{Need, Refusal, refusals};

use super::profile::{
    AckOrder, CachedMetrics, CcRtt, CwndLimited, DelackMax, DsackUndo, FinBeyondCwnd, FirstRcvbuf,
    FrtoVersion, GrowthUnderReordering, HalvingStep, HeadTimeout, HoleFilled, IdleRestart,
    InitialCwnd, InitialWindow, LockedTimers, LossStates, LostRetransmits, MaxBurst, NetRx,
    PktsAcked, ProbeTimeout, Profile, PrrBound, RcvTuning, ReceiveShortage, Reduction, RepeatedSyn,
    RttClock, RttSource, SackMarking, Scheduler, SkbSize, SmallQueueLimit, SndTuning,
    SocketBacklog, SoftirqEnd, SpuriousPartial, TimeoutReordering, TimerWheel, TimestampClock,
    TsoDeferral, WindowShare, find,
};
use crate::config::Host;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A row that can be overridden.
pub struct Behaviour {
    /// Its name, that of the field of [`Profile`].
    pub name: &'static str,
    /// What it is about.
    pub doc: &'static str,
    /// The kernel's functions in which the choices were read.
    pub read: &'static str,
    /// What a profile needs to read it.
    pub needs: &'static [Need],
    /// The names of its choices.
    pub choices: fn() -> Vec<&'static str>,
    apply: fn(&mut Profile, &str) -> bool,
    of: fn(&Profile) -> &'static str,
}

/// A row's type: its choices by name.
trait Choices: Copy + PartialEq + 'static {
    fn all() -> &'static [(&'static str, Self)];
}

impl Choices for bool {
    fn all() -> &'static [(&'static str, bool)] {
        &[("false", false), ("true", true)]
    }
}

fn names<T: Choices>() -> Vec<&'static str> {
    T::all().iter().map(|(name, _)| *name).collect()
}

fn set<T: Choices>(field: &mut T, name: &str) -> bool {
    let found = T::all().iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *field = *choice).is_some()
}

fn name_of<T: Choices>(value: T) -> &'static str {
    T::all().iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| name)
}

macro_rules! behaviours {
    ($($field:ident: $type:ty, $doc:literal, $read:literal $(, $need:expr)*;)*) => {
        /// Every row that can be overridden.
        pub const BEHAVIOURS: &[Behaviour] = &[$(Behaviour {
            name: stringify!($field),
            doc: $doc,
            read: $read,
            needs: &[$($need),*],
            choices: names::<$type>,
            apply: |profile, name| set(&mut profile.$field, name),
            of: |profile| name_of(profile.$field),
        },)*];
    };
}

macro_rules! choices {
    ($($type:ty),* $(,)?) => {$(
        impl Choices for $type {
            fn all() -> &'static [(&'static str, $type)] {
                <$type>::CHOICES
            }
        }
    )*};
}

choices! {
    CachedMetrics, DelackMax, FirstRcvbuf, SndTuning, InitialCwnd, InitialWindow, PktsAcked, CcRtt, CwndLimited, GrowthUnderReordering, RttClock, RttSource,
    SackMarking, HeadTimeout, LostRetransmits, HoleFilled, IdleRestart, TimeoutReordering, Reduction, HalvingStep,
    MaxBurst, DsackUndo, SpuriousPartial, LossStates, FrtoVersion, TsoDeferral,
    FinBeyondCwnd, LockedTimers, RepeatedSyn, SocketBacklog, TimerWheel, TimestampClock, AckOrder, PrrBound, ProbeTimeout, SkbSize, SmallQueueLimit, WindowShare, RcvTuning,
    ReceiveShortage, NetRx, SoftirqEnd, Scheduler,
}

behaviours! {
    initial_cwnd: InitialCwnd,
        "initial congestion window, packets",
        "tcp_init_cwnd";
    repeated_syn: RepeatedSyn,
        "with what a connection begins whose SYN was sent more than twice",
        "tcp_init_metrics, tcp_try_undo_spurious_syn, tcp_init_transfer";
    initial_window: InitialWindow,
        "first window that a receiver offers, segments",
        "tcp_select_initial_window, tcp_default_init_rwnd";
    first_rcvbuf: FirstRcvbuf,
        "receive buffer with which a connection begins whose application has set none",
        "tcp_fixup_rcvbuf, tcp_init_buffer_space";
    window_share: WindowShare,
        "which share of a receive buffer may be offered as window",
        "tcp_win_from_space, tcp_measure_rcv_mss";
    offers_first_window: bool,
        "the first window counts as offered in whole, although a SYN-ACK tells 65,535 bytes at most",
        "tcp_openreq_init_rwin";
    grows_by_data: bool,
        "the memory of a segment's head does not count when the window opens",
        "truesize_adjust";
    closes_small_window: bool,
        "a window of less than a sixteenth of the buffer is none",
        "__tcp_select_window";
    push_asks_ack: bool,
        "a full segment that ends a burst is acknowledged as soon as it is read",
        "tcp_measure_rcv_mss";
    pushes_tso: bool,
        "what leaves as several segments at once ends a burst (PSH)",
        "__tcp_transmit_skb";
    quick_by_data: bool,
        "of the ACKs that go at once only those count that data asked for, not one of a larger window",
        "tcp_dec_quickack_mode";
    measures_beyond_hole: bool,
        "segments beyond a hole, too, tell how large segments are and what share of the buffer is window",
        "tcp_data_queue_ofo";
    gro: bool,
        "segments of a flow that one poll of the card takes come to TCP as one",
        "tcp_gro_receive";
    joins_received: bool,
        "received segments that follow each other share the memory of one head",
        "tcp_try_coalesce";
    snd_tuning: SndTuning,
        "how a send buffer grows that the application has not set",
        "tcp_new_space, tcp_sndbuf_expand";
    rcv_tuning: RcvTuning,
        "how a receive buffer grows that the application has not set",
        "tcp_rcv_space_adjust, tcp_rcvbuf_grow";
    copied_less_unread: bool,
        "the receive buffer grows by what was copied less what waits for the reader",
        "tcp_rcv_space_adjust";
    same_tick_rtt: bool,
        "a timestamp echoed within its tick is an RTT of one tick to the receiver",
        "tcp_rcv_rtt_measure_ts";
    receive_shortage: ReceiveShortage,
        "what becomes of a segment for which the receive buffer has no room",
        "tcp_prune_queue, tcp_clamp_window, tcp_select_window";
    longer_rtt_when_read: bool,
        "a receiver believes that the RTT has become longer only while nothing waits for the reader",
        "tcp_rcv_rtt_update";
    compresses_sacks: bool,
        "the ACKs of segments beyond a hole are held, all but the first three",
        "__tcp_ack_snd_check";
    rations_empty_answers: bool,
        "probes of a closed window are answered twice a second at most",
        "tcp_oow_rate_limited";
    fq_bands: bool,
        "a host's fq has bands of flows, and packets go by while no flow has a turn",
        "fq_enqueue, fq_dequeue, fq_fastpath_check";
    zero_window_updates: bool,
        "an ACK that says that the window is closed is no duplicate, though it was closed before",
        "tcp_may_update_window";
    pkts_acked: PktsAcked,
        "what the congestion control's pkts_acked counts",
        "tcp_clean_rtx_queue",
        Need::CwndFirst("segments count");
    cc_rtt: CcRtt,
        "the RTT that a congestion control is told",
        "tcp_clean_rtx_queue, cubictcp_register",
        Need::CwndFirst("the newest packet that was not sent again tells it, in microseconds");
    quick_ack_on_growth: bool,
        "a segment that opens the window is acknowledged at once",
        "tcp_grow_window";
    answers_bear_acks: bool,
        "who has sent data soon after some came lets ACKs wait for more of it, and acknowledges no first segments at once",
        "tcp_event_data_sent";
    size_goal_half_window: bool,
        "an skb is at most half the largest window seen",
        "tcp_current_mss, tcp_bound_to_half_wnd";
    fin_beyond_cwnd: FinBeyondCwnd,
        "the skb that ends the stream goes though cwnd is full",
        "tcp_cwnd_test";
    tso_deferral: TsoDeferral,
        "which large skbs wait until enough of them may go",
        "tcp_tso_should_defer";
    skb_size: SkbSize,
        "how large an skb is when it is sent",
        "tcp_tso_autosize";
    grows_skbs: bool,
        "an skb that is smaller than may go takes bytes from the next one",
        "tcp_grow_skb";
    half_cwnd_skbs: bool,
        "no skb is larger than half of cwnd",
        "tcp_cwnd_test";
    sends_partial_end: bool,
        "the partial end of a large skb goes with it where Nagle's rule lets it",
        "tcp_mss_split_point";
    small_queues: bool,
        "a flow waits while the host still has a millisecond of it to send",
        "tcp_small_queue_check";
    small_queue_limit: SmallQueueLimit,
        "how much of a flow may wait in the host",
        "tcp_write_xmit, tcp_small_queue_check";
    limits_paced_output: bool,
        "tcp_limit_output_bytes bounds what of a paced flow waits in the host, too",
        "tcp_small_queue_check";
    autocorks: bool,
        "the end of a write waits for more to be written while the host still has some of the flow to send",
        "tcp_should_autocork";
    departure_times: bool,
        "an skb bears the time at which it is to leave, by the pacing rate, where fq or SO_MAX_PACING_RATE ask for it",
        "tcp_update_skb_after_send";
    fq_paces: bool,
        "fq keeps each flow's pacing rate itself",
        "fq_dequeue";
    cwnd_limited: CwndLimited,
        "when a sender with TSO counts as limited by cwnd",
        "tcp_is_cwnd_limited";
    in_flight_before_sacks: bool,
        "packets in flight are counted before an ACK's SACKs are taken in",
        "tcp_ack",
        Need::CwndFirst("they are");
    idle_sysctl_validates: bool,
        "tcp_slow_start_after_idle says whether an unused cwnd shrinks too",
        "tcp_cwnd_validate";
    cached_metrics: CachedMetrics,
        "what a connection takes over from an earlier one to the same host",
        "tcp_init_metrics";
    caches_any_reordering: bool,
        "a connection leaves its reordering to the next one whatever state it ends in",
        "tcp_update_metrics";
    idle_restart: IdleRestart,
        "when a sender that was idle begins anew with a small cwnd",
        "tcp_cwnd_restart";
    growth_under_reordering: GrowthUnderReordering,
        "cwnd grows by out-of-order data",
        "tcp_may_raise_cwnd",
        Need::CwndFirst("once reordering is known to be high, it does");
    rtt_clock: RttClock,
        "the clock of srtt and the timeout",
        "tcp_rtt_estimator";
    whole_jiffy_rtt: bool,
        "an RTT of less than a jiffy counts as one",
        "tcp_rtt_estimator, tcp_update_pacing_rate",
        Need::InJiffies;
    ack_order: AckOrder,
        "when an ACK changes cwnd: before losses are looked for, or after",
        "tcp_ack, tcp_cong_control";
    rtt_source: RttSource,
        "which RTT sample is taken where there are timestamps",
        "tcp_ack_update_rtt",
        Need::CwndFirst("the ACK's own, then a SACK's, then the timestamp's");
    sack_marking: SackMarking,
        "what counts as lost by SACK, without FACK",
        "tcp_update_scoreboard, tcp_mark_head_lost";
    sacks_mark: bool,
        "SACKs that are no duplicate ACK mark losses",
        "tcp_fastretrans_alert",
        Need::CwndFirst("by count they do, where they reach further than reordering explains");
    marks_resent: bool,
        "what was sent again without being lost may be marked",
        "tcp_mark_head_lost",
        Need::CwndFirst("by count it is");
    marks_beyond_high_seq: bool,
        "data sent after recovery began is marked",
        "tcp_mark_head_lost",
        Need::CwndFirst("by count it is");
    marks_data_lost: bool,
        "SACKs above high_seq mark losses in every state but Open",
        "tcp_fastretrans_alert",
        Need::CwndFirst("they do not");
    data_lost_needs_fack: bool,
        "that needs FACK",
        "tcp_fastretrans_alert",
        Need::CwndFirst("there is no FACK"),
        Need::MarksDataLost;
    head_timeout: HeadTimeout,
        "the first packet's age alone proves a loss",
        "tcp_time_to_recover, tcp_update_scoreboard",
        Need::CwndFirst("it does not");
    lost_retransmits: LostRetransmits,
        "how lost retransmissions are found",
        "tcp_sacktag_write_queue, tcp_mark_lost_retrans",
        Need::CwndFirst("by their age, if losses are");
    hole_filled: HoleFilled,
        "how a cumulative ACK tells of reordering",
        "tcp_sacktag_write_queue, tcp_clean_rtx_queue",
        Need::CwndFirst("always, where it lies below the highest SACK");
    reordering_after_loss: bool,
        "reordering is believed after a timeout that may be undone",
        "tcp_sacktag_write_queue",
        Need::CwndFirst("it is");
    timeout_reordering: TimeoutReordering,
        "which timeouts reset the reordering metric",
        "tcp_enter_loss";
    reduction: Reduction,
        "how cwnd comes down in CWR and Recovery",
        "tcp_cwnd_down, tcp_cwnd_reduction",
        Need::CwndFirst("by proportional rate reduction");
    prr_bound: PrrBound,
        "how many packets a proportional reduction lets go below ssthresh",
        "tcp_cwnd_reduction",
        Need::CwndLast("as slow start would");
    halving_step: HalvingStep,
        "which ACKs count for rate halving",
        "tcp_cwnd_down",
        Need::CwndFirst("by proportional rate reduction"),
        Need::RateHalving;
    moderate_cwnd: bool,
        "a dubious ACK limits cwnd to what is in flight and a burst",
        "tcp_try_to_open",
        Need::CwndFirst("it does not");
    max_burst: MaxBurst,
        "that burst",
        "tcp_max_burst",
        Need::CwndFirst("cwnd is not moderated");
    undo_moderates: bool,
        "an undone cwnd is moderated",
        "tcp_undo_cwr, tcp_undo_cwnd_reduction",
        Need::CwndFirst("it is not");
    dsack_undo: DsackUndo,
        "in which states D-SACKs undo a reduction",
        "tcp_try_undo_dsack",
        Need::CwndFirst("in Open, Disorder and Recovery");
    spurious_partial: SpuriousPartial,
        "what a partial ACK of a late segment ends",
        "tcp_try_undo_partial",
        Need::CwndFirst("Recovery, once no retransmission is out");
    probe_timeout: ProbeTimeout,
        "when a tail loss probe goes",
        "tcp_schedule_loss_probe";
    loss_states: LossStates,
        "how the Loss state works",
        "tcp_fastretrans_alert, tcp_process_loss",
        Need::CwndFirst("with F-RTO inside, without moderation");
    frto: FrtoVersion,
        "how spurious timeouts are told from losses",
        "tcp_enter_frto, tcp_process_frto, tcp_process_loss",
        Need::CwndFirst("by RFC 5682, inside Loss");
    delack_max: DelackMax,
        "how long a delayed ACK waits at most, besides an RTT",
        "tcp_send_delayed_ack, tcp_delack_max";
    locked_timers: LockedTimers,
        "what a timer does that finds its socket locked",
        "tcp_write_timer, tcp_delack_timer, tcp_release_cb";
    socket_backlog: SocketBacklog,
        "what waits in the backlog of a socket that a process has",
        "tcp_space, __tcp_ack_snd_check, tcp_release_cb";
    woken_first: bool,
        "a program that is woken goes before what softirqs have left to do",
        "handle_softirqs, pick_eevdf";
    net_rx: NetRx,
        "what one pass of NET_RX_SOFTIRQ takes, by net.core.netdev_budget and by time",
        "net_rx_action";
    softirq_end: SoftirqEnd,
        "when softirqs that find more to do leave it to ksoftirqd",
        "__do_softirq, handle_softirqs";
    ksoftirqd_alone: bool,
        "while ksoftirqd is to run, no softirq runs at the end of an interrupt, a tick or a program's call",
        "ksoftirqd_running, invoke_softirq, do_softirq";
    datagram_read_locks: bool,
        "reading a datagram lets softirqs run as it ends",
        "udp_recvmsg, __skb_recv_udp";
    scheduler: Scheduler,
        "how ksoftirqd and programs share the CPU",
        "task_timeslice, sched_slice, place_entity, update_deadline";
    timestamp_clock: TimestampClock,
        "what the timestamps of TCP's option count",
        "tcp_time_stamp_ts, TCP_TS_HZ";
    timer_wheel: TimerWheel,
        "when a timer fires that is due on a tick",
        "calc_wheel_index";
    walks_queue: bool,
        "SACKs, marks and sending again cost walks along the send queue",
        "tcp_sacktag_write_queue, tcp_mark_head_lost, tcp_xmit_retransmit_queue",
        Need::CwndFirst("the queue is a tree");
}

/// The row called `name`.
pub fn behaviour(name: &str) -> Option<&'static Behaviour> {
    BEHAVIOURS.iter().find(|row| row.name == name)
}

impl Behaviour {
    /// What `profile` chooses here.
    pub fn of(&self, profile: &Profile) -> &'static str {
        (self.of)(profile)
    }

    /// Puts the choice of that name into `profile`; false if there is none.
    pub fn apply(&self, profile: &mut Profile, choice: &str) -> bool {
        (self.apply)(profile, choice)
    }
}

/// The profile of a host, with what it overrides.
///
/// # Errors
/// An unknown kernel, behaviour or choice, or a row that the profile does not read.
pub fn profile_of(host: &Host) -> Result<Profile, String> {
    let known = find(&host.kernel).ok_or_else(|| format!("unknown profile {}", host.kernel))?;
    let mut profile = *known;
    for (name, choice) in &host.behaviour {
        let row = behaviour(name).ok_or_else(|| format!("unknown behaviour {name}"))?;
        if !row.apply(&mut profile, choice) {
            return Err(format!("behaviour {name}: unknown choice {choice}"));
        }
    }
    let overridden: Vec<&str> = host.behaviour.iter().map(|(name, _)| name.as_str()).collect();
    match refusals(&profile, &overridden).first() {
        Some(refusal) => Err(format!("behaviour {}: {refusal}", refusal.row)),
        None => Ok(profile),
    }
}
