//! Table of causes: codes, groups, titles, twins and pages, in all views and in all outputs.
//!
//! A code names the problem, a group its place in the chain. The rule that found a cause is finer: several rules may
//! share a code. Codes stay; a new cause gets a new code and a page in `pages/CODE.md`.

/// Code of a path that is full: nothing is wrong.
pub const HEALTHY: &str = "none";

/// A cause that findings name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Stable name.
    pub code: &'static str,
    /// Causes of a group are cured at the same place, and are hard to distinguish from afar.
    pub group: &'static str,
    /// Title, a few words.
    pub title: &'static str,
    /// Codes of causes that look the same in a view of the sender's sockets alone.
    pub twins: &'static [&'static str],
    /// Observation that decides between the cause and its twins, one sentence; empty without twins.
    pub would_decide: &'static str,
    /// Page of the cause, Markdown of at most 90 lines and 78 columns.
    pub page: &'static str,
}

/// A row of the table: code, group and title; then twins and the observation that decides, where there are twins.
macro_rules! known {
    ($code:literal, $group:literal, $title:literal) => {
        known!($code, $group, $title, [], "")
    };
    ($code:literal, $group:literal, $title:literal, $twins:expr, $decides:literal) => {
        Known {
            code: $code,
            group: $group,
            title: $title,
            twins: &$twins,
            would_decide: $decides,
            page: include_str!(concat!("pages/", $code, ".md")),
        }
    };
}

/// All causes.
pub const CAUSES: &[Known] = &[
    known!(
        "none",
        "link",
        "the path is full",
        ["compete", "nic"],
        "Compare the rate with what the link carries when nobody else uses it, and with the card's speed (ethtool DEV)"
    ),
    known!(
        "compete",
        "link",
        "others share the path",
        ["none", "ack_path", "bloat"],
        "Count what the link carries (ip -s link), and repeat the transfer at a quiet hour"
    ),
    known!(
        "bloat",
        "link",
        "a standing queue in front of a full path",
        ["compete"],
        "Ping the other end while the flow rests: a delay that stays belongs to others"
    ),
    known!("sndbuf", "send buffer", "the send buffer is too small"),
    known!(
        "rwnd_auto",
        "window",
        "the maximum of the autotuned receive window is too small",
        ["rwnd_fixed", "rwnd_grow", "app_read", "cpu_receiver", "tcp_mem"],
        "Look at the socket on the receiver (ss -tinm): Recv-Q near 0 and rb at the maximum of tcp_rmem"
    ),
    known!(
        "rwnd_grow",
        "window",
        "autotuning has not grown the receive window yet",
        ["rwnd_auto"],
        "Run a longer transfer: its window goes on growing"
    ),
    known!("rwnd_stuck", "window", "autotuning of the receive window cannot begin"),
    known!("rwnd_slow", "window", "the kernel grows the receive window too slowly"),
    known!(
        "rwnd_fixed",
        "window",
        "the receive buffer that the program asked for is too small",
        ["rwnd_auto", "app_read", "cpu_receiver", "tcp_mem"],
        "Look at the socket on the receiver (ss -tinm): rb is constant from the first sample on, and Recv-Q near 0"
    ),
    known!(
        "tcp_mem",
        "memory of all sockets",
        "the memory of all TCP sockets of a host is full",
        ["rwnd_auto", "rwnd_fixed", "app_read"],
        "Compare the receiver's TCP memory (/proc/net/sockstat, mem) with net.ipv4.tcp_mem, and read TCPMemoryPressures (nstat -az)"
    ),
    known!("wscale_off", "window", "window scaling was not agreed"),
    known!(
        "app_read",
        "reader",
        "the receiving program reads slowly",
        ["cpu_receiver", "rwnd_auto", "rwnd_fixed", "tcp_mem"],
        "Look at Recv-Q (ss -tinm) and at the CPUs (mpstat -P ALL 1) of the receiver: much unread and an idle CPU"
    ),
    known!(
        "cpu_receiver",
        "reader",
        "the CPU of the receiver is busy",
        ["app_read", "rwnd_auto", "rwnd_fixed"],
        "Look at each CPU of the receiver (mpstat -P ALL 1): one without rest is enough"
    ),
    known!(
        "app_write",
        "source",
        "the sending program writes too little",
        ["cpu_sender", "app_window", "turns", "nagle", "nfs"],
        "Look at the CPU of the writer's thread (top -H -p PID): it rests"
    ),
    known!(
        "cpu_sender",
        "source",
        "the CPU of the sender is busy",
        ["app_write"],
        "Look at the CPU of the writer's thread (top -H -p PID) and at each core: one has no rest"
    ),
    known!(
        "turns",
        "source",
        "requests and answers take turns",
        ["app_write", "app_onoff", "app_window"],
        "Trace the program's calls (strace -f -r -e trace=read,write -p PID): a read lasts a round trip after each write"
    ),
    known!(
        "app_window",
        "source",
        "the programs allow too little without an answer",
        ["app_write", "turns"],
        "Trace the program's calls (strace -f -r -e trace=read,write -p PID): it writes again when it has read something short"
    ),
    known!(
        "nagle",
        "source",
        "Nagle's rule holds back the last segment",
        ["app_write"],
        "Trace the program's calls (strace -f -e trace=write,sendto -p PID): several small writes make a message"
    ),
    known!(
        "app_onoff",
        "pauses",
        "the sending program pauses",
        ["turns"],
        "Trace the program's calls during a pause (strace -f -r -p PID): it waits for no answer of the peer"
    ),
    known!("connect", "pauses", "the connection is not established"),
    known!(
        "ss_short",
        "cwnd without loss",
        "slow start ended early, or the transfer before it",
        ["metrics", "qdisc", "too_short"],
        "Read HyStart's counters with a new flow (nstat -az 'TcpExtTCPHystart*'): they rise when HyStart ends slow start"
    ),
    known!(
        "metrics",
        "cwnd without loss",
        "an earlier connection left a small ssthresh",
        ["ss_short", "qdisc"],
        "Read the kernel's cache (ip tcp_metrics show ADDRESS): it has an ssthresh"
    ),
    known!(
        "qdisc",
        "cwnd without loss",
        "the sender's own queue drops packets",
        ["ss_short", "metrics"],
        "Read the drops of the sender's qdisc (tc -s qdisc show dev DEV)"
    ),
    known!(
        "loss",
        "loss",
        "packets are lost by chance",
        ["small_buffer", "policer", "rx_drop"],
        "Pace the flow far below the path (SO_MAX_PACING_RATE): losses by chance stay"
    ),
    known!("small_mss", "loss", "segments are small, and packets are lost"),
    known!(
        "small_buffer",
        "shallow drop",
        "a queue of the path is too short",
        ["policer", "loss", "rx_drop"],
        "Read the drop counter of the device in front of the bottleneck, or ping during the transfer: a queue adds delay"
    ),
    known!("pmtu", "loss", "large packets do not pass"),
    known!(
        "policer",
        "shallow drop",
        "a policer drops bursts",
        ["small_buffer", "rx_drop", "loss"],
        "Pace the flow just below the assumed rate (SO_MAX_PACING_RATE): losses end"
    ),
    known!(
        "rx_drop",
        "shallow drop",
        "the receiving host drops packets before TCP sees them",
        ["small_buffer", "policer", "loss"],
        "Read the receiver's counters (ethtool -S DEV, /proc/net/softnet_stat): they rise as the retransmissions do"
    ),
    known!("sack_off", "SACK off", "SACK was not agreed, and packets are lost"),
    known!("reorder", "reordering", "packets are reordered"),
    known!(
        "ack_path",
        "ACK path",
        "the way back is slow",
        ["compete"],
        "Capture at the sender (tcpdump) and compare TSval of ACKs with the clock: the delay is that of the way back"
    ),
    known!(
        "pacing",
        "host paced",
        "a pace that somebody set",
        ["nic", "tx_ring"],
        "Read the socket's maximum (ss -tin, pacing_rate) and the qdisc (tc -s -d qdisc show dev DEV): maxrate"
    ),
    known!(
        "nic",
        "host paced",
        "the sender's card is slow",
        ["pacing", "tx_ring", "none"],
        "Compare the card's speed (ethtool DEV) with the bytes that it sends (ip -s link)"
    ),
    known!(
        "tx_ring",
        "host paced",
        "the sender's transmit ring is short",
        ["nic", "pacing"],
        "Read the requeues of the qdisc (tc -s qdisc show dev DEV) with the card below its speed"
    ),
    known!(
        "nfs",
        "mount",
        "the NFS mount waits for its server or its slots",
        ["app_write"],
        "Read the mount's statistics (mountstats MOUNT): calls wait for a slot or for the server"
    ),
    known!("udp", "datagrams", "datagrams are lost"),
    known!(
        "too_short",
        "too short",
        "the transfer is over before anything limits it",
        ["ss_short"],
        "Run a longer transfer"
    ),
];

/// The cause with a code; none where no cause has it.
pub fn by_code(code: &str) -> Option<&'static Known> {
    CAUSES.iter().find(|known| known.code == code)
}

/// The group of a code; empty where no cause has it.
pub fn group(code: &str) -> &'static str {
    by_code(code).map_or("", |known| known.group)
}

/// Codes of causes that look the same; none where the whole path is seen (`sees_all`), as each stage then counts its own.
pub fn twins(code: &str, sees_all: bool) -> &'static [&'static str] {
    by_code(code).filter(|_| !sees_all).map_or(&[], |known| known.twins)
}

/// Observation that decides between a cause and its twins; none without twins.
pub fn would_decide(code: &str, sees_all: bool) -> Option<&'static str> {
    let has_twins = !twins(code, sees_all).is_empty();
    by_code(code).filter(|_| has_twins).map(|known| known.would_decide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Headings of each page, in their order.
    const HEADINGS: [&str; 6] = [
        "How fullpipe recognises it",
        "What looks the same",
        "Measure it yourself",
        "Cure",
        "How this can be wrong",
        "Sources",
    ];

    #[test]
    fn codes_are_unique() {
        let codes: BTreeSet<&str> = CAUSES.iter().map(|known| known.code).collect();
        assert_eq!(codes.len(), CAUSES.len());
    }

    #[test]
    fn twins_are_mutual_and_have_an_observation_that_decides() {
        for own in CAUSES {
            assert_eq!(own.twins.is_empty(), own.would_decide.is_empty(), "{}", own.code);
            for twin in own.twins {
                let other = by_code(twin).unwrap_or_else(|| panic!("no cause {twin}"));
                assert!(other.twins.contains(&own.code), "{} of {twin}", own.code);
            }
        }
    }

    #[test]
    fn nothing_looks_the_same_where_all_is_seen() {
        assert_eq!(twins("cpu_sender", false), ["app_write"]);
        assert!(would_decide("cpu_sender", false).is_some());
        assert!(twins("cpu_sender", true).is_empty());
        assert_eq!(would_decide("cpu_sender", true), None);
        assert_eq!(would_decide("sndbuf", false), None);
    }

    #[test]
    fn each_page_has_all_parts_and_fits_a_screen() {
        for own in CAUSES {
            let first = format!("# {}: {}", own.code, own.title);
            assert_eq!(own.page.lines().next(), Some(&first[..]));
            let headings = own.page.lines().filter_map(|line| line.strip_prefix("## "));
            assert_eq!(headings.collect::<Vec<_>>(), HEADINGS, "{}", own.code);
            assert!(own.page.lines().count() <= 90, "{}", own.code);
            for line in own.page.lines() {
                assert!(line.chars().count() <= 78, "{}: {line}", own.code);
            }
        }
    }

    #[test]
    fn each_page_names_its_twins() {
        for own in CAUSES {
            let part = own.page.split("## ").find(|part| part.starts_with(HEADINGS[1]));
            let part = part.expect("a part on what looks the same");
            for twin in own.twins {
                assert!(part.contains(&format!("`{twin}`")), "{} lacks {twin}", own.code);
            }
        }
    }
}
