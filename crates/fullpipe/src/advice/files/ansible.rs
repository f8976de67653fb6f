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
    let mut text = format!("- hosts: {host}\n  become: true\n  tasks:\n");
    let mut undo = device::back(changes);
    if !values.is_empty() {
        undo.push(format!("rm {}   # and set what the host had", sysctl::PATH));
    }
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
    Some(File {
        host: host.into(),
        path: format!("fullpipe-{host}.yml"),
        text,
        save: None,
        apply: format!("ansible-playbook fullpipe-{host}.yml"),
        undo: undo.join("; "),
    })
}
