//! `tc -s qdisc` in words.

use super::lines::{Line, bounded};

/// A queue of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Kind, as tc spells it.
    pub kind: String,
    /// Device.
    pub device: String,
    /// Whether it is at the root of its device.
    pub is_root: bool,
    /// Packets that may wait, where the text says that.
    pub limit: Option<u32>,
    /// Packets that left.
    pub packets: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Packets that the card refused.
    pub requeues: u64,
    /// Packets that wait.
    pub backlog: u64,
    /// Packets that a flow's own limit of fq has dropped.
    pub flows_plimit: u64,
    /// Rate of each flow of fq (`maxrate`), bit/s.
    pub maxrate: Option<u64>,
    /// First line.
    pub line: usize,
    /// Line with the counters.
    pub counted: usize,
}

/// The queues of a text that have counters.
pub fn read(lines: &[Line]) -> Vec<Queue> {
    let mut all: Vec<Queue> = Vec::new();
    let mut now: Option<Queue> = None;
    for line in lines {
        let words = line.words();
        if let ["qdisc", kind, _, rest @ ..] = &words[..] {
            all.extend(now.take().filter(|own| own.counted > 0));
            now = Some(begin(kind, rest, line.number));
        } else if let Some(own) = &mut now {
            more(own, &words, line.number);
        }
    }
    all.extend(now.filter(|own| own.counted > 0));
    all
}

/// "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p ..."
fn begin(kind: &str, rest: &[&str], line: usize) -> Queue {
    let limit = behind(rest, "limit").and_then(|own| own.strip_suffix('p')?.parse().ok());
    Queue {
        kind: kind.into(),
        device: behind(rest, "dev").unwrap_or_default().into(),
        is_root: rest.contains(&"root"),
        limit,
        maxrate: behind(rest, "maxrate").and_then(rate),
        line,
        ..Queue::default()
    }
}

/// " Sent 9000 bytes 6 pkt (dropped 2, overlimits 0 requeues 8)" and the lines below.
fn more(own: &mut Queue, words: &[&str], line: usize) {
    let number = |name: &str| {
        let value = behind(words, name)?;
        value.trim_end_matches([',', ')', 'p']).parse::<u64>().ok()
    };
    match words {
        ["Sent", _, "bytes", packets, "pkt", ..] => {
            own.packets = packets.parse().unwrap_or(0);
            own.dropped = number("(dropped").unwrap_or(0);
            own.requeues = number("requeues").unwrap_or(0);
            own.counted = line;
        }
        ["backlog", _, packets, ..] => {
            own.backlog = packets.trim_end_matches('p').parse().unwrap_or(0);
        }
        _ => own.flows_plimit = number("flows_plimit").unwrap_or(own.flows_plimit),
    }
}

/// The word behind that one.
fn behind<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|own| *own == name)?;
    words.get(at + 1).copied()
}

/// A rate such as "500Mbit" or "1Gbit", bit/s.
fn rate(text: &str) -> Option<u64> {
    let at = text.find(|own: char| own.is_ascii_alphabetic())?;
    let factor = match &text[at..] {
        "bit" => 1.0,
        "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        _ => return None,
    };
    bounded(text[..at].parse::<f64>().ok()? * factor).map(|own| own as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    #[test]
    fn counters_belong_to_the_queue_above() {
        let text = "qdisc mq 0: dev eth0 root
 Sent 18 bytes 6 pkt (dropped 3, overlimits 0 requeues 8)
 backlog 3028b 2p requeues 8
qdisc fq 8001: dev eth0 parent :1 limit 10000p flow_limit 100p maxrate 500Mbit
 Sent 9 bytes 4 pkt (dropped 1, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
  flows 1 (inactive 0 throttled 0)
  gc 0 highprio 0 throttled 0 flows_plimit 1
qdisc noqueue 0: dev lo root refcnt 2
";
        let all = read(&clean(text));
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].dropped, all[0].requeues, all[0].backlog), (3, 8, 2));
        assert!(all[0].is_root && !all[1].is_root);
        assert_eq!((all[1].limit, all[1].maxrate), (Some(10_000), Some(500_000_000)));
        assert_eq!((all[1].flows_plimit, all[1].line, all[1].counted), (1, 4, 5));
    }
}
