//! TCP's sysctls that only a real kernel reads: each is one number. Their meaning is in the kernel's
//! `Documentation/networking/ip-sysctl.rst`. The kernel itself limits their values: a test tries it.

use fullpipe_base::bounds::Bounds;
use fullpipe_sim::cc::KernelVersion;

/// A sysctl of real kernels.
pub struct RealSysctl {
    /// The kernel's full dotted name.
    pub name: &'static str,
    /// Least and greatest value that a kernel takes.
    pub bounds: Bounds,
    /// First version that has it.
    pub since: KernelVersion,
    /// First version that lacks it again.
    pub until: Option<KernelVersion>,
}

impl RealSysctl {
    /// Whether a kernel of this version has it.
    pub fn is_in(&self, version: KernelVersion) -> bool {
        version >= self.since && self.until.is_none_or(|until| version < until)
    }
}

/// A sysctl that all kernels of an engine have.
const fn row(name: &'static str, bounds: Bounds) -> RealSysctl {
    RealSysctl { name, bounds, since: KernelVersion::FIRST, until: None }
}

/// A sysctl of newer kernels only. The version that introduced it, between two kernels that an engine runs, is inferred
/// from the kernel's history: no test sees it.
const fn since(a: u8, b: u8, sysctl: RealSysctl) -> RealSysctl {
    RealSysctl { since: KernelVersion::new(a, b, 0), ..sysctl }
}

const SWITCH: Bounds = Bounds::new(0, 1);
/// Kernels keep most of them in a byte.
const BYTE: Bounds = Bounds::new(0, 255);
const INT: Bounds = Bounds::new(i32::MIN as i64, i32::MAX as i64);
const FROM_0: Bounds = Bounds::new(0, INT.max);
/// Seconds, which the kernel keeps in jiffies, in an `int`: the range that is right for the largest HZ.
const SECONDS: Bounds = Bounds::new(INT.min / 1000, INT.max / 1000);

/// All sysctls of one network namespace that can be written, without those that the simulator reads too. Tests compare
/// them with the kernels' names and ranges.
pub const REAL_SYSCTLS: &[RealSysctl] = &[
    row("net.ipv4.tcp_abort_on_overflow", BYTE),
    row("net.ipv4.tcp_app_win", Bounds::new(0, 31)),
    row("net.ipv4.tcp_autocorking", SWITCH),
    since(6, 7, row("net.ipv4.tcp_backlog_ack_defer", SWITCH)),
    row("net.ipv4.tcp_challenge_ack_limit", INT),
    row("net.ipv4.tcp_early_demux", BYTE),
    row("net.ipv4.tcp_ecn_fallback", SWITCH),
    row("net.ipv4.tcp_fastopen", INT),
    row("net.ipv4.tcp_fastopen_blackhole_timeout_sec", FROM_0),
    row("net.ipv4.tcp_fin_timeout", SECONDS),
    row("net.ipv4.tcp_fwmark_accept", BYTE),
    row("net.ipv4.tcp_invalid_ratelimit", FROM_0),
    row("net.ipv4.tcp_keepalive_intvl", SECONDS),
    row("net.ipv4.tcp_keepalive_probes", BYTE),
    row("net.ipv4.tcp_keepalive_time", SECONDS),
    row("net.ipv4.tcp_max_reordering", Bounds::new(1, INT.max)),
    row("net.ipv4.tcp_max_syn_backlog", INT),
    row("net.ipv4.tcp_max_tw_buckets", INT),
    row("net.ipv4.tcp_migrate_req", SWITCH),
    row("net.ipv4.tcp_min_rtt_wlen", Bounds::new(0, 86_400)),
    row("net.ipv4.tcp_min_tso_segs", Bounds::new(1, 255)),
    row("net.ipv4.tcp_moderate_rcvbuf", BYTE),
    row("net.ipv4.tcp_no_ssthresh_metrics_save", SWITCH),
    row("net.ipv4.tcp_orphan_retries", BYTE),
    since(6, 7, row("net.ipv4.tcp_pingpong_thresh", Bounds::new(1, 255))),
    since(6, 2, row("net.ipv4.tcp_plb_cong_thresh", Bounds::new(0, 256))),
    since(6, 2, row("net.ipv4.tcp_plb_enabled", SWITCH)),
    since(6, 2, row("net.ipv4.tcp_plb_idle_rehash_rounds", Bounds::new(0, 31))),
    since(6, 2, row("net.ipv4.tcp_plb_rehash_rounds", Bounds::new(0, 31))),
    since(6, 2, row("net.ipv4.tcp_plb_suspend_rto_sec", BYTE)),
    row("net.ipv4.tcp_recovery", BYTE),
    row("net.ipv4.tcp_reflect_tos", SWITCH),
    row("net.ipv4.tcp_retrans_collapse", BYTE),
    row("net.ipv4.tcp_retries1", BYTE),
    row("net.ipv4.tcp_retries2", BYTE),
    row("net.ipv4.tcp_rfc1337", BYTE),
    since(6, 11, row("net.ipv4.tcp_rto_min_us", Bounds::new(1, INT.max))),
    row("net.ipv4.tcp_shrink_window", SWITCH),
    row("net.ipv4.tcp_stdurg", BYTE),
    since(6, 5, row("net.ipv4.tcp_syn_linear_timeouts", Bounds::new(0, 127))),
    row("net.ipv4.tcp_syn_retries", Bounds::new(1, 127)),
    row("net.ipv4.tcp_synack_retries", BYTE),
    row("net.ipv4.tcp_syncookies", BYTE),
    row("net.ipv4.tcp_thin_linear_timeouts", BYTE),
    row("net.ipv4.tcp_tso_rtt_log", BYTE),
    row("net.ipv4.tcp_tso_win_divisor", BYTE),
    row("net.ipv4.tcp_tw_reuse", Bounds::new(0, 2)),
    row("net.ipv4.tcp_workaround_signed_windows", BYTE),
];

/// The sysctl of that name.
pub fn real_sysctl(name: &str) -> Option<&'static RealSysctl> {
    REAL_SYSCTLS.iter().find(|known| known.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_what_came_before_it_and_has_not_gone() {
        let until = Some(KernelVersion::new(6, 9, 0));
        let known = RealSysctl { until, ..since(6, 2, row("x", SWITCH)) };
        let found = ["6.1", "6.2", "6.8.12", "6.9", "6.12"]
            .map(|version| known.is_in(KernelVersion::parse(version).expect("a version")));
        assert_eq!(found, [false, true, true, false, false]);
    }
}
