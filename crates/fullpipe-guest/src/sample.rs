//! The samples of a run.

use std::os::fd::OwnedFd;

use fullpipe_guest::plan::Plan;
use fullpipe_guest::record::{RECEIVER, SENDER};

use crate::error::{Context, Result};
use crate::namespaces::Namespace;
use crate::out::Out;
use crate::path;
use crate::probe::Probe;
use crate::run::{self, START, connected};
use crate::sys;

/// Virtual time after which the progress is told again, ns.
const PROGRESS: u64 = 10_000_000;
/// More than any kernel's `struct tcp_info` has.
const TCP_INFO: usize = 512;

/// Takes samples until the run is over. There is none at its start, when nothing has happened.
pub fn run(plan: &Plan, namespaces: &[Namespace]) -> Result<()> {
    let sockets = namespaces.iter().map(|namespace| namespace.netlink.socket());
    let mut probes = probes(plan, sockets)?;
    let mut told = 0;
    for time in (1..=plan.end_ns / plan.sample_ns).map(|number| number * plan.sample_ns) {
        sys::sleep_until(START + time);
        run::reached(time);
        let mut out = run::out()?;
        sample(&mut out, &mut probes, time)?;
        out.relieve().at(|| "records")?;
        if time - told >= PROGRESS {
            told = time;
            out.progress(time).at(|| "progress")?;
        }
    }
    sys::sleep_until(START + plan.end_ns);
    let mut out = run::out()?;
    run::record_events(&mut out);
    probes.iter_mut().try_for_each(|probe| probe.drain(&mut out))?;
    out.progress(plan.end_ns).at(|| "progress")
}

/// What the plan puts into each namespace, by device.
fn probes<'a>(plan: &Plan, sockets: impl Iterator<Item = &'a OwnedFd>) -> Result<Vec<Probe<'a>>> {
    let of_namespaces = path::places(plan);
    let all = of_namespaces.iter().zip(sockets).enumerate();
    all.filter_map(|(number, (qdiscs, socket))| Probe::new(number, socket, qdiscs).transpose())
        .collect()
}

fn sample(out: &mut Out, probes: &mut [Probe<'_>], time: u64) -> Result<()> {
    run::record_events(out);
    for (flow, sockets) in run::flows().iter().enumerate() {
        for (kind, socket) in [(SENDER, &sockets.sender), (RECEIVER, &sockets.receiver)] {
            if let Some(fd) = connected(socket) {
                out.fill(kind, flow, time, TCP_INFO, |to| sys::tcp_info(fd, to))
                    .at(|| "TCP_INFO")?;
            }
        }
    }
    probes.iter_mut().try_for_each(|probe| probe.ask(time, out))
}
