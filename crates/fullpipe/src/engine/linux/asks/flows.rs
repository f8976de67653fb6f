//! Flows: what the guest's are asked, and the parameters of congestion controls.

use crate::engine::linux::kernel::Family;
use crate::scenario::{App, Flow, Resolved, congestion};
use fullpipe_guest::plan;
use std::collections::BTreeMap;

/// What the guest is asked for a flow of `run`.
pub(super) fn flow(flow: &Flow, run: &Resolved) -> plan::Flow {
    let hosts = &run.hosts;
    // What setsockopt grants (net.core.wmem_max, rmem_max), which in this kernel both hosts share.
    let granted = |asked: Option<u64>, most: u64| asked.map(|bytes| bytes.min(most));
    plan::Flow {
        congestion: flow.congestion.name.clone(),
        sndbuf: granted(flow.sndbuf, hosts.sender.sysctl.modelled.wmem_max),
        rcvbuf: granted(flow.rcvbuf, hosts.receiver.sysctl.modelled.rmem_max),
        sender_options: options(&flow.sockopt),
        receiver_options: options(&flow.receiver_sockopt),
        start_ns: flow.start.0,
        bytes: flow.bytes,
        duration_ns: flow.duration.map(|time| time.0),
        write: flow.write,
        rate: match flow.app {
            App::Bulk => None,
            App::Rate { rate } => Some(rate.0),
        },
        plain: false,
    }
}

fn options(options: &BTreeMap<&'static str, i64>) -> Vec<(String, i64)> {
    options.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// Congestion controls' parameters that differ from what the scenario's kernel has by default, as words of the
/// kernel's command line. A kernel has one value of each for all flows.
pub(super) fn words(run: &Resolved, family: Family) -> Result<Vec<String>, (String, String)> {
    let modules = congestion::genuine();
    let mut values = BTreeMap::new();
    for flow in &run.flow {
        let name = flow.congestion.name.as_str();
        let key = |parameter: &str| format!("flow.{}.congestion.{parameter}", flow.name);
        let module = modules.iter().find(|module| module.name == name);
        let known = module.map_or(&[][..], |module| &module.parameters);
        for (parameter, value) in changed(flow, &run.hosts.sender.kernel) {
            if known.iter().all(|known| known.name != parameter) {
                let why = format!("{name} of Linux {family} has no such parameter");
                return Err((key(&parameter), why));
            }
            let word = format!("tcp_{name}.{parameter}");
            if values.insert(word, value).is_some_and(|other| other != value) {
                let why =
                    format!("flows with other values: one kernel has one for all {name} flows");
                return Err((key(&parameter), why));
            }
        }
    }
    Ok(values.into_iter().map(|(word, value)| format!("{word}={value}")).collect())
}

fn changed(flow: &Flow, kernel: &str) -> Vec<(String, i64)> {
    let algorithms = congestion::of_kernel(kernel);
    let algorithm = algorithms.iter().find(|a| a.name == flow.congestion.name);
    let defaults = algorithm.map(|a| congestion::defaults(a, kernel)).unwrap_or_default();
    let differs = |(name, value): &(&String, &i64)| defaults.get(*name) != Some(value);
    let parameters = flow.congestion.parameters.iter().filter(differs);
    parameters.map(|(name, value)| (name.clone(), *value)).collect()
}
