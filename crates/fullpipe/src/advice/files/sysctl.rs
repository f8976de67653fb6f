//! `/etc/sysctl.d`: values that hold now and after a boot.

use super::super::change::Change;
use super::{File, sysctls};
use crate::scenario::Version;
use crate::sizing::sizes::Buffers;

/// Value of a sysctl that has no number of its own.
pub(super) const DEFAULT: &str = "the kernel's default";
/// The file of TCP's settings.
pub const PATH: &str = "/etc/sysctl.d/90-fullpipe.conf";

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
    let changed = changed.filter(|(own, today)| own != today).map(|(own, _)| own);
    let values: Vec<(&str, String)> = changed.collect();
    let values: Vec<(&str, &str)> = values.iter().map(|(name, own)| (*name, &own[..])).collect();
    Some(setting(host, path, &values))
}

/// The file with the sysctls of a host's changes; `None` where there are none.
pub fn file(host: &str, changes: &[&Change]) -> Option<File> {
    let values = sysctls(changes);
    (!values.is_empty()).then(|| setting(host, PATH, &values))
}

fn setting(host: &str, path: &str, values: &[(&str, &str)]) -> File {
    let lines = values.iter().map(|(name, value)| match *value {
        DEFAULT => format!("{}\n", elsewhere(name)),
        value => format!("{name} = {value}\n"),
    });
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let before = path.replace(".conf", ".old");
    File {
        host: host.into(),
        path: path.into(),
        text: lines.collect(),
        // Each once: a second plan must not take the first one's values for the host's own.
        save: Some(format!(
            "for k in {}; do grep -qs \"^$k \" {before} || sysctl $k >> {before}; done",
            names.join(" ")
        )),
        apply: format!("sysctl -p {path}"),
        undo: format!("sysctl -p {before} && rm {before}"),
    }
}

/// Comment in a file that cannot set a sysctl back to the kernel's default.
pub(super) fn elsewhere(name: &str) -> String {
    format!("# {name}: remove the line that sets it elsewhere")
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

    /// The file and its undo have only changed values.
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
            Some(format!(
                "for k in net.ipv4.tcp_wmem; do grep -qs \"^$k \" {before} || sysctl $k >> {before}; done"
            ))
        );
        assert_eq!(file.undo, format!("sysctl -p {before} && rm {before}"));
        assert_eq!(buffers("both", PATH, kernel, today, today), None);
    }
}
