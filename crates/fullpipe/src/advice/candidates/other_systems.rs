//! Windows of hosts that are not Linux: Windows' autotuning level, and a window that a program or a system fixes.

use super::super::case::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use super::super::elsewhere::windows_route;
use super::black_hole;
use crate::analysis::settings::Memory;
use crate::analysis::words::bytes;
use crate::scenario::config::{Autotuning, System};
use crate::scenario::{Host, MAX_PACING_RATE};

/// First cwnd of Windows since Windows 10, segments (RFC 6928).
const FIRST_CWND: &str = "10";
/// The setting of Windows, as `netsh` has it.
const LEVEL: &str = "autotuninglevel";

/// A receive window (`end` 1) of a host for flows that need so much; none where it suffices.
pub fn window(end: usize, host: &str, own: &Host, needs: Option<Memory>) -> Option<Change> {
    let needs = needs.filter(|_| end == 1)?;
    match own.config.system {
        System::Windows(level) if level.most() < needs.least => level_for(host, level, needs),
        System::FixedWindow(today) if today < needs.least => Some(larger(host, today, needs)),
        _ => None,
    }
}

/// The change as the system of its host makes it; none where it cannot. Windows has no sysctl, no queue discipline and no
/// pace of a socket, and it has commands of its own for what a route of Linux has.
pub fn fitted(case: &Case, change: Change) -> Option<Change> {
    let is_windows = |end: usize, name: &str| {
        let mut hosts = case.hosts(end).into_iter();
        hosts.any(|(host, own)| host == name && own.config.system.is_windows())
    };
    let on_windows = match &change.how {
        How::Sysctl { .. } | How::Qdisc { .. } | How::Route { .. } => {
            is_windows(0, &change.whose) || is_windows(1, &change.whose)
        }
        How::SocketOption { name, .. } if name == MAX_PACING_RATE => {
            let mut flows = case.flows.iter().filter(|flow| flow.name == change.whose);
            flows.any(|flow| is_windows(0, &flow.hosts[0]))
        }
        _ => false,
    };
    match &change.how {
        _ if !on_windows => Some(change),
        How::Route { .. } => Some(in_windows(change)),
        _ => None,
    }
}

/// A route's MTU or first window by the commands of Windows, with those that restore today's values.
fn in_windows(change: Change) -> Change {
    let (setting, today) = match change.setting == black_hole::ROUTE {
        true => ("interface mtu", &change.today[..]),
        false => ("InitialCongestionWindowMss", FIRST_CWND),
    };
    let command = |value: &str| windows_route(&change.how, value);
    let how = How::System { command: command(&change.advised), undo: command(today) };
    Change { how, setting: setting.into(), ..change }
}

/// The level that allows what the path needs.
fn level_for(host: &str, today: Autotuning, needs: Memory) -> Option<Change> {
    let level = Autotuning::for_window(needs.least)?;
    let set = |level: Autotuning| format!("netsh int tcp set global {LEVEL}={}", level.name());
    let how = How::System { command: set(level), undo: set(today) };
    let change = Change::new(LEVEL, host, Scope::Receiver, how)
        .rank(Rank::Size)
        .values(today.name(), level.name())
        .why(format!(
            "the path needs a window of {}, and this level ends at {}",
            bytes(needs.least),
            bytes(today.most().next_power_of_two())
        ))
        .edits([Edit::host(host, &["autotuning"], Some(level.name().into()))]);
    Some(change)
}

/// A larger fixed window.
fn larger(host: &str, today: u64, needs: Memory) -> Change {
    let words = format!("announce a receive window of {}", bytes(needs.advised));
    let value = format!("{}B", needs.advised);
    Change::new("receive window", host, Scope::Application, How::Program { words })
        .rank(Rank::Size)
        .values(bytes(today), bytes(needs.advised))
        .why("the window is fixed: no sysctl and no autotuning raises it")
        .edits([Edit::host(host, &["window"], Some(value.into()))])
}
