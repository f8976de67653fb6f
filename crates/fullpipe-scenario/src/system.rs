//! Hosts of other systems than Linux: what `system`, `autotuning` and `window` mean.

use super::format::context::Context;
use super::format::keys::{At, value};
use super::written;
use fullpipe_sim::config::{self, Autotuning, System};
use serde_json::Value as Json;

/// Profile of what a host of another system does where nothing is published.
const STANDS_IN: &str = "6.12";

/// The system of a host; none if keys contradict each other, which is reported.
pub(super) fn resolve(host: &written::Host, cx: &mut Context) -> Option<System> {
    let is_windows = value(&host.system)? == written::Os::Windows;
    let conflict = |cx: &mut Context, place, key: &str, expected: &str| {
        let what = if is_windows { "a Windows host" } else { "a Linux host" };
        cx.error("conflict", place, format!("`{key}` of {what}")).expected(expected);
        None
    };

    // Each system bounds its window by a key of its own.
    match (is_windows, &host.window, &host.autotuning) {
        (true, Some(at), _) => {
            conflict(cx, at.place, "window", "`autotuning`, or the `rcvbuf` of a flow")
        }
        (true, None, level) => Some(System::Windows(value(level).unwrap_or(Autotuning::Normal))),
        (false, _, Some(at)) => conflict(cx, at.place, "autotuning", "`system = \"windows\"`"),
        (false, Some(at), None) => Some(System::FixedWindow(at.value.0)),
        (false, None, None) => Some(System::Linux),
    }
}

/// The kernel that a host names, or the one that stands in for another system; none if it is missing, which is reported.
pub(super) fn kernel(host: &written::Host, system: System, cx: &mut Context) -> Option<At<String>> {
    if host.kernel.is_some() || host.wrong {
        return host.kernel.clone();
    }
    if system == System::Linux {
        let message = "[hosts.sender] or [hosts.receiver] needs `kernel`";
        cx.error("missing-key", host.place, message)
            .expected("text, such as \"6.12\"; or `system` or `window`");
        return None;
    }
    Some(At { value: STANDS_IN.into(), place: host.place, written: false })
}

/// The keys of a host's system as they are written again, and their values; null where they are not written.
pub(super) fn keys(host: &config::Host) -> [(&'static str, Json); 3] {
    let none = || Json::Null;
    let [system, autotuning, window] = match host.system {
        System::Linux => [none(), none(), none()],
        System::FixedWindow(bytes) => [none(), none(), format!("{bytes}B").into()],
        System::Windows(level) => ["windows".into(), level.name().into(), none()],
    };
    [("system", system), ("autotuning", autotuning), ("window", window)]
}

/// The system of a host as readers see it, where it is not Linux.
pub fn shown(system: System) -> Option<&'static str> {
    match system {
        System::Linux => None,
        System::FixedWindow(_) => Some("a fixed receive window"),
        System::Windows(_) => Some("Windows"),
    }
}
