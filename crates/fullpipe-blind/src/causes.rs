//! Causes that a case can have. Their groups are those of all verdicts.

use fullpipe::analysis::rules;
pub use fullpipe::analysis::rules::HEALTHY;

/// Code of cases that are too short to judge.
pub const TOO_SHORT: &str = "too_short";
/// Verdict that names no cause.
pub const CANNOT_TELL: &str = "cannot_tell";

/// Causes that are broken into a case, in alphabetical order.
pub const BROKEN: [&str; 23] = [
    "ack_path",
    "app_onoff",
    "app_read",
    "app_write",
    "compete",
    "cpu_receiver",
    "cpu_sender",
    "loss",
    "nic",
    "pacing",
    "policer",
    "qdisc",
    "reorder",
    "rwnd_auto",
    "rwnd_fixed",
    "rx_drop",
    "sack_off",
    "small_buffer",
    "small_mss",
    "sndbuf",
    "ss_short",
    "tx_ring",
    "wscale_off",
];

/// Causes in keys that engines with real kernels do not have: CPU costs, and rings that wait for an interrupt.
pub const OF_HOSTS: [&str; 4] = ["cpu_receiver", "cpu_sender", "rx_drop", "tx_ring"];

/// Causes of cases without a break.
pub const UNBROKEN: [&str; 2] = [HEALTHY, TOO_SHORT];

/// All causes, the broken ones first.
pub fn all() -> impl Iterator<Item = &'static str> {
    BROKEN.into_iter().chain(UNBROKEN)
}

/// The cause with this code, as a constant.
pub fn named(code: &str) -> Option<&'static str> {
    all().find(|cause| *cause == code)
}

/// Group of a code; the code itself where no cause has it.
pub fn group(code: &str) -> &str {
    rules::by_code(code).map_or(code, |known| known.group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_group() {
        assert!(all().all(|code| rules::by_code(code).is_some()));
    }
}
