//! Ansible tasks with the same settings.

use super::super::change::Change;
use super::{File, commands, sysctls};
use std::fmt::Write;

/// The play of a host.
pub fn play(host: &str, changes: &[&Change]) -> Option<File> {
    let (values, commands) = (sysctls(changes), commands(changes));
    if values.is_empty() && commands.is_empty() {
        return None;
    }
    // Writing to a string cannot fail.
    let mut text = format!("- hosts: {host}\n  become: true\n  tasks:\n");
    for (name, value) in values {
        let _ = writeln!(
            text,
            "    - ansible.posix.sysctl:\n        name: {name}\n        value: \"{value}\"\n        \
             sysctl_file: {}",
            super::sysctl::PATH
        );
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
        undo: format!("remove {} and its lines, and set what the host had", super::sysctl::PATH),
    })
}
