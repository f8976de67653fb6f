//! Units that wait in each place of the path over time.

use super::figure::{Axis, Figure, Role, Series};
use super::over_time::{Binned, bin, figure as figure_of, line, places, with};
use super::subject::first_clock_s;
use fullpipe_analysis::document::{Document, PlaceBins, Run};
use fullpipe_analysis::numbers;

/// Kinds that hold packets in flight for a time: no queues.
const DELAYS: [&str; 4] = ["delay", "flow-delay", "jitter", "reorder"];

pub(super) fn figure(document: &Document) -> Figure {
    let description = format!(
        "Highest number of packets, or skbs in a qdisc, that waited in each place, in {} (lines); dots: what is under way in delays.",
        bin(document)
    );
    let y = Axis { label: "waiting", unit: "packets", from_zero: true, log_offered: true };
    let names = places(document);
    let runs = document.runs.iter().enumerate();
    let all = runs.flat_map(|(run, of)| series(&names, run, of)).collect();
    figure_of("queues", title(document), description, y, all)
}

fn series(names: &[&str], run: usize, of: &Run) -> Vec<Series> {
    of.bins
        .places
        .iter()
        .enumerate()
        .filter(|(_, place)| place.peak.iter().any(|peak| *peak > 0))
        .map(|(index, place)| {
            // Packets of a delay are on their way: they wait for no one.
            let (name, role) = match delays(of, place) {
                true => ("under way", Role::Ceiling),
                false => ("waiting", Role::Measure),
            };
            let (line, field) = (line(names, &place.stage), format!("places/{index}/peak"));
            Binned { run, of, flow: None, line, name, role, field }.series()
        })
        .collect()
}

fn delays(run: &Run, place: &PlaceBins) -> bool {
    let stage = run.stages.iter().find(|stage| stage.name == place.stage);
    stage.is_some_and(|stage| DELAYS.contains(&&stage.kind[..]))
}

fn title(document: &Document) -> String {
    let mut longest: Option<(u64, &Run, &PlaceBins)> = None;

    // The longest queue of all runs is the finding; delays are no queues.
    for run in &document.runs {
        for place in run.bins.places.iter().filter(|place| !delays(run, place)) {
            let peak = place.peak.iter().copied().max().unwrap_or(0);
            if peak > longest.map_or(0, |(most, ..)| most) {
                longest = Some((peak, run, place));
            }
        }
    }
    let Some((peak, run, place)) = longest else {
        return match document.runs.iter().any(|run| !run.bins.end_s.is_empty()) {
            true => "No packet ever waits in a queue".to_string(),
            false => "No queue was recorded".to_string(),
        };
    };

    // The first bin with the peak gives the time.
    let bin = place.peak.iter().position(|own| *own == peak).unwrap_or(0);
    let at = run.bins.end_s.get(bin).map_or(0.0, |end| end - first_clock_s(run));
    format!(
        "The longest queue is {} in {}{}, in the bin that ends at {}",
        numbers::packets(peak),
        place.stage,
        with(document, run),
        numbers::seconds(at)
    )
}
