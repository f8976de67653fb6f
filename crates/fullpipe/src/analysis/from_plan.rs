//! What the analysis has to know, taken from a scenario's plan.

use super::{Figures, FlowMeta, Made, RunMeta, WayMeta};
use crate::scenario::profile::is_unjudged;
use crate::scenario::{Element, Plan, Resolved, Scenario};

impl RunMeta {
    /// Describes the run of a plan that an engine has made.
    pub fn from_plan(scenario: &Scenario, plan: &Plan, made: Made) -> RunMeta {
        let run = &plan.resolved;
        RunMeta {
            variant: plan.name(),
            set: plan.set.clone(),
            unjudged: unjudged(run, made.kernel.is_some()),
            flows: flows(run, made.kernel.as_deref()),
            engine: made.engine,
            substituted: made.substituted,
            partial: made.partial,
            mss: run.mss(),
            interval: run.report.interval,
            first_interval: run.report.first_interval,
            clock_offset: run.report.clock_offset,
            sample: run.report.sample,
            ways: [way(run, &run.path.forward, "sender"), way(run, &run.path.back, "receiver")],
            published: figures(scenario, plan),
            expectations: plan.expectations.clone(),
        }
    }
}

/// Kernels whose profile nothing judges; `genuine`: a kernel ran, not a profile.
fn unjudged(run: &Resolved, genuine: bool) -> Vec<String> {
    let kernels = [&run.hosts.sender.kernel, &run.hosts.receiver.kernel];
    let mut kernels: Vec<String> = kernels.into_iter().cloned().collect();
    kernels.retain(|kernel| !genuine && is_unjudged(kernel));
    kernels.dedup();
    kernels
}

fn flows(run: &Resolved, genuine: Option<&str>) -> Vec<FlowMeta> {
    let flow = |flow: &crate::scenario::Flow| FlowMeta {
        name: flow.name.clone(),
        congestion: flow.congestion.name.clone(),
        direction: flow.direction,
        kernel: genuine.unwrap_or(&run.hosts_of(flow)[0].1.kernel).into(),
        start: flow.start,
        stop: flow.duration.map(|duration| flow.start + duration),
    };
    run.flow.iter().map(flow).collect()
}

/// The slowest links of a way, in the packets' order, and the card of the host in front of it, which with a genuine
/// kernel is part of its qdisc; what the way carries in full segments.
fn way(run: &Resolved, elements: &[Element], host: &str) -> WayMeta {
    let card = ["tx_ring", "qdisc"].map(|stage| format!("{host}.{stage}"));
    let rated = |e: &Element| Some((e.rate()?.0, e.name().to_string()));
    let links: Vec<_> = elements.iter().filter_map(rated).collect();
    let slowest = links.iter().map(|(rate, _)| *rate).min();
    let slow = links.into_iter().filter(|(rate, _)| Some(*rate) == slowest);
    let payload = |e: &Element| {
        let (rate, framing) = e.rate()?;
        let on_the_wire = f64::from(run.path.mtu + framing.overhead());
        Some(rate.0 as f64 / 1e6 * f64::from(run.mss()) / on_the_wire)
    };
    let constant =
        |e: &&Element| matches!(e, Element::Link(_)) && e.rate().map(|(rate, _)| rate) == slowest;
    WayMeta {
        rate: elements.iter().find(constant).and(slowest).map(|rate| rate.0),
        bottlenecks: slow.map(|(_, name)| name).chain(card).collect(),
        capacity_mbit: elements.iter().filter_map(payload).min_by(f64::total_cmp),
    }
}

fn figures(scenario: &Scenario, plan: &Plan) -> Option<Figures> {
    let data = scenario.published.as_ref()?;
    let run = data.run(plan.published_run.as_deref()?)?;
    let hosts = &plan.resolved.hosts;
    Some(Figures {
        source: data.source.clone(),
        run: run.clone(),
        calibrated: hosts.sender.cpu.calibrated || hosts.receiver.cpu.calibrated,
    })
}
