//! Datagrams that a place drops.

use super::{Finding, setting, valued};
use crate::document::{AskedBy, Reading, Setting, Stage};
use crate::lookup::host_of;
use crate::numbers;
use crate::words::bytes;

/// Name of the rule about datagrams that a place drops.
pub const DROPS: &str = "lost-datagrams";
/// Name of the rule about datagrams that wait for their program.
const LATE: &str = "late-datagrams";

/// The place, the reason and the cure, where a stage drops datagrams.
pub fn lost_datagrams(stage: &Stage, reading: Option<&Reading>) -> Finding {
    let host = host_of(&stage.name);

    // A stage counts its room in bytes, packets or a unit of its own.
    let capacity = stage.capacity.map(|n| match &stage.unit[..] {
        "byte" => bytes(n),
        "segment" => numbers::packets(n),
        unit => format!("{} {unit}s", numbers::count(n)),
    });
    let value = capacity.unwrap_or_else(|| "no more".into());
    let set = |name: &str, host: &str, by| valued(name, host, value.clone(), None, by);

    // Each kind of stage has its own knob.
    let (why, cure, about): (String, String, Setting) = match &stage.kind[..] {
        "udp_socket" => (
            format!(
                "the socket of {host} allows {value} of memory, and {}",
                why_unread(host, reading)
            ),
            cure_of_socket(host, stage, reading),
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
        "mtu" => (
            "they are larger than it passes".into(),
            "Send smaller datagrams: no larger than its MTU less 28 bytes of headers (path MTU discovery, or a fixed size)".into(),
            setting("size", &stage.name, AskedBy::Program),
        ),
        // All other stages are queues in front of a rate.
        _ => (
            format!("its queue allows {value}"),
            "Send more slowly: more datagrams come than that place sends".into(),
            set("queue limit", &stage.name, AskedBy::Path),
        ),
    };
    Finding {
        rule: DROPS,
        code: "udp",
        does: "take",
        ..Finding::new(format!("Drops at {}", stage.name), Some(stage.name.clone()))
    }
    .because(why)
    .cure(cure)
    .setting(about)
}

/// The finding about datagrams that wait at the end in the socket of a program that reads too slowly; none where the
/// program keeps up.
pub fn late_datagrams(host: &str, reading: &Reading) -> Option<Finding> {
    let late = Finding { rule: LATE, code: "udp", does: "keeps", ..Finding::new("", None) };
    reading.is_too_slow().then(|| {
        Finding { who: format!("The program on {host}"), place: Some(host.into()), ..late }
            .because(why_unread(host, Some(reading)))
            .cure(cure_of_reader(reading))
            .setting(setting("read()", host, AskedBy::Program))
    })
}

/// Share of the time with datagrams that wait from which on the CPU is busy.
const BUSY: f64 = 0.8;
/// Share of the drops in pauses from which on pauses cost them.
const PAUSES: f64 = 0.5;

/// Why the program left datagrams in the socket.
fn why_unread(host: &str, reading: Option<&Reading>) -> String {
    match reading {
        // The reasons go from the certain one to the vague one: a busy CPU explains the rest.
        Some(own) if own.cpu >= BUSY => format!("the CPU of {host} is busy"),
        Some(own) if own.is_too_slow() => format!(
            "the program reads {} of the {} Mb/s that come, while its CPU rests",
            numbers::short(own.able_mbit.unwrap_or_default()),
            numbers::short(own.offered_mbit)
        ),
        Some(own) if own.paused_drops >= PAUSES => {
            format!(
                "the program does not read for {} ms or more, while its CPU rests",
                numbers::short(own.pause_ms)
            )
        }
        _ => "the program reads too late".into(),
    }
}

/// Cure of a program that reads less than comes.
fn cure_of_reader(reading: &Reading) -> String {
    let first = match reading.cpu >= BUSY {
        true => "Give the program more CPU",
        false => "Let the program read faster",
    };
    format!(
        "{first}, or send more slowly: a larger SO_RCVBUF helps only where a burst ends before it is full"
    )
}

/// Cure where a socket drops datagrams.
fn cure_of_socket(host: &str, stage: &Stage, reading: Option<&Reading>) -> String {
    let most = format!("net.core.rmem_max of {host}");
    // The kernel doubles a program's request.
    let has = stage.capacity.unwrap_or_default() / 2;
    match reading {
        Some(own) if own.is_too_slow() => cure_of_reader(own),

        // A buffer for one pause helps only a reader that keeps up otherwise.
        Some(own)
            if own.paused_drops >= PAUSES && own.cpu < BUSY && own.pause_rcvbuf > Some(has) =>
        {
            let needed = own.pause_rcvbuf.unwrap_or_default();
            let held = format!("{}, which holds what comes meanwhile", bytes(needed));

            // A program that asks for enough gets no more than the sysctl allows.
            match own.asked_rcvbuf.filter(|asked| *asked >= needed) {
                Some(asked) => format!(
                    "Raise {most} to {held}: the program asks for an SO_RCVBUF of {} today, and gets {}; or let it read sooner",
                    bytes(asked),
                    bytes(has)
                ),
                None => format!(
                    "Let the program ask for an SO_RCVBUF of {held}, and raise {most} to as much, or let it read sooner"
                ),
            }
        }
        // Without a known pause no size can be named.
        _ => format!(
            "Let the program ask for a larger SO_RCVBUF, and raise {most} to as much, or let it read sooner"
        ),
    }
}
