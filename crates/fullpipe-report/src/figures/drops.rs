//! Drops of each place over time.

use super::figure::{Axis, Figure, Role, Series};
use super::over_time::{Binned, bin, figure as figure_of, line, places, with};
use fullpipe_analysis::document::{Document, PlaceBins, Run};
use fullpipe_analysis::numbers;

pub(super) fn figure(document: &Document) -> Figure {
    let description = format!(
        "Packets, or skbs of a qdisc, that each place dropped, in {}; columns of several places stand on each other.",
        bin(document)
    );
    let y = Axis { label: "dropped", unit: "packets", from_zero: true, log_offered: false };
    let names = places(document);
    let runs = document.runs.iter().enumerate();
    let all: Vec<Series> = runs.flat_map(|(run, of)| series(&names, run, of)).collect();
    let recorded = document.runs.iter().any(|run| !run.bins.end_s.is_empty());

    // An empty figure says whether nothing was dropped, or nothing was recorded.
    let (title, description) = match (all.is_empty(), recorded) {
        (false, _) => (title(document), description),
        (true, true) => ("No packet was dropped anywhere".into(), String::new()),
        (true, false) => ("No drops were recorded".into(), String::new()),
    };
    figure_of("drops", title, description, y, all)
}

fn dropped(place: &PlaceBins) -> u64 {
    place.dropped.iter().sum()
}

fn series(names: &[&str], run: usize, of: &Run) -> Vec<Series> {
    let places = of.bins.places.iter().enumerate().filter(|(_, place)| dropped(place) > 0);
    places
        .map(|(index, place)| {
            let (line, field) = (line(names, &place.stage), format!("places/{index}/dropped"));
            Binned { run, of, flow: None, line, name: "dropped", role: Role::Count, field }.series()
        })
        .collect()
}

/// Title that names the place with the most drops.
fn title(document: &Document) -> String {
    let of_run = |run: &Run| run.bins.places.iter().map(dropped).sum::<u64>();

    // The run with most drops, and its worst place, stand for the figure.
    let Some(run) = document.runs.iter().max_by_key(|run| of_run(run)) else {
        return String::new();
    };
    let Some(place) = run.bins.places.iter().max_by_key(|place| dropped(place)) else {
        return String::new();
    };
    let (all, most) = (of_run(run), dropped(place));
    let who = match all == most {
        true if all == 1 => format!("by {}", place.stage),
        true => format!("all of them by {}", place.stage),
        false => format!("{} of them by {}", numbers::count(most), place.stage),
    };
    let were = if all == 1 { "was" } else { "were" };
    format!("{} {were} dropped{}, {who}", numbers::packets(all), with(document, run))
}
