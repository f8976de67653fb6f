//! Socket options by the kernel's names: what a scenario may ask for, and what the guest sets.

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Sockopt {
    /// Name in socket(7), tcp(7), ip(7).
    pub name: &'static str,
    /// Level and number, as setsockopt(2) has them.
    pub number: (i32, i32),
    /// Least and greatest value.
    pub bounds: (i64, i64),
    /// What it means, with its unit.
    pub doc: &'static str,
}

impl Sockopt {
    /// The one of that name.
    pub fn find(name: &str) -> Option<&'static Sockopt> {
        SOCKOPTS.iter().find(|known| known.name == name)
    }
}

const fn ip(name: &'static str, number: i32, bounds: (i64, i64), doc: &'static str) -> Sockopt {
    Sockopt { name, number: (libc::IPPROTO_IP, number), bounds, doc }
}

const fn any(name: &'static str, number: i32, bounds: (i64, i64), doc: &'static str) -> Sockopt {
    Sockopt { name, number: (libc::SOL_SOCKET, number), bounds, doc }
}

const fn tcp(name: &'static str, number: i32, bounds: (i64, i64), doc: &'static str) -> Sockopt {
    Sockopt { name, number: (libc::IPPROTO_TCP, number), bounds, doc }
}

const SWITCH: (i64, i64) = (0, 1);
const NUMBER: (i64, i64) = (0, i32::MAX as i64);
const UNSIGNED: (i64, i64) = (0, u32::MAX as i64);
/// include/uapi/linux/tcp.h
const TCP_TX_DELAY: i32 = 37;

/// Every known one, without those that other keys of a scenario stand for.
pub const SOCKOPTS: &[Sockopt] = &[
    ip("IP_TOS", libc::IP_TOS, (0, 255), "type of service; the two low bits are TCP's"),
    any(
        "SO_MAX_PACING_RATE",
        libc::SO_MAX_PACING_RATE,
        (0, i64::MAX),
        "largest pacing rate, bytes/s",
    ),
    any("SO_PRIORITY", libc::SO_PRIORITY, (0, 6), "priority of packets in the qdisc"),
    any(
        "SO_RCVLOWAT",
        libc::SO_RCVLOWAT,
        NUMBER,
        "bytes that make the receiver readable; raises the receive buffer",
    ),
    tcp("TCP_CORK", libc::TCP_CORK, SWITCH, "send no partial segments"),
    tcp("TCP_NODELAY", libc::TCP_NODELAY, SWITCH, "no Nagle algorithm"),
    tcp(
        "TCP_NOTSENT_LOWAT",
        libc::TCP_NOTSENT_LOWAT,
        UNSIGNED,
        "unsent bytes above which the sender is not writable",
    ),
    tcp(
        "TCP_QUICKACK",
        libc::TCP_QUICKACK,
        SWITCH,
        "no delayed ACKs, until the kernel decides otherwise",
    ),
    tcp("TCP_SYNCNT", libc::TCP_SYNCNT, (1, 127), "SYNs that are sent before giving up"),
    tcp(
        "TCP_THIN_LINEAR_TIMEOUTS",
        libc::TCP_THIN_LINEAR_TIMEOUTS,
        SWITCH,
        "no exponential backoff while little is in flight",
    ),
    tcp(
        "TCP_TX_DELAY",
        TCP_TX_DELAY,
        NUMBER,
        "us by which every packet is delayed; needs the qdisc fq",
    ),
    tcp(
        "TCP_USER_TIMEOUT",
        libc::TCP_USER_TIMEOUT,
        NUMBER,
        "ms without an ACK after which the connection ends",
    ),
    tcp(
        "TCP_WINDOW_CLAMP",
        libc::TCP_WINDOW_CLAMP,
        NUMBER,
        "largest window that is offered, bytes",
    ),
];
