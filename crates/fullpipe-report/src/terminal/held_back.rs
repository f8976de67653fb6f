//! Limits of flows: for a few runs each run with all its limits, for many the limits with the runs that they held back.

use super::Style;
use super::grid::wrap;
use crate::aggregate::{fate, is_beside};
use crate::overview::{self, Of, Row};
use crate::{happened, shares};
use fullpipe_analysis::document::{Document, Flow, Run};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;

/// Number of runs up to which each has its own lines.
const EACH: usize = 6;
/// Before a value that a median is expected to have.
const EXPECTED: &str = " (expected ";

/// The paragraphs of all runs, or of limits where there are many runs; empty where nothing was sent.
pub fn items(document: &Document, is_whole: bool, style: Style) -> Vec<Vec<String>> {
    match document.runs.len() {
        0..=EACH => each(document, is_whole, style),
        _ => together(document, style),
    }
}

/// Paragraphs of each run: all limits of its flows, and the places that cut cwnd and lost ACKs. Medians without an
/// expectation are in the whole text alone.
pub fn each(document: &Document, is_whole: bool, style: Style) -> Vec<Vec<String>> {
    let mut items = Vec::new();
    for run in &document.runs {
        for row in overview::of_run(run) {
            let name = name(document, run, &row);
            let texts = said(run, &row, is_whole).into_iter().map(|text| format!("{name}{text}"));
            items.extend(texts.map(|text| wrap(&text, "  ", style.columns())));
            items.extend(ends(run, &row, style));
        }
    }
    items
}

/// Name in front of a sentence: nothing where the document has one run with one kind of flows.
fn name(document: &Document, run: &Run, row: &Row) -> String {
    let run = if document.runs.len() > 1 { run.variant.clone() } else { String::new() };
    let parts = [run, row.name()].into_iter().filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join(" / ");
    if name.is_empty() { name } else { format!("{name}: ") }
}

fn said(run: &Run, row: &Row, is_whole: bool) -> Vec<String> {
    let flows = match &row.of {
        Of::Datagrams(own) => {
            let beside = run.flows.iter().filter(|flow| is_beside(run, flow));
            let beside = beside.map(|flow| {
                format!("beside them {}: {} bytes of TCP", flow.name, numbers::count(flow.bytes))
            });
            return std::iter::once(fate(run, own)).chain(beside).collect();
        }
        Of::All(_) => return Vec::new(),
        Of::Alike(flows) => flows,
    };

    // Shares of a crowd are means; places and medians belong to single flows.
    let mut said = vec![held_back(&row.limits())];
    if let [flow] = flows[..] {
        said.extend(shares::reductions(run, flow));
        said.extend(shares::dropped_acks(flow));

        // The short summary shows medians only where the scenario expects some.
        said.extend(medians(run, flow).filter(|text| is_whole || text.contains(EXPECTED)));
    }
    said
}

/// Connections that were given up.
fn ends(run: &Run, row: &Row, style: Style) -> Vec<Vec<String>> {
    let Of::Alike(flows) = &row.of else { return Vec::new() };
    let ended = flows.iter().filter_map(|flow| Some((flow, flow.aborted.as_ref()?)));
    let texts = ended.map(|(flow, aborted)| {
        format!("{} / {}: {}", run.variant, flow.name, happened::aborted(aborted))
    });
    let lines = texts.map(|text| wrap(&text, "  ", style.columns()));
    lines.map(|lines| lines.iter().map(|line| style.bad(line)).collect()).collect()
}

/// A line for each limit that held some run back most.
fn together(document: &Document, style: Style) -> Vec<Vec<String>> {
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    for run in &document.runs {
        let flows: Vec<&Flow> = run.flows.iter().filter(|flow| !is_beside(run, flow)).collect();

        // A flow without limits counts for no group.
        let Some((name, share)) = overview::ranked(&flows).first().copied() else { continue };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, shares)) => shares.push(share),
            None => groups.push((name, vec![share])),
        }
    }

    // The most frequent limit goes first.
    groups.sort_by_key(|(_, shares)| std::cmp::Reverse(shares.len()));
    let all = document.runs.len();
    let texts = groups.into_iter().map(|(name, mut shares)| {
        shares.sort_by(f64::total_cmp);
        let ends = [shares[0], shares[shares.len() - 1]].map(numbers::share);

        // Equal ends, as they are printed, need no range.
        let range = if ends[0] == ends[1] { ends[0].clone() } else { ends.join(" to ") };
        let runs = if shares.len() == 1 { "run" } else { "runs" };
        format!(
            "held back most by {}: {} of {all} {runs}, for {range} of their life",
            limits::label(name),
            shares.len()
        )
    });
    texts.map(|text| wrap(&text, "  ", style.columns())).collect()
}

/// Medians of the flow's samples, each with the scenario's expectation.
fn medians(run: &Run, flow: &Flow) -> Option<String> {
    let own = flow.medians?;
    let expected = |what: &str, unit: f64| {
        let metric = format!("flow.{}.{what}", flow.name);

        // Expectations of single intervals say nothing of a median.
        let found = run.expectations.iter().find(|e| e.metric == metric && e.interval.is_none());
        let value = found.and_then(|e| Some((e.expected.first()?, &e.within)));
        value.map_or(String::new(), |(value, within)| {
            format!("{EXPECTED}{} within {within})", numbers::short(value * unit))
        })
    };
    Some(format!(
        "medians: cwnd {}{}, in flight {}{}, srtt {} ms{}",
        numbers::packets(own.cwnd.into()),
        expected("cwnd_median", 1.0),
        numbers::count(own.in_flight.into()),
        expected("in_flight_median", 1.0),
        numbers::short(f64::from(own.srtt_us) / 1e3),
        expected("srtt_median_s", 1e3)
    ))
}

/// All limits with their shares, which add up to 100 % as they are printed.
fn held_back(ranked: &[(&str, f64)]) -> String {
    if ranked.is_empty() {
        return "nothing was sent".to_string();
    }
    let tenths = tenths_of_percent(&ranked.iter().map(|(_, share)| *share).collect::<Vec<_>>());
    let parts: Vec<String> = ranked
        .iter()
        .zip(tenths)
        .filter(|(_, tenths)| *tenths > 0)
        .map(|((name, _), n)| format!("{} {}.{} %", limits::label(name), n / 10, n % 10))
        .collect();
    format!("held back by {}", parts.join("; "))
}

/// Shares in tenths of a percent that add up to 1000, by the largest remainders.
fn tenths_of_percent(shares: &[f64]) -> Vec<u32> {
    let total: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| share / total * 1000.0).collect();
    let mut tenths: Vec<u32> = exact.iter().map(|e| e.floor() as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    let missing = 1000_u32.saturating_sub(tenths.iter().sum());
    for n in order.into_iter().take(missing as usize) {
        tenths[n] += 1;
    }
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_shares_add_up_to_one_hundred_percent() {
        let cases: [&[f64]; 5] =
            [&[1.0], &[0.5, 0.5], &[1.0 / 3.0; 3], &[0.9996, 0.0004], &[0.1234; 7]];
        for shares in cases {
            let tenths = tenths_of_percent(shares);
            assert_eq!(tenths.iter().sum::<u32>(), 1000, "{shares:?}");
        }
        assert_eq!(tenths_of_percent(&[1.0 / 3.0; 3]), [334, 333, 333]);
    }
}
