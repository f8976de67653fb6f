//! The sysctls a scenario can set, by the kernel's full names.

use fullpipe_sim::config::Sysctl;
use serde_json::Value;

/// A sysctl that the model reads.
pub struct Entry {
    /// The kernel's full dotted name.
    pub name: &'static str,
    /// What it means, with its unit.
    pub doc: &'static str,
    /// Where its value lies.
    pub field: Field,
}

/// Where a sysctl's value lies and what kind it is.
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
];

/// Name and value of each sysctl, as the kernel shows them.
pub fn written(sysctl: &Sysctl) -> Vec<(&'static str, Value)> {
    let mut copy = *sysctl;
    SYSCTLS
        .iter()
        .map(|entry| (entry.name, value(&entry.field, &mut copy)))
        .collect()
}

fn value(field: &Field, s: &mut Sysctl) -> Value {
    match field {
        Field::Size(at) => Value::from(*at(s)),
        Field::Triple(at) => Value::from(at(s).map(|n| n.to_string()).join(" ")),
        Field::Switch(at) => Value::from(u8::from(*at(s))),
        Field::Packets(at) => Value::from(*at(s)),
        Field::Scale(at) => Value::from(*at(s)),
    }
}
