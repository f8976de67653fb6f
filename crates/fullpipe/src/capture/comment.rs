//! Comments of a capture: on the whole file, and on packets that were dropped.

use super::{About, At, POINTS, headers};
use crate::trace::stage_info::why_dropped;
use fullpipe_base::trace::{Packet, StageInfo};
use std::fmt::Write;

/// Flows named in a capture's comment; an option of pcapng holds 65535 bytes.
const MOST_FLOWS: usize = 500;

/// The comment on the whole file.
pub fn section(about: &About) -> String {
    let (scenario, plan) = (about.scenario, about.plan);
    let mut text = format!(
        "{}\nScenario {}, run {}, seed {}; simulated by fullpipe {}.\nPoint {}: {}\n",
        scenario.title,
        scenario.name,
        plan.name(),
        plan.resolved.seed,
        env!("CARGO_PKG_VERSION"),
        about.at.name(),
        meaning(about.at)
    );
    for (index, flow) in plan.resolved.flow.iter().take(MOST_FLOWS).enumerate() {
        let [sender, receiver] = headers::ends(index as u16, flow, &plan.resolved);
        let _ = writeln!(text, "Flow {}: {sender} to {receiver}.", flow.name);
    }
    if plan.resolved.flow.len() > MOST_FLOWS {
        text += "The ports of further flows follow in order.\n";
    }
    text += "Times count from the run's start, as if that were 1970-01-01. Data is zeros. The comment \
             \"dropped\" at a packet says what became of it later: the simulator knows, a capture \
             cannot.";
    text
}

fn meaning(at: &At) -> &'static str {
    let point = |name: &str| POINTS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text);
    point(at.name()).or_else(|| point("link")).unwrap_or_default()
}

/// The comment on a packet with dropped segments.
pub fn dropped(packet: &Packet, stages: &[StageInfo]) -> Option<String> {
    let places = packet.dropped.iter().map(|dropped| {
        let stage = stages.iter().find(|stage| stage.index == dropped.stage);
        let place =
            stage.map_or_else(String::new, |s| format!("{}, {}", s.name, why_dropped(s.kind)));
        match packet.segments {
            1 => format!("dropped: {place}"),
            all => format!("{} of {all} segments dropped: {place}", dropped.segments),
        }
    });
    let text = places.collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}
