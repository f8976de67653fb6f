//! The path as rows of boxes, a row per host and one for what lies between the hosts; then the way back. Plain HTML.

use super::DRAWN_AT_FIRST;
use super::escape::text;
use crate::analysis::document::{Document, Place, Run, Stage};
use crate::report::numbers;
use crate::report::picture::{
    Lane, about_room, counted, lanes, limit, room, sampled, short_name, waiting,
};
use std::fmt::Write;

/// The section of all runs; nothing where the document knows no places.
pub(super) fn section(document: &Document) -> String {
    let runs: String = document.runs.iter().enumerate().map(|(n, r)| picture(n, r)).collect();
    if runs.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"path\"><h2 id=\"path\">The path</h2>\
         <p class=\"quiet\">Every place in the packets' order. A bar is a place's room: dark what was used in the mean, light the \
         most. Means, and times full and empty, are exact but where the heading says that samples tell them.</p>{runs}</section>"
    )
}

fn picture(index: usize, run: &Run) -> String {
    let lanes = lanes(run);
    if lanes.is_empty() {
        return String::new();
    }
    let open = if index < DRAWN_AT_FIRST.min(2) { " open" } else { "" };
    let mut out = format!(
        "<details class=\"path\" data-run=\"{index}\"{open}><summary><h3>{}</h3> <span class=\"quiet\">{}</span></summary>",
        text(&run.variant),
        text(&sampled(run).unwrap_or_default())
    );
    lanes.iter().for_each(|lane| out.push_str(&row(run, lane)));
    if let Some(about) = about_room(run) {
        let _ = write!(out, "<p class=\"quiet\">{}</p>", text(&about));
    }
    out.push_str("</details>");
    out
}

fn row(run: &Run, lane: &Lane) -> String {
    let name = text(lane.host.unwrap_or("between the hosts"));
    let (class, arrow) = if lane.back { (" back", "←") } else { ("", "→") };
    let way = if lane.back { "back" } else { "data" };
    let mut out = format!(
        "<div class=\"lane{class}\"><h4><span aria-hidden=\"true\">{arrow}</span> {name} <span class=\"quiet\">{way}</span></h4><ol>"
    );
    lane.places.iter().for_each(|(stage, place)| out.push_str(&shown(run, stage, place)));
    out.push_str("</ol></div>");
    out
}

/// A box. Its title has the exact values.
fn shown(run: &Run, stage: &Stage, place: &Place) -> String {
    let mut out = format!(
        "<li class=\"place{}\" data-stage=\"{}\" title=\"{}\" tabindex=\"0\"><b>{}</b><small>{}</small>{}",
        if limit(run, place).is_some_and(|(_, share)| share >= 0.5) { " limiting" } else { "" },
        text(&stage.name),
        text(&exact(stage, place)),
        text(short_name(stage, place)),
        room(stage).map_or("unbounded".into(), |room| text(&room)),
        bar(place),
    );
    let peak = waiting(stage.peak as f64, stage);
    let mean = waiting(stage.mean_waiting, stage);
    let _ = write!(out, "<small>mean {}<br>peak {}</small>", text(&mean), text(&peak));
    if let Some(share) = place.full.filter(|share| *share > 0.0) {
        let _ = write!(out, "<small>full {} of the time</small>", numbers::share(share));
    }
    if let Some(share) = place.empty.filter(|share| *share < 1.0) {
        let _ = write!(out, "<small>empty {} of the time</small>", numbers::share(share));
    }
    if stage.blocked_s > 0.0 {
        let _ = write!(out, "<small>blocked {}</small>", numbers::seconds(stage.blocked_s));
    }
    if stage.marked > 0 {
        let _ = write!(out, "<small>{} marked</small>", numbers::count(stage.marked));
    }
    if stage.dropped > 0 {
        let _ =
            write!(out, "<small class=\"bad\">{} dropped</small>", numbers::count(stage.dropped));
    }
    if let Some((flow, share)) = limit(run, place) {
        let _ = write!(out, "<em>limit of {} for {}</em>", text(flow), numbers::share(share));
    }
    out.push_str("</li>");
    out
}

fn bar(place: &Place) -> String {
    let width = |share: f64| (share * 100.0).clamp(0.0, 100.0);
    match place.mean_filled.zip(place.peak_filled) {
        Some((mean, peak)) => format!(
            "<span class=\"room\" aria-hidden=\"true\"><i class=\"peak\" style=\"width:{:.2}%\"></i>\
             <i class=\"mean\" style=\"width:{:.2}%\"></i></span>",
            width(peak),
            width(mean)
        ),
        None => "<span class=\"room none\" aria-hidden=\"true\"></span>".into(),
    }
}

/// All values of a place, as they stand in the document.
fn exact(stage: &Stage, place: &Place) -> String {
    let absent = || numbers::ABSENT.to_string();
    let share =
        |share: Option<f64>| share.map_or_else(absent, |share| format!("{}", share * 100.0));
    let unit = counted(stage);
    let counted_in = if place.exact { "time" } else { "samples" };
    let mut lines = vec![
        stage.name.clone(),
        format!("capacity {} {}", stage.capacity.map_or_else(absent, numbers::count), stage.unit),
        format!("mean {} {unit}", stage.mean_waiting),
        format!("peak {} {unit}", numbers::count(stage.peak)),
        format!("full {} % of the {counted_in}", share(place.full)),
        format!("empty {} % of the {counted_in}", share(place.empty)),
        format!("dropped {}", numbers::count(stage.dropped)),
        format!("marked {}", numbers::count(stage.marked)),
        format!("blocked {} s, busy {} s", stage.blocked_s, stage.busy_s),
    ];
    if let Some(bytes) = stage.tuned_up_to {
        lines.push(format!("tuned up to {} byte", numbers::count(bytes)));
    }
    for (flow, share) in &place.limits {
        lines.push(format!("limit of {flow} for {} % of its life", share * 100.0));
    }
    lines.join("\n")
}
