//! Places that drop or mark packets and so keep cwnd small, and a way back that holds up the ACKs.

use super::super::document::{AskedBy, Stage};
use super::Context;
use super::causes::Cause;
use super::explained::{Explained, setting, valued};
use super::host::less_work;
use super::words::{bits, bytes, ms, percent};
use crate::numbers;
use crate::sizing::sizes::PACED_SHARE;

/// cwnd that drops or marks at a place cut.
pub fn cut(context: &Context, cause: &Cause) -> Explained {
    let place = cause.place.clone().unwrap_or_default();
    let Some(stage) = context.stage(&place) else {
        return Explained::new(format!("cwnd, cut at {place},"), Some(place));
    };
    let what = if stage.marked > 0 && stage.dropped == 0 { "Marks" } else { "Drops" };
    let plain = Explained {
        does: "keep cwnd small and stop",
        ..Explained::new(format!("{what} at {place}"), Some(place.clone()))
    };
    let explained = without_sack(context, cause, by_kind(context, cause, stage, plain));
    match (busy_cpu(context, cause), &stage.kind[..]) {
        (Some(share), "rx_ring" | "backlog") => overrun(context, cause, share, explained),
        (Some(share), "link") => beyond_the_cpu(context, cause, share, explained),
        _ => explained,
    }
}

/// Drops in front of a link that carries about as much as the receiver's CPU takes.
fn beyond_the_cpu(context: &Context, cause: &Cause, busy: f64, dropped: Explained) -> Explained {
    let host = &context.most(cause).meta.hosts[1];
    let busy = percent(busy);
    dropped
        .because(format!("the CPU of {host} is busy {busy} of the time, and takes no more"))
        .cure(less_work(host))
        .setting(setting("CPU", host, AskedBy::Device))
}

/// Share of the time from which on a CPU is the reason for what is dropped.
const BUSY: f64 = 0.9;

/// Share of the time in which the receiver's CPU works, where that is nearly all of it.
fn busy_cpu(context: &Context, cause: &Cause) -> Option<f64> {
    context.most(cause).flow.cpu.map(|cpu| cpu.receiver).filter(|share| *share >= BUSY)
}

/// Drops in front of a busy CPU: less work for it is the first cure, more room the second.
fn overrun(context: &Context, cause: &Cause, busy: f64, dropped: Explained) -> Explained {
    let host = &context.most(cause).meta.hosts[1];
    let because = format!("the CPU of {host} is busy {} of the time", percent(busy));
    let because =
        dropped.because.iter().fold(because, |first, then| format!("{first}, and {then}"));
    let cure = dropped.cure.iter().fold(less_work(host), |first, then| format!("{first}. {then}"));
    dropped.because(because).cure(cure).setting(setting("CPU", host, AskedBy::Device))
}

/// Losses are worse without SACK: the flow spends its life on repairs.
fn without_sack(context: &Context, cause: &Cause, explained: Explained) -> Explained {
    let one = context.most(cause);
    let Some(host) = one.meta.settings.without_sack.first() else { return explained };
    let share = |limit: &str| one.flow.limits.get(limit).copied().unwrap_or(0.0);
    if share("cwnd_recovery") < share("cwnd_avoidance") {
        return explained;
    }
    let why = format!("{host} does not offer SACK, so each lost segment takes a round trip");
    let why = explained.because.as_ref().map_or(why.clone(), |first| format!("{first}, and {why}"));
    let switch = format!("Switch net.ipv4.tcp_sack on at {host}");
    let cure = explained.cure.as_ref().map_or(switch.clone(), |next| format!("{switch}. {next}"));
    explained.because(why).cure(cure).setting(valued(
        ("net.ipv4.tcp_sack", host),
        "0".into(),
        Some("1".into()),
        AskedBy::Peer,
    ))
}

fn by_kind(context: &Context, cause: &Cause, stage: &Stage, plain: Explained) -> Explained {
    let place = &stage.name;
    match &stage.kind[..] {
        "policer" => policer(context, cause, plain),
        "loss" | "gilbert-elliott" => random(context, cause, stage, plain),
        "drop" => plain.because("these packets are lost by a list").setting(setting(
            "segments",
            place,
            AskedBy::Path,
        )),
        "delay" => held(context, cause, stage, plain),
        "reorder" | "jitter" => reordered(context, cause, plain),
        "rx_ring" => ring(stage, plain),
        "backlog" => backlog(stage, plain),
        "qdisc" => own_queue(context, cause, stage, plain),
        "receive_buffer" => plain
            .because("the receive buffer has no room for them")
            .setting(setting("net.ipv4.tcp_rmem", host_of(place), AskedBy::Sysctl)),
        _ => queue(context, cause, stage, plain),
    }
}

/// Host of a stage, as "receiver" of "receiver.rx_ring".
pub fn host_of(place: &str) -> &str {
    place.rsplit_once('.').map_or(place, |(host, _)| host)
}

/// Window that the path needs of a flow, bytes.
fn window(context: &Context, cause: &Cause) -> Option<u64> {
    context.most(cause).needs.map(|needs| needs.window.saturating_mul(needs.sharing))
}

/// The window in full packets.
fn packets(context: &Context, cause: &Cause) -> Option<u64> {
    window(context, cause).map(|window| window.div_ceil(u64::from(context.meta.mss.max(1))))
}

fn policer(context: &Context, cause: &Cause, plain: Explained) -> Explained {
    let place = cause.place.clone().unwrap_or_default();
    let own = context.meta.places.get(&place).cloned().unwrap_or_default();
    let (Some(burst), Some(rate)) = (own.burst, own.rate) else { return plain };
    let lasts = burst as f64 * 8e3 / rate as f64;
    let needed = window(context, cause).filter(|window| *window > burst).map(bytes);
    let reason = match &needed {
        Some(needed) => format!(
            "its burst allows {} ({} at {}), the path needs {needed}",
            bytes(burst),
            ms(lasts),
            bits(rate)
        ),
        None => format!("its burst of {} is used up", bytes(burst)),
    };
    let raise =
        needed.clone().map_or(String::new(), |needed| format!("Raise the burst to {needed}, or "));
    let pace = paced(context);
    let cure = if raise.is_empty() { pace.replacen('p', "P", 1) } else { raise + &pace };
    let setting = valued(("burst", &place), bytes(burst), needed, AskedBy::Path);
    plain.because(reason).cure(cure).setting(setting)
}

/// The pace that `fullpipe plan` advises, too: each flow's part of the path in payload, and a little less.
pub fn paced(context: &Context) -> String {
    let subject = context.subject;
    let whose = if subject.flows.len() == 1 { "the flow" } else { "each flow" };
    let rate = subject.allowed_mbit().map_or("just below its part of the path".into(), |allowed| {
        format!(
            "at {} of payload",
            numbers::rate(PACED_SHARE * allowed / subject.flows.len() as f64)
        )
    });
    format!("pace {whose} {rate} (SO_MAX_PACING_RATE)")
}

fn random(context: &Context, cause: &Cause, stage: &Stage, plain: Explained) -> Explained {
    let host = &context.most(cause).meta.hosts[0];
    let came = stage.entered.saturating_add(stage.dropped).max(1);
    let lost = share_of(stage.dropped, came);
    plain
        .because(format!("{lost} lost by chance, not by a full queue"))
        .cure(
            "Repair that link, use parallel flows, or a congestion control that does not take \
            loss for congestion (net.ipv4.tcp_congestion_control = bbr); socket buffers do not help",
        )
        .setting(setting("net.ipv4.tcp_congestion_control", host, AskedBy::Sysctl))
}

/// "0.1 % of the packets are", or of rare ones "1 of 95,000 packets is".
fn share_of(lost: u64, came: u64) -> String {
    let share = lost as f64 / came as f64;
    match share >= RARE {
        true => format!("{} of the packets are", percent(share)),
        false => format!("1 of {} packets is", numbers::count(came / lost.max(1))),
    }
}

/// Below this share a loss is said as one of so many packets.
const RARE: f64 = 1e-3;

/// A delay, like netem, that holds only so many packets.
fn held(context: &Context, cause: &Cause, stage: &Stage, plain: Explained) -> Explained {
    let Some(limit) = stage.capacity else { return plain };
    let needed = packets(context, cause).filter(|needed| *needed > limit).map(numbers::packets);
    let needs = needed.clone().map_or(String::new(), |needed| format!(", the path needs {needed}"));
    let limit = numbers::packets(limit);
    plain
        .because(format!("its limit allows {limit} on their way{needs}"))
        .cure("Raise the limit of the delay (netem limit)")
        .setting(valued(("limit", &stage.name), limit, needed, AskedBy::Path))
}

/// Packets that overtake others.
fn reordered(context: &Context, cause: &Cause, plain: Explained) -> Explained {
    let place = cause.place.clone().unwrap_or_default();
    let resent = context.most(cause).flow.retransmitted_segments;
    let who = format!("Reordering at {place}");
    Explained { who, does: "keeps cwnd small and stops", ..plain }
        .because(format!(
            "packets overtake others there, and TCP takes them for lost: {} sent again",
            numbers::segments(resent)
        ))
        .cure("Keep the packets of a flow in order (one queue, one thread, one path)")
        .setting(setting("order of packets", &place, AskedBy::Path))
}

fn ring(stage: &Stage, plain: Explained) -> Explained {
    let host = host_of(&stage.name);
    let value = format!("{} descriptors", numbers::count(stage.capacity.unwrap_or(0)));
    plain
        .because(format!("the receive ring of {host} has {value}, and bursts overrun it"))
        .cure(format!("Lengthen the ring of {host} (ethtool -G rx), or pace the sender (fq)"))
        .setting(valued(("ethtool -G rx", host), value, None, AskedBy::Device))
}

fn backlog(stage: &Stage, plain: Explained) -> Explained {
    let host = host_of(&stage.name);
    let value = numbers::packets(stage.capacity.unwrap_or(0));
    let name = "net.core.netdev_max_backlog";
    plain
        .because(format!("{name} of {host} allows {value}"))
        .cure(format!("Raise {name} of {host}"))
        .setting(valued((name, host), value, None, AskedBy::Sysctl))
}

/// The sender's own qdisc.
fn own_queue(context: &Context, cause: &Cause, stage: &Stage, plain: Explained) -> Explained {
    let host = host_of(&stage.name);
    let units = |n: u64| format!("{} {}s", numbers::count(n), stage.unit);
    let value = units(stage.capacity.unwrap_or(0));
    let needed =
        packets(context, cause).filter(|n| Some(*n) > stage.capacity).map(numbers::packets);
    plain
        .because(format!("the qdisc of {host} allows {value}"))
        .cure(format!("Use fq on {host}, which paces, or a longer queue (txqueuelen)"))
        .setting(valued(("txqueuelen", host), value, needed, AskedBy::Device))
}

/// A queue on the path: too short for the round trip, an AQM, or shared by too many.
fn queue(context: &Context, cause: &Cause, stage: &Stage, plain: Explained) -> Explained {
    let own = context.meta.places.get(&stage.name).cloned().unwrap_or_default();
    if let Some(discipline) = own.discipline {
        return plain
            .because(format!("{discipline} keeps the queue there short"))
            .setting(setting("queue", &stage.name, AskedBy::Path));
    }
    let Some(limit) = stage.capacity else { return plain };
    let full = f64::from(context.subject.allowed.map_or(1500, |own| own.mtu + own.overhead));
    let held = if stage.unit == "byte" { limit as f64 } else { limit as f64 * full };
    let (value, unit_size) = match stage.unit == "byte" {
        true => (bytes(limit), 1),
        false => (numbers::packets(limit), u64::from(context.meta.mss.max(1))),
    };
    let lasts =
        own.rate.map_or(String::new(), |rate| format!(" ({})", ms(held * 8e3 / rate as f64)));
    let needed = window(context, cause).map(|window| window.div_ceil(unit_size));
    let needed = needed.filter(|needed| *needed > limit);
    let needed = needed.map(|n| if stage.unit == "byte" { bytes(n) } else { numbers::packets(n) });
    let needs = needed.clone().map_or(String::new(), |needed| format!(", the path needs {needed}"));
    plain
        .because(format!("its queue allows {value}{lasts}{needs}"))
        .cure(format!("Lengthen that queue, or {}", paced(context)))
        .setting(valued(("queue limit", &stage.name), value, needed, AskedBy::Path))
}

/// ACKs that wait on a busy way back.
pub fn slow_way_back(context: &Context, cause: &Cause) -> Explained {
    let place = cause.place.clone().unwrap_or_else(|| "the way back".into());
    let rate = context.meta.places.get(&place).and_then(|own| own.rate);
    let rate = rate.map_or(String::new(), |rate| format!(" ({})", bits(rate)));
    Explained::new(format!("The ACKs' way back at {place}"), cause.place.clone())
        .because(format!("{place}{rate} is busy, so ACKs wait there and windows stay exhausted"))
        .cure(
            "Give ACKs more room on the way back: more rate, fewer ACKs, or a queue that \
            lets them pass (fq_codel, cake ack-filter)",
        )
        .setting(setting("rate", &place, AskedBy::Path))
}
