//! Files that make settings permanent.

use crate::scenario::Version;
use crate::sizing::sizes::Buffers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file of TCP's settings.
pub const PATH: &str = "/etc/sysctl.d/90-fullpipe.conf";

/// A file that an administrator puts in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// "client", "server" or "both".
    pub host: String,
    /// Where it belongs.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// Command that keeps the values of the host, to run first; `None` where the values of a host that sets nothing are
    /// restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// What puts it in force at once.
    pub apply: String,
    /// What takes it back, besides removing the file (or these lines of it).
    pub undo: String,
}

/// The file that sets buffers; `None` where they stay as they are.
pub fn buffers(
    host: &str,
    path: &str,
    kernel: Version,
    today: Buffers,
    own: Buffers,
) -> Option<File> {
    if today == own {
        return None;
    }
    let changed = settings(kernel, own).into_iter().zip(settings(kernel, today));
    let changed: Vec<_> = changed.filter(|(own, today)| own != today).collect();
    let lines = changed.iter().map(|((name, value), _)| format!("{name} = {value}\n"));
    let names: Vec<&str> = changed.iter().map(|((name, _), _)| *name).collect();
    let before = path.replace(".conf", ".old");
    Some(File {
        host: host.into(),
        path: path.into(),
        text: lines.collect(),
        // Once: a second plan must not take the first one's values for the host's own.
        save: Some(format!("test -e {before} || sysctl {} > {before}", names.join(" "))),
        apply: format!("sysctl -p {path}"),
        undo: format!("sysctl -p {before}"),
    })
}

/// The sysctls of TCP's buffers with minimum, default and maximum; the first two stay as the kernel has them.
pub fn settings(kernel: Version, buffers: Buffers) -> [(&'static str, String); 2] {
    let triple = |default: u64, most: u64| format!("4096 {} {most}", default.min(most));
    [
        ("net.ipv4.tcp_rmem", triple(kernel.default_rcvbuf(), buffers.receive)),
        ("net.ipv4.tcp_wmem", triple(16_384, buffers.send)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what changes is in the file and in its undo.
    #[test]
    fn a_file_has_what_changes() {
        let today = Buffers { receive: 6 << 20, send: 4 << 20 };
        let own = Buffers { send: 162 << 20, ..today };
        let kernel = Version::new(6, 12, 0);
        let file = buffers("both", PATH, kernel, today, own).expect("a file");
        assert_eq!(file.text, "net.ipv4.tcp_wmem = 4096 16384 169869312\n");
        let before = "/etc/sysctl.d/90-fullpipe.old";
        assert_eq!(
            file.save,
            Some(format!("test -e {before} || sysctl net.ipv4.tcp_wmem > {before}"))
        );
        assert_eq!(file.undo, format!("sysctl -p {before}"));
        assert_eq!(buffers("both", PATH, kernel, today, today), None);
    }
}
