//! Ansible tasks with the same settings.

use super::super::change::Change;
use super::{File, commands, device, sysctl, sysctls};
use std::fmt::Write;

/// The play of a host.
pub fn play(host: &str, changes: &[&Change]) -> Option<File> {
    let (values, commands) = (sysctls(changes), commands(changes));
    if values.is_empty() && commands.is_empty() {
        return None;
    }
    // Writing to a string cannot fail.
    let mut text = if commands.is_empty() { String::new() } else { device::NAMES.to_string() };
    let _ = write!(text, "- hosts: {host}\n  become: true\n  tasks:\n");
    // Commands are in front of comments.
    let mut undo = device::back(changes);
    let has_file = values.iter().any(|(_, value)| *value != sysctl::DEFAULT);
    if has_file {
        undo.insert(0, format!("rm {}", sysctl::PATH));
        undo.push("# and set the sysctls that were kept".into());
    }
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();

    // A value that means the kernel's default has no module: a comment stands for it.
    for (name, value) in values {
        let _ = match value {
            sysctl::DEFAULT => writeln!(text, "    {}", sysctl::elsewhere(name)),
            value => writeln!(
                text,
                "    - ansible.posix.sysctl:\n        name: {name}\n        value: \"{value}\"\n        \
                 sysctl_file: {}",
                sysctl::PATH
            ),
        };
    }
    for command in commands {
        let _ = writeln!(text, "    - ansible.builtin.command: {command}");
    }

    // Sysctls are kept before the play changes them.
    let sysctls = if names.is_empty() { None } else { Some(format!("sysctl {}", names.join(" "))) };
    let devices = Some(device::shows(changes)).filter(|own| !own.is_empty());
    let save = sysctls.into_iter().chain(devices).collect::<Vec<_>>().join("; ");
    Some(File {
        host: host.into(),
        path: format!("fullpipe-{host}.yml"),
        text,
        save: Some(save),
        apply: format!("ansible-playbook fullpipe-{host}.yml"),
        undo: undo.join("; "),
    })
}
