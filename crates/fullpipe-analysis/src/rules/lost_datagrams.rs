//! Datagrams that a place drops.

use super::{Finding, setting, valued};
use crate::document::{AskedBy, Setting, Stage};
use crate::lookup::host_of;
use crate::numbers;
use crate::words::bytes;

/// The place, the reason and the cure, where a stage drops datagrams.
pub fn lost_datagrams(stage: &Stage) -> Finding {
    let host = host_of(&stage.name);
    let capacity = stage.capacity.map(|n| match &stage.unit[..] {
        "byte" => bytes(n),
        "segment" => numbers::packets(n),
        unit => format!("{} {unit}s", numbers::count(n)),
    });
    let value = capacity.unwrap_or_else(|| "no more".into());
    let set = |name: &str, host: &str, by| valued((name, host), value.clone(), None, by);
    let (why, cure, about): (String, String, Setting) = match &stage.kind[..] {
        "udp_socket" => (
            format!(
                "the socket of {host} allows {value} of memory, and the program reads too late"
            ),
            format!(
                "Let the program ask for a larger SO_RCVBUF (up to net.core.rmem_max of \
                    {host}), or read sooner"
            ),
            set("SO_RCVBUF", host, AskedBy::Sysctl),
        ),
        "delay" => (
            format!("its limit allows {value} on their way"),
            "Raise the limit of the delay (netem limit)".into(),
            set("limit", &stage.name, AskedBy::Path),
        ),
        "rx_ring" => (
            format!("the receive ring of {host} allows {value}"),
            format!("Lengthen the ring of {host} (ethtool -G rx)"),
            set("ethtool -G rx", host, AskedBy::Device),
        ),
        "backlog" => (
            format!("net.core.netdev_max_backlog of {host} allows {value}"),
            format!("Raise net.core.netdev_max_backlog of {host}"),
            set("net.core.netdev_max_backlog", host, AskedBy::Sysctl),
        ),
        "loss" | "gilbert-elliott" | "drop" => (
            "they are lost by chance".into(),
            "Mend that link".into(),
            setting("loss", &stage.name, AskedBy::Path),
        ),
        "policer" => (
            "its bucket has no tokens for them".into(),
            "Send more slowly, or raise rate and burst of the policer".into(),
            setting("burst", &stage.name, AskedBy::Path),
        ),
        _ => (
            format!("its queue allows {value}"),
            "Send more slowly: more datagrams come than that place sends".into(),
            set("queue limit", &stage.name, AskedBy::Path),
        ),
    };
    Finding {
        rule: "lost-datagrams",
        code: "udp",
        does: "take",
        ..Finding::new(format!("Drops at {}", stage.name), Some(stage.name.clone()))
    }
    .because(why)
    .cure(cure)
    .setting(about)
}
