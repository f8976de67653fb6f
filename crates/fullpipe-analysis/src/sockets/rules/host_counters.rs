//! Counters of a host without any connection: drops by their place, and what TCP has counted.
//!
//! Limits:
//! - The counters are those of all connections, since the host began, or since the last `nstat`.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::numbers::count;
use crate::words::percent;

pub const RULES: [Rule; 11] = [
    Rule { name: "counted-frames", needs: &[], find: |facts| at(facts, &FRAMES) },
    Rule { name: "counted-ring", needs: &[], find: |facts| at(facts, &RING) },
    Rule { name: "counted-backlog", needs: &[], find: |facts| at(facts, &BACKLOG) },
    Rule { name: "counted-memory", needs: &[], find: |facts| at(facts, &MEMORY) },
    Rule { name: "counted-pruning", needs: &[], find: |facts| at(facts, &PRUNED) },
    Rule { name: "counted-zero-windows", needs: &[], find: |facts| at(facts, &CLOSED) },
    Rule { name: "counted-listeners", needs: &[], find: |facts| at(facts, &LISTEN) },
    Rule { name: "counted-transmit", needs: &[], find: |facts| at(facts, &TRANSMIT) },
    Rule { name: "counted-datagrams", needs: &[], find: |facts| at(facts, &DATAGRAMS) },
    Rule { name: "counted-reordering", needs: &[], find: reordered },
    Rule { name: "counted-losses", needs: &[], find: lost },
];

/// Share of segments sent again from which on losses matter.
const LOSSY: f64 = 1e-3;

/// Counters of one cause.
struct Cause {
    code: &'static str,
    who: &'static str,
    does: &'static str,
    names: &'static [&'static str],
    remedy: &'static str,
    twins: &'static [&'static str],
    decide: &'static str,
    points: f64,
}

const FRAMES: Cause = Cause {
    code: "loss",
    who: "Damaged frames",
    does: "arrive",
    names: &["ethtool.rx_crc_errors"],
    remedy: "Replace cable, optics or port: a frame with a wrong checksum was damaged on the last link",
    twins: &[],
    decide: "",
    points: 0.7,
};
const RING: Cause = Cause {
    code: "rx_drop",
    who: "The receive ring",
    does: "drops packets",
    names: &["ethtool.rx_missed_errors"],
    remedy: "Raise `ethtool -G DEV rx`, up to its pre-set maximum, and look at the CPU of the card's interrupts",
    twins: &["cpu_receiver"],
    decide: "`mpstat -P ALL 1`: a core whose %soft is near 100",
    points: 0.65,
};
const BACKLOG: Cause = Cause {
    code: "rx_drop",
    who: "The receiving host",
    does: "drops packets behind its card",
    names: &["softnet.dropped", "TcpExt.TCPRcvQDrop", "TcpExt.TCPBacklogDrop"],
    remedy: "Raise net.core.netdev_max_backlog (softnet) and the maximum of net.ipv4.tcp_rmem (TCPRcvQDrop, TCPBacklogDrop)",
    twins: &["cpu_receiver", "app_read"],
    decide: "`ss -tinm` of the receiver: Recv-Q, and d of skmem",
    points: 0.6,
};
const MEMORY: Cause = Cause {
    code: "tcp_mem",
    who: "The memory of all TCP sockets",
    does: "ran short",
    names: &["TcpExt.TCPMemoryPressures"],
    remedy: "Raise net.ipv4.tcp_mem, or bound the buffers of single sockets",
    twins: &[],
    decide: "",
    points: 0.65,
};
const PRUNED: Cause = Cause {
    code: "app_read",
    who: "Full receive buffers",
    does: "lose packets",
    names: &["TcpExt.PruneCalled", "TcpExt.RcvPruned", "TcpExt.OfoPruned"],
    remedy: "Let the programs read faster, or raise the maximum of net.ipv4.tcp_rmem",
    twins: &["rwnd_fixed", "tcp_mem"],
    decide: "`ss -tinm` of the receiver: Recv-Q, and rb of skmem",
    points: 0.5,
};
const CLOSED: Cause = Cause {
    code: "app_read",
    who: "Programs that read slowly",
    does: "close windows",
    names: &["TcpExt.TCPToZeroWindowAdv"],
    remedy: "Let the programs read faster",
    twins: &["cpu_receiver"],
    decide: "`ss -tm` of the receiver: Recv-Q, and the CPU of its reader (`top -H`)",
    points: 0.5,
};
const LISTEN: Cause = Cause {
    code: "connect",
    who: "Full queues of listening sockets",
    does: "refuse connections",
    names: &["TcpExt.ListenOverflows", "TcpExt.ListenDrops"],
    remedy: "Raise net.core.somaxconn and the backlog of listen(), or let the program accept faster",
    twins: &[],
    decide: "",
    points: 0.6,
};
const TRANSMIT: Cause = Cause {
    code: "tx_ring",
    who: "The transmit ring",
    does: "is full at times",
    names: &["ethtool.tx_dropped"],
    remedy: "Raise `ethtool -G DEV tx`",
    twins: &["nic"],
    decide: "`sar -n DEV 1`: the card's rate over its speed",
    points: 0.45,
};
const DATAGRAMS: Cause = Cause {
    code: "udp",
    who: "Full receive buffers of UDP",
    does: "lose datagrams",
    names: &["Udp.RcvbufErrors", "Udp.InErrors"],
    remedy: "Raise net.core.rmem_max and SO_RCVBUF of the program, or let it read faster",
    twins: &[],
    decide: "",
    points: 0.6,
};

fn at(facts: &Facts, own: &Cause) -> Option<Verdict> {
    if !facts.pasted.no_socket {
        return None;
    }
    let counted = |name: &&&str| facts.counters.get(**name).is_some_and(|value| *value > 0);
    let names: Vec<&str> = own.names.iter().filter(counted).copied().collect();
    if names.is_empty() {
        return None;
    }
    let made = Verdict::new(own.code, own.who, 0.0, own.points).remedy(own.remedy);
    let made = names.into_iter().fold(made, |made, name| {
        let plain = name.strip_prefix("ethtool.").unwrap_or(name).replace('.', "");
        made.because(format!("{plain} is {}", count(facts.counters[name])))
    });
    let made = Verdict { does: own.does, ..made };
    Some(match own.twins.is_empty() {
        true => made,
        false => made.twins(own.twins, own.decide),
    })
}

fn value(facts: &Facts, name: &str) -> u64 {
    facts.counters.get(name).copied().unwrap_or(0)
}

fn lost(facts: &Facts) -> Option<Verdict> {
    let (again, sent) = (value(facts, "Tcp.RetransSegs"), value(facts, "Tcp.OutSegs"));
    let timeouts = value(facts, "TcpExt.TCPTimeouts");
    let share = again as f64 / sent.max(again).max(1) as f64;
    let is_lossy = again > 0 && (sent == 0 || share >= LOSSY);
    if !facts.pasted.no_socket || !(is_lossy || again == 0 && timeouts > 0) {
        return None;
    }

    // Retransmissions that are lost again point to a bucket without tokens.
    let twice = value(facts, "TcpExt.TCPLostRetransmit");
    let made = Verdict::new("loss", "The path", 0.0, 0.35)
        .remedy("Find the connection and the place: these counters are a symptom")
        .twins(
            &["small_buffer", "policer", "none"],
            "`ss -tin` of the connection, and `tc -s qdisc` and `ethtool -S` of both hosts",
        );
    let made = match sent {
        0 => made.because(format!("RetransSegs is {}", count(again))),
        _ => made.because(format!(
            "{} of {} segments were sent again ({})",
            count(again),
            count(sent),
            percent(share)
        )),
    };
    let made = if timeouts > 0 {
        made.because(format!("TCPTimeouts is {}: each costs 200 ms or more", count(timeouts)))
    } else {
        made
    };
    let made = if twice > 0 {
        made.because(format!("TCPLostRetransmit is {}: those were lost again", count(twice)))
    } else {
        made
    };
    Some(Verdict { does: "loses packets", ..made })
}

fn reordered(facts: &Facts) -> Option<Verdict> {
    const NAMES: [&str; 4] = [
        "TcpExt.TCPSACKReorder",
        "TcpExt.TCPTSReorder",
        "TcpExt.TCPDSACKUndo",
        "TcpExt.TCPFullUndo",
    ];
    let seen: u64 = NAMES.iter().map(|name| value(facts, name)).sum();
    let again = value(facts, "Tcp.RetransSegs");
    (facts.pasted.no_socket && seen > 0 && seen >= again / 3).then(|| {
        let made = Verdict::new("reorder", "Reordering", 0.0, 0.45)
            .because(format!("TCP noticed {} late packets or needless repairs", count(seen)))
            .because(format!("RetransSegs is {}", count(again)))
            .remedy("Look for links that share one flow's packets (bonding, ECMP by packet)")
            .twins(&["loss"], "reord_seen and dsack_dups in `ss -tin` of the connection");
        Verdict { does: "happens", ..made }
    })
}
