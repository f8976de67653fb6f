//! Reliefs of the flows and their sockets.

use super::hosts::{of_data, sysctl};
use super::keys::{FAST, LARGEST, LARGEST_ASKED, set, text};
use crate::analysis::{LARGE_WRITE, SMALL_WRITE, main_way, settings};
use crate::scenario::congestion::INITIAL_SSTHRESH;
use crate::scenario::{
    App, CORK, Element, Flow, Loop, MAX_PACING_RATE, NODELAY, QUICKACK, Resolved, SetOption,
    are_copies,
};
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use fullpipe_sim::config::System;

/// Bytes per second of a socket that is not paced.
const UNPACED_SOCKET: i64 = 1 << 50;
/// Messages without an answer that limit nothing.
const IN_FLIGHT: u32 = 1_000_000;
/// Part of the path's rate below which a reader takes next to nothing.
const LITTLE: f64 = 0.01;
/// Factor of a longer run.
const LONGER: u64 = 4;

/// Indices of the judged flows: the first flow of the run's main way, and its copies.
///
/// A first flow with a reader of next to no rate has what it asks for, so that the next flow counts. So it does where the first one is
/// a short prelude of another.
pub fn judged(run: &Resolved) -> Vec<usize> {
    let main_way = main_way(run);
    let mut flows = run.flow.iter().filter(|flow| Some(flow.direction) == main_way);
    let first = flows.clone().next();
    let counts = |flow: &&Flow| !reads_little(run, flow) && !is_prelude(run, flow);
    let Some(first) = flows.find(counts).or(first) else {
        return Vec::new();
    };
    run.flow
        .iter()
        .enumerate()
        .filter(|(_, flow)| are_copies(&first.name, &flow.name))
        .map(|(at, _)| at)
        .collect()
}

/// Whether a flow has next to nothing of the bytes of one that begins when it has ended.
fn is_prelude(run: &Resolved, flow: &Flow) -> bool {
    let bytes = flow.bytes.map_or(f64::INFINITY, |own| own as f64);
    let after = run.flow.iter().filter(|own| {
        own.direction == flow.direction
            && own.after.as_ref().is_some_and(|before| are_copies(&before.flow, &flow.name))
    });
    after
        .map(|own| own.bytes.map_or(f64::INFINITY, |own| own as f64))
        .any(|own| bytes < LITTLE * own)
}

/// Whether the reader of a flow takes next to nothing of what the path carries.
fn reads_little(run: &Resolved, flow: &Flow) -> bool {
    let allowed = settings::allowed(run, flow.direction).map(|own| own.mbit() * 1e6);
    let reads = flow.reader.map(|reader| reader.rate.0 as f64);
    reads.zip(allowed).is_some_and(|(reads, allowed)| reads < LITTLE * allowed)
}

/// The judged flows that the scenario writes; flows of mounts follow from the mount.
fn subjects(run: &Resolved) -> impl Iterator<Item = &Flow> {
    let judged = judged(run).into_iter().filter_map(|index| run.flow.get(index));
    judged.filter(|flow| flow.app != App::Nfs)
}

fn of_flow(flow: &Flow, key: &str, value: impl std::fmt::Display) -> SetOption {
    set(&["flow", &flow.name, key], value)
}

/// 2 GiB for data that are not acknowledged yet.
pub fn send_buffer(run: &Resolved) -> Vec<SetOption> {
    let [(host, own), _] = of_data(run);
    let [least, first, most] = own.config.sysctl.tcp_wmem;
    let asked = subjects(run).filter(|flow| flow.sndbuf.is_some_and(|own| own < LARGEST_ASKED));
    let mut sets: Vec<SetOption> =
        asked.map(|flow| of_flow(flow, "sndbuf", text(format!("{LARGEST_ASKED}B")))).collect();
    if most < LARGEST || !sets.is_empty() {
        sets.push(sysctl(host, "net.core.wmem_max", LARGEST));
        sets.push(sysctl(host, "net.ipv4.tcp_wmem", text(format!("{least} {first} {LARGEST}"))));
    }
    sets
}

/// Writes of 128 KiB.
pub fn larger_writes(run: &Resolved) -> Vec<SetOption> {
    subjects(run)
        .filter(|flow| flow.write < SMALL_WRITE && run.reverse_flow(flow).is_none())
        .map(|flow| of_flow(flow, "write", text(format!("{LARGE_WRITE}B"))))
        .collect()
}

/// Reads of 128 KiB.
pub fn larger_reads(run: &Resolved) -> Vec<SetOption> {
    let small =
        subjects(run).filter(|flow| flow.reader.is_some_and(|reader| reader.read < SMALL_WRITE));
    let size = text(format!("{LARGE_WRITE}B"));
    small.map(|flow| set(&["flow", &flow.name, "reader", "read"], &size)).collect()
}

/// 2 GiB for data that are not read yet, where the kernel sizes the buffer.
pub fn tuned_receive_buffer(run: &Resolved) -> Vec<SetOption> {
    let [_, (host, own)] = of_data(run);
    let [least, first, most] = own.config.sysctl.tcp_rmem;
    let is_tuned = judged(run).into_iter().any(|index| run.flow[index].rcvbuf.is_none());
    if !is_tuned || most >= LARGEST || own.config.system != System::Linux {
        return Vec::new();
    }
    vec![
        sysctl(host, "net.core.rmem_max", LARGEST),
        sysctl(host, "net.ipv4.tcp_rmem", text(format!("{least} {first} {LARGEST}"))),
    ]
}

/// 2 GiB for data that are not read yet, where a program has asked for less.
pub fn fixed_receive_buffer(run: &Resolved) -> Vec<SetOption> {
    let [_, (host, _)] = of_data(run);
    let asked = subjects(run).filter(|flow| flow.rcvbuf.is_some_and(|own| own < LARGEST_ASKED));
    let mut sets: Vec<SetOption> =
        asked.map(|flow| of_flow(flow, "rcvbuf", text(format!("{LARGEST_ASKED}B")))).collect();
    if !sets.is_empty() {
        sets.push(sysctl(host, "net.core.rmem_max", LARGEST));
    }
    sets
}

/// Both buffers, where each of them may hold the flow.
pub fn both_buffers(run: &Resolved) -> Vec<SetOption> {
    let mut receive = tuned_receive_buffer(run);
    receive.extend(fixed_receive_buffer(run));
    receive.extend(super::hosts::window(run));
    receive.extend(super::hosts::autotuning(run));
    let send = send_buffer(run);
    if send.is_empty() || receive.is_empty() { Vec::new() } else { [send, receive].concat() }
}

/// No pace that the judged flows' sockets ask for.
pub fn no_pace(run: &Resolved) -> Vec<SetOption> {
    let paced = subjects(run).filter(|flow| {
        flow.sockopt.get(MAX_PACING_RATE).is_some_and(|rate| *rate < UNPACED_SOCKET)
    });
    paced
        .map(|flow| set(&["flow", &flow.name, "sockopt", MAX_PACING_RATE], UNPACED_SOCKET))
        .collect()
}

/// Programs that write as fast as they can.
pub fn writer(run: &Resolved) -> Vec<SetOption> {
    let slow = subjects(run).filter(|flow| matches!(flow.app, App::Rate { .. }));
    slow.flat_map(|flow| {
        [of_flow(flow, "app", text("bulk")), of_flow(flow, "write", text("64KiB"))]
    })
    .collect()
}

/// Programs that never pause.
pub fn no_pauses(run: &Resolved) -> Vec<SetOption> {
    let pausing = subjects(run).filter(|flow| matches!(flow.app, App::OnOff { .. }));
    pausing.map(|flow| of_flow(flow, "app", text("bulk"))).collect()
}

/// Programs that ask for all they want without waiting for an answer.
pub fn more_in_flight(run: &Resolved) -> Vec<SetOption> {
    let few =
        subjects(run).filter_map(|flow| run.asks(flow)).filter(|flow| flow.in_flight() < IN_FLIGHT);
    few.map(|flow| {
        let size = flow.message();

        // A program that sends by the clock still does.
        let period = flow.period().map_or(String::new(), |own| format!(", period = \"{own}\""));
        let app = format!(
            "{{ kind = \"messages\", size = \"{size}B\", in_flight = {IN_FLIGHT}{period} }}"
        );
        of_flow(flow, "app", app)
    })
    .collect()
}

/// Programs that send their last partial segment without waiting for an ACK.
pub fn no_delay(run: &Resolved) -> Vec<SetOption> {
    let asking = subjects(run).filter(|flow| {
        run.reverse_flow(flow).is_some() || matches!(flow.app, App::Messages { .. })
    });
    let held = asking.flat_map(|flow| run.both_ways(flow)).filter(|flow| !flow.has_option(NODELAY));
    held.map(|flow| set(&["flow", &flow.name, "sockopt", NODELAY], 1)).collect()
}

/// Programs that set TCP_QUICKACK after each read.
pub fn quick_acks(run: &Resolved) -> Vec<SetOption> {
    let asking = subjects(run).filter(|flow| run.reverse_flow(flow).is_some());
    let slow =
        asking.flat_map(|flow| run.both_ways(flow)).filter(|flow| run.gains_by_quick_acks(flow));
    slow.flat_map(|flow| {
        let on = set(&["flow", &flow.name, "receiver_sockopt", QUICKACK], 1);
        [of_flow(flow, "quickack", text("each-read")), on]
    })
    .collect()
}

/// Programs that clear TCP_CORK, so that no part of a message waits for more data.
pub fn no_cork(run: &Resolved) -> Vec<SetOption> {
    let corked =
        subjects(run).flat_map(|flow| run.both_ways(flow)).filter(|flow| flow.has_option(CORK));
    corked.map(|flow| set(&["flow", &flow.name, "sockopt", CORK], 0)).collect()
}

/// Loops in which the first connection carries all, and no other follows it.
pub fn one_connection(run: &Resolved) -> Vec<SetOption> {
    let keys = Loop::all(run).into_iter().flat_map(|own| own.as_one_connection(run));
    keys.map(|(key, value)| {
        let parts: Vec<&str> = key.iter().map(String::as_str).collect();
        set(&parts, text(value))
    })
    .collect()
}

/// Programs that read all there is.
pub fn reader(run: &Resolved) -> Vec<SetOption> {
    let slow = subjects(run).filter(|flow| flow.reader.is_some_and(|reader| reader.rate < FAST));
    slow.map(|flow| set(&["flow", &flow.name, "reader", "rate"], text(FAST))).collect()
}

/// Four times the time, and four times the data of a transfer of a fixed size.
pub fn longer(run: &Resolved) -> Vec<SetOption> {
    // A loop already lasts as long as its program wants, and time brings no message of a clock sooner.
    // What a path that varies carries later is another path.
    let varies = [Direction::Forward, Direction::Backward]
        .into_iter()
        .filter_map(|way| settings::allowed(run, way))
        .any(|own| !own.shares.is_empty());
    if varies || run.has_loops() || subjects(run).any(|flow| flow.period().is_some()) {
        return Vec::new();
    }
    let longer = |time: Time| text(Time(time.0.saturating_mul(LONGER)));
    let mut sets = vec![set(&["duration"], longer(run.duration))];
    // An answer is as long as the flow that it answers, whichever of both is judged.
    let subjects: Vec<&Flow> = subjects(run).collect();
    let names = subjects.iter().flat_map(|flow| [Some(&flow.name), flow.reply_to.as_ref()]);
    let names: Vec<&str> = names.flatten().map(String::as_str).collect();

    // Mounts end by their files, so time does not lengthen them.
    for flow in run.flow.iter().filter(|flow| flow.app != App::Nfs).filter(|flow| {
        names.contains(&flow.name.as_str())
            || flow.reply_to.as_deref().is_some_and(|name| names.contains(&name))
    }) {
        sets.extend(flow.duration.map(|own| of_flow(flow, "duration", longer(own))));
        let bytes = longer_bytes(run, flow).map(|bytes| text(format!("{bytes}B")));
        sets.extend(bytes.map(|bytes| of_flow(flow, "bytes", bytes)));
    }
    // Datagrams last as long as before, in proportion.
    for own in &run.datagrams {
        let lasts = own.duration.map(longer);
        sets.extend(lasts.map(|lasts| set(&["datagrams", &own.name, "duration"], lasts)));
    }
    sets
}

/// Bytes of a flow four times as long. An answer has one message for each message of its flow.
fn longer_bytes(run: &Resolved, flow: &Flow) -> Option<u64> {
    let bytes = flow.bytes?.saturating_mul(LONGER);
    let Some(asked) = run.answered_by(flow).and_then(|index| run.flow.get(index)) else {
        return Some(bytes);
    };
    let messages = asked.bytes?.saturating_mul(LONGER).div_ceil(asked.message().max(1));
    Some(messages.saturating_mul(flow.message()))
}

/// A slow start that neither a parameter nor an earlier connection ends.
pub fn ssthresh(run: &Resolved) -> Vec<SetOption> {
    let [(host, own), _] = of_data(run);
    let set_by = subjects(run).filter(|flow| {
        flow.congestion.parameters.get(INITIAL_SSTHRESH).is_some_and(|first| *first > 0)
    });
    let mut sets: Vec<SetOption> =
        set_by.map(|flow| set(&["flow", &flow.name, "congestion", INITIAL_SSTHRESH], 0)).collect();
    let is_first = subjects(run).all(|flow| run.flow.iter().all(|other| other.start >= flow.start));
    if !own.config.sysctl.tcp_no_metrics_save && !is_first {
        sets.push(sysctl(host, "net.ipv4.tcp_no_metrics_save", 1));
    }
    sets
}

/// A slow start that a longer queue does not end.
pub fn hystart(run: &Resolved) -> Vec<SetOption> {
    let key = "hystart";
    let on = subjects(run)
        .filter(|flow| flow.congestion.parameters.get(key).is_some_and(|switch| *switch > 0));
    on.map(|flow| set(&["flow", &flow.name, "congestion", key], 0)).collect()
}

/// The judged flows without others: other flows begin in the last microsecond, other datagrams end after the first one.
///
/// Replies, and flows that are answered, stay.
pub fn alone(run: &Resolved) -> Vec<SetOption> {
    let own: Vec<&str> = subjects(run).map(|flow| flow.name.as_str()).collect();
    let is_reply = |flow: &Flow| flow.reply_to.as_deref().is_some_and(|name| own.contains(&name));
    let others = run.flow.iter().filter(|flow| {
        let stays = own.contains(&flow.name.as_str()) || is_reply(flow) || flow.app == App::Nfs;

        // An answer and the flow that it answers stand or fall together.
        !stays && flow.reply_to.is_none() && run.answer_to(flow).is_none()
    });
    let datagrams = run.datagrams.iter().filter(|own| own.count != Some(1));

    // Flows must begin in the run: the last microsecond harms no one.
    let later = text(run.duration.saturating_sub(Time::us(1)));

    // Copies have no key of their own: `count` removes them.
    let none = others.map(|flow| match is_named(run, &flow.name) {
        true => of_flow(flow, "start", &later),
        false => of_flow(flow, "count", 0),
    });
    none.chain(datagrams.map(|own| set(&["datagrams", &own.name, "count"], 1))).collect()
}

/// True where another key names the flow, which therefore has to exist.
fn is_named(run: &Resolved, flow: &str) -> bool {
    let named = |element: &Element| match element {
        Element::FlowDelay(own) => own.flow == flow,
        Element::Drop(own) => own.flow == flow,
        Element::Mark(own) => own.flow == flow,
        _ => false,
    };
    let of_packets = run.report.packets.as_ref().is_some_and(|own| own.are_of(flow));
    of_packets || run.path.forward.iter().chain(&run.path.back).any(named)
}
