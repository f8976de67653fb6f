//! Flows: what the guest's are asked, and the parameters of congestion controls.

use super::Answers;
use crate::engine::Support;
use crate::engine::linux::kernel::Family;
use crate::scenario::{App, Flow, QdiscKind, Resolved, congestion};
use fullpipe_guest::plan;
use std::collections::{BTreeMap, BTreeSet};

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

/// The keys of flows that are not done exactly.
pub(super) fn answers(run: &Resolved, answers: &mut Answers) {
    if run.hosts.sender.qdisc.kind != QdiscKind::PfifoFast {
        return;
    }
    for flow in &run.flow {
        for option in ["IP_TOS", "SO_PRIORITY"].iter().filter(|o| flow.sockopt.contains_key(*o)) {
            let what = Support::Substituted("the sender's queue has one band".into());
            answers.push((format!("flow.{}.sockopt.{option}", flow.name), what));
        }
    }
}

fn options(options: &BTreeMap<&'static str, i64>) -> Vec<(String, i64)> {
    options.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// Congestion controls' parameters that are not as the kernel has them by itself, as words of its command line.
/// It has one value of each for all flows. What its module does not have has to be as in the scenario's kernel.
pub(super) fn words(run: &Resolved, family: Family) -> Result<Vec<String>, (String, String)> {
    let modules = congestion::genuine();
    let mut words = BTreeSet::new();
    for flow in &run.flow {
        let name = flow.congestion.name.as_str();
        let module = modules.iter().find(|module| module.name == name);
        let own = module.map(|m| congestion::defaults(m, family.name())).unwrap_or_default();
        let usual = usual(name, &run.hosts.sender.kernel);
        for (parameter, value) in &flow.congestion.parameters {
            let key = || format!("flow.{}.congestion.{parameter}", flow.name);
            let Some(default) = own.get(parameter) else {
                if usual.get(parameter) == Some(value) {
                    continue;
                }
                return Err((key(), format!("{name} of Linux {family} has no such parameter")));
            };
            let of_it = run.flow.iter().filter(|other| other.congestion.name == name);
            let others = |other: &&Flow| other.congestion.parameters.get(parameter) != Some(value);
            if let Some(other) = of_it.clone().find(others) {
                let why = format!(
                    "{value}, and another value for flow {}: one kernel has one for all {name} flows",
                    other.name
                );
                return Err((key(), why));
            }
            if value != default {
                words.insert(format!("tcp_{name}.{parameter}={value}"));
            }
        }
    }
    Ok(words.into_iter().collect())
}

/// The parameters of an algorithm as a kernel has them.
fn usual(name: &str, kernel: &str) -> BTreeMap<String, i64> {
    let algorithms = congestion::of_kernel(kernel);
    let algorithm = algorithms.iter().find(|a| a.name == name);
    algorithm.map(|a| congestion::defaults(a, kernel)).unwrap_or_default()
}
