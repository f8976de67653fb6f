//! Changes that a program, a mount or a network makes, in words.

use super::super::change::{Change, How};

/// Sysctl that programs and routes may set for themselves.
const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// A line for each change that no file makes, or that a program may make for itself.
pub fn lines(changes: &[Change]) -> Vec<String> {
    changes.iter().filter_map(line).collect()
}

/// Level of a socket option, as setsockopt(2) takes it.
fn level(name: &str) -> &'static str {
    match name.split_once('_') {
        Some(("TCP", _)) => "IPPROTO_TCP",
        Some(("IP", _)) => "IPPROTO_IP",
        _ => "SOL_SOCKET",
    }
}

/// The line of a change; none where a file makes it.
fn line(change: &Change) -> Option<String> {
    let whose = &change.whose;
    Some(match &change.how {
        How::SocketOption { name, value: None } => format!("{whose}: do not set {name}"),
        How::SocketOption { name, value: Some(value) } => {
            // iperf3 counts in bits, the socket in bytes.
            let tool = match &name[..] {
                "SO_MAX_PACING_RATE" => format!(" (iperf3 --fq-rate {}K)", value * 8 / 1000),
                _ => String::new(),
            };
            format!("{whose}: setsockopt(fd, {}, {name}, {value}){tool}", level(name))
        }
        // A file sets the sysctl; a socket or a route may have it alone.
        How::Sysctl { name, value } if name == CONGESTION => format!(
            "{whose}: for one socket instead, setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{value}\"); for one \
             route, ip route change ROUTE congctl {value} (ROUTE is its line of ip route); first, modprobe tcp_{value} where it is a module"
        ),
        How::Program { words } => format!("{whose}: {words}"),
        How::System { command, undo } => format!("{whose}: {command}   # undo: {undo}"),
        How::Mount { words } => format!("{whose}: mount -o {words}"),
        How::Path { words } => format!("{whose}: {words}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_their_level() {
        let levels = ["TCP_NODELAY", "TCP_QUICKACK", "IP_TOS", "SO_SNDBUF"].map(level);
        assert_eq!(levels, ["IPPROTO_TCP", "IPPROTO_TCP", "IPPROTO_IP", "SOL_SOCKET"]);
    }
}
