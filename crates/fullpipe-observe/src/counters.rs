//! Counters of the calling thread's network namespace, by the names of `nstat`; those of the receive path are the host's.

use std::collections::BTreeMap;
use std::fs;

/// Files with pairs of lines: names, then values. A thread's own directory follows its namespace.
const PAIRS: [&str; 2] = ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"];
/// A line of hexadecimal numbers for each CPU.
const SOFTNET: &str = "/proc/thread-self/net/softnet_stat";
/// Columns of that file (softnet_seq_show), by their places.
const COLUMNS: [(usize, &str); 3] =
    [(0, "softnet.processed"), (1, "softnet.dropped"), (2, "softnet.time_squeeze")];
/// Values that are no counts.
const GAUGES: [&str; 7] = [
    "Ip.Forwarding",
    "Ip.DefaultTTL",
    "Tcp.RtoAlgorithm",
    "Tcp.RtoMin",
    "Tcp.RtoMax",
    "Tcp.MaxConn",
    "Tcp.CurrEstab",
];

/// Counters by their names.
pub type Counters = BTreeMap<String, u64>;

/// The counters now. A file that the kernel lacks has none.
pub fn now() -> Counters {
    let mut all = Counters::new();
    for file in PAIRS {
        all.extend(pairs(&fs::read_to_string(file).unwrap_or_default()));
    }
    all.extend(softnet(&fs::read_to_string(SOFTNET).unwrap_or_default()));
    all
}

/// Counters of a text of pairs of lines, as "TcpExt.TCPTimeouts".
pub fn pairs(text: &str) -> Counters {
    let mut all = Counters::new();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks_exact(2) {
        let (Some((protocol, names)), Some((_, values))) =
            (pair[0].split_once(':'), pair[1].split_once(':'))
        else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            let name = format!("{protocol}.{name}");
            let Ok(value) = value.parse() else { continue };
            if !GAUGES.contains(&name.as_str()) {
                all.insert(name, value);
            }
        }
    }
    all
}

/// Sums over all CPUs.
fn softnet(text: &str) -> Counters {
    let mut all = Counters::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        for (at, name) in COLUMNS {
            let value = columns.get(at).and_then(|own| u64::from_str_radix(own, 16).ok());
            *all.entry(name.into()).or_default() += value.unwrap_or(0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_names_and_values_are_paired() {
        let text =
            "Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 7\nUdp: InErrors\nUdp: 3\nIp: lost\n";
        let expected = [("Tcp.RetransSegs".to_string(), 7), ("Udp.InErrors".to_string(), 3)];
        assert_eq!(pairs(text), Counters::from(expected));
    }

    #[test]
    fn columns_of_all_cpus_add_up() {
        let all = softnet("0000000a 00000002 00000001 0\n00000006 00000001 00000000 0\n");
        assert_eq!([all["softnet.processed"], all["softnet.dropped"]], [16, 3]);
        assert_eq!(all["softnet.time_squeeze"], 1);
        assert_eq!(softnet("").len(), 0);
    }

    #[test]
    fn this_kernel_counts_tcp() {
        let now = now();
        assert!(now.contains_key("Tcp.RetransSegs"), "{now:?}");
        assert!(now.contains_key("TcpExt.TCPTimeouts"));
    }
}
