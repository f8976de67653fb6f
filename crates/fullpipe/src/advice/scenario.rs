//! The scenario that proves advice: the path with the settings of today and with the advised ones.

use super::{Advice, Demand, files};
use crate::scenario::{Outline, Source};
use std::fmt::Write;

/// Names of the variants.
pub const TODAY: &str = "today";
/// The advised settings.
pub const PLANNED: &str = "planned";

/// The scenario as text: a variant with today's settings, one with the advised ones if they differ, and one with
/// parallel flows if those asked for cannot fill the path.
pub fn scenario(demand: &Demand, advice: &Advice) -> String {
    let outline = demand.outline();
    let mut text = outline.text();
    let streams = advice.streams.filter(|n| *n <= super::sizing::MOST_STREAMS);
    if streams.is_some() && demand.flows == 1 {
        text.push_str(&outline.spread());
    }

    let set = set(demand, advice);
    variant(&mut text, TODAY, "as the kernel has them", &[]);
    if !set.is_empty() {
        variant(&mut text, PLANNED, "as advised", &set);
    }
    if let Some(n) = streams {
        let count = format!("\"flow.bulk.count\" = {n}");
        variant(&mut text, &format!("{n} flows"), "as advised", &[&set[..], &[count]].concat());
    }
    text
}

/// The scenario under the name of the path.
pub fn source(demand: &Demand, advice: &Advice) -> Source {
    let Outline { rate, rtt, .. } = demand.outline();
    Source::text(&format!("plan-{rate}-{rtt}.toml"), &scenario(demand, advice))
}

/// What differs from today, as lines of TOML.
fn set(demand: &Demand, advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    if advice.advised != advice.today {
        let sysctls = files::settings(demand.path.kernel, advice.advised);
        let table: Vec<String> =
            sysctls.iter().map(|(name, value)| format!("\"{name}\" = \"{value}\"")).collect();
        let table = table.join(", ");
        lines.push(format!("\"hosts.sender.sysctl\" = {{ {table} }}"));
        lines.push(format!("\"hosts.receiver.sysctl\" = {{ {table} }}"));
    }
    if let Some(pace) = advice.pacing_bytes_per_s {
        lines.push(format!("\"flow.bulk.sockopt\" = {{ SO_MAX_PACING_RATE = {pace} }}"));
    }
    lines
}

fn variant(text: &mut String, name: &str, comment: &str, set: &[String]) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n# Settings {comment}.\n[[variant]]\nname = \"{name}\"\n");
    if !set.is_empty() {
        let _ = write!(text, "[variant.set]\n{}\n", set.join("\n"));
    }
}
