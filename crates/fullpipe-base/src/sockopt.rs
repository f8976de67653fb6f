//! Socket options by the kernel's names: options that a scenario may ask for, and that the guest sets.
//!
//! Numbers are those of `include/uapi/asm-generic/socket.h`, `linux/in.h` and `linux/tcp.h`.

use crate::bounds::Bounds;

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Sockopt {
    /// Name in socket(7), tcp(7), ip(7).
    pub name: &'static str,
    /// Level and number, as setsockopt(2) has them.
    pub number: (i32, i32),
    /// Least and greatest value.
    pub bounds: Bounds,
    /// Meaning, with its unit.
    pub doc: &'static str,
}

impl Sockopt {
    /// The option of that name.
    pub fn find(name: &str) -> Option<&'static Sockopt> {
        SOCKOPTS.iter().find(|known| known.name == name)
    }
}

// Levels of options, as setsockopt(2) takes them.
const IPPROTO_IP: i32 = 0;
const SOL_SOCKET: i32 = 1;
const IPPROTO_TCP: i32 = 6;

const fn ip(name: &'static str, number: i32, bounds: Bounds, doc: &'static str) -> Sockopt {
    Sockopt { name, number: (IPPROTO_IP, number), bounds, doc }
}

const fn any(name: &'static str, number: i32, bounds: Bounds, doc: &'static str) -> Sockopt {
    Sockopt { name, number: (SOL_SOCKET, number), bounds, doc }
}

const fn tcp(name: &'static str, number: i32, bounds: Bounds, doc: &'static str) -> Sockopt {
    Sockopt { name, number: (IPPROTO_TCP, number), bounds, doc }
}

const SWITCH: Bounds = Bounds::new(0, 1);
const NUMBER: Bounds = Bounds::new(0, i32::MAX as i64);
const UNSIGNED: Bounds = Bounds::new(0, u32::MAX as i64);

/// All known options, except options that other keys of a scenario set.
pub const SOCKOPTS: &[Sockopt] = &[
    ip("IP_TOS", 1, Bounds::new(0, 255), "type of service; the two low bits are TCP's"),
    any("SO_MAX_PACING_RATE", 47, Bounds::new(0, i64::MAX), "largest pacing rate, bytes/s"),
    any("SO_PRIORITY", 12, Bounds::new(0, 6), "priority of packets in the qdisc"),
    any(
        "SO_RCVLOWAT",
        18,
        NUMBER,
        "bytes that make the receiver readable; raises the receive buffer",
    ),
    tcp("TCP_CORK", 3, SWITCH, "send no partial segments"),
    tcp("TCP_NODELAY", 1, SWITCH, "no Nagle algorithm"),
    tcp("TCP_NOTSENT_LOWAT", 25, UNSIGNED, "unsent bytes above which the sender is not writable"),
    tcp("TCP_QUICKACK", 12, SWITCH, "no delayed ACKs, until the kernel decides otherwise"),
    tcp("TCP_SYNCNT", 7, Bounds::new(1, 127), "SYNs that are sent before giving up"),
    tcp("TCP_THIN_LINEAR_TIMEOUTS", 16, SWITCH, "no exponential backoff while little is in flight"),
    tcp("TCP_TX_DELAY", 37, NUMBER, "us by which every packet is delayed; needs the qdisc fq"),
    tcp("TCP_USER_TIMEOUT", 18, NUMBER, "ms without an ACK after which the connection ends"),
    tcp("TCP_WINDOW_CLAMP", 10, NUMBER, "largest window that is offered, bytes"),
];
