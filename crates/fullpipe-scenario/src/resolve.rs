//! Resolution: defaults, and checks that need more than one key.

use super::again::{self, Connections};
use super::app;
use super::congestion::{self, algorithm};
use super::copies::copy_names;
use super::datagrams;
use super::format::context::{Context, Place};
use super::format::keys::value;
use super::format::values::twice;
use super::host;
use super::neighbours;
use super::nfs;
use super::packets;
use super::path::{self, Path, Traffic};
use super::profile::{self, Kernel};
use super::programs;
use super::reply;
use super::resolved::*;
use super::slow_start;
use super::source::Source;
use super::written;
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::config::Direction;
use std::collections::{BTreeMap, BTreeSet};

/// Most connections of a run.
const MOST_FLOWS: usize = 10_000;
/// Samples of a run, where none are asked for.
const SAMPLES: u64 = 30_000;
/// Samples of flows, all of them together, where none are asked for.
const FLOW_SAMPLES: u64 = 300_000;
/// Most bins that can be asked for.
const MOST_BINS: u64 = 100_000;
/// Most samples that can be asked for.
const MOST_SAMPLES: u64 = 10_000_000;

/// Resolves a run; `name` is its title where it has none. None if anything is missing; reports errors.
pub fn run(
    written: &written::Run,
    name: &str,
    source: &Source,
    cx: &mut Context,
) -> Option<Resolved> {
    // Programs, loops and answers add to the written flows before anything else reads them.
    let completed = written.flow.as_ref().map(|flows| {
        let flows = programs::complete(&flows.value.0, cx);
        again::check(&flows, cx);
        reply::complete(&flows, cx)
    });

    // Elements of the path may name flows, so their names are needed first.
    let mut names = completed.as_deref().map_or(Vec::new(), names);
    names.extend(nfs::connections_of(written));
    let traffic = traffic(written, &names);
    let path = written.path.as_ref().and_then(|path| path::path(&path.value, source, traffic, cx));
    let hosts = written.hosts.as_ref().and_then(|hosts| hosts_of(&hosts.value, path.as_ref(), cx));

    // Parts that failed leave the others checkable: each `and_then` skips one.
    let neighbours = hosts.as_ref().and_then(|hosts| {
        let path = path.as_ref();
        neighbours::resolve(written, hosts, path, |own, cx| host::resolve(own, path, cx), cx)
    });

    // Flows need hosts: kernels give their congestion controls.
    let flow = written.flow.as_ref().zip(completed).and_then(|(at, flow)| {
        let all = hosts.as_ref().zip(neighbours.as_ref());
        if let Some((_, neighbours)) = all
            && !neighbours::flows_fit(&flow, neighbours, cx)
        {
            return None;
        }
        let kernel = |flow: &written::Flow| {
            let (hosts, neighbours) = all?;
            profile::kernel(&neighbours::sender_of(flow, hosts, neighbours)?.config.kernel)
        };
        flows(&flow, at.place, kernel, cx)
    });
    // Mounts have flows of their own.
    let flow = flow
        .or_else(|| written.nfs.as_ref().filter(|_| written.flow.is_none()).map(|_| Vec::new()));

    // From here on all parts are needed.
    let (path, hosts, host, mut flow) = (path?, hosts?, neighbours?, flow?);
    has_one_large_card(written, &hosts, &host, cx)?;
    let datagrams = datagrams::resolve(written, path.mtu, &flow, &host, cx)?;
    let nfs = nfs::resolve(written, &hosts, &host, &flow, &datagrams, cx)?;

    // Connections of mounts follow the written flows.
    flow.extend(nfs.iter().flat_map(Nfs::connections));

    // The end depends on all flows and on the path's length.
    let round_trip = path.round_trip();
    let duration = duration(written, &flow, &datagrams, round_trip, cx)?;
    let reported = &written.report.as_ref()?.value;
    let report = report(reported, written, &flow, duration, cx)?;
    let resolved = Resolved {
        title: value(&written.title).unwrap_or_else(|| name.into()),
        seed: value(&written.seed)?.0 as u64,
        duration,
        report,
        path,
        hosts,
        host,
        flow,
        datagrams,
        nfs,
    };

    // The table of packets refers to points of the whole run.
    packets::check(reported.packets.as_ref(), &resolved, cx);
    Some(resolved)
}

/// Reports a second host with a card of a larger MTU than the path.
fn has_one_large_card(
    written: &written::Run,
    hosts: &Hosts,
    neighbours: &[Neighbour],
    cx: &mut Context,
) -> Option<()> {
    let beside = neighbours.iter().map(|own| &own.host);
    let all = [&hosts.sender, &hosts.receiver].into_iter().chain(beside);
    if all.filter(|own| own.config.mtu.is_some()).count() > 1 {
        let place = written.hosts.as_ref()?.place;
        cx.error("conflict", place, "two hosts have a larger `mtu` than the path")
            .expected("one of them; path MTU discovery between two is not there");
        return None;
    }
    Some(())
}

/// The traffic of a run with these flows and its datagrams. Echo requests and replies are no data.
fn traffic<'a>(run: &written::Run, flows: &'a [(String, Direction)]) -> Traffic<'a> {
    let datagrams = run.datagrams.iter().flat_map(|at| &at.value.0);
    let mut udp = datagrams.filter(|own| value(&own.kind) == Some(DatagramKind::Udp));
    let backward = flows.iter().any(|(_, direction)| *direction == Direction::Backward)
        || udp.any(|own| value(&own.direction) == Some(Direction::Backward));
    Traffic { flows, backward }
}

/// The names of all flows, copies included, and the directions of their data.
fn names(flows: &[written::Flow]) -> Vec<(String, Direction)> {
    flows
        .iter()
        .flat_map(|flow| {
            let count = Connections::of(flow).all();
            let direction = value(&flow.direction).unwrap_or_default();
            let names =
                flow.name.as_ref().map(|name| copy_names(&name.value.0, count.min(MOST_FLOWS)));
            let names = names.unwrap_or_default().into_iter();
            names.map(|name| (name, direction)).collect::<Vec<_>>()
        })
        .collect()
}

/// When the run ends.
fn duration(
    run: &written::Run,
    flows: &[Flow],
    datagrams: &[Datagrams],
    trip: Time,
    cx: &mut Context,
) -> Option<Time> {
    let of_flows = run.flow.as_ref().map(|at| at.place);
    let place = of_flows.or(run.nfs.as_ref().map(|at| at.place))?;

    // A written duration must let everything begin.
    if let Some(at) = &run.duration {
        let end = Time::ns(at.value.0);
        let flows = flows.iter().map(|flow| (format!("flow `{}` starts", flow.name), flow.start));
        let datagrams =
            datagrams.iter().map(|own| (format!("datagrams `{}` start", own.name), own.start));
        if let Some((late, start)) = flows.chain(datagrams).find(|(_, start)| *start >= end) {
            cx.error("out-of-range", at.place, format!("the run ends before {late}"))
                .expected(format!("more than {start}"));
        }
        return Some(end);
    }

    // Flows that end by bytes alone have no known end.
    let Some(last) = last_end(flows) else {
        let (place, why) = match (run.nfs.is_some(), in_turns(run)) {
            (true, _) => (place, "a mount's program ends by its files"),
            (false, Some(place)) => (place, "connections that follow one another end at any time"),
            (false, None) => (place, "a flow ends by `bytes`"),
        };
        let message = format!("{why}, so the run needs a `duration` as its limit");
        cx.error("missing-key", place, message)
            .expected("duration = \"60s\" before the first table");
        return None;
    };
    let last = datagrams.iter().map(Datagrams::end).chain([last]).max()?;

    // A second and two round trips let the last data and its ACKs arrive.
    Some(last + Time::secs(1) + trip + trip)
}

/// Place of the first key that lets connections follow one another.
fn in_turns(run: &written::Run) -> Option<Place> {
    let mut flows = run.flow.iter().flat_map(|at| &at.value.0);
    flows.find_map(|own| {
        let again = own.again.as_ref().map(|at| at.place);
        again.or(own.after.as_ref().map(|at| at.place))
    })
}

/// The end of the last flow's duration, if every flow has one. When a flow starts that follows another one is not known.
fn last_end(flows: &[Flow]) -> Option<Time> {
    let lasts = |flow: &Flow| flow.duration.filter(|_| flow.after.is_none());
    let ends: Option<Vec<Time>> =
        flows.iter().map(|flow| lasts(flow).map(|lasts| flow.start + lasts)).collect();
    ends?.into_iter().max()
}

fn report(
    report: &written::Report,
    run: &written::Run,
    flows: &[Flow],
    duration: Time,
    cx: &mut Context,
) -> Option<Report> {
    let interval = Time::ns(value(&report.interval)?.0);
    let lasts = last_end(flows).filter(|_| run.duration.is_none()).unwrap_or(duration);

    // Many flows get fewer samples each, so that traces stay small. A loop has samples of one connection at a time.
    let samples = SAMPLES.min(FLOW_SAMPLES / again::at_once(flows).max(1) as u64);

    // The default is rounded up to whole milliseconds.
    let default = Time::ms((lasts.as_ns().div_ceil(samples * 1_000_000)).max(1));
    let sample = value(&report.sample).map_or(default.min(interval), |at| Time::ns(at.0));
    let sampled = report.sample.as_ref().map_or(report.place, |at| at.place);

    // The bound keeps memory in check.
    if duration.as_ns() / sample.as_ns() > MOST_SAMPLES {
        cx.error(
            "too-large",
            sampled,
            format!("a run of {}s in samples of {sample}", duration.as_secs_f64()),
        )
        .expected(format!("at most {MOST_SAMPLES} samples"));
    }

    // The first interval may differ: published figures sometimes begin late.
    let first = value(&report.first_interval).map_or(interval, |at| Time::ns(at.0));

    // An interval needs a sample of its own.
    if sample > interval || sample > first {
        cx.error("out-of-range", sampled, "`sample` is longer than a report interval")
            .expected(format!("at most {}", interval.min(first)));
    }
    let bin = bin(report, sample, duration, cx);
    Some(Report {
        interval,
        first_interval: first,
        clock: value(&report.clock)?,
        clock_offset: Time::ns(value(&report.clock_offset)?.0),
        sample,
        bin,
        counters: value(&report.counters).map(|at| Time::ns(at.0)),
        until: value(&report.until)?,
        packets: match &report.packets {
            Some(at) => Some(packets::resolve(&at.value, flows, cx)?),
            None => None,
        },
    })
}

/// Length of the bins over time, where one is asked for. None is shorter than a sample: it would be empty.
fn bin(report: &written::Report, sample: Time, duration: Time, cx: &mut Context) -> Option<Time> {
    let at = report.bin.as_ref()?;
    let bin = Time::ns(at.value.0);
    if bin < sample {
        cx.error("out-of-range", at.place, "`bin` is shorter than a sample")
            .expected(format!("{sample} or more"));
    } else if duration.as_ns() / bin.as_ns() > MOST_BINS {
        let message = format!("a run of {}s in bins of {bin}", duration.as_secs_f64());
        cx.error("too-large", at.place, message).expected(format!("at most {MOST_BINS} bins"));
    }
    Some(bin)
}

fn hosts_of(hosts: &written::Hosts, path: Option<&Path>, cx: &mut Context) -> Option<Hosts> {
    let sender = hosts.sender.as_ref().and_then(|at| host::resolve(&at.value.value, path, cx));
    let receiver = hosts.receiver.as_ref().and_then(|at| host::resolve(&at.value.value, path, cx));
    Some(Hosts { sender: sender?, receiver: receiver? })
}

fn flows(
    written: &[written::Flow],
    place: Place,
    kernel: impl Fn(&written::Flow) -> Option<&'static Kernel>,
    cx: &mut Context,
) -> Option<Vec<Flow>> {
    if written.is_empty() {
        cx.error("missing-key", place, "there is no flow").expected("a [[flow]]");
        return None;
    }
    let mut flows: Vec<Flow> = Vec::new();

    // All flows are read, so that all errors are reported.
    let mut whole = true;
    for flow in written {
        let one = match kernel(flow) {
            Some(kernel) => single(flow, kernel, cx),
            // The error of the kernel is reported already; a name that no kernel has is reported as well.
            None => {
                let name = flow.congestion.as_ref().map(|at| &at.value.name);
                name.and_then(|name| algorithm(&name.value, name.place, "", cx));
                None
            }
        };
        let Some(one) = one else {
            whole = false;
            continue;
        };

        // Copies count: `count` alone may exceed the bound.
        if flows.len().saturating_add(Connections::of(flow).all()) > MOST_FLOWS {
            cx.error("too-large", flow.place, "too many flows")
                .expected(format!("at most {MOST_FLOWS} connections"));
            return None;
        }
        flows.extend(again::copies(one, flow));
    }
    distinct(written, &flows, cx);

    // `count = 0` may leave a valid scenario without flows.
    if whole && flows.is_empty() {
        cx.error("out-of-range", place, "no flow is left")
            .expected("a flow whose `count` is not 0");
        return None;
    }
    whole.then_some(flows)
}

/// Reports flows of one name, among written ones and among their copies.
fn distinct(written: &[written::Flow], flows: &[Flow], cx: &mut Context) {
    let named: Vec<(&str, Place)> = written
        .iter()
        .filter_map(|flow| flow.name.as_ref())
        .map(|name| (name.value.0.as_str(), name.place))
        .collect();
    if twice(&named, "flows", cx) {
        return;
    }

    // A copy's name may equal a written one.
    let mut seen = BTreeSet::new();
    for flow in flows.iter().filter(|flow| !seen.insert(flow.name.as_str())) {
        // The last written name that could have made the copy is at fault.
        let base = named
            .iter()
            .rev()
            .find(|(name, _)| flow.name == *name || flow.name.starts_with(&format!("{name}-")));
        if let Some((_, place)) = base {
            let message = format!("two flows are named `{}`, one by `count`", flow.name);
            cx.error("duplicate-name", *place, message).expected("another name");
        }
    }
}

fn single(flow: &written::Flow, kernel: &Kernel, cx: &mut Context) -> Option<Flow> {
    let (sndbuf, rcvbuf) = buffers(flow, cx);
    let duration = value(&flow.duration).map(|time| Time::ns(time.0));
    let bytes = value(&flow.bytes).map(|size| size.0);
    let own = flow.congestion.as_ref().map(|at| &at.value);

    // Slow starts of kernels change parameters of the congestion control.
    let mut congestion = congestion::resolve(own, kernel, cx);
    let slow_start = flow.slow_start.as_ref().map(|at| &at.value.0);
    let slow_start =
        congestion.as_mut().and_then(|of| slow_start::resolve(slow_start, own, of, cx));
    let write = value(&flow.write)?.0;
    let app = app::resolve(&flow.app.as_ref()?.value.0, write, cx);
    let name = flow.name.as_ref()?;

    // Such flows have reported an error, or end with the flow that they answer.
    if duration.is_none() && bytes.is_none() && (flow.wrong || flow.reply_to.is_some()) {
        return None;
    }
    if duration.is_none() && bytes.is_none() {
        cx.error("missing-key", flow.place, format!("flow `{}` never ends", name.value.0))
            .expected("`duration` or `bytes`");
        return None;
    }
    let [from, to] = neighbours::named([&flow.from, &flow.to]);
    Some(Flow {
        name: name.value.0.clone(),
        direction: value(&flow.direction)?,
        from,
        to,
        reply_to: value(&flow.reply_to),
        congestion: congestion?,
        slow_start: slow_start?,
        sndbuf,
        rcvbuf,
        sockopt: value(&flow.sockopt).map(|options| options.0).unwrap_or_default(),
        receiver_sockopt: receiver_sockopt(flow),
        quickack: value(&flow.quickack).unwrap_or_default(),
        start: Time::ns(value(&flow.start)?.0),
        after: again::after(flow),
        duration,
        bytes,
        app: app?,
        write: write as u32,
        reader: match &flow.reader {
            Some(at) => Some(reader(&at.value)?),
            None => None,
        },
    })
}

/// Options of the receiving socket. `quickack` without a value in `receiver_sockopt` means 1.
fn receiver_sockopt(flow: &written::Flow) -> BTreeMap<&'static str, i64> {
    let mut options = value(&flow.receiver_sockopt).map(|own| own.0).unwrap_or_default();
    if flow.quickack.is_some() {
        options.entry(QUICKACK).or_insert(1);
    }
    options
}

/// Send and receive buffer as requested.
fn buffers(flow: &written::Flow, cx: &mut Context) -> (Option<u64>, Option<u64>) {
    let single = [&flow.sndbuf, &flow.rcvbuf];
    if let Some(both) = &flow.socket_buffer {
        for one in single.into_iter().flatten() {
            cx.error("conflict", one.place, "the flow has `socket_buffer` too")
                .expected("either `socket_buffer`, or `sndbuf` and `rcvbuf`");
        }
        return (Some(both.value.0), Some(both.value.0));
    }
    let [sndbuf, rcvbuf] = single.map(|one| one.as_ref().map(|at| at.value.0));
    (sndbuf, rcvbuf)
}

fn reader(reader: &written::Reader) -> Option<Reader> {
    let rate = Rate(value(&reader.rate)?.0);
    Some(Reader { rate, read: value(&reader.read)?.0 as u32 })
}
