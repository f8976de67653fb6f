//! A tuned profile on top of `throughput-performance`, for hosts that tuned manages.

use super::super::change::Change;
use super::{File, commands, device, sysctl, sysctls};
use std::fmt::Write;

const PROFILE: &str = "/etc/tuned/fullpipe/tuned.conf";
const APPLY: &str = "tuned-adm profile fullpipe";
const SCRIPT: &str = "/etc/tuned/fullpipe/script.sh";

/// The profile of a host, and its script where it sets more than sysctls.
pub fn files(host: &str, changes: &[&Change]) -> Vec<File> {
    let (values, commands) = (sysctls(changes), commands(changes));
    if values.is_empty() && commands.is_empty() {
        return Vec::new();
    }
    // Writing to a string cannot fail.
    let mut text = String::from(
        "# Where /etc/tuned/profiles exists (RHEL 10), this file and its script belong there.\n\
         [main]\nsummary=Settings of fullpipe\ninclude=throughput-performance\n",
    );
    if !values.is_empty() {
        text.push_str("\n[sysctl]\n");
    }
    for (name, value) in values {
        let _ = match value {
            sysctl::DEFAULT => writeln!(text, "{}", sysctl::elsewhere(name)),
            value => writeln!(text, "{name}={value}"),
        };
    }
    if !commands.is_empty() {
        text.push_str("\n[script]\nscript=${i:PROFILE_DIR}/script.sh\n");
    }
    let profile = File {
        host: host.into(),
        path: PROFILE.into(),
        text,
        save: Some("tuned-adm active".into()),
        apply: match commands.is_empty() {
            true => APPLY.to_string(),
            false => format!("chmod 755 {SCRIPT} && {APPLY}"),
        },
        undo: "tuned-adm profile NAME   # NAME: the one that was active".into(),
    };
    let script = (!commands.is_empty()).then(|| script(host, &commands, changes));
    // The undo of the profile runs the script, so the script is listed after it.
    [profile].into_iter().chain(script).collect()
}

/// The script that tuned runs when the profile begins and ends.
fn script(host: &str, commands: &[String], changes: &[&Change]) -> File {
    let back = device::back(changes);
    let body =
        |lines: &[String]| lines.iter().map(|own| format!("    {own}\n")).collect::<String>();
    let text = format!(
        "#!/bin/bash\n{}. /usr/lib/tuned/functions\nstart() {{\n{}}}\nstop() {{\n{}    return 0\n}}\nprocess \"$@\"\n",
        device::NAMES,
        body(commands),
        body(&back)
    );
    File {
        host: host.into(),
        path: SCRIPT.into(),
        text,
        save: Some(device::shows(changes)),
        apply: "# with its profile".into(),
        undo: "# after its profile".into(),
    }
}
