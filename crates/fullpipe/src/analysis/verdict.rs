//! The verdict on a flow in a sentence, from the document alone.

use super::document::{Flow, Published, Run};
use super::plateau::plateau;

/// Shares below this are not worth a word.
const SMALL: f64 = 0.01;
/// Most limits that a verdict names.
const MOST: usize = 3;

/// What held a flow back: names and shares, largest first, without the small ones.
pub fn top_limits(flow: &Flow) -> Vec<(&str, f64)> {
    let mut limits: Vec<(&str, f64)> =
        flow.limits.iter().map(|(name, share)| (name.as_str(), *share)).collect();
    limits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    limits.retain(|(_, share)| *share >= SMALL);
    limits.truncate(MOST);
    limits
}

/// A limit in words.
pub fn limit_words(name: &str) -> &str {
    match name {
        "idle" => "nothing to do",
        "cwnd_slow_start" => "cwnd in slow start",
        "cwnd_avoidance" => "cwnd in congestion avoidance",
        "cwnd_recovery" => "cwnd in recovery",
        "receive_window" => "the receive window",
        "send_buffer" => "the send buffer",
        "application" => "the application",
        "sender_cpu" => "the sender's CPU",
        "qdisc" => "the sender's own queue",
        "nagle" => "Nagle's rule",
        "link" => "the link",
        "unknown" => "nothing known",
        other => other,
    }
}

/// One sentence per flow.
pub fn run(run: &Run) -> Vec<String> {
    let published = |index| run.published.as_ref().filter(|_| index == 0);
    run.flows.iter().enumerate().map(|(index, flow)| sentence(flow, published(index))).collect()
}

/// The sentence about one flow: when it reached its plateau, its mean rate, what held it back, and
/// how that compares with the published figures.
pub fn sentence(flow: &Flow, published: Option<&Published>) -> String {
    let mut sentence = format!(
        "{}: {}, mean {:.0} Mb/s, held back by {}",
        flow.name,
        ramp(flow),
        flow.mean_mbit,
        limits(flow)
    );
    if let Some(published) = published {
        sentence += &compared(published);
    }
    sentence + "."
}

fn ramp(flow: &Flow) -> String {
    match (flow.time_to_plateau_s, flow.plateau_mbit) {
        (Some(time), Some(rate)) => {
            format!("90 % of its plateau of {rate:.0} Mb/s within {time:.1} s")
        }
        _ => "no plateau reached".into(),
    }
}

fn limits(flow: &Flow) -> String {
    let top = top_limits(flow);
    let words = |(name, share): &(&str, f64)| format!("{} {:.0} %", limit_words(name), share * 1e2);
    match top.as_slice() {
        [] => "nothing in particular".into(),
        top => top.iter().map(words).collect::<Vec<_>>().join(", "),
    }
}

fn compared(published: &Published) -> String {
    let mut parts = Vec::new();
    if let Some(time) = published_time(published) {
        parts.push(format!("90 % within {time:.1} s"));
    }
    if let Some(rate) = published.total_mbit {
        parts.push(format!("mean {rate:.0} Mb/s"));
    }
    if let (Some(median), Some(worst)) =
        (published.median_error_before_plateau, published.worst_error_before_plateau)
    {
        let errors = format!(
            "seconds of the ramp off by {:.1} % in the median, {:.1} % at worst",
            median * 1e2,
            worst * 1e2
        );
        parts.push(errors);
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("; published: {}", parts.join(", ")),
    }
}

/// Seconds until a published row first reached 90 % of the published plateau.
pub fn published_time(published: &Published) -> Option<f64> {
    let rates: Vec<f64> = published.rows.iter().map(|row| row.throughput_mbit).collect();
    plateau(&rates).map(|plateau| published.rows[plateau.first].end_s)
}
