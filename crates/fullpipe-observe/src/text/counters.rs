//! Counters of a host: `nstat`, `netstat -s`, and the pairs of lines of `/proc/net/netstat`.

use super::lines::Line;
use crate::counters::pairs;

/// A counter with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Name, as "TcpExt.TCPTimeouts".
    pub name: String,
    /// Value.
    pub value: u64,
    /// Line.
    pub line: usize,
}

/// Protocols whose names `nstat` writes in front of a counter's.
const PROTOCOLS: [&str; 10] =
    ["TcpExt", "IpExt", "Tcp", "UdpLite6", "UdpLite", "Udp6", "Udp", "Ip6", "Icmp", "Ip"];
/// Sentences of `netstat -s` (net-tools, statistics.c) behind their number, and the counters that they stand for.
const SENTENCES: [(&str, &str); 14] = [
    ("segments retransmitted", "Tcp.RetransSegs"),
    ("segments retransmited", "Tcp.RetransSegs"),
    ("segments sent out", "Tcp.OutSegs"),
    ("segments send out", "Tcp.OutSegs"),
    ("times the listen queue of a socket overflowed", "TcpExt.ListenOverflows"),
    ("SYNs to LISTEN sockets dropped", "TcpExt.ListenDrops"),
    ("SYNs to LISTEN sockets ignored", "TcpExt.ListenDrops"),
    ("packets pruned from receive queue because of socket buffer overrun", "TcpExt.PruneCalled"),
    ("packets collapsed in receive queue due to low socket buffer", "TcpExt.TCPRcvCollapsed"),
    ("other TCP timeouts", "TcpExt.TCPTimeouts"),
    ("fast retransmits", "TcpExt.TCPFastRetrans"),
    ("retransmits in slow start", "TcpExt.TCPSlowStartRetrans"),
    ("packet receive errors", "Udp.InErrors"),
    ("receive buffer errors", "Udp.RcvbufErrors"),
];

/// The counters of a text.
pub fn read(lines: &[Line]) -> Vec<Counted> {
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let counted = |(name, value)| Counted { name, value, line: line.number };
        all.extend(by_nstat(line).or_else(|| by_netstat(line)).map(counted));
        if let Some(before) = at.checked_sub(1).map(|at| &lines[at]) {
            all.extend(by_pairs(before, line).into_iter().map(counted));
        }
    }
    all
}

/// "TcpRetransSegs                  464                0.0".
fn by_nstat(line: &Line) -> Option<(String, u64)> {
    let words = line.words();
    let [name, value, rate] = words[..] else { return None };
    rate.parse::<f64>().ok()?;
    let own = PROTOCOLS.iter().find_map(|protocol| Some((protocol, name.strip_prefix(protocol)?)));
    let (protocol, own) =
        own.filter(|(_, own)| own.starts_with(|it: char| it.is_ascii_uppercase()))?;
    Some((format!("{protocol}.{own}"), value.parse().ok()?))
}

/// "    464 segments retransmitted", or "    TCPTimeouts: 3" of a counter without a sentence.
fn by_netstat(line: &Line) -> Option<(String, u64)> {
    let text = line.text.trim();
    if let Some((name, value)) = text.split_once(": ") {
        let is_name =
            name.starts_with("TCP") && name.bytes().all(|own| own.is_ascii_alphanumeric());
        return is_name.then_some((format!("TcpExt.{name}"), value.trim().parse().ok()?));
    }
    let (value, sentence) = text.split_once(' ')?;
    let (_, name) = SENTENCES.into_iter().find(|(own, _)| sentence == *own)?;
    Some((name.into(), value.parse().ok()?))
}

/// Names, and values below them.
fn by_pairs(names: &Line, values: &Line) -> Vec<(String, u64)> {
    let protocol = |line: &Line| line.text.split_once(':').map(|own| own.0.to_string());
    let is_pair = protocol(names).is_some_and(|own| PROTOCOLS.contains(&own.as_str()))
        && protocol(names) == protocol(values);
    if !is_pair {
        return Vec::new();
    }
    pairs(&format!("{}\n{}\n", names.text, values.text)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    #[test]
    fn all_forms_are_read() {
        let text = "#kernel
TcpRetransSegs                  464                0.0
> TcpExtTCPRcvQDrop               34                 0.0
    12 segments retransmitted
    5 times the listen queue of a socket overflowed
    TCPLostRetransmit: 7
TcpExt: SyncookiesSent PruneCalled
TcpExt: 0 9
    InType8: 3
Total words that mean nothing
";
        let all: Vec<(String, u64, usize)> =
            read(&clean(text)).into_iter().map(|own| (own.name, own.value, own.line)).collect();
        let expected = [
            ("Tcp.RetransSegs", 464, 2),
            ("TcpExt.TCPRcvQDrop", 34, 3),
            ("Tcp.RetransSegs", 12, 4),
            ("TcpExt.ListenOverflows", 5, 5),
            ("TcpExt.TCPLostRetransmit", 7, 6),
            ("TcpExt.PruneCalled", 9, 8),
            ("TcpExt.SyncookiesSent", 0, 8),
        ];
        assert_eq!(all, expected.map(|(name, value, line)| (name.to_string(), value, line)));
    }
}
