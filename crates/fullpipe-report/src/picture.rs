//! The path as lanes of places: a lane for each host and one for the path between them, then the way back.

use super::aggregate::is_beside;
use fullpipe_analysis::document::{Place, Run, Stage};
use fullpipe_analysis::numbers;
use fullpipe_analysis::picture::WITHOUT_ROOM;
use std::collections::BTreeSet;

/// Places in a row that belong to one host, or lie between the hosts.
pub struct Lane<'a> {
    /// Whether it is on the way back.
    pub back: bool,
    /// The host; none between the hosts.
    pub host: Option<&'a str>,
    /// In the packets' order.
    pub places: Vec<(&'a Stage, &'a Place)>,
}

/// The lanes of a run, in the packets' order; none where the document knows no places.
pub fn lanes(run: &Run) -> Vec<Lane<'_>> {
    let mut lanes: Vec<Lane> = Vec::new();
    for place in &run.picture.places {
        // Places of stages that the document left out are skipped.
        let Some(stage) = run.stages.iter().find(|stage| stage.name == place.stage) else {
            continue;
        };
        let (back, host) = (stage.direction == "back", place.host.as_deref());

        // Neighbours of one host and direction share a lane.
        match lanes.last_mut() {
            Some(last) if last.back == back && last.host == host => {
                last.places.push((stage, place));
            }
            _ => lanes.push(Lane { back, host, places: vec![(stage, place)] }),
        }
    }
    lanes
}

/// Sentence on places with times full and empty that are sampled, and on the distance of the samples; none where all
/// times are exact.
pub fn sampled(run: &Run) -> Option<String> {
    let lanes = lanes(run);
    let places = lanes.iter().flat_map(|lane| &lane.places);

    // Nothing waits in a CPU or a program, so samples show nothing there.
    let holding = places.filter(|(stage, _)| !WITHOUT_ROOM.contains(&&stage.kind[..]));
    let (exact, rest): (Vec<_>, Vec<_>) = holding.partition(|(_, place)| place.exact);
    let mut names: Vec<&str> = Vec::new();
    for (stage, place) in &rest {
        let name = short_name(stage, place);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let step = numbers::seconds(run.picture.step_s);

    // Names are listed only if some places are exact and others are not.
    match (rest.is_empty(), exact.is_empty()) {
        (true, _) => None,
        (_, true) => Some(format!("times at samples of {step}")),
        _ => Some(format!("times of {} at samples of {step}", names.join(", "))),
    }
}

/// A place's name within its lane.
pub fn short_name<'a>(stage: &'a Stage, place: &Place) -> &'a str {
    if place.host.is_some() { &stage.kind } else { &stage.name }
}

/// The flow that the place limited for the largest share of its life, and that share. Flows that are negligible next to
/// datagrams do not count.
pub fn limit<'a>(run: &Run, place: &'a Place) -> Option<(&'a str, f64)> {
    let flows = place.limits.iter().map(|(flow, share)| (flow.as_str(), *share));
    let flows = flows.filter(|(name, _)| {
        !run.flows.iter().any(|flow| flow.name == *name && is_beside(run, flow))
    });
    flows.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Units with their number: "256 segments", "32 MiB".
pub fn amount(value: f64, unit: &str) -> String {
    const STEPS: [(&str, f64); 3] =
        [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0)];
    match (unit, STEPS.iter().find(|(_, size)| value >= *size)) {
        ("byte", Some((name, size))) => format!("{} {name}", numbers::short(value / size)),
        ("byte", None) => format!("{} B", numbers::short(value)),
        ("segment", _) => format!("{} seg", numbers::short(value)),
        _ => format!("{} {unit}", numbers::short(value)),
    }
}

/// The room of a place; "≤": as far as the kernel may tune it. None where nothing bounds it.
pub fn room(stage: &Stage) -> Option<String> {
    let fixed = stage.capacity.map(|capacity| amount(capacity as f64, &stage.unit));
    fixed.or_else(|| stage.tuned_up_to.map(|bytes| format!("≤ {}", amount(bytes as f64, "byte"))))
}

/// Sentence on the meaning of "≤" in [`room`], where the run's picture has the sign.
pub fn about_room(run: &Run) -> Option<String> {
    let tuned =
        run.stages.iter().filter(|stage| stage.capacity.is_none() && stage.tuned_up_to.is_some());
    let sysctls: BTreeSet<&str> = tuned
        .map(|stage| if stage.kind == "send_buffer" { "tcp_wmem" } else { "tcp_rmem" })
        .collect();
    let sysctls: Vec<&str> = sysctls.into_iter().collect();
    (!sysctls.is_empty()).then(|| {
        format!(
            "≤: memory up to which the kernel tunes a buffer, the maximum of net.ipv4.{} for each flow",
            sysctls.join(" or ")
        )
    })
}

/// Mean number waiting at a place, as text; absent where nothing can wait: an application and a CPU hold nothing.
pub fn waiting(value: f64, stage: &Stage) -> String {
    match WITHOUT_ROOM.contains(&&stage.kind[..]) {
        true => numbers::ABSENT.into(),
        false => amount(value, counted(stage)),
    }
}

/// Unit of a stage's counters: a link or a receive buffer that is bounded in bytes counts segments.
pub fn counted(stage: &Stage) -> &str {
    match stage.kind.as_str() {
        "send_buffer" | "application" => "byte",
        _ if stage.unit == "byte" => "segment",
        _ => &stage.unit,
    }
}
