//! All runs as one table: a line for each flow of each run.

use super::merge::Merged;
use super::record::{Facts, Flow, Record};
use crate::scenario::unquoted;
use std::io::Write;

/// Columns of a run after the axes' columns.
const COLUMNS: [&str; 22] = [
    "repetition",
    "seed",
    "failed",
    "flow",
    "congestion",
    "settled_mbit",
    "steady",
    "loss_epochs",
    "mean_mbit",
    "bytes",
    "retransmitted_segments",
    "srtt_median_ms",
    "completion_s",
    "limit",
    "limit_share",
    "dropped",
    "share",
    "variation",
    "jain",
    "jain_settled",
    "converged_s",
    "rtt_exponent",
];

/// Writes the table, and passes each run to `seen`.
///
/// # Errors
/// It cannot be written, or records cannot be read; a sentence.
pub fn table(
    merged: &Merged,
    out: &mut impl Write,
    mut seen: impl FnMut(&Record),
) -> Result<(), String> {
    // An axis of several keys has a column for each.
    let keys = merged.manifest.axes.iter().flat_map(|axis| axis.name.split(", "));
    let keys: Vec<String> = keys.map(str::to_string).collect();
    let mut table = csv::Writer::from_writer(out);
    let head = ["run", "id", "variant"].into_iter().chain(keys.iter().map(String::as_str));
    table.write_record(head.chain(COLUMNS)).map_err(|e| e.to_string())?;
    let mut wrong = None;

    // `each` has errors of its own kind, so the writer's first one is kept apart.
    let each = merged.each(|record| {
        seen(&record);
        for line in lines(&record, &keys) {
            wrong = wrong.take().or(table.write_record(line).err());
        }
        Ok(())
    });
    each.map_err(|e| e.to_string())?;
    wrong.map_or_else(|| table.flush().map_err(|e| e.to_string()), |e| Err(e.to_string()))
}

/// The lines of a run: one for each flow, or one that says why it failed.
fn lines(record: &Record, keys: &[String]) -> Vec<Vec<String>> {
    let at = keys.iter().map(|key| record.at.get(key).map_or_else(String::new, unquoted));
    let head = [record.run.to_string(), record.id.clone(), record.variant.clone()];
    let seeds = [record.repetition.to_string(), record.seed.to_string()];
    let head: Vec<String> = head.into_iter().chain(at).chain(seeds).collect();
    match &record.facts {
        Some(facts) => {
            facts.flows.iter().map(|flow| [head.clone(), of_flow(facts, flow)].concat()).collect()
        }
        // A failed run keeps its place, with the reason in the first column.
        None => {
            let why = record.failed.clone().unwrap_or_default().replace('\n', " ");
            let empty = std::iter::repeat_n(String::new(), COLUMNS.len() - 3);
            vec![head.into_iter().chain([why]).chain(empty).collect()]
        }
    }
}

fn of_flow(facts: &Facts, flow: &Flow) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());

    // A flow alone has no share.
    let all = facts.fairness.as_ref();
    let part = all.and_then(|all| all.flows.iter().find(|part| part.name == flow.name));
    let dropped: u64 = facts.stages.iter().map(|stage| stage.dropped).sum();
    vec![
        facts.failed.join("; "),
        flow.name.clone(),
        flow.congestion.clone(),
        flow.settled_mbit.to_string(),
        flow.steady.to_string(),
        flow.loss_epochs.to_string(),
        flow.mean_mbit.to_string(),
        flow.bytes.to_string(),
        flow.retransmitted_segments.to_string(),
        number(flow.srtt_median_ms),
        number(flow.completion_s),
        flow.limit.clone(),
        flow.limit_share.to_string(),
        dropped.to_string(),
        number(part.map(|part| part.share)),
        number(part.and_then(|part| part.variation)),
        number(all.map(|all| all.jain)),
        number(all.and_then(|all| all.jain_settled)),
        number(all.and_then(|all| all.converged_s)),
        number(all.and_then(|all| all.rtt_exponent)),
    ]
}
