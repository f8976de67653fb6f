//! Two experiments beside each other: only what differs.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use crate::analysis::compare::{Change, Comparison, FlowPair, Pair, Setting};
use crate::analysis::distance::{Distance, Parting, State};
use crate::report::{limits, numbers};

const SETTINGS: [Column; 3] = [words("scenario"), words("a"), words("b")];
const CHANGES: [Column; 4] =
    [words("result"), number("a", ""), number("b", ""), number("difference", "")];

/// Longest value of a setting that is shown whole.
const SHOWN: usize = 24;

/// The comparison as text, ending in a newline.
pub fn compare(comparison: &Comparison, style: Style) -> String {
    let mut lines: Vec<String> = Vec::new();
    for pair in &comparison.runs {
        lines.extend(self::pair(pair, style));
    }
    for (side, names) in [("a", &comparison.only_a), ("b", &comparison.only_b)] {
        let texts = names.iter().map(|name| format!("only in {side}: {name}"));
        lines.extend(texts.flat_map(|text| wrap(&text, "", style.columns())));
    }
    lines.join("\n") + "\n"
}

fn pair(pair: &Pair, style: Style) -> Vec<String> {
    let name = match pair.a == pair.b {
        true => pair.a.clone(),
        false => format!("{} / {}", pair.a, pair.b),
    };
    let settings: Vec<Vec<String>> = pair.scenario.iter().map(setting).collect();
    let mut changes: Vec<Vec<String>> = pair.flows.iter().flat_map(flow).collect();
    changes.extend(pair.drops.iter().filter(|c| !c.same()).map(|c| row(c, "dropped, ", 0)));
    let mut lines: Vec<String> =
        wrap(&name, "", style.columns()).iter().map(|line| style.bold(line)).collect();
    lines.extend(table(&SETTINGS, &settings, style));
    lines.extend(table(&CHANGES, &changes, style));
    let apart = pair.flows.iter().flat_map(|flow| distance(&flow.name, &flow.distance));
    lines.extend(apart.flat_map(|text| wrap(&text, "  ", style.columns())));
    lines.extend(pair.unpaired_flows.iter().map(|flow| format!("  only in one: flow {flow}")));
    if settings.is_empty() && changes.is_empty() {
        lines.push("  no difference".into());
    }
    lines
}

/// Headings without the line of units, which says nothing here.
fn table(columns: &[Column], rows: &[Vec<String>], style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = lay_out(columns, rows, style.columns());
    lines.remove(1);
    lines[0] = style.faint(&lines[0]);
    lines
}

fn setting(setting: &Setting) -> Vec<String> {
    let value = |value: &Option<String>| match value {
        Some(value) => shortened(value),
        None => numbers::ABSENT.to_string(),
    };
    vec![setting.key.clone(), value(&setting.a), value(&setting.b)]
}

fn shortened(value: &str) -> String {
    match value.chars().count() > SHOWN {
        true => value.chars().take(SHOWN - 3).collect::<String>() + "...",
        false => value.to_string(),
    }
}

fn flow(flow: &FlowPair) -> Vec<Vec<String>> {
    let metrics = flow.metrics.iter().filter(|change| !change.same());
    let metrics = metrics.map(|change| row(change, &format!("{}: ", flow.name), 3));
    let limits = flow.limits.iter().filter(|change| !change.same());
    metrics.chain(limits.map(|change| limit(&flow.name, change))).collect()
}

/// Sentences about how far two runs of a flow are apart; none where they are not.
fn distance(flow: &str, distance: &Distance) -> Vec<String> {
    let mut texts = Vec::new();
    let rows = [("throughput per interval", distance.throughput), ("cwnd", distance.cwnd)];
    for (what, apart) in rows {
        let Some(apart) = apart.filter(|apart| apart.worst > 0.0) else { continue };
        let percent = |share: f64| format!("{} %", numbers::fixed(share * 100.0, 1));
        let (median, worst) = (percent(apart.median), percent(apart.worst));
        let at = numbers::fixed(apart.worst_at_s, 2);
        texts.push(format!(
            "{flow}: {what} differs by {median} (median), at most {worst} (at {at} s)"
        ));
    }
    if let Some(Parting { at_s, a, b }) = &distance.parted {
        let at = numbers::fixed(*at_s, 2);
        let parts = [state(a), state(b)];
        texts
            .push(format!("{flow}: they part at {at} s, a with {}, b with {}", parts[0], parts[1]));
    }
    texts
}

fn state(state: &State) -> String {
    let ssthresh = state.ssthresh.map_or("infinite".to_string(), |packets| packets.to_string());
    let State { cwnd, in_flight, queue, .. } = state;
    let srtt = state.srtt_us.map_or(numbers::ABSENT.to_string(), |us| {
        format!("{} ms", numbers::fixed(f64::from(us) / 1e3, 2))
    });
    format!("cwnd {cwnd}, ssthresh {ssthresh}, {in_flight} in flight, srtt {srtt}, queue {queue}")
}

fn row(change: &Change, prefix: &str, decimals: usize) -> Vec<String> {
    let value = |value: Option<f64>| match value {
        Some(value) if value.fract() == 0.0 => numbers::fixed(value, 0),
        Some(value) => numbers::fixed(value, decimals),
        None => numbers::ABSENT.to_string(),
    };
    let difference = change.relative.map_or(numbers::ABSENT.to_string(), numbers::difference);
    vec![format!("{prefix}{}", change.name), value(change.a), value(change.b), difference]
}

/// A share, whose difference is in percentage points.
fn limit(flow: &str, change: &Change) -> Vec<String> {
    let (a, b) = (change.a.unwrap_or(0.0), change.b.unwrap_or(0.0));
    let percent = |share: f64| format!("{} %", numbers::fixed(share * 100.0, 1));
    let points = numbers::difference(b - a).replace('%', "points");
    vec![format!("{flow}: {}", limits::label(&change.name)), percent(a), percent(b), points]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::distance::Apart;

    const PLAIN: Style = Style { width: 80, color: false };

    fn change(name: &str, a: f64, b: f64) -> Change {
        Change { name: name.into(), a: Some(a), b: Some(b), relative: Some(b / a - 1.0) }
    }

    fn state(cwnd: u32, ssthresh: Option<u32>) -> State {
        State { cwnd, ssthresh, in_flight: 9, srtt_us: Some(20_500), queue: 1 }
    }

    fn example(metrics: Vec<Change>, scenario: Vec<Setting>) -> Comparison {
        let flow = FlowPair {
            name: "bulk".into(),
            metrics,
            limits: vec![change("cwnd_slow_start", 0.5, 0.25)],
            distance: Distance {
                throughput: Some(Apart { pairs: 9, median: 0.01, worst: 0.25, worst_at_s: 3.0 }),
                cwnd: Some(Apart { pairs: 90, median: 0.0, worst: 0.0, worst_at_s: 0.1 }),
                parted: Some(Parting { at_s: 2.5, a: state(10, None), b: state(12, Some(8)) }),
            },
        };
        let pair = Pair {
            a: "reno".into(),
            b: "reno".into(),
            scenario,
            flows: vec![flow],
            unpaired_flows: vec!["late".into()],
            drops: vec![change("link", 10.0, 20.0)],
        };
        Comparison { runs: vec![pair], only_a: vec!["bic".into()], only_b: Vec::new() }
    }

    #[test]
    fn what_differs_is_shown_and_nothing_else() {
        let settings =
            vec![Setting { key: "path.rate".into(), a: Some("\"100Mbit\"".into()), b: None }];
        let metrics = vec![change("mean_mbit", 80.0, 40.5), change("bytes", 7.0, 7.0)];
        let text = compare(&example(metrics, settings), PLAIN);
        assert_eq!(
            text,
            "reno
  scenario   a          b
  path.rate  \"100Mbit\"  –
  result                       a       b    difference
  bulk: mean_mbit             80  40.500       −49.4 %
  bulk: cwnd, slow start  50.0 %  25.0 %  −25.0 points
  dropped, link               10      20      +100.0 %
  bulk: throughput per interval differs by 1.0 % (median), at most 25.0 % (at
  3.00 s)
  bulk: they part at 2.50 s, a with cwnd 10, ssthresh infinite, 9 in flight,
  srtt 20.50 ms, queue 1, b with cwnd 12, ssthresh 8, 9 in flight, srtt 20.50
  ms, queue 1
  only in one: flow late
only in a: bic
"
        );
    }
}
