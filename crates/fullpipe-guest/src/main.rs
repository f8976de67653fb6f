//! The first and only process of the guest: reads a plan, does it, writes records, switches the kernel off.

mod batch;
mod bpf;
mod changes;
mod container;
mod counters;
mod datagrams;
mod drops;
mod error;
mod flows;
mod handover;
mod layout;
mod namespaces;
mod netlink;
mod nfs;
#[cfg(test)]
mod on_host;
mod out;
mod path;
mod probe;
mod run;
mod sample;
mod sys;
mod sysctl;
mod turns;
mod uring;

use std::process::ExitCode;

use fullpipe_guest::plan::{self, Plan};
use fullpipe_guest::record::{DONE, DROPPED};
use fullpipe_guest::refusal::Whose;

use error::{Context, Error, Result};

/// Open files that a process may have (fs.nr_open).
const FILES: u64 = 1 << 20;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(plan::REAL_TIME) {
        return container::enter();
    }
    if std::process::id() != 1 {
        eprintln!(
            "fullpipe-init: this is the first process of a kernel that `fullpipe` starts; \
             it does nothing elsewhere"
        );
        return ExitCode::from(2);
    }
    as_first_process()
}

/// Runs the plan, as the first process of a kernel or of a container.
fn as_first_process() -> ExitCode {
    run::fail_on_panic();
    match whole_run() {
        Ok(()) => sys::power_off(),
        Err(error) => run::fail(&error),
    }
}

fn whole_run() -> Result<()> {
    run::open()?;
    sys::mount("proc", "/proc").at(|| "mounting /proc")?;
    sys::mount("sysfs", "/sys").at(|| "mounting /sys")?;
    sys::sharp_timers().at(|| "timer slack")?;
    let plan = read_plan()?;
    match sys::many_files(FILES) {
        // An ordinary user's limit is lower, and holds.
        Err(_) if plan.real_time => {}
        done => done.at(|| "limit of open files")?,
    }
    run::follow(&plan);
    sysctl::set_all(Whose::Kernel, &plan.sysctl)?;
    let mut path = path::make(&plan)?;
    if plan.real_time {
        run::begin(&plan);
        handover::hand_over(&mut path.namespaces[1])?;
    }
    nfs::start(&plan, &mut path.namespaces)?;
    turns::begin()?;
    flows::start(&plan, &path.namespaces[0], &path.namespaces[plan.receiver_at()])?;
    datagrams::start(&plan, &path.namespaces[0], &path.namespaces[plan.receiver_at()])?;

    // The times of flows and samples are fixed, so a late set-up would distort the run.
    if sys::now() >= run::start() {
        return Err(Error::new("set-up", "took longer than the time before the run"));
    }
    changes::start(&plan, &path.namespaces)?;
    sample::run(&plan, &path.namespaces)?;
    record_end(&path, plan.end_ns)
}

/// Records the counters of lists of losses, and the end of the run.
fn record_end(path: &path::Path, time_ns: u64) -> Result<()> {
    let mut out = run::out()?;
    for dropper in &path.droppers {
        out.numbers(DROPPED, dropper.router, time_ns, &dropper.seen()?);
    }
    out.record(DONE, 0, time_ns, &[]);
    out.flush().at(|| "records")
}

fn read_plan() -> Result<Plan> {
    let text = std::fs::read_to_string(format!("/{}", plan::FILE)).at(|| plan::FILE)?;
    let plan: Plan = serde_json::from_str(&text).at(|| plan::FILE)?;
    check(&plan).map_err(|why| Error::new(plan::FILE, why))?;
    Ok(plan)
}

/// Checks rules that the plan's structure cannot express.
fn check(plan: &Plan) -> std::result::Result<(), &'static str> {
    let rules = [
        (plan.sample_ns >= 100_000, "sample_ns is below 100,000"),
        ((68..=65_535).contains(&plan.mtu), "mtu is not in 68 to 65,535"),
        (!plan.routers.is_empty(), "no router"),
        (plan.routers.len() + plan.beside.len() <= plan::MAX_ROUTERS, "too many routers and hosts"),
        (plan.connections() + plan.datagrams.len() <= plan::MAX_FLOWS, "too many flows"),
        (
            plan.datagrams.iter().all(|own| own.size >= plan::DATAGRAM),
            "datagrams have no room for their numbers",
        ),
    ];
    rules.iter().find(|(kept, _)| !kept).map_or(Ok(()), |(_, why)| Err(*why))
}
