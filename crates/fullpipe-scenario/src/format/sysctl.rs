//! The sysctls a scenario can set, by the kernel's full names.

use super::context::{Context, Place};
use super::keys::{Kind, Read, unknown, wrong_type};
use super::node::{Node, Table, Value};
use super::quantity::{self, SIZE};
use super::real_sysctl::{REAL_SYSCTLS, real_sysctl};
use super::values::{in_range, integer, report};
use fullpipe_sim::cc::KernelVersion;
use fullpipe_sim::config::Sysctl;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A sysctl that the model reads.
pub struct Entry {
    /// The kernel's full dotted name.
    pub name: &'static str,
    /// Meaning, with its unit.
    pub doc: &'static str,
    /// Where its value lies.
    pub field: Field,
}

/// Kind of a sysctl, and the place of its value.
pub enum Field {
    /// Bytes.
    Size(fn(&mut Sysctl) -> &mut u64),
    /// Minimum, default and maximum, bytes.
    Triple(fn(&mut Sysctl) -> &mut [u64; 3]),
    /// 0 or 1.
    Switch(fn(&mut Sysctl) -> &mut bool),
    /// Packets.
    Packets(fn(&mut Sysctl) -> &mut u32),
    /// A small signed number, -31 to 31.
    Scale(fn(&mut Sysctl) -> &mut i32),
    /// A small number between two bounds.
    Level(fn(&mut Sysctl) -> &mut u32, u32, u32),
    /// A small number between two bounds, or the kernel's default, which is not written out.
    LevelIfSet(fn(&mut Sysctl) -> &mut Option<u32>, u32, u32),
    /// Bytes from 0 on, nothing unless set.
    SizeIfSet(fn(&mut Sysctl) -> &mut Option<u32>),
    /// Three numbers of pages, nothing unless set.
    PagesIfSet(fn(&mut Sysctl) -> &mut Option<[u64; 3]>),
}

/// Every known one.
pub const SYSCTLS: &[Entry] = &[
    Entry {
        name: "net.core.rmem_max",
        doc: "largest SO_RCVBUF that a process may ask for, bytes",
        field: Field::Size(|s| &mut s.rmem_max),
    },
    Entry {
        name: "net.core.wmem_max",
        doc: "largest SO_SNDBUF that a process may ask for, bytes",
        field: Field::Size(|s| &mut s.wmem_max),
    },
    Entry {
        name: "net.ipv4.tcp_rmem",
        doc: "receive buffer: minimum, default, maximum, bytes",
        field: Field::Triple(|s| &mut s.tcp_rmem),
    },
    Entry {
        name: "net.ipv4.tcp_wmem",
        doc: "send buffer: minimum, default, maximum, bytes",
        field: Field::Triple(|s| &mut s.tcp_wmem),
    },
    Entry {
        name: "net.ipv4.tcp_mem",
        doc: "memory of all TCP sockets of the host, pages of 4 KiB: up to the first number there is no pressure, above the second there is, above the third sockets get none; unless set no bound (the kernel's defaults are 4.7, 6.3 and 9.4 % of memory). The simulator has it from 6.1 on",
        field: Field::PagesIfSet(|s| &mut s.tcp_mem),
    },
    Entry {
        name: "net.ipv4.tcp_adv_win_scale",
        doc: "share of the receive buffer kept from the window: 1/2^n for n above 0, all but 1/2^-n otherwise",
        field: Field::Scale(|s| &mut s.tcp_adv_win_scale),
    },
    Entry {
        name: "net.core.netdev_max_backlog",
        doc: "length of the backlog of drivers without NAPI, packets",
        field: Field::Packets(|s| &mut s.netdev_max_backlog),
    },
    Entry {
        name: "net.core.netdev_budget",
        doc: "packets that a pass of softirqs takes at most, unless set 300. Since 3.19 a pass polls each card once (64 packets), so that only a budget of 64 and less is used up by one card, and counted (`softnet.time_squeeze`), without effect",
        field: Field::LevelIfSet(|s| &mut s.netdev_budget, 1, i32::MAX as u32),
    },
    Entry {
        name: "net.core.netdev_budget_usecs",
        doc: "for how long a pass of softirqs polls, microseconds; unless set, and if less, two jiffies. Kernels before 4.12 do not have it",
        field: Field::LevelIfSet(|s| &mut s.netdev_budget_usecs, 2000, i32::MAX as u32),
    },
    Entry {
        name: "net.ipv4.tcp_slow_start_after_idle",
        doc: "whether an idle connection starts again from the initial window",
        field: Field::Switch(|s| &mut s.tcp_slow_start_after_idle),
    },
    Entry {
        name: "net.ipv4.tcp_window_scaling",
        doc: "whether the window scale option is used",
        field: Field::Switch(|s| &mut s.tcp_window_scaling),
    },
    Entry {
        name: "net.ipv4.tcp_sack",
        doc: "whether selective acknowledgements are used",
        field: Field::Switch(|s| &mut s.tcp_sack),
    },
    Entry {
        name: "net.ipv4.tcp_fack",
        doc: "whether losses are marked by forward acknowledgement, until reordering is seen",
        field: Field::Switch(|s| &mut s.tcp_fack),
    },
    Entry {
        name: "net.ipv4.tcp_dsack",
        doc: "whether the receiver reports what came twice",
        field: Field::Switch(|s| &mut s.tcp_dsack),
    },
    Entry {
        name: "net.ipv4.tcp_frto",
        doc: "whether spurious timeouts are looked for (F-RTO); before 3.10, 2: with SACK",
        field: Field::Level(|s| &mut s.tcp_frto, 0, 2),
    },
    Entry {
        name: "net.ipv4.tcp_reordering",
        doc: "duplicate ACKs that count as loss, at first",
        field: Field::Level(|s| &mut s.tcp_reordering, 1, 127),
    },
    Entry {
        name: "net.ipv4.tcp_early_retrans",
        doc: "early retransmit (1: at once; 2, 3: after a pause) and tail loss probes (3, 4); kernels before 3.5 do not have it and behave as with 0",
        field: Field::Level(|s| &mut s.tcp_early_retrans, 0, 4),
    },
    Entry {
        name: "net.ipv4.tcp_ecn",
        doc: "explicit congestion notification: 0 never, 1 ask for it, 2 agree to it; unless set 2, before 2.6.31 0. The simulator has it where both kernels are 6.1 or newer",
        field: Field::LevelIfSet(|s| &mut s.tcp_ecn, 0, 2),
    },
    Entry {
        name: "net.ipv4.tcp_notsent_lowat",
        doc: "bytes not sent yet from which on the application waits, and less than half of which wake it; unless set no bound. The simulator has it from 6.1 on",
        field: Field::SizeIfSet(|s| &mut s.tcp_notsent_lowat),
    },
    Entry {
        name: "net.ipv4.tcp_pacing_ss_ratio",
        doc: "pacing rate while cwnd is below half of ssthresh, percent of cwnd per RTT; unless set 200. The simulator has it from 6.1 on",
        field: Field::LevelIfSet(|s| &mut s.tcp_pacing_ss_ratio, 0, 1000),
    },
    Entry {
        name: "net.ipv4.tcp_pacing_ca_ratio",
        doc: "the same afterwards; unless set 120",
        field: Field::LevelIfSet(|s| &mut s.tcp_pacing_ca_ratio, 0, 1000),
    },
    Entry {
        name: "net.ipv4.tcp_limit_output_bytes",
        doc: "memory of a flow that may wait in the host (TCP small queues), bytes; unless set 128 KiB, from 4.20 on 1 MiB. The simulator has it from 3.14 on",
        field: Field::LevelIfSet(|s| &mut s.tcp_limit_output_bytes, 0, i32::MAX as u32),
    },
    Entry {
        name: "net.ipv4.tcp_mtu_probing",
        doc: "search for the path MTU by probes: 0 never, 1 after timeouts that suggest a black hole, 2 always; unless set 0. The simulator has it from 6.1 on",
        field: Field::LevelIfSet(|s| &mut s.tcp_mtu_probing, 0, 2),
    },
    Entry {
        name: "net.ipv4.tcp_base_mss",
        doc: "where that search begins, bytes of a segment; unless set 1024",
        field: Field::LevelIfSet(|s| &mut s.tcp_base_mss, 48, 65_535),
    },
    Entry {
        name: "net.ipv4.tcp_mtu_probe_floor",
        doc: "least segment to which timeouts bring that search, bytes; unless set 48",
        field: Field::LevelIfSet(|s| &mut s.tcp_mtu_probe_floor, 48, 65_535),
    },
    Entry {
        name: "net.ipv4.tcp_min_snd_mss",
        doc: "least segment that the search or an ICMP message leaves, bytes with options; unless set 48",
        field: Field::LevelIfSet(|s| &mut s.tcp_min_snd_mss, 48, 65_535),
    },
    Entry {
        name: "net.ipv4.tcp_probe_interval",
        doc: "seconds after which the search begins anew; unless set 600",
        field: Field::LevelIfSet(|s| &mut s.tcp_probe_interval, 0, 4_294_967),
    },
    Entry {
        name: "net.ipv4.tcp_probe_threshold",
        doc: "the search ends where less than so many bytes are unknown; unless set 8",
        field: Field::LevelIfSet(|s| &mut s.tcp_probe_threshold, 0, i32::MAX as u32),
    },
    Entry {
        name: "net.ipv4.tcp_comp_sack_delay_ns",
        doc: "longest wait of a SACK for others, ns, and a twentieth of an RTT at most; unless set 1 ms. Kernels before 4.18 do not have it",
        field: Field::LevelIfSet(|s| &mut s.tcp_comp_sack_delay_ns, 0, i32::MAX as u32),
    },
    Entry {
        name: "net.ipv4.tcp_comp_sack_slack_ns",
        doc: "how late the end of that wait may be noticed, ns; unless set 100 us",
        field: Field::LevelIfSet(|s| &mut s.tcp_comp_sack_slack_ns, 0, i32::MAX as u32),
    },
    Entry {
        name: "net.ipv4.tcp_comp_sack_nr",
        doc: "most SACKs that wait for others; 0: none waits; unless set 44",
        field: Field::LevelIfSet(|s| &mut s.tcp_comp_sack_nr, 0, 255),
    },
    Entry {
        name: "net.ipv4.tcp_no_metrics_save",
        doc: "whether a connection leaves nothing (ssthresh, RTT, reordering) for the next one",
        field: Field::Switch(|s| &mut s.tcp_no_metrics_save),
    },
];

/// Name and value of each sysctl, as the kernel shows them, without kernels' defaults.
pub fn written(sysctl: &Sysctl) -> Vec<(&'static str, Json)> {
    let mut copy = *sysctl;
    SYSCTLS.iter().filter_map(|entry| Some((entry.name, value(&entry.field, &mut copy)?))).collect()
}

fn value(field: &Field, s: &mut Sysctl) -> Option<Json> {
    Some(match field {
        Field::Size(at) => Json::from(*at(s)),
        Field::Triple(at) => Json::from(at(s).map(|n| n.to_string()).join(" ")),
        Field::Switch(at) => Json::from(u8::from(*at(s))),
        Field::Packets(at) => Json::from(*at(s)),
        Field::Scale(at) => Json::from(*at(s)),
        Field::Level(at, ..) => Json::from(*at(s)),
        Field::LevelIfSet(at, ..) | Field::SizeIfSet(at) => Json::from((*at(s))?),
        Field::PagesIfSet(at) => Json::from((*at(s))?.map(|n| n.to_string()).join(" ")),
    })
}

/// sysctls that were written.
#[derive(Clone, Debug)]
pub struct Sysctls(pub Vec<SysctlWritten>);

/// A sysctl that was written.
#[derive(Clone, Copy, Debug)]
pub enum SysctlWritten {
    /// Place in [`SYSCTLS`], value.
    Modelled(usize, SysctlValue),
    /// One of a real kernel.
    Real(&'static str, i64),
}

/// The value of a sysctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysctlValue {
    /// A number.
    Number(u64),
    /// Three numbers: least, default, most.
    Triple([u64; 3]),
    /// A number that may be negative.
    Signed(i32),
}

impl Sysctls {
    /// Puts the written values into the modelled sysctls, and into those of a real kernel.
    pub fn apply(&self, modelled: &mut Sysctl, of_real: &mut BTreeMap<&'static str, i64>) {
        for written in &self.0 {
            match *written {
                SysctlWritten::Modelled(at, value) => {
                    apply(&SYSCTLS[at].field, value, modelled);
                }
                SysctlWritten::Real(name, value) => _ = of_real.insert(name, value),
            }
        }
    }
}

fn apply(field: &Field, value: SysctlValue, to: &mut Sysctl) {
    match (field, value) {
        (Field::Size(field), SysctlValue::Number(n)) => *field(to) = n,
        (Field::Switch(field), SysctlValue::Number(n)) => *field(to) = n != 0,
        (Field::Packets(field) | Field::Level(field, ..), SysctlValue::Number(n)) => {
            *field(to) = n as u32;
        }
        (Field::LevelIfSet(field, ..) | Field::SizeIfSet(field), SysctlValue::Number(n)) => {
            *field(to) = Some(n as u32)
        }
        (Field::Triple(field), SysctlValue::Triple(n)) => *field(to) = n,
        (Field::PagesIfSet(field), SysctlValue::Triple(n)) => *field(to) = Some(n),
        (Field::Scale(field), SysctlValue::Signed(n)) => *field(to) = n,
        _ => {}
    }
}

/// sysctls that another key of the scenario sets.
const ELSEWHERE: &[(&str, &str)] = &[
    ("net.ipv4.tcp_timestamps", "`timestamps` of the host"),
    ("net.ipv4.tcp_congestion_control", "`congestion` of the flow"),
    ("net.core.default_qdisc", "`qdisc` of the host"),
];

impl Read for Sysctls {
    const KIND: Kind = Kind::Sysctl;
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            wrong_type(node, key, &Self::KIND, cx);
            return None;
        };
        let mut read = Vec::new();
        let mut whole = true;

        // Unquoted names come as nested tables.
        for (name, place, node) in flatten(table, "") {
            match sysctl(&name, place, node, cx) {
                Some(written) => read.push(written),
                None => whole = false,
            }
        }
        whole.then_some(Sysctls(read))
    }
}

/// Leaves of nested tables with their dotted names.
pub fn flatten<'a>(table: &'a Table, prefix: &str) -> Vec<(String, Place, &'a Node)> {
    let mut leaves = Vec::new();
    for entry in &table.entries {
        let name = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            Value::Table(inner) => leaves.extend(flatten(inner, &format!("{name}."))),
            _ => leaves.push((name, entry.place, &entry.node)),
        }
    }
    leaves
}

fn sysctl(name: &str, place: Place, node: &Node, cx: &mut Context) -> Option<SysctlWritten> {
    // sysctls that only real kernels have are numbers in the kernel's own bounds.
    if let Some(known) = real_sysctl(name) {
        let value = integer(name, node, known.bounds.range(), cx)?;
        return Some(SysctlWritten::Real(known.name, value));
    }
    let Some(at) = SYSCTLS.iter().position(|known| known.name == name) else {
        let real = REAL_SYSCTLS.iter().map(|known| known.name);
        let known = SYSCTLS.iter().map(|known| known.name).chain(real);
        unknown("sysctl", place, name, ELSEWHERE, known, cx);
        return None;
    };

    // Bounds are those of the kernel's own handlers.
    let value = match SYSCTLS[at].field {
        Field::Size(_) => SysctlValue::Number(size(name, node, 1..=KERNEL_INT, cx)?),
        Field::SizeIfSet(_) => SysctlValue::Number(size(name, node, 0..=UNSIGNED, cx)?),
        Field::Triple(_) => SysctlValue::Triple(triple(name, node, &BYTES, cx)?),
        Field::PagesIfSet(_) => SysctlValue::Triple(triple(name, node, &PAGES, cx)?),
        Field::Switch(_) => SysctlValue::Number(integer(name, node, 0..=1, cx)? as u64),
        Field::Packets(_) => {
            SysctlValue::Number(integer(name, node, 1..=i32::MAX.into(), cx)? as u64)
        }
        Field::Level(_, min, max) | Field::LevelIfSet(_, min, max) => {
            SysctlValue::Number(integer(name, node, min.into()..=max.into(), cx)? as u64)
        }
        Field::Scale(_) => SysctlValue::Signed(integer(name, node, -31..=31, cx)? as i32),
    };
    Some(SysctlWritten::Modelled(at, value))
}

/// Names of all sysctls that a real kernel of this version has; for a text that is no version, the modelled ones.
pub fn known(version: &str) -> impl Iterator<Item = &'static str> {
    let version = KernelVersion::parse(version);
    let real = REAL_SYSCTLS.iter().filter(move |known| version.is_some_and(|v| known.is_in(v)));
    SYSCTLS.iter().map(|known| known.name).chain(real.map(|known| known.name))
}

/// The kernel keeps sizes of buffers in an `int`.
const KERNEL_INT: u64 = i32::MAX as u64;

/// The kernel keeps the limit of unsent data in an `unsigned int`.
const UNSIGNED: u64 = u32::MAX as u64;

/// Bytes within bounds, a number or with a unit.
pub(super) fn size(
    name: &str,
    node: &Node,
    bounds: RangeInclusive<u64>,
    cx: &mut Context,
) -> Option<u64> {
    match &node.value {
        Value::Integer(_) => {
            let bounds = *bounds.start() as i64..=*bounds.end() as i64;
            integer(name, node, bounds, cx).map(|n| n as u64)
        }
        Value::Text(text) => bytes(text, name, node, bounds, cx),
        _ => {
            wrong_type(node, name, &Kind::QueueLimit, cx);
            None
        }
    }
}

/// Bytes, bare as the kernel writes them or with a unit.
fn bytes(
    text: &str,
    name: &str,
    node: &Node,
    bounds: RangeInclusive<u64>,
    cx: &mut Context,
) -> Option<u64> {
    let (min, max) = bounds.into_inner();
    let parsed = match text.parse() {
        Ok(n) => Ok(n),
        Err(_) => quantity::parse(text, &SIZE),
    };
    let kind = Kind::Quantity { dimension: &SIZE, min, max };
    let n = parsed.map_err(|wrong| report(wrong, node, name, &[&SIZE], &kind, cx)).ok()?;
    in_range(n, min, max, node, name, &SIZE, cx)
}

/// Meaning of a sysctl with three numbers.
struct Three {
    /// Words for the expected value, with an example.
    expected: &'static str,
    /// Reader of a value from its text.
    read: fn(&str, &str, &Node, &mut Context) -> Option<u64>,
}

/// Sizes of a buffer.
const BYTES: Three = Three {
    expected: "minimum, default and maximum, such as \"4096 87380 4MiB\"",
    read: |part, name, node, cx| bytes(part, name, node, 1..=KERNEL_INT, cx),
};

/// Bounds of the memory of all sockets.
const PAGES: Three = Three {
    expected: "low, pressure and high as numbers of pages of 4 KiB, such as \"16384 24576 32768\" for 64, 96 and 128 MiB",
    read: pages,
};

/// More pages than any host has.
const MOST_PAGES: u64 = 1 << 40;

/// A number of pages, which has no unit.
fn pages(part: &str, name: &str, node: &Node, cx: &mut Context) -> Option<u64> {
    let Ok(number) = part.parse::<u64>() else {
        let message = format!("`{name}` has \"{part}\", which is no number of pages");
        cx.error("bad-value", node.place, message).expected(PAGES.expected);
        return None;
    };
    if !(1..=MOST_PAGES).contains(&number) {
        let message = format!("`{name}` has {number}");
        cx.error("out-of-range", node.place, message).expected(format!("1 to {MOST_PAGES} pages"));
        return None;
    }
    Some(number)
}

/// The words of a text, a unit together with the number before it: "10.1 MiB".
fn values(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_unit = SIZE.units.iter().any(|(unit, _)| *unit == word);
        match all
            .last_mut()
            .filter(|last| is_unit && last.ends_with(|own: char| own.is_ascii_digit()))
        {
            Some(last) => last.push_str(word),
            None => all.push(word.into()),
        }
    }
    all
}

fn triple(name: &str, node: &Node, three: &Three, cx: &mut Context) -> Option<[u64; 3]> {
    let Some(text) = node.as_text() else {
        cx.error("wrong-type", node.place, format!("`{name}` is {}", node.kind()))
            .expected(three.expected);
        return None;
    };
    let parts = values(text);
    let parts: Vec<&str> = parts.iter().map(|part| &part[..]).collect();
    let &[least, default, most] = parts.as_slice() else {
        cx.error("bad-value", node.place, format!("`{name}` takes 3 values, not {}", parts.len()))
            .expected(three.expected);
        return None;
    };
    let mut read = |part| (three.read)(part, name, node, cx);
    let (least, default, most) = (read(least)?, read(default)?, read(most)?);
    if least > default || default > most {
        cx.error("out-of-range", node.place, format!("`{name}` does not ascend"))
            .expected(three.expected);
        return None;
    }
    Some([least, default, most])
}
