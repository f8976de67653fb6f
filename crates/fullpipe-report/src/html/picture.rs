//! The path as a pipe from left to right, host by host, and the way back below it. Places where nothing happened are folded. Plain
//! HTML.

use super::drawn;
use crate::page::escape::text;
use crate::picture::{Lane, about_room, counted, lanes, limit, room, sampled, short_name, waiting};
use fullpipe_analysis::document::{Document, Place, Run, Stage};
use fullpipe_analysis::numbers;
use std::fmt::Write;

/// Number of runs above which the picture is folded at first.
const OPEN: usize = 2;
/// Share of a flow's life from which on a place counts as its limit, and from which on it is drawn large.
const LIMITS: f64 = 0.01;
const CULPRIT: f64 = 0.25;
/// Share of its room, in the mean, from which on a place counts as used.
const USED: f64 = 0.25;

/// The section of all runs; nothing where the document knows no places.
pub(super) fn section(document: &Document) -> String {
    let shown = drawn::at_first(document);
    let runs = document.runs.iter().enumerate();
    let runs: String = runs
        .map(|(index, run)| {
            // Only the first pictures are open where a few runs are shown.
            let place = shown.iter().position(|shown| *shown == index);
            let is_open = drawn::are_many(document) || place.is_some_and(|place| place < OPEN);
            picture(index, run, is_open, place.is_some())
        })
        .collect();
    if runs.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"path\"><h2 id=\"path\">The path</h2>\
         <p class=\"quiet\">Places in the packets' order; places where nothing waited long and nothing was lost are folded. A bar is \
         a place's room: dark what was used in the mean, light the most. Means, and times full and empty, are exact but where the \
         heading says that samples tell them.</p>{runs}</section>"
    )
}

fn picture(index: usize, run: &Run, is_open: bool, is_shown: bool) -> String {
    let lanes = lanes(run);
    if lanes.is_empty() {
        return String::new();
    }
    let open = if is_open { " open" } else { "" };
    let mut out = format!(
        "<details class=\"path\" data-run=\"{index}\"{open}{}><summary><h3>{}</h3> <span class=\"quiet\">{}</span></summary>",
        drawn::hidden(is_shown),
        text(&run.variant),
        text(&sampled(run).unwrap_or_default())
    );

    // The data's way goes first, then the way back.
    for back in [false, true] {
        let own: Vec<&Lane> = lanes.iter().filter(|lane| lane.back == back).collect();
        if !own.is_empty() {
            out.push_str(&pipe(run, &own, back));
        }
    }
    if let Some(about) = about_room(run) {
        let _ = write!(out, "<p class=\"quiet\">{}</p>", text(&about));
    }
    out.push_str("</details>");
    out
}

/// A direction of the path from left to right; a way back without events is one line.
fn pipe(run: &Run, lanes: &[&Lane], back: bool) -> String {
    let (class, name) = if back { (" back", "way back") } else { ("", "way of the data") };
    let mut pipe = format!("<ol class=\"pipe{class}\" aria-label=\"{name}\">");
    for lane in lanes {
        let host = text(lane.host.unwrap_or("path"));
        let _ = write!(pipe, "<li class=\"lane\"><h4>{host}</h4><ol>");
        pipe.push_str(&places(run, lane));
        pipe.push_str("</ol></li>");
    }
    pipe.push_str("</ol>");

    // Without events the way back has nothing to say.
    let idle =
        lanes.iter().flat_map(|lane| &lane.places).all(|(stage, place)| is_idle(run, stage, place));

    // The way of the data is shown even if it was idle.
    match back && idle {
        false => pipe,
        true => {
            let places: usize = lanes.iter().map(|lane| lane.places.len()).sum();
            format!(
                "<details class=\"folded\"><summary>way back: {places} places, nothing happened there</summary>{pipe}</details>"
            )
        }
    }
}

/// The places of a lane; consecutive places without events are folded into one.
fn places(run: &Run, lane: &Lane) -> String {
    let mut out = String::new();
    let idle = |(stage, place): &(&Stage, &Place)| is_idle(run, stage, place);

    // Neighbours in one state make a row: idle ones fold together.
    for row in lane.places.chunk_by(|one, next| idle(one) == idle(next)) {
        let boxes: String = row.iter().map(|(stage, place)| shown(run, stage, place)).collect();
        if !idle(&row[0]) {
            out.push_str(&boxes);
            continue;
        }
        let names: Vec<&str> = row.iter().map(|(stage, place)| short_name(stage, place)).collect();
        let names = text(&names.join(", "));
        let _ = write!(
            out,
            "<li class=\"idle\"><details><summary title=\"{names}\">{} idle</summary><ol>{boxes}</ol></details></li>",
            row.len()
        );
    }
    out
}

/// Whether nothing happened at a place: no drop and no mark, never full, no flow's limit, and most of its room unused.
fn is_idle(run: &Run, stage: &Stage, place: &Place) -> bool {
    stage.dropped == 0
        && stage.marked == 0
        && place.full.is_none_or(|full| full < LIMITS)
        && place.mean_filled.is_none_or(|filled| filled < USED)
        && limit(run, place).is_none_or(|(_, share)| share < LIMITS)
}

/// A box. Its title has the exact values.
fn shown(run: &Run, stage: &Stage, place: &Place) -> String {
    let mut out = format!(
        "<li class=\"place{}\" data-stage=\"{}\" title=\"{}\" tabindex=\"0\"><b>{}</b><small>{}</small>{}",
        if limit(run, place).is_some_and(|(_, share)| share >= CULPRIT) { " limiting" } else { "" },
        text(&stage.name),
        text(&exact(stage, place)),
        text(short_name(stage, place)),
        room(stage).map_or("unbounded".into(), |room| text(&room)),
        bar(place),
    );

    // All further lines appear only where they say something.
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

/// All values of a place, as in the document.
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
