//! The path of each flow as the trace shows it: round trip without queues, and share of packets lost by chance.
//!
//! Rules must not use facts of a scenario alone, because an observed connection has none. [`seen`] therefore replaces
//! the scenario's length and losses of the path before a rule looks at the settings of a run.

use crate::lookup::{FlowTrace, Traces};
use crate::meta::{FlowMeta, RunMeta};
use crate::picture::host;
use crate::settings::FlowSettings;
use crate::sizing::Question;
use fullpipe_base::units::Time;
use fullpipe_scenario::response::ENOUGH_LOSSES;

/// Settings of a run with length and losses of the path from the trace.
pub fn seen(meta: &RunMeta, traces: &Traces) -> RunMeta {
    let flows = meta
        .flows
        .iter()
        .zip(&traces.flows)
        .map(|(about, trace)| {
            // The least RTT of the trace replaces the configured one: a user can measure it.
            let base_rtt = trace.least_rtt();
            let ends = about.settings.ends.zip(base_rtt);
            let settings = FlowSettings {
                ends: ends.map(|(ends, rtt)| ends.map(|end| Question { rtt, ..end })),
                loss: losses(traces, about),
                ..about.settings.clone()
            };
            FlowMeta { base_rtt, settings, ..about.clone() }
        })
        .collect();
    RunMeta { flows, ..meta.clone() }
}

impl FlowTrace<'_> {
    /// Least round trip that the sender has measured; of a trace without it the least smoothed one.
    pub fn least_rtt(&self) -> Option<Time> {
        let measured = self.samples.iter().map(|own| own.sender.min_rtt_us);
        let smoothed = self.samples.iter().map(|own| own.srtt_us);
        let least = measured.filter(is_real).min().or_else(|| smoothed.filter(is_real).min());
        least.map(|us| Time::us(us.into()))
    }
}

/// Whether a round trip was measured: Linux shows 0 or the largest number before the first one.
fn is_real(us: &u32) -> bool {
    (1..u32::MAX).contains(us)
}

/// Share of packets that the path has lost by chance; 0 before it has lost enough packets to judge, and where elements
/// drop packets for other reasons.
fn losses(traces: &Traces, about: &FlowMeta) -> f64 {
    let way = about.direction.way();
    let passed = traces.stages.iter().filter(|(info, _)| info.direction == way);
    let between: Vec<_> = passed.filter(|(info, _)| host(info).is_none()).collect();
    if between.iter().any(|(info, _)| !["loss", "link", "delay"].contains(&info.kind)) {
        return 0.0;
    }

    let mut kept = 1.0;
    for (_, stage) in between.iter().filter(|(info, _)| info.kind == "loss") {
        let last = stage.last();
        if last.dropped >= ENOUGH_LOSSES {
            let came = last.entered.saturating_add(last.dropped);
            kept *= 1.0 - last.dropped as f64 / came as f64;
        }
    }
    1.0 - kept
}
