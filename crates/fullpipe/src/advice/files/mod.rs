//! Files and commands that make changes on Linux, and their undo.
//!
//! Each tool that an administrator may use has its own file here. All of them are equivalent; one of them is enough.

mod ansible;
mod device;
mod program;
pub mod sysctl;
mod tuned;

use super::change::{Change, How};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that an administrator puts in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// Name of the host, "client", "server" or "both".
    pub host: String,
    /// Path of the file.
    pub path: String,
    /// Text of the file.
    pub text: String,
    /// Command that keeps the values of the host, to run first; `None` where the values of a host that sets nothing are
    /// restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// Command that puts it in force at once.
    pub apply: String,
    /// Command that restores the values from before; the file itself is to be removed, too.
    pub undo: String,
}

/// Files of all hosts, those that suffice first, then the same for other tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Files {
    /// Files that make all changes of the hosts.
    pub enough: Vec<File>,
    /// Profile of tuned, and Ansible play, with the same settings.
    pub instead: Vec<File>,
    /// What the program has to do, in words.
    pub program: Vec<String>,
}

/// The files for changes.
pub fn files(changes: &[Change]) -> Files {
    let mut files = Files { program: program::lines(changes), ..Files::default() };

    // Hosts in the order in which the changes name them.
    let mut hosts: Vec<&str> = Vec::new();
    for change in changes.iter().filter(|change| is_of_host(&change.how)) {
        if !hosts.contains(&change.whose.as_str()) {
            hosts.push(&change.whose);
        }
    }
    for host in hosts {
        let own: Vec<&Change> = changes.iter().filter(|change| change.whose == host).collect();

        // Two sets: plain files, or instead of them tuned and Ansible.
        files.enough.extend(sysctl::file(host, &own));
        files.enough.extend(device::files(host, &own));
        files.instead.extend(tuned::files(host, &own));
        files.instead.extend(ansible::play(host, &own));
    }
    files
}

/// Whether an administrator of a host makes the change.
fn is_of_host(how: &How) -> bool {
    matches!(how, How::Sysctl { .. } | How::Device { .. } | How::Qdisc { .. } | How::Route { .. })
}

/// sysctls among changes: names and values.
fn sysctls<'a>(changes: &[&'a Change]) -> Vec<(&'a str, &'a str)> {
    changes
        .iter()
        .filter_map(|change| match &change.how {
            How::Sysctl { name, value } => Some((name.as_str(), value.as_str())),
            _ => None,
        })
        .collect()
}

/// Commands that set devices, qdiscs and routes. DEV and ROUTE are placeholders for names of the host.
fn commands(changes: &[&Change]) -> Vec<String> {
    changes
        .iter()
        .flat_map(|change| match &change.how {
            How::Device { command, .. } => vec![command.clone()],
            // A qdisc that is replaced by one of its kind keeps unnamed settings, so another kind is set in between.
            How::Qdisc { words } => vec![
                "tc qdisc replace dev DEV root pfifo".into(),
                format!("tc qdisc replace dev DEV root {words}"),
            ],
            How::Route { words } => vec![format!("ip route change ROUTE {words}")],
            _ => Vec::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::change::{Rank, Scope};
    use super::*;

    pub(super) fn change(whose: &str, setting: &str, how: How) -> Change {
        Change {
            setting: setting.into(),
            whose: whose.into(),
            scope: Scope::Sender,
            rank: Rank::Size,
            today: "4 MiB".into(),
            advised: "16 MiB".into(),
            why: "the path needs it".into(),
            how,
            edits: Vec::new(),
        }
    }

    fn wmem() -> Change {
        let (name, value) = ("net.ipv4.tcp_wmem".to_string(), "4096 16384 16777216".to_string());
        change("sender", "net.ipv4.tcp_wmem", How::Sysctl { name, value })
    }

    fn ring() -> Change {
        let command = "ethtool -G DEV rx 4096".to_string();
        let link = "RxBufferSize=4096".to_string();
        change("receiver", "ethtool -G rx", How::Device { command, link })
    }

    #[test]
    fn each_host_has_its_own_files() {
        let files = files(&[wmem(), ring()]);
        let of = |host: &str| -> Vec<&str> {
            let own = files.enough.iter().filter(|file| file.host == host);
            own.map(|file| file.path.as_str()).collect()
        };
        assert_eq!(of("sender"), ["/etc/sysctl.d/90-fullpipe.conf"]);
        assert_eq!(
            of("receiver"),
            [
                "/etc/systemd/network/05-fullpipe.link",
                "/etc/NetworkManager/dispatcher.d/90-fullpipe"
            ]
        );
    }

    #[test]
    fn a_congestion_control_may_be_that_of_one_socket_or_route() {
        let (name, value) = ("net.ipv4.tcp_congestion_control".to_string(), "bbr".to_string());
        let files = files(&[change("sender", &name.clone(), How::Sysctl { name, value })]);
        assert_eq!(files.enough[0].text, "net.ipv4.tcp_congestion_control = bbr\n");
        let line = &files.program[0];
        for part in ["TCP_CONGESTION, \"bbr\"", "congctl bbr", "modprobe tcp_bbr"] {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn a_file_has_its_undo() {
        let files = files(&[wmem(), ring()]);
        let file = &files.enough[0];
        assert_eq!(file.text, "net.ipv4.tcp_wmem = 4096 16384 16777216\n");
        assert_eq!(
            file.undo,
            "sysctl -p /etc/sysctl.d/90-fullpipe.old && rm /etc/sysctl.d/90-fullpipe.old"
        );
        assert!(files.enough.iter().all(|file| !file.undo.is_empty()));
    }

    #[test]
    fn tuned_runs_what_is_no_sysctl_as_a_script() {
        let files = files(&[ring()]);
        let of = |path: &str| files.instead.iter().find(|file| file.path.ends_with(path));
        let profile = &of("tuned.conf").expect("a profile").text;
        assert!(profile.ends_with("[script]\nscript=${i:PROFILE_DIR}/script.sh\n"), "{profile}");
        let script = &of("script.sh").expect("a script").text;
        assert!(script.contains("start() {\n    ethtool -G DEV rx 4096\n}"), "{script}");
    }

    #[test]
    fn a_play_without_sysctls_names_no_file_of_them() {
        let files = files(&[ring()]);
        let play = files.instead.iter().find(|file| file.path.ends_with(".yml")).expect("a play");
        assert!(!play.undo.contains("sysctl"), "{}", play.undo);
    }

    /// A value that only the kernel knows is no value of a file.
    #[test]
    fn the_default_of_the_kernel_is_a_comment() {
        let (name, value) = ("net.ipv4.tcp_wmem".to_string(), sysctl::DEFAULT.to_string());
        let files = files(&[change("sender", &name.clone(), How::Sysctl { name, value })]);
        let all = files.enough.iter().chain(&files.instead);
        let lines = all.flat_map(|file| file.text.lines());
        let named = lines.filter(|line| line.contains("tcp_wmem")).map(str::trim_start);
        let named: Vec<&str> = named.collect();
        assert_eq!(named.len(), 3);
        assert!(named.iter().all(|line| line.starts_with("# ")), "{named:?}");
    }

    #[test]
    fn a_program_is_described_in_words() {
        let option = How::SocketOption { name: "SO_SNDBUF".into(), value: None };
        let files = files(&[change("scp", "SO_SNDBUF", option)]);
        assert_eq!(files.enough, []);
        assert_eq!(files.program, ["scp: do not set SO_SNDBUF"]);
    }
}
