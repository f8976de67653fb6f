//! The scenario that proves advice: the path with the settings of today and with the advised ones.

use super::{Advice, Demand};
use crate::advice::files::sysctl;
use crate::scenario::{Outline, Source};
use crate::sizing::sizes;
use fullpipe_base::units::Time;
use std::fmt::Write;

/// Names of the variants.
pub const TODAY: &str = "today";
/// The advised settings.
pub const PLANNED: &str = "planned";

/// The scenario as text, with two or three variants: today's settings, the advised ones if they differ, and parallel
/// flows if the requested flows cannot fill the path.
pub fn scenario(demand: &Demand, advice: &Advice) -> String {
    let outline = demand.outline();
    let mut text = outline.text();
    let streams = advice.streams.filter(|n| *n <= crate::sizing::sizes::MOST_STREAMS);

    // Streams that start at one moment would lose packets together.
    if streams.is_some() && demand.flows == 1 {
        text.push_str(&outline.spread());
    }

    let set = set(demand, advice, advice.pacing_bytes_per_s);

    // The file itself has today's settings, so this variant changes nothing.
    variant(&mut text, TODAY, "as the kernel has them", &[]);
    if !set.is_empty() {
        variant(&mut text, PLANNED, "as advised", &set);
    }
    if let Some(n) = streams {
        let more = demand.with_flows(n);
        // Each flow has its part of the path's pace.
        let pace = advice.pacing_bytes_per_s.map(|_| sizes::paced(&more));
        let mut own = self::set(demand, advice, pace);
        own.push(format!("\"flow.bulk.count\" = {n}"));

        // More flows grow in less time.
        own.push(format!("\"flow.bulk.duration\" = \"{}\"", streams_last(demand)));
        let comment = if set.is_empty() { "as the kernel has them" } else { "as advised" };
        variant(&mut text, &streams_name(advice, n), comment, &own);
    }
    text
}

/// Name of the variant with `flows` parallel flows: it has the advised settings, where there are any.
pub fn streams_name(advice: &Advice, flows: u64) -> String {
    let planned = if advice.changes() { "planned, " } else { "" };
    format!("{planned}{flows} flows")
}

/// Length of parallel flows that fill the path: as long as one flow, but no longer than a run of thirty million
/// packets.
pub fn streams_last(demand: &Demand) -> Time {
    let lossless = Demand { loss: 0.0, ..demand.clone() }.outline().lasts();
    let most = Time::secs(demand.outline().most_seconds().ceil().min(1e9) as u64);
    demand.outline().lasts().min(most).max(lossless)
}

/// The scenario under the name of the path.
pub fn source(demand: &Demand, advice: &Advice) -> Source {
    let Outline { rate, rtt, .. } = demand.outline();
    Source::text(&format!("plan-{rate}-{rtt}.toml"), &scenario(demand, advice))
}

/// Differences from today, as lines of TOML.
fn set(demand: &Demand, advice: &Advice, pace: Option<u64>) -> Vec<String> {
    let mut lines = Vec::new();
    if advice.advised != advice.today {
        let sysctls = sysctl::settings(demand.path.kernel, advice.advised);
        let table: Vec<String> =
            sysctls.iter().map(|(name, value)| format!("\"{name}\" = \"{value}\"")).collect();
        let table = table.join(", ");
        lines.push(format!("\"hosts.sender.sysctl\" = {{ {table} }}"));
        lines.push(format!("\"hosts.receiver.sysctl\" = {{ {table} }}"));
    }
    if let Some(pace) = pace {
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
