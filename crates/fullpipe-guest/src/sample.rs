//! The samples of a run.
//!
//! Samples of some time are one chain of steps that runs inside the kernel: a tick, then the requests, and so on. Their
//! answers are read after the chain.

use std::io;
use std::os::fd::OwnedFd;

use fullpipe_guest::plan::Plan;
use fullpipe_guest::record::{RECEIVER, SENDER};

use crate::batch::Arrivals;
use crate::counters::Counters;
use crate::datagrams;
use crate::error::{Context, Result};
use crate::layout;
use crate::namespaces::Namespace;
use crate::netlink::diag;
use crate::probe::{self, Connection, Probe};
use crate::run;
use crate::sys;
use crate::uring::{Ring, Step};

/// Virtual time between two reports of progress, after which samples are recorded, too; ns.
const WHILE: u64 = 100_000_000;
/// Delay of a sample after its time, ns. By then all events of that time have happened, in the order that they have
/// without samples. A tick of the jiffies and the timers that wait for it fall on the same nanosecond.
const AFTER: u64 = 1;
/// Most steps of a chain.
const STEPS: usize = 4096;
/// Number of the first socket of sock_diag.
const FIRST_SOCKET: u32 = 2000;

/// Takes samples until the run is over. There is none at its start, when nothing has happened.
pub fn run(plan: &Plan, namespaces: &[Namespace]) -> Result<()> {
    let last = plan.receiver_at();
    let numbers = [0, last].into_iter().chain(last + 1..namespaces.len());
    let hosts: Vec<Ended> = numbers
        .zip(0..)
        .map(|(number, at)| Ended::new(number, at, namespaces))
        .collect::<Result<_>>()?;
    let probes = probes(plan, namespaces, &hosts)?;
    let mut sampler =
        Sampler::new(plan, probes, Counters::open(plan, hosts.iter().map(|own| own.namespace))?)?;
    // A sample is taken at its time, whatever else there is to do.
    match sys::go_first() {
        // An ordinary user's process has no priority.
        Err(_) if plan.real_time => {}
        done => done.at(|| "priority of samples")?,
    }
    let (count, mut taken, mut reported) = (plan.end_ns / plan.sample_ns, 0, 0);
    if plan.real_time {
        for number in 1..=count {
            sampler.take_one(number * plan.sample_ns)?;
        }
        (taken, reported) = (count, count * plan.sample_ns);
    }

    // Several samples are one chain, because a call of the kernel is expensive here.
    while taken < count {
        let next = count.min(taken + sampler.at_once);
        let times: Vec<u64> = (taken + 1..=next).map(|number| number * plan.sample_ns).collect();
        wait_for(times[0], reported)?;
        sampler.take(&times)?;
        (taken, reported) = (next, next * plan.sample_ns);
    }
    wait_for(plan.end_ns, reported)?;
    sys::sleep_until(run::start() + plan.end_ns + AFTER);
    if reported < plan.end_ns {
        sampler.last(plan.end_ns)?;
    }
    let mut out = run::out()?;
    run::record_events(&mut out);
    datagrams::record(plan.end_ns, true, &mut out);
    sampler.counters.record_now(plan.end_ns, &mut out)?;
    out.progress(plan.end_ns).at(|| "progress")
}

/// A host, which has ends of connections.
struct Ended<'a> {
    /// Number of its namespace.
    number: usize,
    namespace: &'a Namespace,
    /// A socket to ask about connections.
    socket: OwnedFd,
}

impl Ended<'_> {
    fn new(number: usize, at: u32, namespaces: &[Namespace]) -> Result<Ended<'_>> {
        let namespace = &namespaces[number];
        namespace.enter()?;
        Ok(Ended { number, namespace, socket: diag::open(FIRST_SOCKET + at)? })
    }

    /// The ends of flows that it has.
    fn connections(&self, plan: &Plan) -> Vec<Connection> {
        let receives = self.number == plan.receiver_at();
        (0..plan.connections())
            .filter(|flow| receives || layout::client_of(plan, *flow) == self.number)
            .map(|flow| {
                let [sender, receiver] = layout::ends(plan, flow);
                match plan.is_backward(flow) == receives {
                    true => Connection { flow, kind: SENDER, here: sender, there: receiver },
                    false => Connection { flow, kind: RECEIVER, here: receiver, there: sender },
                }
            })
            .collect()
    }
}

/// Waits until a time is near, and reports the progress on the way there; the last report was at `reported`.
fn wait_for(time_ns: u64, mut reported: u64) -> Result<()> {
    while reported + WHILE < time_ns {
        reported += WHILE;
        sys::sleep_until(run::start() + reported + AFTER);
        run::out()?.progress(reported).at(|| "progress")?;
    }
    Ok(())
}

/// Requests of a sample: about the flows at both hosts, and about qdiscs wherever there are some.
fn probes<'a>(
    plan: &Plan,
    namespaces: &'a [Namespace],
    hosts: &'a [Ended<'_>],
) -> Result<Vec<Probe<'a>>> {
    let ends = hosts.iter().map(|own| (&own.socket, own.connections(plan)));
    let ends = ends.filter(|(_, flows)| !flows.is_empty());
    let mut probes = ends
        .map(|(socket, flows)| Probe::connections(socket, &flows))
        .collect::<Result<Vec<_>>>()?;
    for (number, namespace) in namespaces.iter().enumerate() {
        let here = plan.watched.iter().filter(|qdisc| usize::from(qdisc.namespace) == number);
        let qdiscs: Vec<_> = here.map(|qdisc| (qdisc.device, qdisc.handle)).collect();
        if !qdiscs.is_empty() {
            probes.push(Probe::qdiscs(number as u16, namespace.netlink.socket(), &qdiscs)?);
        }
    }
    Ok(probes)
}

struct Sampler<'a> {
    ring: Ring,
    ticks: OwnedFd,
    arrivals: Arrivals,
    probes: Vec<Probe<'a>>,
    counters: Counters,
    /// Whether the chain reads the counters; else each chain ends when they are to be read.
    in_chain: bool,
    /// Nanoseconds between two looks at the counters: some samples.
    counted_ns: u64,
    /// Samples of one chain.
    at_once: u64,
}

impl Sampler<'_> {
    fn new<'a>(plan: &Plan, probes: Vec<Probe<'a>>, counters: Counters) -> Result<Sampler<'a>> {
        let sample_ns = plan.sample_ns;
        let counted_ns = plan.counters_ns.max(1).next_multiple_of(sample_ns);
        // A sample in real time is taken by itself.
        let in_chain = !plan.real_time && counters.fit_into_chains()?;

        // Answers wait in the sockets' buffers until the chain is over, which bounds its samples.
        let answers = probes.iter().map(Probe::ahead).min().unwrap_or(usize::MAX);
        let steps = probes.len() + counters.files().count() + 1;
        let most = answers.min(STEPS / steps).max(1);
        let mut at_once = (WHILE / sample_ns).clamp(1, most as u64);

        // Counters that cannot be read in a chain are read at its end, so it ends at their times.
        if !in_chain {
            let each = counted_ns / sample_ns;
            at_once =
                (1..=at_once).rev().find(|samples| each.is_multiple_of(*samples)).unwrap_or(1);
        }
        let looks = (at_once * sample_ns).div_ceil(counted_ns) as usize;
        let texts = looks * counters.files().count();
        Ok(Sampler {
            ring: Ring::new(at_once as usize * steps, texts).at(|| "io_uring")?,
            ticks: sys::ticks(run::start() + sample_ns + AFTER, sample_ns)
                .at(|| "timer of samples")?,
            arrivals: probe::arrivals(),
            probes,
            counters,
            in_chain,
            counted_ns,
            at_once,
        })
    }

    /// Takes the samples at these times, which are the next ticks.
    fn take(&mut self, times: &[u64]) -> Result<()> {
        let steps = times.iter().flat_map(|time| {
            let asked = self.probes.iter().map(Probe::ask);
            let reads = self.in_chain && time.is_multiple_of(self.counted_ns);
            let read = self.counters.files().map(Step::Text).filter(move |_| reads);
            std::iter::once(Step::Tick(&self.ticks)).chain(asked).chain(read)
        });
        let steps: Vec<Step<'_>> = steps.collect();
        self.ring.run(&steps).at(|| "samples")?;
        self.record(times)
    }

    /// Waits for the time of a sample, and takes it. Where the machine is busy it is late.
    fn take_one(&mut self, time_ns: u64) -> Result<()> {
        sys::sleep_until(run::start() + time_ns);
        self.ask().at(|| "a sample")?;
        self.record(&[time_ns])
    }

    /// Sends the requests of a sample now.
    fn ask(&mut self) -> io::Result<()> {
        let steps: Vec<Step<'_>> = self.probes.iter().map(Probe::ask).collect();
        self.ring.run(&steps)
    }

    /// Takes the sample of a run's end where that is no tick.
    fn last(&mut self, time_ns: u64) -> Result<()> {
        self.ask().at(|| "the last sample")?;
        let mut out = run::out()?;
        let mut probes = self.probes.iter();
        probes.try_for_each(|probe| probe.read(&[time_ns], &mut self.arrivals, &mut out))
    }

    /// Records the findings of the samples at these times.
    fn record(&mut self, times: &[u64]) -> Result<()> {
        let last = times[times.len() - 1];
        let counted = |time: &&u64| time.is_multiple_of(self.counted_ns);
        let mut out = run::out()?;
        run::record_events(&mut out);
        datagrams::record(last, false, &mut out);
        if self.in_chain {
            let mut texts = self.ring.texts();
            for time in times.iter().filter(counted) {
                self.counters.record(*time, &mut texts, &mut out)?;
            }
        } else if counted(&&last) {
            self.counters.record_now(last, &mut out)?;
        }
        for probe in &self.probes {
            probe.read(times, &mut self.arrivals, &mut out)?;
        }
        out.progress(last).at(|| "progress")
    }
}
