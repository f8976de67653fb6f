//! A tuned profile on top of `network-throughput`'s parent, for hosts that tuned manages.

use super::super::change::Change;
use super::{File, commands, sysctls};
use std::fmt::Write;

const PROFILE: &str = "/etc/tuned/fullpipe/tuned.conf";

/// The profile of a host.
pub fn profile(host: &str, changes: &[&Change]) -> Option<File> {
    let (values, commands) = (sysctls(changes), commands(changes));
    if values.is_empty() && commands.is_empty() {
        return None;
    }
    // Writing to a string cannot fail.
    let mut text =
        String::from("[main]\nsummary=Settings of fullpipe\ninclude=throughput-performance\n");
    if !values.is_empty() {
        text.push_str("\n[sysctl]\n");
        for (name, value) in values {
            let _ = writeln!(text, "{name}={value}");
        }
    }
    if !commands.is_empty() {
        let _ = writeln!(text, "\n# As a script of the profile:\n# {}", commands.join("\n# "));
    }
    Some(File {
        host: host.into(),
        path: PROFILE.into(),
        text,
        save: Some("tuned-adm active".into()),
        apply: "tuned-adm profile fullpipe".into(),
        undo: "tuned-adm profile with the name that was active".into(),
    })
}
