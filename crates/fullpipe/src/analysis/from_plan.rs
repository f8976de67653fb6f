//! What the analysis has to know, taken from a scenario's plan.

use super::{Figures, FlowMeta, Made, RunMeta};
use crate::scenario::{Element, Plan, Resolved, Scenario};

impl RunMeta {
    /// Describes the run of a plan that an engine has made.
    pub fn from_plan(scenario: &Scenario, plan: &Plan, made: Made) -> RunMeta {
        let run = &plan.resolved;
        RunMeta {
            variant: plan.name(),
            set: plan.set.clone(),
            flows: flows(run, made.kernel.as_deref()),
            engine: made.engine,
            substituted: made.substituted,
            partial: made.partial,
            mss: run.mss(),
            interval: run.report.interval,
            first_interval: run.report.first_interval,
            clock_offset: run.report.clock_offset,
            sample: run.report.sample,
            bottlenecks: bottlenecks(run),
            capacity_mbit: capacity_mbit(run),
            published: figures(scenario, plan),
            expectations: plan.expectations.clone(),
        }
    }
}

fn flows(run: &Resolved, genuine: Option<&str>) -> Vec<FlowMeta> {
    let flow = |flow: &crate::scenario::Flow| FlowMeta {
        name: flow.name.clone(),
        congestion: flow.congestion.name.clone(),
        kernel: genuine.unwrap_or(&run.hosts.sender.kernel).into(),
        start: flow.start,
        stop: flow.duration.map(|duration| flow.start + duration),
    };
    run.flow.iter().map(flow).collect()
}

/// The slowest links of the path, in the packets' order, and the sender's card.
fn bottlenecks(run: &Resolved) -> Vec<String> {
    let rated = |e: &Element| Some((e.rate()?.0, e.name().to_string()));
    let links: Vec<_> = run.path.forward.iter().filter_map(rated).collect();
    let slowest = links.iter().map(|(rate, _)| *rate).min();
    let slow = links.into_iter().filter(|(rate, _)| Some(*rate) == slowest);
    slow.map(|(_, name)| name).chain(["sender.tx_ring".to_string()]).collect()
}

/// What the slowest link carries in full segments.
fn capacity_mbit(run: &Resolved) -> Option<f64> {
    let payload = |e: &Element| {
        let (rate, framing) = e.rate()?;
        let on_the_wire = f64::from(run.path.mtu + framing.overhead());
        Some(rate.0 as f64 / 1e6 * f64::from(run.mss()) / on_the_wire)
    };
    run.path.forward.iter().filter_map(payload).min_by(f64::total_cmp)
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
