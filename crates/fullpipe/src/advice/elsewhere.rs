//! Advice for Windows, FreeBSD and macOS, translated from that for Linux. No run proves it there: fullpipe has Linux
//! alone.

use super::change::{Change, How};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Commands of another system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// "Windows", "FreeBSD" or "macOS".
    pub system: String,
    /// Commands and remarks, one a line.
    pub lines: Vec<String>,
}

/// Name of a system, and the function that translates a change for it.
type System = (&'static str, fn(&Change) -> Vec<String>);

/// Equivalents of the advised changes; none where no change has one.
pub fn elsewhere(changes: &[Change]) -> Vec<Elsewhere> {
    let systems: [System; 3] = [("Windows", windows), ("FreeBSD", freebsd), ("macOS", macos)];
    let mut all = Vec::new();
    for (system, of) in systems {
        // Commands gather by host, in the order of the changes.
        let mut hosts: Vec<(&str, Vec<String>)> = Vec::new();
        for change in changes {
            let new = of(change);
            match hosts.iter_mut().find(|(whose, _)| *whose == change.whose) {
                Some((_, lines)) => lines.extend(new),
                None => hosts.push((&change.whose, new)),
            }
        }

        // Hosts without an equivalent are left out.
        let mut lines = Vec::new();
        for (whose, own) in hosts.into_iter().filter(|(_, own)| !own.is_empty()) {
            lines.push(format!("# {whose}"));
            lines.extend(once(own));
        }
        if !lines.is_empty() {
            all.push(Elsewhere { system: system.into(), lines });
        }
    }
    all
}

/// Commands without duplicates of several changes; of two sizes of a setting, the larger one.
fn once(commands: Vec<String>) -> Vec<String> {
    let size = |line: &str| {
        let (setting, size) = line.rsplit_once('=')?;
        Some((setting.to_string(), size.parse::<u64>().ok()?))
    };
    let mut all: Vec<String> = Vec::new();

    // Lines of one setting differ only in their size: the larger one stays.
    for line in commands {
        let known = all.iter_mut().find(|own| match (size(own), size(&line)) {
            (Some((a, _)), Some((b, _))) => a == b,
            _ => **own == line,
        });
        match known {
            Some(own) if size(own) < size(&line) => *own = line,
            Some(_) => {}
            None => all.push(line),
        }
    }
    all
}

/// The sysctl that a change sets, and the last number of its value.
fn sysctl(change: &Change) -> Option<(&str, &str)> {
    match &change.how {
        How::Sysctl { name, value } => Some((name, value.rsplit(' ').next().unwrap_or(value))),
        _ => None,
    }
}

/// Command of Windows that does what a route of Linux does, with that value.
pub fn windows_route(how: &How, value: &str) -> String {
    match how {
        How::Route { words } if words.starts_with("mtu ") => {
            format!("netsh interface ipv4 set subinterface \"NAME\" mtu={value} store=persistent")
        }
        _ => format!(
            "Set-NetTCPSetting -SettingName InternetCustom -InitialCongestionWindowMss {value}"
        ),
    }
}

fn windows(change: &Change) -> Vec<String> {
    let advised = &change.advised;
    match &change.how {
        How::System { command, .. } => vec![command.clone()],
        How::Route { .. } => vec![windows_route(&change.how, advised)],
        How::Device { command, .. } if command.contains("-G DEV rx ") => vec![format!(
            "Set-NetAdapterAdvancedProperty -Name NAME -DisplayName \"Receive Buffers\" -DisplayValue {advised}"
        )],
        How::SocketOption { name, value: None } if name == "SO_RCVBUF" => {
            vec!["# SO_RCVBUF stops autotuning here, too: the program must not set it".into()]
        }
        _ => {
            let lines = sysctl(change).map_or(&[][..], |(name, value)| of_windows(name, value));
            lines.iter().map(|line| (*line).to_string()).collect()
        }
    }
}

/// Commands of Windows in the place of a sysctl.
fn of_windows(name: &str, value: &str) -> &'static [&'static str] {
    match (name, value) {
        ("net.ipv4.tcp_rmem", _) => &[
            "Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal Normal",
            "netsh int tcp set global autotuninglevel=normal   # up to 16 MB; experimental: 1 GB",
            "netsh int tcp set heuristics disabled",
        ],
        ("net.ipv4.tcp_wmem", _) => &[
            "# the send buffer follows the ideal send backlog; a program should write 1 MB at a time",
        ],
        ("net.ipv4.tcp_window_scaling", _) => {
            &["netsh int tcp set global autotuninglevel=normal   # disabled: no window scaling"]
        }
        ("net.ipv4.tcp_timestamps", _) => {
            &["Set-NetTCPSetting -SettingName InternetCustom -Timestamps Enabled"]
        }
        ("net.ipv4.tcp_congestion_control", "cubic") => {
            &["Set-NetTCPSetting -SettingName InternetCustom -CongestionProvider CUBIC"]
        }
        ("net.ipv4.tcp_congestion_control", "bbr") => &[
            "Set-NetTCPSetting -SettingName InternetCustom -CongestionProvider BBR2   # Windows 11",
        ],
        _ => &[],
    }
}

fn freebsd(change: &Change) -> Vec<String> {
    if let How::Route { words } = &change.how {
        if words.starts_with("mtu ") {
            return vec![format!("route change DESTINATION -mtu {}", change.advised)];
        }
        return vec![format!("sysctl net.inet.tcp.initcwnd_segments={}", change.advised)];
    }
    match sysctl(change) {
        Some(("net.ipv4.tcp_rmem", most)) => buffers(most, "recv", "kern.ipc.maxsockbuf"),
        Some(("net.ipv4.tcp_wmem", most)) => buffers(most, "send", "kern.ipc.maxsockbuf"),
        Some(("net.ipv4.tcp_window_scaling", _)) => vec!["sysctl net.inet.tcp.rfc1323=1".into()],
        Some(("net.ipv4.tcp_sack", _)) => vec!["sysctl net.inet.tcp.sack.enable=1".into()],
        Some(("net.ipv4.tcp_no_metrics_save", _)) => {
            vec!["sysctl net.inet.tcp.hostcache.enable=0".into()]
        }
        Some(("net.ipv4.tcp_congestion_control", "bbr")) => {
            vec!["kldload tcp_bbr; sysctl net.inet.tcp.functions_default=bbr".into()]
        }
        Some(("net.ipv4.tcp_congestion_control", name)) => {
            vec![format!("kldload cc_{name}; sysctl net.inet.tcp.cc.algorithm={name}")]
        }
        _ => Vec::new(),
    }
}

/// Both bounds of FreeBSD's buffers: of autotuning, and of all sockets.
fn buffers(most: &str, which: &str, all: &str) -> Vec<String> {
    vec![format!("sysctl {all}={most}"), format!("sysctl net.inet.tcp.{which}buf_max={most}")]
}

fn macos(change: &Change) -> Vec<String> {
    match sysctl(change) {
        Some(("net.ipv4.tcp_rmem", most)) => vec![
            format!("sysctl -w kern.ipc.maxsockbuf={most}"),
            format!("sysctl -w net.inet.tcp.autorcvbufmax={most}"),
        ],
        Some(("net.ipv4.tcp_wmem", most)) => vec![
            format!("sysctl -w kern.ipc.maxsockbuf={most}"),
            format!("sysctl -w net.inet.tcp.autosndbufmax={most}"),
        ],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::Scope;
    use super::*;

    fn sysctl(whose: &str, name: &str, value: &str) -> Change {
        let how = How::Sysctl { name: name.into(), value: value.into() };
        Change::new(name, whose, Scope::Sender, how)
    }

    fn lines<'a>(all: &'a [Elsewhere], system: &str) -> Vec<&'a str> {
        let own = all.iter().find(|own| own.system == system).expect("lines of the system");
        own.lines.iter().map(String::as_str).collect()
    }

    #[test]
    fn each_host_has_its_own_lines() {
        let all = elsewhere(&[
            sysctl("left", "net.ipv4.tcp_wmem", "4096 16384 9000000"),
            sysctl("right", "net.ipv4.tcp_rmem", "4096 131072 8000000"),
            sysctl("left", "net.ipv4.tcp_window_scaling", "1"),
        ]);
        assert_eq!(
            lines(&all, "FreeBSD"),
            [
                "# left",
                "sysctl kern.ipc.maxsockbuf=9000000",
                "sysctl net.inet.tcp.sendbuf_max=9000000",
                "sysctl net.inet.tcp.rfc1323=1",
                "# right",
                "sysctl kern.ipc.maxsockbuf=8000000",
                "sysctl net.inet.tcp.recvbuf_max=8000000",
            ]
        );
        assert_eq!(
            lines(&all, "macOS")[..3],
            [
                "# left",
                "sysctl -w kern.ipc.maxsockbuf=9000000",
                "sysctl -w net.inet.tcp.autosndbufmax=9000000"
            ]
        );
    }

    /// The MTU of a route is no initial window.
    #[test]
    fn a_routes_mtu_is_an_mtu_elsewhere() {
        let how = How::Route { words: "mtu 1400".into() };
        let all = [Change::new("ip route mtu", "left", Scope::Sender, how).values(1500, 1400)];
        let own = elsewhere(&all);
        let windows = lines(&own, "Windows");
        assert!(windows.iter().any(|own| own.contains("mtu=1400")), "{windows:?}");
        let freebsd = lines(&own, "FreeBSD");
        assert!(freebsd.contains(&"route change DESTINATION -mtu 1400"), "{freebsd:?}");
    }

    #[test]
    fn windows_gets_the_advised_numbers() {
        let how = How::Route { words: "initcwnd 40".into() };
        let route = Change::new("ip route initcwnd", "left", Scope::Sender, how).values(10, 40);
        let command = "ethtool -G DEV rx 2048".to_string();
        let ring = How::Device { command, link: "RxBufferSize=2048".into() };
        let ring = Change::new("ethtool -G rx", "right", Scope::Receiver, ring).values(256, 2048);
        let all = elsewhere(&[route, ring]);
        let windows = lines(&all, "Windows");
        assert!(windows[1].ends_with("-InitialCongestionWindowMss 40"), "{windows:?}");
        assert!(windows[3].ends_with("-DisplayValue 2048"), "{windows:?}");
        assert_eq!(lines(&all, "FreeBSD"), ["# left", "sysctl net.inet.tcp.initcwnd_segments=40"]);
        assert_eq!(all.len(), 2, "what another system does not have is left out");
    }

    #[test]
    fn a_command_of_two_changes_is_there_once() {
        let all = elsewhere(&[
            sysctl("left", "net.ipv4.tcp_rmem", "4096 131072 9000000"),
            sysctl("left", "net.ipv4.tcp_wmem", "4096 16384 12000000"),
        ]);
        let both = lines(&all, "FreeBSD");
        let common: Vec<&&str> = both.iter().filter(|own| own.contains("maxsockbuf")).collect();
        assert_eq!(common, [&"sysctl kern.ipc.maxsockbuf=12000000"], "the larger one of two sizes");
    }
}
