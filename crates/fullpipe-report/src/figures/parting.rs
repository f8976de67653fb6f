//! Where two runs part, as lines in the figures that show both.

use super::figure::Mark;
use super::subject::delay_s;
use fullpipe_analysis::compare::{FlowPair, Pair};
use fullpipe_analysis::document::Document;
use fullpipe_analysis::numbers;

/// A line for each pair of flows that part.
pub(super) fn partings(document: &Document) -> Vec<Mark> {
    let flows = document.comparisons.iter().flat_map(|p| p.flows.iter().map(move |f| (p, f)));
    flows.filter_map(|(pair, flow)| mark(document, pair, flow)).collect()
}

fn mark(document: &Document, pair: &Pair, flow: &FlowPair) -> Option<Mark> {
    let place = |name: &str| document.runs.iter().position(|run| run.variant == name);
    let runs = [place(&pair.a)?, place(&pair.b)?];
    let at_s = flow.distance.diverged.as_ref()?.at_s;
    let several = pair.flows.len() > 1;
    let who = if several { format!("{} parts", flow.name) } else { "they part".to_string() };
    let run = &document.runs[runs[0]];
    let own = run.flows.iter().find(|one| one.name == flow.name)?;
    let x = at_s + delay_s(run, own);
    Some(Mark { runs, x, label: format!("{who}, {}", numbers::seconds(x)) })
}

/// The finding of the first comparison, where there is one.
pub(super) fn finding(document: &Document) -> Option<String> {
    let pair = document.comparisons.first()?;
    let flow = pair.flows.first()?;
    let of = if pair.flows.len() > 1 { format!(" of {}", flow.name) } else { String::new() };
    let apart = flow.distance.cwnd?;
    let apart = format!(
        "cwnd{of} differs by {} (median) between {} and {}",
        numbers::share(apart.median),
        pair.a,
        pair.b
    );

    // Without a parting the median alone says how far apart the sides are.
    Some(match &flow.distance.diverged {
        Some(parting) => format!("{apart}; they part after {}", numbers::seconds(parting.at_s)),
        None => format!("{apart}; they never part"),
    })
}
