//! Socket options by the kernel's names, without those that other keys stand for. The simulator has none of them.

use super::context::Context;
use super::keys::{Kind, Read, unknown, wrong_type};
use super::node::{Node, Value};
use super::values::integer;
use std::collections::BTreeMap;

/// An option.
pub struct Sockopt {
    /// Name in socket(7), tcp(7), ip(7).
    pub name: &'static str,
    /// Least and greatest value.
    pub bounds: (i64, i64),
    /// What it means, with its unit.
    pub doc: &'static str,
}

const fn option(name: &'static str, bounds: (i64, i64), doc: &'static str) -> Sockopt {
    Sockopt { name, bounds, doc }
}

const SWITCH: (i64, i64) = (0, 1);
const NUMBER: (i64, i64) = (0, i32::MAX as i64);

/// Every known one.
pub const SOCKOPTS: &[Sockopt] = &[
    option("IP_TOS", (0, 255), "type of service; the two low bits are TCP's"),
    option("SO_MAX_PACING_RATE", (0, i64::MAX), "largest pacing rate, bytes/s"),
    option("SO_PRIORITY", (0, 6), "priority of packets in the qdisc"),
    option(
        "SO_RCVLOWAT",
        NUMBER,
        "bytes that make the receiver readable; raises the receive buffer",
    ),
    option("TCP_CORK", SWITCH, "send no partial segments"),
    option("TCP_NODELAY", SWITCH, "no Nagle algorithm"),
    option(
        "TCP_NOTSENT_LOWAT",
        (0, u32::MAX as i64),
        "unsent bytes above which the sender is not writable",
    ),
    option("TCP_QUICKACK", SWITCH, "no delayed ACKs, until the kernel decides otherwise"),
    option("TCP_SYNCNT", (1, 127), "SYNs that are sent before giving up"),
    option("TCP_THIN_LINEAR_TIMEOUTS", SWITCH, "no exponential backoff while little is in flight"),
    option("TCP_TX_DELAY", NUMBER, "us by which every packet is delayed; needs the qdisc fq"),
    option("TCP_USER_TIMEOUT", NUMBER, "ms without an ACK after which the connection ends"),
    option("TCP_WINDOW_CLAMP", NUMBER, "largest window that is offered, bytes"),
];

/// Options with their values.
#[derive(Clone, Debug)]
pub struct Sockopts(pub BTreeMap<&'static str, i64>);

/// Options that another key stands for.
const ELSEWHERE: &[(&str, &str)] = &[
    ("SO_SNDBUF", "`sndbuf` of the flow"),
    ("SO_RCVBUF", "`rcvbuf` of the flow"),
    ("TCP_CONGESTION", "`congestion` of the flow"),
    ("TCP_MAXSEG", "`mtu` of the path"),
];

impl Read for Sockopts {
    const KIND: Kind = Kind::Sockopt;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        let mut read = BTreeMap::new();
        let before = cx.reports();
        for entry in &table.entries {
            match SOCKOPTS.iter().find(|known| known.name == entry.key) {
                Some(known) => {
                    let value = integer(known.name, &entry.node, known.bounds, cx);
                    read.extend(value.map(|value| (known.name, value)));
                }
                None => {
                    let known = SOCKOPTS.iter().map(|option| option.name);
                    unknown("socket option", (&entry.key, entry.place), ELSEWHERE, known, cx);
                }
            }
        }
        (cx.reports() == before).then_some(Sockopts(read))
    }
}
