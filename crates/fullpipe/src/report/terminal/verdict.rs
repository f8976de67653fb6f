//! A verdict for what each variant is about: its datagrams, its flows together, and per flow how fast it came to its
//! plateau, its mean rate, and what held it back.

use super::Style;
use super::crowd::ALL_BY;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::analysis::document::{Datagrams, Document, Flow, Published, Run};
use crate::report::together::{Shown, Together, extremes, fate, is_beside, shown, together, udp};
use crate::report::{happened, limits, numbers};

const COLUMNS: [Column; 4] =
    [words("variant"), number("to 90 %", "s"), number("plateau", "Mb/s"), number("mean", "Mb/s")];

/// Room for a variant's name beside the numbers.
const NAME: usize = 44;

/// What a verdict is about.
enum Subject<'a> {
    Datagrams(&'a Datagrams),
    Together(Together<'a>),
    Flow(&'a Flow),
}

/// The verdicts, in the document's order; of more than `most` alike flows two.
pub fn lines(document: &Document, most: usize, style: Style) -> Vec<String> {
    let of_run = |run| subjects(run, most).into_iter().map(move |subject| (run, subject));
    let all: Vec<(&Run, Subject)> = document.runs.iter().flat_map(of_run).collect();
    let rows: Vec<Vec<String>> = all.iter().map(|(run, subject)| row(run, subject)).collect();
    let mut table = lay_out(&COLUMNS, &rows, style.columns()).into_iter();
    let mut lines = vec![String::new(), style.bold("Verdict")];
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));
    for ((run, subject), line) in all.iter().zip(table) {
        let name = name(run, subject);
        if !fits(&name) {
            lines.extend(wrap(&name, "", style.columns()).iter().map(|line| style.bold(line)));
        }
        lines.push(style.bold(&line));
        if let Subject::Flow(Flow { aborted: Some(aborted), .. }) = subject {
            let text = happened::aborted(aborted);
            lines.extend(wrap(&text, "      ", style.columns()).iter().map(|l| style.bad(l)));
        }
        let said = match subject {
            Subject::Datagrams(own) => said_of_datagrams(run, own),
            Subject::Together(sum) => said_of_all(run, sum, most),
            Subject::Flow(flow) => said_of_flow(run, flow),
        };
        lines.extend(said.iter().flat_map(|text| wrap(text, "      ", style.columns())));
    }
    lines
}

/// Datagrams first; flows that stand beside them are told with them.
fn subjects(run: &Run, most: usize) -> Vec<Subject<'_>> {
    let mut all: Vec<Subject> = udp(run).map(Subject::Datagrams).collect();
    all.extend(together(run).into_iter().map(Subject::Together));
    for flows in shown(run, most) {
        match flows {
            Shown::Each(flow) if is_beside(run, flow) => {}
            Shown::Each(flow) => all.push(Subject::Flow(flow)),
            Shown::Crowd(flows) => {
                all.extend(extremes(&flows).into_iter().flatten().map(Subject::Flow))
            }
        }
    }
    all
}

fn said_of_datagrams(run: &Run, own: &Datagrams) -> Vec<String> {
    let mut said = vec![fate(run, own)];
    for flow in run.flows.iter().filter(|flow| is_beside(run, flow)) {
        said.push(format!(
            "beside them {}: {} bytes of TCP",
            flow.name,
            numbers::count(flow.bytes)
        ));
    }
    said
}

fn said_of_all(run: &Run, sum: &Together, most: usize) -> Vec<String> {
    let resent = sum.flows.iter().map(|flow| flow.retransmitted_segments).sum();
    let mut said = format!("{} sent again", numbers::segments(resent));
    let crowded = shown(run, most).iter().any(|flows| matches!(flows, Shown::Crowd(_)));
    if crowded {
        said += &format!("; below the slowest and the fastest: {ALL_BY}");
    }
    vec![said]
}

fn said_of_flow(run: &Run, flow: &Flow) -> Vec<String> {
    let named = |note: &&String| note.starts_with(&format!("flow {}:", flow.name));
    let mut said: Vec<String> =
        run.notes.iter().filter(named).map(|note| format!("note: {note}")).collect();
    if !run.substituted.is_empty() {
        said.push(substituted(run));
    }
    said.push(held_back(flow));
    said.extend(limits::cuts(run, flow));
    said.extend(limits::dropped_acks(flow));
    said.extend(medians(run, flow));
    said.extend(run.published.as_ref().map(beside));
    said
}

/// Medians of the flow's samples, and beside each what the scenario expects of it.
fn medians(run: &Run, flow: &Flow) -> Option<String> {
    let own = flow.medians?;
    let expected = |what: &str, unit: f64| {
        let metric = format!("flow.{}.{what}", flow.name);
        let found = run.expectations.iter().find(|e| e.metric == metric && e.interval.is_none());
        let value = found.and_then(|e| Some((e.expected.first()?, &e.within)));
        value.map_or(String::new(), |(value, within)| {
            format!(" (expected {} within {within})", numbers::short(value * unit))
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

fn row(run: &Run, subject: &Subject) -> Vec<String> {
    let optional = |value: Option<f64>| {
        value.map_or(numbers::ABSENT.to_string(), |value| numbers::fixed(value, 1))
    };
    let (time, plateau, mean) = match subject {
        Subject::Datagrams(own) => (None, None, own.mean_mbit),
        Subject::Together(sum) => (None, None, Some(sum.mbit)),
        Subject::Flow(flow) => (flow.time_to_plateau_s, flow.plateau_mbit, Some(flow.mean_mbit)),
    };
    vec![
        Some(name(run, subject)).filter(|name| fits(name)).unwrap_or_default(),
        time.map_or(numbers::ABSENT.to_string(), seconds),
        optional(plateau),
        optional(mean),
    ]
}

/// In tenths, or in hundredths where intervals do not end with them.
fn seconds(value: f64) -> String {
    let in_tenths = (value * 10.0 - (value * 10.0).round()).abs() < 0.05;
    numbers::fixed(value, if in_tenths { 1 } else { 2 })
}

/// Whether a name has room beside the numbers; a longer one has lines of its own.
fn fits(name: &str) -> bool {
    name.chars().count() <= NAME
}

/// The variant, with the subject's name where the run has several.
fn name(run: &Run, subject: &Subject) -> String {
    let mut name = match subject {
        Subject::Flow(_) if run.flows.len() == 1 && udp(run).next().is_none() => {
            run.variant.clone()
        }
        Subject::Flow(flow) => format!("{} / {}", run.variant, flow.name),
        Subject::Datagrams(own) => format!("{} / {}", run.variant, own.name),
        Subject::Together(sum) => {
            let way = if sum.flows[0].backward { " backward" } else { "" };
            format!("{} / all {}{way}", run.variant, sum.flows.len())
        }
    };
    if run.partial {
        name += " (partial)";
    }
    name
}

/// What was not as the scenario says.
fn substituted(run: &Run) -> String {
    format!(
        "engine {} instead of what the scenario says: {}",
        run.engine,
        run.substituted.join("; ")
    )
}

/// All limits with their shares, which add up to 100 % as they are printed.
fn held_back(flow: &Flow) -> String {
    let ranked = limits::ranked(&flow.limits);
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

/// The published run: its time, its mean with ours over the same rows, and how far the rows of its
/// ramp are off.
fn beside(published: &Published) -> String {
    let mut parts = Vec::new();
    if let Some(time) = published.time_to_plateau_s {
        parts.push(format!("to 90 % {} s", numbers::fixed(time, 1)));
    }
    let (theirs, ours) = (published.rows_mbit, published.simulated_rows_mbit);
    if theirs > 0.0 {
        parts.push(format!(
            "mean {} Mb/s, simulated over the same rows {} ({})",
            numbers::fixed(theirs, 1),
            numbers::fixed(ours, 1),
            numbers::difference(ours / theirs - 1.0)
        ));
    }
    if let Some(median) = published.median_error_before_plateau {
        parts.push(format!("ramp's median error {}", percent(median)));
    }
    if let Some(worst) = published.worst_error_before_plateau {
        parts.push(format!("worst {}", percent(worst)));
    }
    let inside = published.rows.iter().filter(|row| row.in_band).count();
    let cut = if published.band_whole { "" } else { ", which is not whole: interrupted" };
    parts.push(format!("{inside} of {} rows in the band{cut}", published.rows.len()));
    format!("published: {}", parts.join(", "))
}

fn percent(share: f64) -> String {
    format!("{} %", numbers::fixed(share * 100.0, 2))
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
