//! From a cause to its words: one line per limit. The link has its words here.

use super::super::document::{AskedBy, Grade};
use super::causes::Cause;
use super::explained::{Explained, setting};
use super::words::{ms, total};
use super::{Context, FULL, buffers, calls, drops, growth, host};

/// Name of the limit of a busy link.
pub const LINK: &str = "link";
/// Queueing delay that people notice in calls and shells, ms. Above it a queue is reported if it also lasts for
/// `STANDING` of the round trip.
const NOTICED: f64 = 30.0;
/// Share of the round trip without queues: a shorter queue is what TCP needs to fill a path with drop-tail.
const STANDING: f64 = 1.5;

/// Disciplines that keep the queue itself short.
const SHORT: [&str; 4] = ["codel", "fq_codel", "pie", "cake"];
/// Share of the path from which on a buffer that is too small costs nothing: `fullpipe plan` asks for as much.
const FILLED: f64 = 0.97;

/// Words for a cause. A full path has no cure, but a buffer that keeps the last part of it back has.
pub fn explain(context: &Context, cause: &Cause, grade: Grade) -> Explained {
    let explained = in_words(context, cause, grade);
    // A buffer that lets the flow fill the path has grown.
    let is_grown = explained.grows && matches!(grade, Grade::Full | Grade::Late);
    let explained = match is_grown {
        true => Explained { because: None, ..explained }.cure("Set nothing"),
        false => explained,
    };
    let is_filled = context.subject.share().is_none_or(|share| share >= FILLED);
    let is_buffer = matches!(&cause.limit[..], "send_buffer" | "receive_window");
    let is_small = explained.setting.as_ref().is_some_and(|own| own.needed.is_some());
    let costs = is_buffer && is_small && !is_filled;
    match grade == Grade::Full && explained.queue_ms.is_none() && !costs {
        true => explained.cure("The path is full: set nothing"),
        false => explained,
    }
}

fn in_words(context: &Context, cause: &Cause, grade: Grade) -> Explained {
    if cause.is_cut {
        return drops::cut(context, cause);
    }
    match &cause.limit[..] {
        LINK => link(context, cause, grade),
        "send_buffer" => buffers::send(context, cause),
        "receive_window" => buffers::receive(context, cause),
        "cwnd_slow_start" => growth::slow_start(context, cause),
        "cwnd_avoidance" => growth::avoidance(context, cause),
        "cwnd_recovery" => growth::recovery(context, cause),
        "application" => host::application(context, cause),
        "sender_cpu" => host::cpu(context, cause, 0),
        "receiver_cpu" => host::cpu(context, cause, 1),
        "qdisc" => host::qdisc(context, cause),
        "nagle" => host::nagle(context, cause),
        "pacing" => host::pacing(context, cause),
        "small_queues" => host::small_queues(context, cause),
        "nic" => host::card(context, cause),
        "tx_ring" => host::tx_ring(context, cause),
        "ack_path" => drops::slow_way_back(context, cause),
        "connecting" => host::connecting(context, cause),
        "rpc_slots" | "page_cache" | "server_threads" | "record_gate" => {
            calls::limit(context, cause)
        }
        other => Explained::new(format!("\"{other}\""), cause.place.clone()),
    }
}

/// A busy link: all is well, or a queue stands in front of it, or others fill it.
fn link(context: &Context, cause: &Cause, grade: Grade) -> Explained {
    let place = cause.place.clone().unwrap_or_else(|| "the link".into());
    let who = match &place[..] {
        "link" | "the link" => "The link".to_string(),
        name => format!("Link {name}"),
    };

    let busy = Explained { does: "is full and holds", ..Explained::new(who, cause.place.clone()) };
    if grade != Grade::Full && grade != Grade::Late {
        return others(context, cause, busy);
    }
    match standing_queue(context, &place) {
        None => busy,
        Some((queue, base)) => Explained {
            queue_ms: Some(queue),
            ..busy
                .because(format!(
                    "a standing queue of {} in front of it makes the round trip {} instead of {}",
                    ms(queue),
                    ms(queue + base),
                    ms(base)
                ))
                .cure(format!(
                    "The path is full. For a short delay put fq_codel or cake on {place}, or \
                        pace the flows just below its rate"
                ))
                .setting(setting("queue", &place, AskedBy::Path))
        },
    }
}

/// Others, small packets or repetitions take the rest of a busy link.
fn others(context: &Context, cause: &Cause, busy: Explained) -> Explained {
    let run = context.run;
    let flows = &context.subject.flows;
    let resent = total(flows.iter().map(|one| one.flow.retransmitted_segments));
    let bytes = total(flows.iter().map(|one| one.flow.bytes));
    let again = resent as f64 * f64::from(context.meta.mss) / (bytes as f64).max(1.0);
    let udp: f64 = run.datagrams.iter().filter_map(|own| own.mean_mbit).sum();
    let why = match () {
        () if udp > 0.0 => format!("datagrams take {} of it", crate::numbers::rate(udp)),
        // The link has room for more at other times.
        () if cause.share < FULL => return busy,
        () if again > 0.05 => "much of what it carries is sent again".into(),
        () => "other packets, or packets that are not full, take the rest of it".into(),
    };
    busy.because(why)
}

/// Queue and round trip without it, ms, where the queue stands there and is long.
fn standing_queue(context: &Context, place: &str) -> Option<(f64, f64)> {
    let base = context.subject.base_rtt()?.as_secs_f64() * 1e3;
    let flows = &context.subject.flows;
    let medians = flows.iter().filter_map(|one| Some(f64::from(one.flow.medians?.srtt_us) / 1e3));
    let rtt = medians.fold(0.0, f64::max);
    let queue = rtt - base;
    let discipline = context.meta.places.get(place).and_then(|own| own.discipline);
    let is_short = discipline.is_some_and(|name| SHORT.contains(&name));
    (queue >= NOTICED && queue >= STANDING * base && !is_short).then_some((queue, base))
}
