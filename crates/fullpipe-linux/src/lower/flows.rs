//! Flows: their plan for the guest, and the parameters of congestion controls.

use super::Answers;
use crate::kernel::Family;
use fullpipe_base::path::Direction;
use fullpipe_guest::plan;
use fullpipe_scenario::engine::Support;
use fullpipe_scenario::{App, Flow, QUICKACK, QdiscKind, Resolved, Station, congestion};
use std::collections::{BTreeMap, BTreeSet};

/// The plan of the guest for a flow of `run`.
pub(super) fn flow(flow: &Flow, run: &Resolved) -> plan::Flow {
    let [sender, receiver] = run.hosts_of(flow).map(|station| station.host);
    // setsockopt grants at most net.core.wmem_max and rmem_max, which both hosts share in this kernel.
    let granted = |asked: Option<u64>, most: u64| asked.map(|bytes| bytes.min(most));
    plan::Flow {
        backward: flow.direction == Direction::Backward,
        answers: run.answered_by(flow),
        congestion: flow.congestion.name.clone(),
        sndbuf: granted(flow.sndbuf, sender.config.sysctl.wmem_max),
        rcvbuf: granted(flow.rcvbuf, receiver.config.sysctl.rmem_max),
        sender_options: options(&flow.sockopt),
        receiver_options: options(&flow.receiver_sockopt),
        quickack: quickack(flow),
        start_ns: flow.start.0,
        after: run.follows(flow).map(|(flow, own)| plan::After {
            flow,
            pause_ns: own.pause.0,
            until_ns: own.until.map(|time| time.0),
        }),
        is_followed: run.is_followed(flow),
        bytes: flow.bytes,
        duration_ns: flow.duration.map(|time| time.0),
        write: flow.write,
        rate: match flow.app {
            // One that pauses is refused, and a mount moves its data itself.
            App::Bulk | App::OnOff { .. } | App::Nfs | App::Messages { .. } => None,
            App::Rate { rate } => Some(rate.0),
        },
        messages: match flow.app {
            App::Messages { size, in_flight, period, cork } => Some(plan::Messages {
                size,
                in_flight,
                period_ns: period.map_or(0, |time| time.0),
                corks: cork,
            }),
            _ => None,
        },
        reader: flow.reader.map(|reader| plan::Reader { rate: reader.rate.0, read: reader.read }),
        plain: false,
    }
}

/// Value of TCP_QUICKACK after each read; none: the program does not set it then.
fn quickack(flow: &Flow) -> Option<i32> {
    let value = flow.receiver_sockopt.get(QUICKACK).filter(|_| !flow.quickack.is_once());
    value.map(|on| i32::from(*on != 0))
}

/// The keys of flows that are not done exactly.
pub(super) fn answers(run: &Resolved, answers: &mut Answers) {
    // Kernels have the variants of slow start that are Linux's own; the simulator has others.
    for (flow, own) in run.flow.iter().filter_map(|flow| Some((flow, flow.slow_start.as_ref()?))) {
        let why = format!(
            "no kernel has \"{}\"; \"standard\", \"initial_ssthresh\" and \"hystart\" are Linux's",
            own.name
        );
        answers.push((format!("flow.{}.slow_start", flow.name), Support::Refused(why)));
    }
    for flow in run.flow.iter().filter(|f| congestion::is_of_no_kernel(&f.congestion.name)) {
        let why = format!("no version of Linux has {}; --engine sim does", flow.congestion.name);
        answers.push((format!("flow.{}.congestion", flow.name), Support::Refused(why)));
    }
    for flow in run.flow.iter().filter(|flow| matches!(flow.app, App::OnOff { .. })) {
        let why = "the guest's programs write as much as goes, or at a rate".to_string();
        answers.push((format!("flow.{}.app", flow.name), Support::Refused(why)));
    }

    // pfifo_fast sorts packets by priority into three bands; the guest's queue has one band.
    for flow in &run.flow {
        let Station { name, host, .. } = run.hosts_of(flow)[0];
        if host.qdisc.kind != QdiscKind::PfifoFast {
            continue;
        }
        for option in ["IP_TOS", "SO_PRIORITY"].iter().filter(|o| flow.sockopt.contains_key(*o)) {
            let what = Support::Substituted(format!("the {name}'s queue has one band"));
            answers.push((format!("flow.{}.sockopt.{option}", flow.name), what));
        }
    }
}

fn options(options: &BTreeMap<&'static str, i64>) -> Vec<(String, i64)> {
    options.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// Congestion controls' parameters that differ from the kernel's defaults, as words of its command line.
///
/// The kernel has one value of each for all flows. A parameter that its module lacks has to be as in the scenario's
/// kernel.
pub(super) fn words(run: &Resolved, family: Family) -> Result<Vec<String>, (String, String)> {
    let modules = congestion::of_real_kernels();
    let mut words = BTreeSet::new();
    let mut of_names: BTreeMap<&str, Known> = BTreeMap::new();
    for flow in &run.flow {
        let name = flow.congestion.name.as_str();
        let key = |parameter: &str| format!("flow.{}.congestion.{parameter}", flow.name);

        // One kernel has one value for all flows, so the first flow of an algorithm sets it.
        let first = !of_names.contains_key(name);
        let known = of_names.entry(name).or_insert_with(|| {
            let module = modules.iter().find(|module| module.name == name);
            let own = module.map(|m| congestion::defaults(m, family.name())).unwrap_or_default();
            Known { own, usual: usual(name, &run.hosts_of(flow)[0].host.config.kernel) }
        });
        for (parameter, value) in &flow.congestion.parameters {
            match known.own.get(parameter) {
                None if known.usual.get(parameter) == Some(value) => {}
                None => {
                    let why = format!("{name} of Linux {family} has no such parameter");
                    return Err((key(parameter), why));
                }
                // Later flows of an algorithm have the first one's values, or the run would have been refused.
                Some(default) if first => {
                    if let Some(other) = with_another(value, parameter, flow, &run.flow) {
                        let why = format!(
                            "{value}, and another value for flow {}: one kernel has one for all \
                             {name} flows",
                            other.name
                        );
                        return Err((key(parameter), why));
                    }
                    if value != default {
                        words.insert(format!("tcp_{name}.{parameter}={value}"));
                    }
                }
                Some(_) => {}
            }
        }
    }
    Ok(words.into_iter().collect())
}

/// Defaults of an algorithm's parameters.
struct Known {
    /// Defaults in the kernel that runs.
    own: BTreeMap<String, i64>,
    /// Defaults in the scenario's kernel.
    usual: BTreeMap<String, i64>,
}

/// A flow of the same algorithm for which the parameter is not `value`.
fn with_another<'a>(
    value: &i64,
    parameter: &str,
    of: &Flow,
    flows: &'a [Flow],
) -> Option<&'a Flow> {
    let mut same = flows.iter().filter(|flow| flow.congestion.name == of.congestion.name);
    same.find(|flow| flow.congestion.parameters.get(parameter) != Some(value))
}

/// The parameters of an algorithm as a kernel has them.
fn usual(name: &str, kernel: &str) -> BTreeMap<String, i64> {
    let algorithms = congestion::of_kernel(kernel);
    let algorithm = algorithms.iter().find(|a| a.name == name);
    algorithm.map(|a| congestion::defaults(a, kernel)).unwrap_or_default()
}
