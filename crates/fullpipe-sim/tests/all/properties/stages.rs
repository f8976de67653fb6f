//! Each stage by itself.

use super::hold;
use crate::record::Record;
use fullpipe_sim::config::{Config, Discipline, Element, Host, Qdisc};
use fullpipe_sim::trace::{StageInfo, StageSample};
use fullpipe_sim::units::{Rate, Time};

/// The samples of each stage, a sample of nothing in front.
fn histories(record: &Record) -> Vec<(&StageInfo, Vec<StageSample>)> {
    let history = |stage: &StageInfo| {
        let samples = record.samples().filter(|s| s.stage == stage.index).copied();
        std::iter::once(StageSample::default()).chain(samples).collect()
    };
    record.announced().iter().map(|stage| (stage, history(stage))).collect()
}

/// Units that entered have left or wait; counters only grow; the peak is no less than the level was at either end.
pub fn balance(record: &Record) -> Result<(), String> {
    for (stage, samples) in histories(record) {
        for pair in samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            hold!(now.left >= before.left, "{}: {before:?} {now:?}", stage.name);
            if stage.kind == "duplicate" {
                let copies = now.left.checked_sub(now.entered);
                hold!(copies.is_some_and(|n| n <= now.entered), "{}: {now:?}", stage.name);
                hold!(now.waiting + now.dropped == 0, "{}: {now:?}", stage.name);
                continue;
            }
            let inside = now.entered.checked_sub(now.left);
            let inside = inside.ok_or(format!("{}: more left than entered", stage.name))?;
            // A link holds one more packet than its queue: the one in transmission.
            let sending = u64::from(stage.kind.ends_with("link") && inside > now.waiting);
            hold!(inside == now.waiting + sending, "{}: {now:?}", stage.name);
            hold!(now.peak >= now.waiting.max(before.waiting), "{}: {now:?}", stage.name);
            // Packets that a discipline drops later had entered.
            let later = u64::from(stage.kind.ends_with("link"));
            let came = |s: StageSample| s.entered + later * s.dropped;
            hold!(now.peak <= before.waiting + (came(now) - came(before)), "{now:?}");
            let counters = |s: StageSample| [came(s), s.left, s.dropped, s.busy_ns, s.blocked_ns];
            let grown = counters(before).iter().zip(counters(now)).all(|(a, b)| *a <= b);
            hold!(grown, "{}: {before:?} {now:?}", stage.name);
        }
    }
    Ok(())
}

/// Durations for which a place was empty and full fit its content.
pub fn times(config: &Config, record: &Record) -> Result<(), String> {
    let histories = histories(record);
    for (stage, samples) in histories.iter().filter(|(stage, _)| stage.timed) {
        for pair in samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            let grown = |of: fn(StageSample) -> u64| of(now).checked_sub(of(before));
            let [waiting, full, empty] =
                [grown(|s| s.waiting_ns), grown(|s| s.full_ns), grown(|s| s.empty_ns)]
                    .map(|grown| grown.ok_or(format!("{}: {before:?} {now:?}", stage.name)));
            let (waiting, full, empty) = (waiting?, full?, empty?);
            let occupied = (now.time - before.time).0.checked_sub(empty);
            let occupied = occupied.ok_or(format!("{}: empty for too long", stage.name))?;
            hold!(full <= occupied, "{}: {before:?} {now:?}", stage.name);
            hold!(waiting >= occupied, "{}: {before:?} {now:?}", stage.name);
            hold!(waiting <= occupied * now.peak, "{}: {before:?} {now:?}", stage.name);
            let all = stage.capacity.filter(|_| stage.unit != "byte");
            hold!(waiting >= full * all.unwrap_or(1), "{}: {before:?} {now:?}", stage.name);
        }
    }
    for (host, name) in [(&config.sender, "sender"), (&config.receiver, "receiver")] {
        waits_for_the_ring(host, name, &histories)?;
    }
    Ok(())
}

/// Packets that wait in `pfifo_fast` wait for the ring: they are there as long as the ring blocks.
fn waits_for_the_ring(
    host: &Host,
    name: &str,
    histories: &[(&StageInfo, Vec<StageSample>)],
) -> Result<(), String> {
    let of = |kind| histories.iter().find(|(stage, _)| stage.name == format!("{name}.{kind}"));
    let Some(((_, qdisc), (_, ring))) = of("qdisc").zip(of("tx_ring")) else { return Ok(()) };
    if host.qdisc != Qdisc::PfifoFast {
        return Ok(());
    }
    for (qdisc, ring) in qdisc.iter().zip(ring) {
        hold!(qdisc.time.0 - qdisc.empty_ns == ring.blocked_ns, "{name}: {qdisc:?} {ring:?}");
    }
    Ok(())
}

/// No level and no peak is above the stage's capacity.
pub fn capacities(config: &Config, record: &Record) -> Result<(), String> {
    // A ring that is empty takes an skb that is larger than itself.
    let largest_skb = u64::from(65_535 / (config.mtu - 52) + 1);
    // Segments of it, each in memory of its own.
    let largest_memory = 4 * 65_536 * u64::from(config.flows.len() as u32).max(1);
    for (stage, samples) in histories(record) {
        let Some(capacity) = stage.capacity else { continue };
        let capacity = capacity + beside(stage, config);
        for sample in samples {
            let (held, most) = match stage.kind {
                "send_buffer" => continue,
                // A segment is taken while the content takes no more than the buffer's memory.
                "receive_buffer" | "udp_socket" => {
                    (sample.waiting_bytes, capacity + largest_memory)
                }
                kind if (kind.ends_with("link") || kind == "shaper") && stage.unit == "byte" => {
                    (sample.waiting_bytes, capacity)
                }
                "tx_ring" => (sample.peak, capacity.max(largest_skb)),
                _ => (sample.peak, capacity),
            };
            hold!(held <= most, "{}: {sample:?} of {capacity}", stage.name);
        }
    }
    Ok(())
}

/// The discipline of a link's queue.
fn discipline(stage: &StageInfo, config: &Config) -> Option<Discipline> {
    config.forward.iter().chain(&config.back).find_map(|e| match e {
        Element::Link(link) if link.name == stage.name => Some(link.discipline),
        Element::VaryingLink(link) if link.name == stage.name => Some(link.discipline),
        _ => None,
    })
}

/// Packets that Linux lets wait in addition to the limit, in the stage's unit. Eight packets bypass fq's flows; red has
/// one that is taken ahead.
fn beside(stage: &StageInfo, config: &Config) -> u64 {
    let packet = if stage.unit == "byte" { u64::from(config.mtu) + 38 } else { 1 };
    match discipline(stage, config) {
        Some(Discipline::Fq(_)) => 8 * packet,
        Some(Discipline::Red(_)) => packet,
        _ => 0,
    }
}

/// Bytes, or more, of packets that waited and were dropped between the samples: CoDel drops what has waited.
fn dropped_in_queue(
    stage: &StageInfo,
    config: &Config,
    before: &StageSample,
    now: &StageSample,
) -> u64 {
    match discipline(stage, config) {
        Some(Discipline::Codel(_) | Discipline::FqCodel(_)) => {
            (now.dropped - before.dropped) * (u64::from(config.mtu) + 38)
        }
        _ => 0,
    }
}

/// Nothing works longer than the time that passes; what has work waiting works on it at once.
pub fn work(config: &Config, record: &Record) -> Result<(), String> {
    for (stage, samples) in histories(record) {
        let rate = rate_of(stage, config);
        for pair in samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            let passed = (now.time - before.time).0;
            let worked = now.busy_ns - before.busy_ns;
            hold!(worked <= passed, "{}: {before:?} {now:?}", stage.name);
            let Some(rate) = rate else { continue };
            // The packet in transmission is in the ring, too, and may be all but sent.
            let waiting = match stage.kind {
                "link" | "shaper" => before.waiting_bytes,
                _ => before.waiting_bytes.saturating_sub(u64::from(config.mtu)),
            };
            // A discipline may have dropped some of them; each packet takes up to a nanosecond less.
            let waiting = waiting.saturating_sub(dropped_in_queue(stage, config, &before, &now));
            let due = rate.wire_time(waiting).0.saturating_sub(before.waiting).min(passed);
            hold!(worked >= due, "{}: {before:?} {now:?}", stage.name);
        }
    }
    Ok(())
}

/// The rate of a stage that transmits.
fn rate_of(stage: &StageInfo, config: &Config) -> Option<Rate> {
    // Packets that the driver has not noticed as sent wait, and are on the wire.
    let card = |host: &Host| (host.tx_coalesce == Time::ZERO).then_some(host.nic_rate);
    match stage.name.as_str() {
        "sender.tx_ring" => return card(&config.sender),
        "receiver.tx_ring" => return card(&config.receiver),
        _ => {}
    }
    config.forward.iter().chain(&config.back).find_map(|element| match element {
        Element::Link(link) if link.name == stage.name => Some(link.rate),
        Element::Shaper(shaper) if shaper.name == stage.name => Some(shaper.rate),
        _ => None,
    })
}
