//! Causes that a case can have, and their groups.

/// One cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Code, as labels and verdicts name it.
    pub code: &'static str,
    /// Group of causes that look alike.
    pub group: &'static str,
}

/// Code of healthy cases: the path is full.
pub const HEALTHY: &str = "none";
/// Code of cases that are too short to tell.
pub const TOO_SHORT: &str = "too_short";
/// Verdict that names no cause.
pub const CANNOT_TELL: &str = "cannot_tell";

const fn cause(code: &'static str, group: &'static str) -> Cause {
    Cause { code, group }
}

/// Causes that are broken into a case, in alphabetical order.
pub const BROKEN: [Cause; 23] = [
    cause("ack_path", "ACK path"),
    cause("app_onoff", "pauses"),
    cause("app_read", "reader"),
    cause("app_write", "source"),
    cause("compete", "link"),
    cause("cpu_receiver", "reader"),
    cause("cpu_sender", "source"),
    cause("loss", "loss"),
    cause("nic", "host paced"),
    cause("pacing", "host paced"),
    cause("policer", "shallow drop"),
    cause("qdisc", "cwnd without loss"),
    cause("reorder", "reordering"),
    cause("rwnd_auto", "window"),
    cause("rwnd_fixed", "window"),
    cause("rx_drop", "shallow drop"),
    cause("sack_off", "SACK off"),
    cause("small_buffer", "shallow drop"),
    cause("small_mss", "loss"),
    cause("sndbuf", "send buffer"),
    cause("ss_short", "cwnd without loss"),
    cause("tx_ring", "host paced"),
    cause("wscale_off", "window"),
];

/// Causes of cases without a break.
pub const UNBROKEN: [Cause; 2] = [cause(HEALTHY, "link"), cause(TOO_SHORT, "too short")];

/// All causes, the broken ones first.
pub fn all() -> impl Iterator<Item = &'static Cause> {
    BROKEN.iter().chain(&UNBROKEN)
}

/// The cause with this code.
pub fn named(code: &str) -> Option<&'static Cause> {
    all().find(|cause| cause.code == code)
}

/// Group of a code; the code itself where no cause has it.
pub fn group(code: &str) -> &str {
    named(code).map_or(code, |cause| cause.group)
}
