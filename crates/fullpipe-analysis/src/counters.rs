//! Counters of hosts at the end of a run.

use super::document::HostCounter;
use fullpipe_trace::recording::Recording;
use std::collections::BTreeMap;

/// Prefixes of the counters that are kept: queues, drivers, the softirq, TCP, an emulated path, an observer. A real kernel has more
/// counters.
const KEPT: [&str; 7] = ["tc", "ethtool", "softnet", "Tcp", "TcpExt", "emulator", "observer"];

/// The last value of each counter, in the order in which the counters first appear, host by host.
pub(super) fn counters(recording: &Recording) -> Vec<HostCounter> {
    let mut places = BTreeMap::new();
    let mut all: Vec<Vec<HostCounter>> = Vec::new();
    let mut hosts: Vec<&str> = Vec::new();
    let kept = recording.counters.iter().filter(|counter| is_kept(&counter.name));
    for counter in kept {
        // A host or a counter gets its place when it first appears.
        let host = hosts.iter().position(|host| *host == &*counter.host).unwrap_or_else(|| {
            hosts.push(&counter.host);
            all.push(Vec::new());
            hosts.len() - 1
        });
        let place = *places.entry((host, &*counter.name)).or_insert_with(|| {
            let (host_name, name) = (counter.host.to_string(), counter.name.to_string());
            all[host].push(HostCounter { host: host_name, name, value: 0 });
            all[host].len() - 1
        });

        // Later samples overwrite: counters are cumulative.
        all[host][place].value = counter.value;
    }
    all.into_iter().flatten().collect()
}

fn is_kept(name: &str) -> bool {
    name.split_once('.').is_some_and(|(source, _)| KEPT.contains(&source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::trace::Counter;
    use fullpipe_base::units::Time;

    #[test]
    fn the_last_value_counts() {
        let counters = [
            ("sender", "Tcp.OutSegs", 3),
            ("receiver", "tc.dropped", 0),
            ("sender", "datagrams.ping.sent", 1),
            ("sender", "Ip.InReceives", 9),
            ("sender", "Tcp.OutSegs", 8),
            ("sender", "TcpExt.TCPTimeouts", 1),
        ];
        let counters = counters.map(|(host, name, value)| Counter {
            time: Time::ZERO,
            host: host.into(),
            name: name.into(),
            value,
        });
        let recording = Recording { counters: counters.into(), ..Recording::default() };
        let found = super::counters(&recording);
        let found: Vec<_> = found.iter().map(|c| (&c.host[..], &c.name[..], c.value)).collect();
        let expected = [
            ("sender", "Tcp.OutSegs", 8),
            ("sender", "TcpExt.TCPTimeouts", 1),
            ("receiver", "tc.dropped", 0),
        ];
        assert_eq!(found, expected);
    }
}
