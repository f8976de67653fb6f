//! The path in text: a line per place, host by host, the data's way and then the way back.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::picture::{about_room, lanes, limit, room, sampled, short_name, waiting};
use fullpipe_analysis::document::{Place, Run, Stage};
use fullpipe_analysis::numbers;

const NARROW: [Column; 8] = [
    words("place"),
    words("filled"),
    number("capacity", ""),
    number("peak", ""),
    number("full", "time"),
    number("empty", "time"),
    number("dropped", ""),
    number("limit", "life"),
];

const WIDE: [Column; 3] = [number("mean", ""), number("blocked", "s"), number("marked", "")];

/// Room for a place's name in front of the numbers, and cells of a bar.
const NAME: usize = 16;
const BAR: usize = 8;

/// Heading and a line per place; nothing where the document knows no places.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let lanes = lanes(run);
    if lanes.is_empty() {
        return Vec::new();
    }
    let columns: Vec<Column> = match style.wide() {
        true => NARROW.into_iter().chain(WIDE).collect(),
        false => NARROW.into(),
    };
    let places = lanes.iter().flat_map(|lane| &lane.places);
    let rows: Vec<Vec<String>> =
        places.map(|(stage, place)| row(run, stage, place, style)).collect();

    // One layout for all lanes keeps their columns aligned.
    let mut table = lay_out(&columns, &rows, style.columns()).into_iter();
    let sampled = sampled(run).map_or(String::new(), |sampled| format!("; {sampled}"));
    let more = if style.wide() { "" } else { "; in more columns also mean, blocked and marked" };
    let heading = format!("{}: the path (bar: mean █, peak ░{sampled}{more})", run.variant);
    let mut lines = vec![String::new()];
    lines.extend(wrap(&heading, "", style.columns()).iter().map(|line| style.bold(line)));
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));

    // Lanes in the packets' order, each under its host's name.
    for lane in &lanes {
        let arrow = if lane.back { "◀──" } else { "──▶" };
        let name = lane.host.unwrap_or("between the hosts");
        lines.extend(wrap(&format!("{arrow} {name}"), "", style.columns()));
        for ((stage, place), line) in lane.places.iter().zip(table.by_ref()) {
            let name = short_name(stage, place);
            if !fits(name) {
                lines.extend(wrap(name, "  ", style.columns()));
            }

            // A place that dropped packets stands out.
            lines.push(if stage.dropped > 0 { style.bad(&line) } else { line });
        }
    }
    lines.extend(about_room(run).iter().flat_map(|text| wrap(text, "  ", style.columns())));
    lines
}

fn fits(name: &str) -> bool {
    name.chars().count() <= NAME
}

fn row(run: &Run, stage: &Stage, place: &Place, style: Style) -> Vec<String> {
    let name = short_name(stage, place);
    let share = |share: Option<f64>| share.map_or(numbers::ABSENT.into(), numbers::share);
    let mut row = vec![
        if fits(name) { name.into() } else { String::new() },
        place
            .mean_filled
            .zip(place.peak_filled)
            .map(|(mean, peak)| bar(mean, peak))
            .unwrap_or_default(),
        room(stage).unwrap_or(numbers::ABSENT.into()),
        waiting(stage.peak as f64, stage),
        share(place.full),
        share(place.empty),
        numbers::count(stage.dropped),
        limit(run, place).map_or(String::new(), |(_, share)| numbers::share(share)),
    ];
    if style.wide() {
        row.push(waiting(stage.mean_waiting, stage));
        row.push(numbers::fixed(stage.blocked_s, 3));
        row.push(numbers::count(stage.marked));
    }
    row
}

/// A bar of [`BAR`] cells; a value above 0 has one at least.
fn bar(mean: f64, peak: f64) -> String {
    let cells = |share: f64| match share {
        share if share > 0.0 => ((share * BAR as f64).round() as usize).clamp(1, BAR),
        _ => 0,
    };
    let (most, filled) = (cells(peak), if mean >= 0.5 / BAR as f64 { cells(mean) } else { 0 });
    (0..BAR)
        .map(|n| match n {
            n if n < filled => '█',
            n if n < most => '░',
            _ => '·',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_shows_mean_and_peak() {
        assert_eq!(bar(0.5, 0.75), "████░░··");
        assert_eq!(bar(0.001, 0.01), "░·······");
        assert_eq!(bar(1.0, 1.2), "████████");
        assert_eq!(bar(0.0, 0.0), "········");
    }
}
