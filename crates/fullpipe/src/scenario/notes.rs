//! What a reader of a resolved scenario should know although nothing is wrong with it.

use super::Scenario;
use super::profile::is_unjudged;
use super::resolved::{Resolved, Station};

/// One sentence per finding, each once, however many runs have it.
pub fn notes(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let of_run = |run| unjudged_kernels(run).into_iter().chain(capped_buffers(run));
    for note in scenario.plans().iter().flat_map(|plan| of_run(&plan.resolved)) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

/// Profiles that were never compared with their kernels.
fn unjudged_kernels(run: &Resolved) -> Vec<String> {
    let kernels = run.stations().into_iter().map(|station| &station.host.kernel);
    let unjudged = kernels.filter(|kernel| is_unjudged(kernel));
    let told = |kernel: &String| {
        format!(
            "the profile of Linux {kernel} is unjudged: an older one with single published changes (docs/kernels.md), \
             never compared with that kernel"
        )
    };
    unjudged.map(told).collect()
}

/// Socket buffers that the kernel silently cuts (setsockopt(2): SO_SNDBUF, SO_RCVBUF).
fn capped_buffers(run: &Resolved) -> Vec<String> {
    let capped = |flow: &str, asked: Option<u64>, option, host: Station, sysctl, max: u64| {
        asked.filter(|asked| *asked > max).map(|asked| {
            let host = host.key();
            format!(
                "flow {flow}: {option} of {asked} bytes is cut to {max} by {host}'s {sysctl}; \
                 raise it to {asked} to have what is asked"
            )
        })
    };
    let of = |flow: &super::Flow| {
        let [from, to] = run.hosts_of(flow);
        let (wmax, rmax) = (from.host.sysctl.modelled.wmem_max, to.host.sysctl.modelled.rmem_max);
        [
            capped(&flow.name, flow.sndbuf, "SO_SNDBUF", from, "net.core.wmem_max", wmax),
            capped(&flow.name, flow.rcvbuf, "SO_RCVBUF", to, "net.core.rmem_max", rmax),
        ]
    };
    run.flow.iter().flat_map(of).flatten().collect()
}
