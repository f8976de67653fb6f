//! Counters of the hosts that show trouble, a line for each host.

use super::Style;
use super::grid::wrap;
use fullpipe_analysis::document::Run;
use fullpipe_analysis::numbers::count;

/// Counters that show trouble, in the packets' order.
const TROUBLE: [&str; 15] = [
    "tc.dropped",
    "tc.requeues",
    "ethtool.tx_busy",
    "ethtool.tx_restart_queue",
    "ethtool.rx_missed_errors",
    "softnet.dropped",
    "softnet.time_squeeze",
    "Tcp.RetransSegs",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPLostRetransmit",
    "TcpExt.TCPSynRetrans",
    "TcpExt.PruneCalled",
    "TcpExt.RcvPruned",
    "TcpExt.PAWSEstab",
    "tcp.beyond_window",
];

/// Nothing of a host that has counted none of them.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut hosts: Vec<&str> = run.counters.iter().map(|own| &own.host[..]).collect();

    // Counters of one host stand together.
    hosts.dedup();
    for host in hosts {
        let value = |name: &str| {
            let found = run.counters.iter().find(|own| own.host == host && own.name == name);
            found.map_or(0, |own| own.value)
        };

        // Only counters that point to trouble are worth a line.
        let moved = TROUBLE.iter().filter(|name| value(name) > 0);
        let counted: Vec<_> = moved.map(|name| format!("{name} {}", count(value(name)))).collect();
        if !counted.is_empty() {
            let line = format!("{}: {host} counted {}", run.variant, counted.join(", "));
            lines.extend(wrap(&line, "  ", style.columns()));
        }
    }
    lines
}
