//! TCP's sysctls that only a genuine kernel reads: each is one number. What they mean and may be is told in the
//! kernel's `Documentation/networking/ip-sysctl.rst`; the kernel itself refuses what is out of its range.

/// A sysctl of a genuine kernel.
pub struct Genuine {
    /// The kernel's full dotted name.
    pub name: &'static str,
    /// Whether Linux 6.1 does not have it yet.
    pub after_6_1: bool,
}

const fn old(name: &'static str) -> Genuine {
    Genuine { name, after_6_1: false }
}

const fn new(name: &'static str) -> Genuine {
    Genuine { name, after_6_1: true }
}

/// All of one network namespace that can be written, without those that the simulator reads too. Tests compare
/// them with what the kernels have.
pub const GENUINE: &[Genuine] = &[
    old("net.ipv4.tcp_abort_on_overflow"),
    old("net.ipv4.tcp_app_win"),
    old("net.ipv4.tcp_autocorking"),
    new("net.ipv4.tcp_backlog_ack_defer"),
    old("net.ipv4.tcp_base_mss"),
    old("net.ipv4.tcp_challenge_ack_limit"),
    old("net.ipv4.tcp_comp_sack_delay_ns"),
    old("net.ipv4.tcp_comp_sack_nr"),
    old("net.ipv4.tcp_comp_sack_slack_ns"),
    old("net.ipv4.tcp_early_demux"),
    old("net.ipv4.tcp_ecn"),
    old("net.ipv4.tcp_ecn_fallback"),
    old("net.ipv4.tcp_fastopen"),
    old("net.ipv4.tcp_fastopen_blackhole_timeout_sec"),
    old("net.ipv4.tcp_fin_timeout"),
    old("net.ipv4.tcp_fwmark_accept"),
    old("net.ipv4.tcp_invalid_ratelimit"),
    old("net.ipv4.tcp_keepalive_intvl"),
    old("net.ipv4.tcp_keepalive_probes"),
    old("net.ipv4.tcp_keepalive_time"),
    old("net.ipv4.tcp_limit_output_bytes"),
    old("net.ipv4.tcp_max_reordering"),
    old("net.ipv4.tcp_max_syn_backlog"),
    old("net.ipv4.tcp_max_tw_buckets"),
    old("net.ipv4.tcp_migrate_req"),
    old("net.ipv4.tcp_min_rtt_wlen"),
    old("net.ipv4.tcp_min_snd_mss"),
    old("net.ipv4.tcp_min_tso_segs"),
    old("net.ipv4.tcp_moderate_rcvbuf"),
    old("net.ipv4.tcp_mtu_probe_floor"),
    old("net.ipv4.tcp_mtu_probing"),
    old("net.ipv4.tcp_no_ssthresh_metrics_save"),
    old("net.ipv4.tcp_notsent_lowat"),
    old("net.ipv4.tcp_orphan_retries"),
    old("net.ipv4.tcp_pacing_ca_ratio"),
    old("net.ipv4.tcp_pacing_ss_ratio"),
    new("net.ipv4.tcp_pingpong_thresh"),
    new("net.ipv4.tcp_plb_cong_thresh"),
    new("net.ipv4.tcp_plb_enabled"),
    new("net.ipv4.tcp_plb_idle_rehash_rounds"),
    new("net.ipv4.tcp_plb_rehash_rounds"),
    new("net.ipv4.tcp_plb_suspend_rto_sec"),
    old("net.ipv4.tcp_probe_interval"),
    old("net.ipv4.tcp_probe_threshold"),
    old("net.ipv4.tcp_recovery"),
    old("net.ipv4.tcp_reflect_tos"),
    old("net.ipv4.tcp_retrans_collapse"),
    old("net.ipv4.tcp_retries1"),
    old("net.ipv4.tcp_retries2"),
    old("net.ipv4.tcp_rfc1337"),
    new("net.ipv4.tcp_rto_min_us"),
    old("net.ipv4.tcp_shrink_window"),
    old("net.ipv4.tcp_stdurg"),
    new("net.ipv4.tcp_syn_linear_timeouts"),
    old("net.ipv4.tcp_syn_retries"),
    old("net.ipv4.tcp_synack_retries"),
    old("net.ipv4.tcp_syncookies"),
    old("net.ipv4.tcp_thin_linear_timeouts"),
    old("net.ipv4.tcp_tso_rtt_log"),
    old("net.ipv4.tcp_tso_win_divisor"),
    old("net.ipv4.tcp_tw_reuse"),
    old("net.ipv4.tcp_workaround_signed_windows"),
];

/// The one of that name.
pub fn genuine(name: &str) -> Option<&'static Genuine> {
    GENUINE.iter().find(|known| known.name == name)
}
