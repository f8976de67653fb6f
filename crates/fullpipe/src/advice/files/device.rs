//! Devices, qdiscs and routes: a `.link` file of systemd for settings that it knows, and commands when a device
//! appears.

use super::super::change::{Change, How};
use super::{File, commands};

const LINK: &str = "/etc/systemd/network/05-fullpipe.link";
const DISPATCHER: &str = "/etc/NetworkManager/dispatcher.d/90-fullpipe";

/// The files of a host's devices.
pub fn files(host: &str, changes: &[&Change]) -> Vec<File> {
    // systemd sets what its link files know; a dispatcher script does the rest.
    let lines: Vec<&str> = changes
        .iter()
        .filter_map(|change| match &change.how {
            How::Device { link, .. } => Some(link.as_str()),
            _ => None,
        })
        .collect();
    let mut files = Vec::new();
    if !lines.is_empty() {
        files.push(link(host, &lines));
    }
    let commands = commands(changes);
    if !commands.is_empty() {
        files.push(dispatcher(host, &commands, changes));
    }
    files
}

/// A `.link` file of a host. The first file that matches a device is the only one in force, so it has the default
/// policy for names, too.
fn link(host: &str, lines: &[&str]) -> File {
    let text = format!(
        "{NAMES}# MAC: what ethtool -P DEV says. Where it says none: MACAddress= and Type=ether.\n[Match]\nPermanentMACAddress=MAC\n\n[Link]\n\
         NamePolicy=keep kernel database onboard slot path\nMACAddressPolicy=persistent\n{}\n",
        lines.join("\n")
    );
    File {
        host: host.into(),
        path: LINK.into(),
        text,
        save: Some("ethtool -g DEV; ethtool -c DEV; ethtool -k DEV".into()),
        apply: "udevadm control --reload && udevadm trigger --action=add /sys/class/net/DEV".into(),
        undo: "# ethtool with the values that were kept, then reboot".into(),
    }
}

/// Commands that show today's values of a host's devices, qdiscs and routes, as far as changes touch them.
pub(super) fn shows(changes: &[&Change]) -> String {
    let sets = |option: &str| {
        changes.iter().any(|own| match &own.how {
            How::Device { command, .. } => command.contains(option),
            _ => false,
        })
    };
    let is_any = |of: fn(&How) -> bool| changes.iter().any(|own| of(&own.how));
    let all = [
        (sets(" -G "), "ethtool -g DEV"),
        (sets(" -C "), "ethtool -c DEV"),
        (sets(" -K "), "ethtool -k DEV"),
        (is_any(|how| matches!(how, How::Qdisc { .. })), "tc qdisc show dev DEV"),
        (is_any(|how| matches!(how, How::Route { .. })), "ip route show"),
    ];
    let shown = all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, command)| command);
    shown.collect::<Vec<_>>().join("; ")
}

/// Source of the names DEV and ROUTE in the files.
pub(super) const NAMES: &str =
    "# DEV: the device of the path (ip route get ADDRESS). ROUTE: its line of ip route show.\n";

/// Commands that set today's values again; a comment where only the host knows today's value.
pub(super) fn back(changes: &[&Change]) -> Vec<String> {
    let mut all: Vec<String> = changes.iter().filter_map(|change| undone(change)).collect();
    // A comment ends a line of commands.
    all.sort_by_key(|own| own.starts_with('#'));
    all
}

/// The command or comment that takes a change back; none for a change of no device, qdisc or route.
fn undone(change: &Change) -> Option<String> {
    let old =
        |text: &str| Some(format!("{}{}", text.strip_suffix(&change.advised[..])?, change.today));
    match &change.how {
        How::Device { command, .. } => {
            let old = old(command).or_else(|| with_microseconds(command, &change.today));
            old.or(Some("# ethtool with the value that was kept".into()))
        }
        How::Route { words } => old(words).map(|words| format!("ip route change ROUTE {words}")),
        How::Qdisc { .. } => Some("# tc qdisc replace with the qdisc that was kept".into()),
        _ => None,
    }
}

/// The command with another time as its last word, microseconds; none where the time has no unit.
fn with_microseconds(command: &str, time: &str) -> Option<String> {
    let (before, _) = command.rsplit_once("-usecs ")?;
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
    let us = units
        .into_iter()
        .find_map(|(unit, us)| Some(time.strip_suffix(unit)?.trim().parse::<f64>().ok()? * us))?;
    Some(format!("{before}-usecs {us:.0}"))
}

fn dispatcher(host: &str, commands: &[String], changes: &[&Change]) -> File {
    let (save, back) = (shows(changes), back(changes));
    let commands: Vec<String> = commands.iter().map(|own| own.replace("DEV", "\"$1\"")).collect();
    let text = format!(
        "#!/bin/sh\n{NAMES}[ \"$2\" = up ] && [ \"$1\" = DEV ] || exit 0\n{}\n",
        commands.join("\n")
    );
    File {
        host: host.into(),
        path: DISPATCHER.into(),
        text,
        save: Some(save),
        apply: format!("chmod 755 {DISPATCHER} && {DISPATCHER} DEV up"),
        undo: back.join("; "),
    }
}
