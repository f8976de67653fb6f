//! The memory of all TCP sockets of a host is full, so that it offers small windows and drops arriving packets
//! (net.ipv4.tcp_mem).
//!
//! Source: Linux 6.12 `__sk_mem_raise_allocated`, `tcp_adjust_rcv_ssthresh`, `tcp_should_expand_sndbuf`.

use super::{Cause, Context, Finding, Rule, When, valued};
use crate::document::AskedBy;
use crate::lookup::{FlowTrace, host_of};
use crate::meta::FlowMeta;
use crate::numbers;
use crate::sizing::sizes::{self, PAGE};
use crate::words::{bytes, percent};
use fullpipe_base::limits::Limit;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use fullpipe_scenario::are_copies;
use std::collections::BTreeMap;

/// Small windows and send buffers that do not grow.
pub const RULE: Rule = Rule {
    name: "tcp-mem",
    code: "tcp_mem",
    when: When::Held(&["receive_window", "send_buffer"]),
    find: held,
};

/// Packets that find no memory.
pub const DROPS: Rule = Rule {
    name: "tcp-mem-drops",
    code: "tcp_mem",
    when: When::Cut(&["receive_buffer"]),
    find: dropped,
};

/// Counter of pressure that began.
const PRESSURES: &str = "TcpExt.TCPMemoryPressures";
/// Part of the first number from which on the sockets of a host have a part in pressure that another host of the same kernel
/// counted.
const PART: u64 = 2;
/// Name of the limit of a send buffer.
const SEND_BUFFER: &str = Limit::SendBuffer.about().name;
/// Part of the first number from which on it is reached: the kernel counts whole pages, also those that sockets keep.
const FULL: f64 = 0.9;
/// Windows of data that a send buffer grows to hold.
const WINDOWS: u64 = 2;
/// Bytes of headers and of the shared part beside a segment's data, and of an skb (x86-64).
const HEADERS: u64 = 576;
const SKB: u64 = 256;

fn held(context: &Context, cause: &Cause) -> Option<Finding> {
    let receives = cause.limit == Limit::ReceiveWindow.about().name;
    let hosts = &context.most(cause).meta.hosts;
    find(context, cause, if receives { &hosts[1] } else { &hosts[0] })
}

fn dropped(context: &Context, cause: &Cause) -> Option<Finding> {
    let stage = context.stage(cause.place.as_deref()?)?;
    find(context, cause, host_of(&stage.name))
}

fn find(context: &Context, cause: &Cause, host: &str) -> Option<Finding> {
    let tcp_mem = tcp_mem(context, host)?;

    // A host under pressure counts it; other hosts are judged by what they hold.
    let counted = context.run.counters.iter().filter(|own| own.name == PRESSURES && own.value > 0);
    let counted: Vec<&str> = counted.map(|own| &own.host[..]).collect();
    let full = Fullest::new(context, host);
    let has_part = full.bytes >= tcp_mem[0] / PART * PAGE;
    // From the first number on send buffers do not grow, and nothing counts that.
    let is_stuck =
        cause.limit == SEND_BUFFER && full.bytes as f64 >= FULL * (tcp_mem[0] * PAGE) as f64;
    if !counted.contains(&host) && !is_stuck && (counted.is_empty() || !has_part) {
        return None;
    }

    let most = tcp_mem[2];

    // Memory is the host's: the flow that suffers may hold little of it.
    let holder = full.holder(context, host);
    let holds = holder.as_ref().map_or(String::new(), |(who, share)| {
        let verb = if who.contains(' ') { "hold" } else { "holds" };
        format!(", and {who} {verb} {} of what is in use", percent(*share))
    });
    let let_it = match &holder {
        // What waits to be acknowledged is not for a program to read.
        Some(_) if full.is_sent(context, host) => "Raise".into(),
        Some((who, _)) => format!("Let the program of {who} read, or close, or raise"),
        None => "Look which sockets hold it (ss -tm), or raise".into(),
    };

    // A limit above the need of all buffers remains as it is.
    let needed = wanted(context, host).filter(|bytes| bytes.div_ceil(PAGE) > tcp_mem[0]);
    let needed = needed.map(|bytes| raised(sizes::tcp_mem(bytes), tcp_mem));
    let to = needed.as_ref().map_or(String::new(), |needed| format!(" to {}", text(*needed)));
    Some(
        Finding::new(format!("The memory of all TCP sockets of {host}"), cause.place.clone())
            .because(format!(
                "net.ipv4.tcp_mem allows {} pages ({}){holds}",
                numbers::count(most),
                bytes(most.saturating_mul(PAGE))
            ))
            .cure(format!("{let_it} net.ipv4.tcp_mem of {host}{to}"))
            .setting(valued(
                "net.ipv4.tcp_mem",
                host,
                text(tcp_mem),
                needed.map(text),
                AskedBy::Sysctl,
            )),
    )
}

/// Three numbers as the kernel writes them.
fn text(pages: [u64; 3]) -> String {
    pages.map(|n| n.to_string()).join(" ")
}

/// Each of the three numbers, or today's where that is larger.
fn raised([low, pressure, high]: [u64; 3], today: [u64; 3]) -> [u64; 3] {
    [low.max(today[0]), pressure.max(today[1]), high.max(today[2])]
}

/// net.ipv4.tcp_mem of a host; none where it is not known.
fn tcp_mem(context: &Context, host: &str) -> Option<[u64; 3]> {
    context.meta.flows.iter().find_map(|flow| {
        let end = flow.hosts.iter().position(|own| own == host)?;
        flow.settings.hosts[end].tcp_mem
    })
}

/// Memory that a flow's socket has at a host, bytes.
fn held_by(flow: &FlowMeta, host: &str, sample: &FlowSample) -> u64 {
    let sends = if flow.hosts[0] == host { sample.sender.wmem_queued } else { 0 };
    let receives = if flow.hosts[1] == host { sample.receiver.rmem_alloc } else { 0 };
    sends + receives
}

/// The moment at which the sockets of a host have most memory.
struct Fullest {
    time: Time,
    bytes: u64,
}

impl Fullest {
    fn new(context: &Context, host: &str) -> Fullest {
        let mut all: BTreeMap<Time, u64> = BTreeMap::new();
        for (flow, trace) in context.meta.flows.iter().zip(&context.traces.flows) {
            for sample in &trace.samples {
                *all.entry(sample.time).or_default() += held_by(flow, host, sample);
            }
        }
        let fullest = all.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let (time, bytes) = fullest.unwrap_or_default();
        Fullest { time, bytes }
    }

    /// Whether most of it is data that the host sends.
    fn is_sent(&self, context: &Context, host: &str) -> bool {
        let flows = context.meta.flows.iter().zip(&context.traces.flows);
        let sending = flows.filter(|(flow, _)| flow.hosts[0] == host);
        let at = |trace: &FlowTrace| {
            let own = trace.samples.iter().find(|sample| sample.time == self.time);
            own.map_or(0, |own| own.sender.wmem_queued)
        };
        2 * sending.map(|(_, trace)| at(trace)).sum::<u64>() > self.bytes
    }

    /// Flows of one entry that have most of it, in words, and their share; none where the sockets' memory is not known.
    fn holder(&self, context: &Context, host: &str) -> Option<(String, f64)> {
        let flows = context.meta.flows.iter().zip(&context.traces.flows);
        let held: Vec<(&str, u64)> = flows
            .filter_map(|(flow, trace)| {
                let at = trace.samples.iter().find(|sample| sample.time == self.time)?;
                Some((&flow.name[..], held_by(flow, host, at)))
            })
            .filter(|(_, bytes)| *bytes > 0)
            .collect();

        // Copies of one entry (bulk-1, bulk-2) count together.
        let sum = |first: &str| {
            let like = held.iter().filter(|(name, _)| are_copies(first, name));
            like.map(|(_, bytes)| bytes).sum::<u64>()
        };
        let (first, _) = held.iter().reduce(|a, b| if sum(b.0) > sum(a.0) { b } else { a })?;
        let last = held.iter().rfind(|(name, _)| are_copies(first, name));
        let who = match last.filter(|(last, _)| last != first) {
            Some((last, _)) => format!("{first} … {last}"),
            None => first.to_string(),
        };
        Some((who, sum(first) as f64 / self.bytes as f64))
    }
}

/// Bytes in all full buffers of a host that are open at one time, as large as they grow where memory is free. Flows that are
/// judged count with the buffers that the path needs. None where the sockets' buffers are not known.
fn wanted(context: &Context, host: &str) -> Option<u64> {
    let lives = &context.lives.flows;
    // Connections that did not begin take no memory.
    let begun: Vec<usize> = (0..lives.len()).filter(|at| lives[*at].begins).collect();
    let each = begun.iter().map(|at| Some((*at, wanted_by(context, *at, host)?)));
    let each: Vec<(usize, u64)> = each.collect::<Option<_>>()?;

    // The sum grows only where a flow begins.
    let open = |at: Time| {
        let alive = each.iter().filter(|(own, _)| lives[*own].start <= at && at < lives[*own].end);
        alive.map(|(_, bytes)| bytes).sum::<u64>()
    };
    let most = begun.iter().map(|own| open(lives[*own].start)).max()?;
    (most > 0).then_some(most)
}

/// Bytes in the full buffers that a flow has at a host.
fn wanted_by(context: &Context, index: usize, host: &str) -> Option<u64> {
    let (flow, trace) = (&context.meta.flows[index], &context.traces.flows[index]);
    let needs = context.subject.flows.iter().find(|one| one.index == index);
    let needs = needs.and_then(|one| one.needs);

    // Without a buffer in any sample the sum would be too small.
    let most = |of: fn(&FlowSample) -> u64| trace.samples.iter().map(|s| of(s)).max();
    let mut sum = 0;

    // A flow counts at both ends where both are on that host.
    if flow.hosts[0] == host {
        let needed = needs.map_or(0, |needs| needs.send.advised);
        sum += most(|own| own.sender.sndbuf)?.max(needed).max(grown(flow, &trace.samples));
    }
    if flow.hosts[1] == host {
        let needed = needs.map_or(0, |needs| needs.receive.advised);
        sum += most(|own| own.receiver.rcvbuf)?.max(needed);
    }
    Some(sum)
}

/// Send buffer to which the kernel tunes for the largest cwnd of the samples, bytes; under memory pressure it does not.
///
/// Source: Linux 6.12 `tcp_sndbuf_expand`.
fn grown(flow: &FlowMeta, samples: &[&FlowSample]) -> u64 {
    let buffer = &flow.settings.send;
    let full = |own: &&FlowSample| {
        let data = (u64::from(own.sender.snd_mss) + HEADERS).next_power_of_two();
        WINDOWS * u64::from(own.cwnd) * (data + SKB)
    };
    let most = samples.iter().map(full).max().unwrap_or_default();
    if buffer.asked.is_some() { 0 } else { most.min(buffer.tuned) }
}
